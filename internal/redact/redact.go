// Package redact takes secrets out of text before it is kept or shown: tokens of a known form, private keys,
// passwords in addresses, what is assigned to a name like api_key and looks drawn at random, and the values of
// variables of the environment whose names say that they are secret. It knows no secret that has none of these
// forms.
//
// Commit ids, UUIDs, digests and paths stay. Redacted text stays as it is when redacted again.
package redact

import (
	"cmp"
	"slices"
	"strings"
)

// Redactor takes secrets out of text. It can be used by many at a time. A nil one takes nothing out.
type Redactor struct {
	tokens  [256][]form    // by the first byte of their prefixes
	vendors map[int][]form // by the length of their keys
	values  []value        // the longest first, so that one which contains another goes as a whole
	begins  *beginnings
}

// value is one that must not be seen, and what is written in its place.
type value struct{ text, mark string }

// New returns a redactor that knows the secret values of an environment, each variable as "NAME=value".
func New(environ []string) *Redactor {
	r := &Redactor{vendors: map[int][]form{}, begins: &beginnings{}}
	for _, word := range []string{bearer, basic} {
		r.begins.add(word, nil)
	}
	r.begins.add(scheme, visible)
	for _, b := range []byte(beforeOption) {
		r.begins.add(string(b)+option, visible)
	}
	for _, f := range parse(vendors) {
		r.vendors[f.least] = append(r.vendors[f.least], f)
	}
	for _, f := range parse(tokens) {
		r.tokens[f.prefix[0]] = append(r.tokens[f.prefix[0]], f)
		r.begins.add(f.prefix, f.in)
	}
	for _, v := range environ {
		name, text, _ := strings.Cut(v, "=")
		if !secretName(name) {
			continue
		}
		for _, form := range forms(text) {
			if !slices.ContainsFunc(r.values, func(v value) bool { return v.text == form }) {
				r.values = append(r.values, value{form, mark("$" + name)})
				r.begins.add(form, nil)
			}
		}
	}
	slices.SortStableFunc(r.values, func(a, b value) int { return cmp.Compare(len(b.text), len(a.text)) })
	return r
}

// Forms is the redactor without the values of the environment: it takes out only what can be nothing else, in
// whatever is read by programs as well.
func (r *Redactor) Forms() *Redactor {
	if r == nil {
		return nil
	}
	forms := *r
	forms.values = nil
	return &forms
}

// mark is what stands in place of a secret. Nothing in it has a meaning in JSON or in a shell's single quotes.
func mark(what string) string { return "[redacted: " + what + "]" }

// String returns the text without secrets.
func (r *Redactor) String(s string) string {
	if r == nil || s == "" {
		return s
	}
	return without(s, r.find(s, &keyState{}))
}

// span is a secret that was found.
type span struct {
	from       int // where what makes it one begins: a name, a prefix
	start, end int
	mark       string
	value      bool // of the environment: Forms would not find it
}

// find lists the secrets of a text by where they start. They may overlap. key is where the text before it
// ended, and becomes where this one does.
func (r *Redactor) find(s string, key *keyState) []span {
	if r == nil {
		return nil
	}
	text, cuts := withoutEscapes(s)
	found := r.inPlain(text, key)
	if len(found) > 1 {
		slices.SortStableFunc(found, func(a, b span) int { return cmp.Compare(a.start, b.start) })
	}
	if len(cuts) > 0 {
		for i, f := range found {
			found[i].from, found[i].start, found[i].end = cuts.before(f.from), cuts.before(f.start), cuts.before(max(f.end,
				1)-1)+1
		}
	}
	return found
}

// inPlain lists the secrets of a text without escapes. Of two that start together the first one gives the mark.
func (r *Redactor) inPlain(s string, key *keyState) []span {
	found := key.find(s, nil)
	var tokens, others []span
	past := 0 // where the last token ends
	if strings.HasPrefix(s, option) {
		others = r.optional(s, 0, others)
	}
	r.begins.in(s, func(i int) {
		switch rest := s[i:]; {
		case strings.HasPrefix(rest, bearer), strings.HasPrefix(rest, basic):
			others = authorization(s, i, others)
		case strings.HasPrefix(rest, scheme):
			others = address(s, i, others)
		case strings.HasPrefix(rest[1:], option):
			others = r.optional(s, i+1, others)
		}
		for _, v := range r.values {
			if strings.HasPrefix(s[i:], v.text) {
				found = append(found, span{from: i, start: i, end: i + len(v.text), mark: v.mark, value: true})
			}
		}
		if i < past {
			return
		}
		if f, form := r.token(s, i); form != nil {
			tokens, past = append(tokens, f), f.end
		}
	})
	found = append(append(found, tokens...), others...)
	return r.assigned(s, found)
}

// beginnings is a set of the first four bytes of texts, and of few others that fall together with them: the
// quick look that leaves little of a text for a second one.
type beginnings [1 << 16]bool

// place is where four bytes stand in the set.
func place(s string, i int) uint16 {
	return uint16((uint32(s[i]) | uint32(s[i+1])<<8 | uint32(s[i+2])<<16 | uint32(s[i+3])<<24) * 0x9e3779b1 >> 16)
}

// add enters a text. If it is shorter than four bytes, characters of the set follow it.
func (b *beginnings) add(s string, follow set) {
	if len(s) >= 4 {
		b[place(s, 0)] = true
		return
	}
	for c := range byte(0x80) {
		if follow(c) {
			b.add(s+string(rune(c)), follow)
		}
	}
}

// in calls look for the places, in order, at which one of the texts may begin.
func (b *beginnings) in(s string, look func(i int)) {
	for i := 0; i+3 < len(s); i++ {
		if b[place(s, i)] {
			look(i)
		}
	}
}

// merged makes one span of those that overlap; the first gives the mark.
func merged(found []span) []span {
	out := found[:0]
	for _, f := range found {
		if n := len(out); n > 0 && f.start < out[n-1].end {
			out[n-1].end = max(out[n-1].end, f.end)
			out[n-1].from = min(out[n-1].from, f.from)
			continue
		}
		out = append(out, f)
	}
	return out
}

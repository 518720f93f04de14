// Package redact removes secrets from text before it is stored or shown. It removes tokens of a known form, private
// keys, passwords in addresses, random-looking values that are assigned to a name like api_key, and the values of
// environment variables whose names sound secret. It does not find any other secrets.
//
// It keeps commit ids, UUIDs, digests and paths. Redacting a redacted text does not change it.
package redact

import (
	"cmp"
	"slices"
	"strings"
)

// Redactor removes secrets from text. Several goroutines may use it at the same time. A nil Redactor removes nothing.
type Redactor struct {
	tokens  [256][]form    // by the first byte of the prefix
	vendors map[int][]form // by the length of the key
	values  []value        // longest first, so that a value is removed as a whole even if it contains another value
	begins  *beginnings
}

// value is a value of the environment, and the mark that replaces it.
type value struct{ text, mark string }

// New returns a Redactor that also removes the secret values of an environment. `environ` is a list of "NAME=value".
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

// Forms returns a Redactor that does not remove values of the environment. It is for text that programs read too,
// because it removes only strings that are unmistakably secrets.
func (r *Redactor) Forms() *Redactor {
	if r == nil {
		return nil
	}
	forms := *r
	forms.values = nil
	return &forms
}

// mark returns the text that replaces a secret. It has no character that is special in JSON, or inside single quotes in
// a shell.
func mark(what string) string { return "[redacted: " + what + "]" }

// String returns the text with a mark in place of each secret.
func (r *Redactor) String(s string) string {
	if r == nil || s == "" {
		return s
	}
	return without(s, r.find(s, &keyState{}))
}

// span is the position of a secret in a text, and the mark that replaces it.
type span struct {
	from       int // where the text begins that makes it a secret, such as a name or a prefix
	start, end int
	mark       string
	value      bool // the secret is a value of the environment, which Forms keeps
}

// find returns the spans of the secrets in a text, sorted by start. Spans may overlap. `key` says whether the text
// before ended inside a private key; find updates it for this text.
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

// inPlain returns the secrets of a text without escape sequences. If two spans start at the same offset, the mark of
// the first one is used.
func (r *Redactor) inPlain(s string, key *keyState) []span {
	found := key.find(s, nil)
	var tokens, others []span
	past := 0 // where the last token ended
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

// beginnings is a set of texts, stored as hashes of their first four bytes. It is a quick check: only where four bytes
// of a text have a hash in the set, one of the texts may begin, and the slower search is needed.
type beginnings [1 << 16]bool

// place returns the hash of the four bytes at i.
func place(s string, i int) uint16 {
	return uint16((uint32(s[i]) | uint32(s[i+1])<<8 | uint32(s[i+2])<<16 | uint32(s[i+3])<<24) * 0x9e3779b1 >> 16)
}

// add adds a text to the set. If the text has fewer than four bytes, add adds it with each possible continuation.
// `follow` has the characters that may continue it.
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

// in calls `look` for each offset in s, in order, at which one of the set's texts may begin.
func (b *beginnings) in(s string, look func(i int)) {
	for i := 0; i+3 < len(s); i++ {
		if b[place(s, i)] {
			look(i)
		}
	}
}

// merged joins spans that overlap. The joined span has the mark of the first one.
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

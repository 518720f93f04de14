// Package redact takes secrets out of text before it is kept or shown: tokens of a known form, private keys, passwords in
// addresses, what is assigned to a name like api_key and looks drawn at random, and the values of variables of the
// environment whose names say that they are secret. It knows no secret that has none of these forms.
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
	tokens byFirst
	keys   *[longestOfVendor + 1][]vendor
	values []value    // the longest first, so that one which contains another goes as a whole
	firsts beginnings // of values
}

// value is one that must not be seen, and what is written in its place.
type value struct{ text, mark string }

// New returns a redactor that knows the secret values of an environment, each variable as "NAME=value".
func New(environ []string) *Redactor {
	r := &Redactor{tokens: newByFirst(), keys: bySize()}
	for _, v := range environ {
		name, text, _ := strings.Cut(v, "=")
		if !secretName(name) {
			continue
		}
		for _, form := range forms(text) {
			if !slices.ContainsFunc(r.values, func(v value) bool { return v.text == form }) {
				r.values = append(r.values, value{form, mark("$" + name)})
				r.firsts.add(form)
			}
		}
	}
	slices.SortStableFunc(r.values, func(a, b value) int { return cmp.Compare(len(b.text), len(a.text)) })
	return r
}

// Forms is the redactor without the values of the environment: it takes out only what can be nothing else, in whatever is read
// by programs as well.
func (r *Redactor) Forms() *Redactor {
	if r == nil {
		return nil
	}
	return &Redactor{tokens: r.tokens, keys: r.keys}
}

// mark is what stands in place of a secret. Nothing in it has a meaning in JSON or in a shell's single quotes.
func mark(what string) string { return "[redacted: " + what + "]" }

// String returns the text without secrets.
func (r *Redactor) String(s string) string {
	if r == nil {
		return s
	}
	return without(s, r.find(s, &keyState{}))
}

// span is a secret that was found.
type span struct {
	from       int // where what makes it one begins: a name, a prefix
	start, end int
	mark       string
}

// find lists the secrets of a text in order, none over another. key is where the text before it ended, and becomes where
// this one does.
func (r *Redactor) find(s string, key *keyState) []span {
	if r == nil {
		return nil
	}
	text, where := withoutEscapes(s)
	found := merged(r.inPlain(text, key))
	if where != nil {
		for i, f := range found {
			found[i].from, found[i].start, found[i].end = where[f.from], where[f.start], where[max(f.end, 1)-1]+1
		}
	}
	return found
}

// inPlain lists the secrets of a text without escapes.
func (r *Redactor) inPlain(s string, key *keyState) []span {
	found := key.find(s, nil)
	found = r.environment(s, found)
	found = tokens(s, &r.tokens, found)
	found = bearers(s, found)
	found = addresses(s, found)
	found = assigned(s, r.keys, found)
	slices.SortStableFunc(found, func(a, b span) int { return cmp.Compare(a.start, b.start) })
	return found
}

// environment finds values of variables.
func (r *Redactor) environment(s string, found []span) []span {
	if len(r.values) == 0 {
		return found
	}
	for i := 0; i+2 < len(s); i++ {
		if !r.firsts.has(s, i) {
			continue
		}
		for _, v := range r.values {
			if strings.HasPrefix(s[i:], v.text) {
				found = append(found, span{i, i, i + len(v.text), v.mark})
			}
		}
	}
	return found
}

// beginnings is a set of the first three bytes of texts, and of few others that fall together with them: the quick look
// that leaves little of a text for a second one.
type beginnings [1 << 16 / 64]uint64

func (b *beginnings) at(s string, i int) (word int, bit uint64) {
	h := (uint32(s[i]) | uint32(s[i+1])<<8 | uint32(s[i+2])<<16) * 0x9e3779b1 >> 16
	return int(h >> 6), 1 << (h & 63)
}

func (b *beginnings) add(s string) {
	word, bit := b.at(s, 0)
	b[word] |= bit
}

// has looks at the three bytes from i on.
func (b *beginnings) has(s string, i int) bool {
	word, bit := b.at(s, i)
	return b[word]&bit != 0
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

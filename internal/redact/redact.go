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
	table  *[256][]form
	keys   *[longestOfVendor + 1][]vendor
	values []value // the longest first, so that one which contains another goes as a whole
}

// value is one that must not be seen, and what is written in its place.
type value struct{ text, mark string }

// New returns a redactor that knows the secret values of an environment, each variable as "NAME=value".
func New(environ []string) *Redactor {
	r := &Redactor{table: byFirst(), keys: bySize()}
	for _, v := range environ {
		name, text, _ := strings.Cut(v, "=")
		if !secretName(name) {
			continue
		}
		for _, form := range forms(text) {
			if !slices.ContainsFunc(r.values, func(v value) bool { return v.text == form }) {
				r.values = append(r.values, value{form, mark("$" + name)})
			}
		}
	}
	slices.SortStableFunc(r.values, func(a, b value) int { return cmp.Compare(len(b.text), len(a.text)) })
	return r
}

// mark is what stands in place of a secret. Nothing in it has a meaning in JSON or in a shell's single quotes.
func mark(what string) string { return "[redacted: " + what + "]" }

// String returns the text without secrets.
func (r *Redactor) String(s string) string {
	if r == nil {
		return s
	}
	found, _ := r.find(s, false)
	return without(s, found)
}

// span is a secret that was found.
type span struct {
	from       int // where what makes it one begins: a name, a prefix
	start, end int
	mark       string
}

// find lists the secrets of a text in order, none over another. inKey says that the text begins inside a private key, and
// the answer whether it ends inside one.
func (r *Redactor) find(s string, inKey bool) ([]span, bool) {
	found, open := keys(s, inKey)
	for _, v := range r.values {
		for at := 0; ; {
			i := strings.Index(s[at:], v.text)
			if i < 0 {
				break
			}
			found = append(found, span{at + i, at + i, at + i + len(v.text), v.mark})
			at += i + len(v.text)
		}
	}
	found = tokens(s, r.table, found)
	found = bearers(s, found)
	found = addresses(s, found)
	found = assigned(s, r.keys, found)
	slices.SortStableFunc(found, func(a, b span) int { return cmp.Compare(a.start, b.start) })
	return merged(found), open
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

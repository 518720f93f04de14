package redact

import (
	"sort"
	"strings"
)

var colours = lazy(`(?:\x1b|\\u001[bB]|\\x1b)\[[ -?]{0,37}[@-~]`)

// withoutEscapes returns a text without the sequences that colour it on a terminal, and what was cut out: a
// program that highlights what it prints may put one into the middle of a secret.
func withoutEscapes(s string) (string, cuts) {
	if strings.IndexByte(s, 0x1b) < 0 &&
		(strings.IndexByte(s, '\\') < 0 || !strings.Contains(s, `\u001`) && !strings.Contains(s, `\x1`)) {
		return s, nil
	}
	var b strings.Builder
	var all cuts
	kept := 0
	for _, found := range colours().FindAllStringIndex(s, -1) {
		b.WriteString(s[kept:found[0]])
		kept = found[1]
		all = append(all, cut{b.Len(), kept})
	}
	b.WriteString(s[kept:])
	return b.String(), all
}

// cuts are what was cut out of a text, in order.
type cuts []cut

// cut is where a text goes on after something was cut out: in what is left, and in what was given.
type cut struct{ at, from int }

// before is where a byte of what is left stands in what was given.
func (c cuts) before(at int) int {
	n := sort.Search(len(c), func(i int) bool { return c[i].at > at })
	if n == 0 {
		return at
	}
	return at - c[n-1].at + c[n-1].from
}

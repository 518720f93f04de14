package redact

import (
	"sort"
	"strings"
)

var colours = lazy(`(?:\x1b|\\u001[bB]|\\x1b)\[[ -?]{0,37}[@-~]`)

// withoutEscapes removes the escape sequences for terminal colours from a text, and returns where they were. A program
// that highlights its output may put such a sequence in the middle of a secret.
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

// cuts lists the parts that were removed from a text, in order.
type cuts []cut

// cut is a removed part. The text after it begins at offset `at` in the shorter text, and at offset `from` in the
// original.
type cut struct{ at, from int }

// before returns the offset in the original text for an offset in the shorter text.
func (c cuts) before(at int) int {
	n := sort.Search(len(c), func(i int) bool { return c[i].at > at })
	if n == 0 {
		return at
	}
	return at - c[n-1].at + c[n-1].from
}

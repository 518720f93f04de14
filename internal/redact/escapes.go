package redact

import (
	"sort"
	"strings"
)

// withoutEscapes returns a text without the sequences that colour it on a terminal, and what was cut out: a program that
// highlights what it prints may put one into the middle of a secret.
func withoutEscapes(s string) (string, cuts) {
	if strings.IndexByte(s, 0x1b) < 0 && (strings.IndexByte(s, '\\') < 0 || !strings.Contains(s, `\u001`) && !strings.Contains(s, `\x1`)) {
		return s, nil
	}
	var b strings.Builder
	b.Grow(len(s))
	all := make(cuts, 0, min(strings.Count(s, "["), longest/16))
	kept := 0
	for i := 0; i < len(s); {
		if s[i] != 0x1b && s[i] != '\\' {
			i++
			continue
		}
		n := escape(s[i:])
		if n == 0 {
			i++
			continue
		}
		b.WriteString(s[kept:i])
		i += n
		kept = i
		all = append(all, cut{b.Len(), i})
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

// escape is the length of the sequence that a text begins with, 0 for none: the sign, as it is or as JSON and others write
// it, "[", parameters and a letter.
func escape(s string) int {
	n := 0
	if strings.HasPrefix(s, "\x1b[") {
		n = 2
	} else if strings.HasPrefix(s, `\u001b[`) || strings.HasPrefix(s, `\u001B[`) {
		n = 7
	} else if strings.HasPrefix(s, `\x1b[`) {
		n = 5
	} else {
		return 0
	}
	for n < len(s) && n < 40 && s[n] >= ' ' && s[n] <= '?' {
		n++
	}
	if n < len(s) && s[n] >= '@' && s[n] <= '~' {
		return n + 1
	}
	return 0
}

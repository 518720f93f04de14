package redact

import "strings"

// withoutEscapes returns a text without the sequences that colour it on a terminal, and where each byte of it stands in
// the text that was given: a program that highlights what it prints may put one into the middle of a secret. Nil: there
// are none.
func withoutEscapes(s string) (string, []int) {
	if strings.IndexByte(s, 0x1b) < 0 && !strings.Contains(s, `\u001`) && !strings.Contains(s, `\x1`) {
		return s, nil
	}
	var b strings.Builder
	where := make([]int, 0, len(s)+1)
	for i := 0; i < len(s); {
		if n := escape(s[i:]); n > 0 {
			i += n
			continue
		}
		b.WriteByte(s[i])
		where = append(where, i)
		i++
	}
	return b.String(), append(where, len(s))
}

// escape is the length of the sequence that a text begins with, 0 for none: the sign, as it is or as JSON and others write
// it, "[", parameters and a letter.
func escape(s string) int {
	for _, sign := range []string{"\x1b[", `\u001b[`, `\u001B[`, `\x1b[`} {
		if s[0] != sign[0] || !strings.HasPrefix(s, sign) {
			continue
		}
		n := len(sign)
		for n < len(s) && n < 40 && s[n] >= ' ' && s[n] <= '?' {
			n++
		}
		if n < len(s) && s[n] >= '@' && s[n] <= '~' {
			return n + 1
		}
	}
	return 0
}

// Package safetext makes text of unknown origin fit to be shown: nothing in it can move a terminal's cursor, write its
// clipboard or title, hide, or change the order in which other text is read.
package safetext

import (
	"strings"
	"unicode/utf8"
)

const (
	esc = '\x1b'
	bel = '\a'
)

// Strip drops control characters except newline and tab, whole escape sequences, controls of the writing direction, and
// characters without a width. Bytes that are no UTF-8 become U+FFFD. Stripped text stays as it is when stripped again.
func Strip(s string) string {
	if plain(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	c := scanner{s: s}
	for at := 0; at < len(s); {
		end := at
		for end < len(s) && s[end] >= ' ' && s[end] < 0x7f {
			end++
		}
		b.WriteString(s[at:end])
		if at = end; at == len(s) {
			break
		}
		if n := c.sequence(at); n > 0 {
			at += n
			continue
		}
		r, n := utf8.DecodeRuneInString(s[at:])
		if !hidden(r) {
			b.WriteRune(r)
		}
		at += n
	}
	return b.String()
}

// Line is Strip for one line: white space becomes single spaces, and what is longer than limit characters is cut and
// ends in "…". limit 0 does not cut.
func Line(s string, limit int) string {
	s = strings.Join(strings.Fields(Strip(s)), " ")
	if limit <= 0 || utf8.RuneCountInString(s) <= limit {
		return s
	}
	for i := range s {
		if limit--; limit == 0 {
			return strings.TrimRight(s[:i], " ") + "…"
		}
	}
	return s
}

// plain is the common case: printable ASCII.
func plain(s string) bool {
	for i := range len(s) {
		if c := s[i]; (c < ' ' && c != '\n' && c != '\t') || c >= 0x7f {
			return false
		}
	}
	return true
}

func hidden(r rune) bool {
	switch {
	case r == '\n' || r == '\t':
		return false
	case r < ' ' || r >= 0x7f && r <= 0x9f: // C0, DEL, C1
		return true
	case r == 0xad || r == 0x34f || r == 0x61c || r == 0x180e: // soft hyphen, joiners and marks without a width
		return true
	case r >= 0x200b && r <= 0x200f, r >= 0x2028 && r <= 0x202e, r >= 0x2060 && r <= 0x206f: // zero width, lines, bidi
		return true
	case r >= 0xfff9 && r <= 0xfffb, r == 0xfeff: // annotations, byte order mark
		return true
	case r >= 0xe0000 && r <= 0xe0fff: // tags and further variation selectors: text that nobody sees
		return true
	}
	return false
}

// scanner finds escape sequences in time that is linear in the text.
type scanner struct {
	s     string
	noEnd int // before this byte no sequence has an end: looked for once, and not again
}

// sequence returns the length of the escape sequence that begins at a byte, 0 for none. Of one that is not ended on its
// line only the introducer counts: otherwise it would hide all that follows.
func (c *scanner) sequence(at int) int {
	kind, n := introducer(c.s[at:])
	if n == 0 {
		return 0
	}
	switch kind {
	case '[':
		return n + control(c.s[at+n:])
	case ']', 'P', 'X', '^', '_':
		return n + c.text(at+n)
	}
	return n
}

// introducer reads ESC and what follows it, or its one-character form between U+0080 and U+009F.
func introducer(s string) (kind rune, n int) {
	if s[0] != esc {
		r, n := utf8.DecodeRuneInString(s)
		if r >= 0x80 && r <= 0x9f {
			return r - 0x40, n
		}
		return 0, 0
	}
	n = 1
	for n < len(s) && s[n] >= ' ' && s[n] <= '/' { // ESC ( B and the like
		n++
	}
	if n == len(s) || s[n] < '0' || s[n] > '~' {
		return 0, n
	}
	if n > 1 {
		return 0, n + 1
	}
	return rune(s[1]), 2
}

// control is the rest of CSI: parameters, intermediates, one final character.
func control(s string) int {
	n := 0
	for n < len(s) && s[n] >= ' ' && s[n] <= '?' {
		n++
	}
	if n < len(s) && s[n] >= '@' && s[n] <= '~' {
		n++
	}
	return n
}

// text is the rest of OSC, DCS and their like, up to BEL or ST.
func (c *scanner) text(from int) int {
	if from < c.noEnd {
		return 0
	}
	for i, r := range c.s[from:] {
		switch {
		case r == '\n':
			c.noEnd = from + i
			return 0
		case r == bel:
			return i + 1
		case r == 0x9c:
			return i + utf8.RuneLen(r)
		case r == esc && strings.HasPrefix(c.s[from+i+1:], `\`):
			return i + 2
		}
	}
	c.noEnd = len(c.s)
	return 0
}

// ShellWord is text that a shell takes for one word.
func ShellWord(s string) string {
	if s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./@%+=:,-") == "" &&
		s[0] != '-' {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

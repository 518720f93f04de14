// Package safetext makes text of unknown origin safe to print. Such text cannot move the cursor, change the clipboard
// or the terminal's title, be invisible, or change the order in which other text is displayed.
package safetext

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	esc = '\x1b'
	bel = '\a'
)

// Strip removes everything from a text that is not displayed: control characters except newline and tab, whole escape
// sequences, controls of the text's direction, and characters without a width. It replaces invalid UTF-8 by U+FFFD.
// Stripping a stripped text does not change it.
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

// Line strips a text and makes it one line, with single spaces between words. A text of more than `limit` characters is
// cut and ends in "…". If `limit` is 0, no text is cut.
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

// plain reports whether a text is printable ASCII. This is the usual case, and such a text needs no stripping.
func plain(s string) bool {
	for i := range len(s) {
		if c := s[i]; (c < ' ' && c != '\n' && c != '\t') || c >= 0x7f {
			return false
		}
	}
	return true
}

func hidden(r rune) bool { return unicode.Is(invisible, r) }

// invisible has the characters that are not displayed, or that change how other characters look, except newline and
// tab.
var invisible = &unicode.RangeTable{LatinOffset: 4, R16: []unicode.Range16{
	{Lo: 0, Hi: 0x08, Stride: 1}, {Lo: 0x0b, Hi: 0x1f, Stride: 1}, {Lo: 0x7f, Hi: 0x9f, Stride: 1}, // C0, DEL, C1
	{Lo: 0xad, Hi: 0xad, Stride: 1}, {Lo: 0x34f, Hi: 0x34f, Stride: 1}, // soft hyphen, zero-width joiners and marks
	{Lo: 0x61c, Hi: 0x61c, Stride: 1}, {Lo: 0x180e, Hi: 0x180e, Stride: 1},
	{Lo: 0x200b, Hi: 0x200f, Stride: 1}, {Lo: 0x2028, Hi: 0x202e, Stride: 1}, // zero width, lines, directions
	{Lo: 0x2060, Hi: 0x206f, Stride: 1},
	{Lo: 0xfeff, Hi: 0xfeff, Stride: 1}, {Lo: 0xfff9, Hi: 0xfffb, Stride: 1}, // byte order mark, annotations
}, R32: []unicode.Range32{{Lo: 0xe0000, Hi: 0xe0fff, Stride: 1}}} // tags, and further variation selectors

// scanner finds escape sequences in a text, in linear time.
type scanner struct {
	s     string
	noEnd int // no sequence ends before this byte; a search need not look there again
}

// sequence returns the length of the escape sequence that begins at a byte, or 0 if none begins there. If the sequence
// does not end on its line, the result is the length of its introducer alone. Otherwise all text after it would be
// removed.
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

// introducer reads the start of an escape sequence: ESC and the characters after it, or the single character between
// U+0080 and U+009F that means the same. It returns the type of the sequence and the length of the start.
func introducer(s string) (kind rune, n int) {
	if s[0] != esc {
		r, n := utf8.DecodeRuneInString(s)
		if r >= 0x80 && r <= 0x9f {
			return r - 0x40, n
		}
		return 0, 0
	}
	n = len(s) - len(strings.TrimLeft(s[1:], " !\"#$%&'()*+,-./")) // such as ESC ( B
	if n == len(s) || s[n] < '0' || s[n] > '~' {
		return 0, n
	}
	if n > 1 {
		return 0, n + 1
	}
	return rune(s[1]), 2
}

// control returns the length of a CSI sequence after its introducer: parameters, intermediate characters, one final
// character.
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

// text returns the length of a sequence that contains text, such as OSC or DCS, after its introducer. It ends with BEL
// or ST.
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

// ShellWord returns a text so that a shell reads it as one word. It adds quotes if they are needed.
func ShellWord(s string) string {
	if s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./@%+=:,-") == "" &&
		s[0] != '-' {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

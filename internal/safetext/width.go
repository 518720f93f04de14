package safetext

import (
	"strings"
	"unicode"
)

// Width returns the number of terminal columns of a text that was stripped before.
func Width(s string) int {
	n := 0
	for _, r := range s {
		n += columns(r)
	}
	return n
}

// Cut shortens a stripped text to at most `limit` columns. A shortened text ends in "…". If `limit` is below 1, Cut
// returns "".
func Cut(s string, limit int) string {
	if len(s) <= limit || Width(s) <= limit {
		return s
	}
	if limit < 1 {
		return ""
	}
	left := limit - 1
	for i, r := range s {
		if left -= columns(r); left < 0 {
			return strings.TrimRight(s[:i], " ") + "…"
		}
	}
	return s
}

// wide has the characters that are two columns wide: East Asian scripts, full-width forms, and emoji.
var wide = &unicode.RangeTable{
	R16: []unicode.Range16{
		{0x1100, 0x115f, 1}, {0x231a, 0x231b, 1}, {0x23e9, 0x23ec, 1}, {0x2614, 0x2615, 1}, {0x2705, 0x2705, 1}, {0x270a,
			0x270b, 1},
		{0x274c, 0x274c, 1}, {0x2753, 0x2755, 1}, {0x2e80, 0x303e, 1}, {0x3041, 0xa4cf, 1}, {0xa960, 0xa97f, 1},
		{0xac00, 0xd7a3, 1},
		{0xf900, 0xfaff, 1}, {0xfe30, 0xfe6f, 1}, {0xff00, 0xff60, 1}, {0xffe0, 0xffe6, 1},
	},
	R32: []unicode.Range32{{0x17000, 0x18aff, 1}, {0x1b000, 0x1b2ff, 1}, {0x1f300, 0x1f64f, 1}, {0x1f680, 0x1f6ff, 1},
		{0x1f900, 0x1f9ff, 1}, {0x20000, 0x3fffd, 1}},
}

// columns returns the number of terminal columns of a character.
func columns(r rune) int {
	switch {
	case r < 0x300:
		return 1
	case unicode.Is(unicode.Mn, r) || unicode.Is(unicode.Me, r): // combining marks have no column of their own
		return 0
	case unicode.Is(wide, r):
		return 2
	}
	return 1
}

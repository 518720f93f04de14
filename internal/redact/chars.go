package redact

import (
	"math"
	"strings"
)

// set is a set of ASCII characters.
type set func(byte) bool

func lower(b byte) bool  { return b >= 'a' && b <= 'z' }
func upper(b byte) bool  { return b >= 'A' && b <= 'Z' }
func digit(b byte) bool  { return b >= '0' && b <= '9' }
func alnum(b byte) bool  { return lower(b) || upper(b) || digit(b) }
func hex(b byte) bool    { return digit(b) || b >= 'a' && b <= 'f' || b >= 'A' && b <= 'F' }
func base32(b byte) bool { return upper(b) || b >= '2' && b <= '7' }
func caps(b byte) bool   { return upper(b) || digit(b) }
func word(b byte) bool   { return alnum(b) || b == '_' || b == '-' }
func dotted(b byte) bool { return word(b) || b == '.' }
func base64(b byte) bool { return alnum(b) || b == '+' || b == '/' || b == '=' || b == '_' || b == '-' }
func folder(b byte) bool { return base64(b) || b == '.' }

// longestSecret bounds what is looked at behind a prefix or a name, in bytes.
const longestSecret = 8 << 10

// run is how many characters of the set a text has at its beginning.
func (in set) run(s string) int {
	s = s[:min(len(s), longestSecret)]
	for i := range len(s) {
		if !in(s[i]) {
			return i
		}
	}
	return len(s)
}

// entropy is Shannon's, in bits for each byte.
func entropy(s string) float64 {
	var count [256]int
	for i := range len(s) {
		count[s[i]]++
	}
	bits := 0.0
	for _, n := range count {
		if n > 0 {
			p := float64(n) / float64(len(s))
			bits -= p * math.Log2(p)
		}
	}
	return bits
}

// mixed tells text with letters and digits.
func mixed(s string) bool {
	letters, digits := false, false
	for i := range len(s) {
		letters, digits = letters || lower(s[i]) || upper(s[i]), digits || digit(s[i])
	}
	return letters && digits
}

// named tells what names things and is no secret: a commit, a digest, a UUID.
func named(s string) bool {
	s = strings.TrimPrefix(strings.TrimPrefix(s, "sha256:"), "sha256-")
	return len(s) >= 7 && set(hex).run(strings.ReplaceAll(s, "-", "")) == len(strings.ReplaceAll(s, "-", ""))
}

// begins tells whether a word begins at i: behind what is no letter and no digit, or behind an escape, as in \n, \u003d and %3D.
func begins(s string, i int) bool {
	if i == 0 || !alnum(s[i-1]) {
		return true
	}
	switch {
	case i >= 2 && s[i-2] == '\\' && strings.IndexByte("nrtbf", s[i-1]) >= 0:
		return true
	case i >= 6 && s[i-6] == '\\' && s[i-5] == 'u' && set(hex).run(s[i-4:i]) == 4:
		return true
	}
	return i >= 3 && s[i-3] == '%' && hex(s[i-2]) && hex(s[i-1])
}

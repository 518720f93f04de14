package redact

import (
	"math"
	"regexp"
	"sync"
)

// set is a set of ASCII characters.
type set func(byte) bool

var (
	alnum  = of("A-Za-z0-9")
	dotted = of("A-Za-z0-9_.-")
	base64 = of("A-Za-z0-9+/=_-")
	folder = of("A-Za-z0-9+/=_.-")
)

func visible(b byte) bool { return b > ' ' && b < 0x7f }

// of returns the set for a character class as in regular expressions, such as A-Za-z0-9_-. A - at its end stands for
// itself.
func of(class string) set {
	var in [256]bool
	for i := 0; i < len(class); i++ {
		to := class[i]
		if i+2 < len(class) && class[i+1] == '-' {
			to = class[i+2]
		}
		for c := class[i]; c <= to; c++ {
			in[c] = true
		}
		if to != class[i] {
			i += 2
		}
	}
	return func(b byte) bool { return in[b] }
}

// longestSecret is the maximum length of a secret after a prefix or a name, in bytes.
const longestSecret = 8 << 10

// run returns how many bytes at the start of a text are in the set, at most longestSecret.
func (in set) run(s string) int {
	s = s[:min(len(s), longestSecret)]
	for i := range len(s) {
		if !in(s[i]) {
			return i
		}
	}
	return len(s)
}

// entropy returns the Shannon entropy of a text, in bits per byte.
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

func count(s string) (uppers, lowers, digits int) {
	for i := range len(s) {
		switch b := s[i]; {
		case b >= 'A' && b <= 'Z':
			uppers++
		case b >= 'a' && b <= 'z':
			lowers++
		case b >= '0' && b <= '9':
			digits++
		}
	}
	return uppers, lowers, digits
}

func mixed(s string) bool {
	uppers, lowers, digits := count(s)
	return uppers+lowers > 0 && digits > 0
}

// likely reports whether a text looks random. Words do not. The check is needed because prefixes of tokens, such as
// "sk-" and "hf_", are also beginnings of words.
func likely(s string) bool { return entropy(s) > 2.5 && (mixed(s) || entropy(s) > 3.5) }

var (
	digest  = lazy(`^(?:sha256[:-])?[A-Fa-f0-9-]{7,}$`)
	uuid    = lazy(`^[A-Fa-f0-9]{8}(?:-[A-Fa-f0-9]{4}){3}-[A-Fa-f0-9]{12}$`)
	numbers = lazy(`\d+`)
	escaped = lazy(`(?:\\[nrtbf]|\\u[A-Fa-f0-9]{4}|%[A-Fa-f0-9]{2})$`)
)

// begins reports whether a word begins at i. It does if the character before i is neither a letter nor a digit, or is
// the end of an escape, as in \n, \u003d and %3D.
func begins(s string, i int) bool {
	return i == 0 || !alnum(s[i-1]) || escaped().MatchString(s[max(0, i-6):i])
}

// lazy returns a function that compiles the pattern at its first call, because most commands of wfs need none.
func lazy(pattern string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
}

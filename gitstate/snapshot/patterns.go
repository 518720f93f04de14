package snapshot

import (
	"path"
	"strings"

	"github.com/wfs-dev/wfs/internal/lazyregexp"
)

// oneOf finds what mayMatch takes for any character: one out of a set, or an escaped one.
var oneOf = lazyregexp.New(`\\.|\[[^\]]*\]`)

// MayMatch reports whether a pattern of gitignore(5) may fit a path, or a directory on the way to it. A no is
// certain: of the pattern only the last part counts that is not a mere star, wherever in the path it fits.
func MayMatch(pattern, name string) bool {
	if strings.ContainsAny(pattern, `[]\`) {
		if pattern = oneOf.ReplaceAllString(pattern, "?"); strings.ContainsAny(pattern, `[]\`) {
			return true
		}
	}
	last := ""
	for part := range strings.SplitSeq(strings.TrimRight(pattern, " \t\r\n"), "/") {
		if strings.Trim(part, "*") != "" {
			last = part
		}
	}
	if last == "" {
		return strings.Contains(pattern, "*")
	}
	for part := range strings.SplitSeq(name, "/") {
		if fits, err := path.Match(last, part); fits || err != nil {
			return true
		}
	}
	return false
}

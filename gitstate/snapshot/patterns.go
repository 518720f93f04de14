package snapshot

import (
	"path"
	"strings"

	"github.com/wfs-dev/wfs/internal/lazyregexp"
)

// oneOf matches the parts of a pattern that MayMatch replaces by "?": a set of characters, or an escaped character.
var oneOf = lazyregexp.New(`\\.|\[[^\]]*\]`)

// MayMatch reports whether a pattern of gitignore(5) may match a path or one of its parent directories. The answer
// false is certain. MayMatch only compares the last part of the pattern that is not just stars, with each part of the
// path.
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

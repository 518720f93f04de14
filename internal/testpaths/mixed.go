package testpaths

import (
	"path"

	"github.com/wfs-dev/wfs/internal/lazyregexp"
)

// rustTests finds a module of tests: other attributes, comments and its visibility may stand between.
var rustTests = lazyregexp.New(`#\[cfg\((?:all\(|any\()?\s*test\b[^\]]*\]\s*` +
	`(?:#\[[^\n]*\]\s*|//[^\n]*\s*)*(?:pub\s*(?:\([^)\n]*\)\s*)?)?mod\s`)

// MixesTests reports whether a path may hold both code and tests of it.
func MixesTests(file string) bool { return path.Ext(file) == ".rs" && classOf(file) == source }

// TestsFrom is where the tests begin in a file: at its beginning in one that holds nothing else, at its end where there
// are none.
func TestsFrom(file string, src []byte) int {
	if HoldsTests(file) {
		return 0
	}
	if MixesTests(file) {
		if at := rustTests.FindIndex(src); at != nil {
			return at[0]
		}
	}
	return len(src)
}

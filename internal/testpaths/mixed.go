package testpaths

import (
	"path"

	"github.com/wfs-dev/wfs/internal/lazyregexp"
)

// rustTests matches a module of tests. Other attributes, comments and a visibility may stand before `mod`.
var rustTests = lazyregexp.New(`#\[cfg\((?:all\(|any\()?\s*test\b[^\]]*\]\s*` +
	`(?:#\[[^\n]*\]\s*|//[^\n]*\s*)*(?:pub\s*(?:\([^)\n]*\)\s*)?)?mod\s`)

// MixesTests reports whether a path may hold both code and its tests.
func MixesTests(file string) bool { return path.Ext(file) == ".rs" && classOf(file) == source }

// TestsFrom returns the offset at which the tests begin in a file: 0 if it holds only tests, its length if it has none.
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

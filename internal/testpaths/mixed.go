package testpaths

import (
	"path"

	"github.com/wfs-dev/wfs/internal/lazyregexp"
)

// rustTests matches the start of a Rust module of tests. Other attributes, comments and a visibility may be before
// `mod`.
var rustTests = lazyregexp.New(`#\[cfg\((?:all\(|any\()?\s*test\b[^\]]*\]\s*` +
	`(?:#\[[^\n]*\]\s*|//[^\n]*\s*)*(?:pub\s*(?:\([^)\n]*\)\s*)?)?mod\s`)

// MixesTests reports whether a file may contain both code and the tests of that code.
func MixesTests(file string) bool { return path.Ext(file) == ".rs" && classOf(file) == source }

// TestsFrom returns the byte offset in a file at which its tests begin. It is 0 if the file has only tests, and the
// file's length if it has none.
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

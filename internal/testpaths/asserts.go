package testpaths

import (
	"path"

	"github.com/wfs-dev/wfs/internal/lazyregexp"
)

// testLibrary matches an import of a test library, by language. Libraries that product code uses too, such as
// node:assert, are not among them.
var testLibrary = map[string]*lazyregexp.Regexp{
	"go":     lazyregexp.New(`(?m)^\s*(?:import )?"(?:testing|github\.com/stretchr/testify/\w+)"$`),
	"python": lazyregexp.New(`(?m)^\s*(?:import|from) (?:pytest|unittest)\b`),
	"script": lazyregexp.New(`(?:from|require\()\s*['"](?:vitest|chai|node:test|@jest/globals)['"]`),
	"java":   lazyregexp.New(`(?m)^\s*import (?:static )?org\.(?:junit|assertj|hamcrest|testng)\b`),
}

// Asserts reports whether a file is written for tests, whatever its path is: its code imports a test library.
func Asserts(file string, src []byte) bool {
	library := testLibrary[languages[path.Ext(file)]]
	return library != nil && library.Match(src)
}

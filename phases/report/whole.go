package report

import (
	"maps"
	"path"
	"slices"

	"github.com/wfs-dev/wfs/session"
)

// SortedOnce sorts a list and removes duplicates.
func SortedOnce[T ~string](list []T) []T {
	slices.Sort(list)
	return slices.Compact(list)
}

// GateID returns the id for the result of a gate as a whole. There is such a result if the gate has only an exit code,
// or failed in a way that no test explains.
func GateID(gate string) session.TestID { return session.TestID("gate " + gate) }

// Count counts the results of the tests, without the result of the gate as a whole.
func Count(tests session.Tests, gate string) session.Counts {
	c := tests.Count()
	switch tests[GateID(gate)] {
	case session.TestPass:
		c.Passed--
	case session.TestFail:
		c.Failed--
	case session.TestError:
		c.Errors--
	}
	return c
}

// SortedKeys returns the keys of a map, sorted.
func SortedKeys[K ~string, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }

// IsCode reports whether a file is source code.
func IsCode(file string) bool {
	switch path.Ext(file) {
	case ".go", ".rs", ".rb", ".java", ".kt", ".kts", ".groovy", ".scala", ".cs", ".fs", ".vb", ".php":
		return true
	}
	return IsScript(file)
}

// Bad reports whether a test failed or had an error.
func Bad(s session.TestStatus) bool { return s == session.TestFail || s == session.TestError }

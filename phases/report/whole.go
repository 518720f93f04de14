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

// GateID returns the id for a gate as a whole: an exit-code gate, or an exit code that no test explains.
func GateID(gate string) session.TestID { return session.TestID("gate " + gate) }

// Count counts the results without the entry for the gate as a whole.
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

// SortedKeys returns the keys of a map in order.
func SortedKeys[K ~string, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }

// IsCode reports whether a file is source code.
func IsCode(file string) bool {
	switch path.Ext(file) {
	case ".go", ".rs", ".rb", ".java", ".kt", ".kts", ".groovy", ".scala", ".cs", ".fs", ".vb", ".php":
		return true
	}
	return IsScript(file)
}

// Bad reports whether a test has failed.
func Bad(s session.TestStatus) bool { return s == session.TestFail || s == session.TestError }

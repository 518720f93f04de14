package verdict

import (
	"path"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/phases/report"
	"github.com/wfs-dev/wfs/session"
)

// Belongs reports whether a test belongs to a unit, judging by the test's id. A unit is a Go package, a module or a
// file; in the sessions of older versions of wfs it may also be the name of a test.
func Belongs(id session.TestID, unit string) bool {
	if Matches(id, unit) || report.Under(id, session.TestID(unit)) {
		return true
	}
	class, _, ok := strings.Cut(string(id), "::")
	stem := strings.TrimSuffix(path.Base(unit), path.Ext(unit))
	return ok && stem != unit && (class == stem || strings.HasSuffix(class, "."+stem))
}

// Matches reports whether a name that an agent or an older session gives stands for this test: its full id, the name
// in its declaration, or the name of a test that it is a subtest of. The latter is included because Node reports a
// test with subtests as a suite.
func Matches(id session.TestID, name string) bool {
	if string(id) == name || report.Bare(string(id)) == name {
		return true
	}
	return !strings.Contains(name, "::") && notGo(id) && slices.ContainsFunc(DeclaredNames(id), func(n string) bool {
		return n == name || strings.Contains(string(id), "::") && strings.HasSuffix(n, " "+name) // after the suite's name
	})
}

// DeclaredNames returns the names by which a test's declaration can be found in the source, likeliest first.
func DeclaredNames(id session.TestID) []string {
	names := []string{report.Leaf(id)}
	if _, name := report.SplitGo(id); name != "" {
		return append(names, strings.Split(name, "/")[1:]...) // a suite's method, or subtests
	}
	if segments := strings.Split(string(id), "::"); len(segments) > 2 {
		names = append(names, segments[1:len(segments)-1]...) // rstest: adds::case_1
	}
	if suites := strings.Split(string(id), report.SuiteSep); len(suites) > 1 {
		names = append(names, suites[:len(suites)-1]...) // tests that it is a subtest of
	}
	return names
}

func notGo(id session.TestID) bool { pkg, _ := report.SplitGo(id); return pkg == "" }

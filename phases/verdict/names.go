package verdict

import (
	"path"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/phases/report"
	"github.com/wfs-dev/wfs/session"
)

// Belongs reports whether a test's id places it in a unit: a Go package, a module, or the file of a class. Older
// versions of wfs stored test names as units.
func Belongs(id session.TestID, unit string) bool {
	if Matches(id, unit) || report.Under(id, session.TestID(unit)) {
		return true
	}
	class, _, ok := strings.Cut(string(id), "::")
	stem := strings.TrimSuffix(path.Base(unit), path.Ext(unit))
	return ok && stem != unit && (class == stem || strings.HasSuffix(class, "."+stem))
}

// Matches reports whether a name means this test: its full id, its declared name, or a test that has it as a subtest.
// Node reports a test with subtests as their suite.
func Matches(id session.TestID, name string) bool {
	if string(id) == name || report.Bare(string(id)) == name {
		return true
	}
	return !strings.Contains(name, "::") && notGo(id) && slices.ContainsFunc(DeclaredNames(id), func(n string) bool {
		return n == name || strings.Contains(string(id), "::") && strings.HasSuffix(n, " "+name) // after its suites
	})
}

// DeclaredNames returns the names under which a test may be declared, likeliest first.
func DeclaredNames(id session.TestID) []string {
	names := []string{report.Leaf(id)}
	if _, name := report.SplitGo(id); name != "" {
		return append(names, strings.Split(name, "/")[1:]...) // methods of suites
	}
	if segments := strings.Split(string(id), "::"); len(segments) > 2 {
		names = append(names, segments[1:len(segments)-1]...) // rstest: adds::case_1
	}
	if suites := strings.Split(string(id), report.SuiteSep); len(suites) > 1 {
		names = append(names, suites[:len(suites)-1]...) // tests that contain it as a subtest
	}
	return names
}

func notGo(id session.TestID) bool { pkg, _ := report.SplitGo(id); return pkg == "" }

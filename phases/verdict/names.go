package verdict

import (
	"path"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/phases/report"
	"github.com/wfs-dev/wfs/session"
)

// Belongs reports whether a test is in a unit, as far as its id says so: a Go package, a module, the file of a class.
// An older wfs wrote names of tests here.
func Belongs(id session.TestID, unit string) bool {
	if Matches(id, unit) || report.Under(id, session.TestID(unit)) {
		return true
	}
	class, _, ok := strings.Cut(string(id), "::")
	stem := strings.TrimSuffix(path.Base(unit), path.Ext(unit))
	return ok && stem != unit && (class == stem || strings.HasSuffix(class, "."+stem))
}

// Matches reports whether a test is the one that is meant by a name: in full, as it is declared, or as a subtest of it.
// Node reports a test that has subtests as their suite, not as a test.
func Matches(id session.TestID, name string) bool {
	if string(id) == name || report.Bare(string(id)) == name {
		return true
	}
	return !strings.Contains(name, "::") && notGo(id) && slices.ContainsFunc(DeclaredNames(id), func(n string) bool {
		return n == name || strings.Contains(string(id), "::") && strings.HasSuffix(n, " "+name) // behind its suites
	})
}

// DeclaredNames are the names that a test may have been declared by, the likeliest first.
func DeclaredNames(id session.TestID) []string {
	names := []string{report.Leaf(id)}
	if _, name := report.SplitGo(id); name != "" {
		return append(names, strings.Split(name, "/")[1:]...) // methods of suites
	}
	if segments := strings.Split(string(id), "::"); len(segments) > 2 {
		names = append(names, segments[1:len(segments)-1]...) // adds::case_1 of rstest
	}
	if suites := strings.Split(string(id), report.SuiteSep); len(suites) > 1 {
		names = append(names, suites[:len(suites)-1]...) // tests whose subtest it is
	}
	return names
}

func notGo(id session.TestID) bool { pkg, _ := report.SplitGo(id); return pkg == "" }

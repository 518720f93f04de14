package gate

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/phases/process"
	"github.com/wfs-dev/wfs/phases/report"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

// mostAlone limits how many tests may run alone. A command line does not hold many more names, and when so many tests
// fail, they are not flaky.
const mostAlone = 50

// Alone returns a copy of the gate that runs only the given tests. ok is false if wfs does not understand the gate's
// command. It understands plain command lines that start the runner themselves and do not select tests yet.
func (j *Runner) Alone(g workflows.Gate, ids []session.TestID) (narrow workflows.Gate, ok bool) {
	words := plainWords(g.Run)
	if len(words) == 0 || len(ids) == 0 || len(ids) > mostAlone {
		return g, false
	}
	chosen, ok := j.choose(g.Format, words, ids)
	if !ok {
		return g, false
	}
	narrow = g
	narrow.Name += "-alone"
	if strings.Contains(chosen[0], "=") { // the first word sets a variable
		chosen = append([]string{"env"}, chosen...)
	}
	narrow.Run = workflows.Command{Argv: chosen}
	return narrow, true
}

// choose adds options that select the given tests to a runner's command line.
func (j *Runner) choose(format workflows.Format, words []string, ids []session.TestID) (chosen []string, ok bool) {
	switch {
	case format == workflows.FormatGoTest:
		return goAlone(words, ids)
	case format == workflows.FormatUnittest:
		return unittestAlone(words, ids)
	case format == workflows.FormatJUnit && slices.Contains(words, "--test") && words[0] == "node":
		return nodeAlone(words, ids)
	case format == workflows.FormatJUnit:
		return pytestAlone(words, ids, func(file string) bool { return j.Read(file) != nil })
	}
	return nil, false
}

// plainWords splits a command into words. It returns none if a shell is needed for more than splitting the line and
// inserting $WFS_REPORT.
func plainWords(c workflows.Command) []string {
	if c.Shell == "" {
		return slices.Clone(c.Argv)
	}
	line := strings.ReplaceAll(c.Shell, `"$WFS_REPORT"`, "\x00")
	if strings.ContainsAny(line, "'\"\\|&;<>()$`*?[]#~{}\n!") {
		return nil
	}
	return strings.Fields(strings.ReplaceAll(line, "\x00", process.ReportWord))
}

// goAlone replaces the packages in a `go test` command by those of the given tests, and selects the tests by name.
func goAlone(words []string, ids []session.TestID) ([]string, bool) {
	if len(words) < 3 || words[0] != "go" || words[1] != "test" {
		return nil, false
	}
	var packages, names, flags []string
	for _, id := range ids {
		pkg, name := report.SplitGo(id)
		if pkg == "" {
			return nil, false
		}
		top, _, _ := strings.Cut(name, "/")
		packages, names = append(packages, pkg), append(names, regexp.QuoteMeta(top))
	}
	for _, w := range words[2:] {
		switch {
		case !strings.HasPrefix(w, "-"):
			if !strings.HasPrefix(w, ".") {
				return nil, false // the value of a flag, or a package that looks like one
			}
		case strings.HasPrefix(w, "-run"), strings.HasPrefix(w, "-skip"), strings.HasPrefix(w,
			"-args"), strings.HasPrefix(w, "-count"):
			return nil, false
		default:
			flags = append(flags, w)
		}
	}
	return slices.Concat([]string{"go", "test"}, flags,
		[]string{"-count=1", "-run=^(" + strings.Join(report.SortedOnce(names), "|") + ")$"},
		report.SortedOnce(packages)), true
}

// unittestAlone replaces unittest's `discover` by the names of the tests: tests.test_calc.CalcTest.test_add.
func unittestAlone(words []string, ids []session.TestID) ([]string, bool) {
	at := slices.Index(words, "unittest")
	if at < 2 || words[at-1] != "-m" || len(words) < at+2 || words[at+1] != "discover" {
		return nil, false
	}
	for _, w := range words[at+2:] {
		if w != "-v" {
			return nil, false
		}
	}
	chosen := append(slices.Clone(words[:at+1]), "-v")
	for _, id := range ids {
		name := strings.ReplaceAll(string(id), "::", ".")
		if strings.ContainsAny(name, " ()[]'\"") || !strings.Contains(name, ".") {
			return nil, false
		}
		chosen = append(chosen, name)
	}
	return chosen, true
}

// pytestAlone selects tests by their node id, "FILE::CLASS::NAME". It returns false if it finds no file for the class
// name in the report.
func pytestAlone(words []string, ids []session.TestID, there func(file string) bool) ([]string, bool) {
	if !slices.ContainsFunc(words[:min(len(words), 5)], func(w string) bool { return path.Base(w) == "pytest" }) {
		return nil, false
	}
	for i, w := range words {
		if w == "-k" || w == "-m" && i > 2 || strings.HasPrefix(w, "--deselect") || strings.HasSuffix(w, ".py") ||
			strings.Contains(w, "::") {
			return nil, false
		}
	}
	chosen := words
	for _, id := range ids {
		class, name, ok := strings.Cut(string(id), "::")
		if !ok {
			return nil, false
		}
		parts := strings.Split(class, ".")
		node := ""
		for n := len(parts); n > 0; n-- {
			if file := strings.Join(parts[:n], "/") + ".py"; there(file) {
				node = strings.Join(append([]string{file}, parts[n:]...), "::")
				break
			}
		}
		if node == "" || strings.Contains(name, "\x00") {
			return nil, false
		}
		chosen = append(slices.Clip(chosen), node+"::"+name)
	}
	return chosen, true
}

// nodeAlone selects tests by their title. Tests with the same title in other files run as well.
func nodeAlone(words []string, ids []session.TestID) ([]string, bool) {
	at := slices.Index(words, "--test")
	if slices.ContainsFunc(words, func(w string) bool {
		return strings.HasPrefix(w, "--test-name-pattern") ||
			w == "--test-only"
	}) {
		return nil, false
	}
	var patterns []string
	for _, id := range ids {
		title := report.Leaf(id)
		if title == "" || strings.HasSuffix(title, "…") {
			return nil, false
		}
		patterns = append(patterns, "--test-name-pattern=^"+regexp.QuoteMeta(title)+"$")
	}
	return slices.Insert(slices.Clone(words), at+1, report.SortedOnce(patterns)...), true
}

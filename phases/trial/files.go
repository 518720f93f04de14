package trial

import (
	"context"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/internal/experiment"
	"github.com/wfs-dev/wfs/internal/safetext"
	"github.com/wfs-dev/wfs/internal/testpaths"
	"github.com/wfs-dev/wfs/phases/gate"
	"github.com/wfs-dev/wfs/phases/report"
	"github.com/wfs-dev/wfs/phases/verdict"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

// File is a file that differs between an earlier state and the attempt, with its contents in both.
type File struct {
	session.Change
	Before, After []byte
	// Aside is set if the file holds or controls tests: it is a test, tests read it, or it has settings for the test
	// run. Experiments can restore such a file without touching the code.
	Aside bool
}

// Since returns the files that differ between an earlier state and the attempt, except wfs's own.
func (t *Variants) Since(ctx context.Context, was session.Tree) ([]File, error) {
	if known, ok := t.files[was]; ok {
		return known, nil
	}
	changes, err := t.Changes(ctx, was, t.Out.Tree)
	if err != nil {
		return nil, err
	}
	list := []File{}
	for _, c := range changes {
		if verdict.OwnFile(c.Path) {
			continue
		}
		f := File{Change: c}
		if c.Status != "A" {
			f.Before, err = t.Show(ctx, was, c.Path)
		}
		if c.Status != "D" && err == nil {
			f.After, err = t.Show(ctx, t.Out.Tree, c.Path)
		}
		if err != nil {
			return nil, err
		}
		f.Aside = t.testsOrInstrument(f)
		list = append(list, f)
	}
	if t.files == nil {
		t.files = map[session.Tree][]File{}
	}
	t.files[was] = list
	return list, nil
}

// AsideOf returns the paths of the files that hold or control tests. `edited` reports whether any of them existed
// before.
func AsideOf(files []File) (paths []string, edited bool) {
	for _, f := range files {
		if f.Aside {
			paths = append(paths, f.Path)
			edited = edited || f.Status != "A"
		}
	}
	return paths, edited
}

// testsOrInstrument reports whether a changed file holds tests or controls how they run. Of a manifest only the test
// runner's settings count, because dependencies are part of the work. Of a code file that contains tests only the
// tests count.
func (t *Variants) testsOrInstrument(f File) bool {
	switch {
	case testpaths.HoldsTests(f.Path), f.Status != "A" && report.IsCode(f.Path) && testpaths.Asserts(f.Path, f.Before):
		return true
	case !testpaths.AboutTests(f.Path) && !(testpaths.IsScript(f.Path) && f.Status != "A") &&
		!testpaths.IsHidden(f.Path) && !NamedByGate(t.Req.Phase.Gates, f.Path):
		return testpaths.MixesTests(f.Path) && string(testsIn(f.Path, f.Before)) != string(testsIn(f.Path, f.After))
	case !testpaths.IsManifest(f.Path) || f.Status != "M":
		return true
	}
	return testpaths.RunnerKeysDiffer(f.Path, f.Before, f.After)
}

// NamedByGate reports whether a path occurs in the command of a gate.
func NamedByGate(gates []workflows.Gate, path string) bool {
	for _, g := range gates {
		words := strings.FieldsFunc(g.Run.Text(), func(c rune) bool { return strings.ContainsRune(" \t\n\"'=;&|()", c) })
		if g.Runs() && slices.ContainsFunc(words, func(w string) bool { return strings.TrimPrefix(w, "./") == path }) {
			return true
		}
	}
	return false
}

// testsIn returns the part of a file's text that holds tests.
func testsIn(path string, text []byte) []byte { return text[testpaths.TestsFrom(path, text):] }

// CodeIn returns the part of a file's text that holds code, not tests.
func CodeIn(path string, text []byte) []byte { return text[:testpaths.TestsFrom(path, text)] }

// mayTest reports whether a path is that of a test file, or of a code file that may contain tests.
func mayTest(path string) bool { return testpaths.HoldsTests(path) || testpaths.MixesTests(path) }

// inCode returns those of the given lines that are code, not tests. It returns none for a file larger than
// gate.MaxRead.
func inCode(path string, text []byte, lines experiment.Lines) experiment.Lines {
	last, whole := strings.Count(string(CodeIn(path, text)), "\n"), len(testsIn(path, text)) == 0
	return lines.Only(func(n int) bool { return len(text) <= gate.MaxRead && (whole || n <= last) })
}

// testLines returns the lines of tests that were added to the file.
func (f File) testLines() experiment.Lines {
	lines := experiment.Added(f.Before, f.After)
	outside := inCode(f.Path, f.After, lines)
	return lines.Only(func(n int) bool { return mayTest(f.Path) && len(f.After) <= gate.MaxRead && !outside[n] })
}

// codeLines returns the lines of code that were added to files, and the texts of these files. `others` is set if
// another file changed that is neither code nor a test nor a document.
func codeLines(files []File) (lines map[string]experiment.Lines, texts map[string][]byte, others bool) {
	lines, texts = map[string]experiment.Lines{}, map[string][]byte{}
	for _, f := range files {
		switch {
		case f.Status == "D", testpaths.AboutTests(f.Path), testpaths.IsDocument(f.Path):
		case !report.IsCode(f.Path):
			others = true
		default:
			if added := inCode(f.Path, f.After, experiment.Added(f.Before, f.After)); len(added) > 0 {
				lines[f.Path], texts[f.Path] = added, f.After
			}
		}
	}
	return lines, texts, others
}

// testWords returns the names that occur in added lines of tests.
func testWords(files []File) map[string]bool {
	names := map[string]bool{}
	for _, f := range files {
		maps.Copy(names, experiment.Words(f.Path, f.After, f.testLines()))
	}
	return names
}

// editedWords returns the names that occur in lines of tests that the attempt removed.
func editedWords(files []File) map[string]bool {
	names := map[string]bool{}
	for _, f := range files {
		if report.IsCode(f.Path) && mayTest(f.Path) {
			maps.Copy(names, experiment.Words(f.Path, f.Before, experiment.Added(f.After, f.Before)))
		}
	}
	return names
}

// lost returns a value that removed lines of tests expected and that the attempt's tests no longer contain; "" if
// there is none.
func lost(files []File) string {
	wanted, have := map[string]bool{}, map[string]bool{}
	var data, code strings.Builder
	for _, f := range files {
		if !report.IsCode(f.Path) { // tests may read data from any path
			data.Write(f.After)
		} else if mayTest(f.Path) {
			code.Write(f.After)
			maps.Copy(wanted, experiment.Expected(f.Path, f.Before, experiment.Added(f.After, f.Before)))
			maps.Copy(have, experiment.Values(f.Path, f.After))
		}
	}
	for _, v := range report.SortedKeys(wanted) {
		phrase := strings.ContainsAny(v, " :;,.|") && strings.Contains(code.String(), v) // in a longer text
		if !have[v] && !phrase && !strings.Contains(data.String(), v) {
			return v
		}
	}
	return ""
}

// altered holds deliberately changed versions of some of the attempt's files.
type altered struct {
	texts map[string][]byte
	N     int // number of changes in the texts
	paths []string
	says  string // a description of the changes, for messages
	loose bool   // values may be inputs instead of expected values
}

func (a *altered) add(path string, text []byte, n int) {
	if n == 0 {
		return
	}
	if a.texts == nil {
		a.texts = map[string][]byte{}
	}
	a.texts[path], a.N, a.paths = text, a.N+n, append(a.paths, path)
}

// Turned returns the files with other expected values in all added lines of tests. It changes data files only if the
// code of the tests holds no values.
func Turned(files []File, sort experiment.Sort) (a altered) {
	var named strings.Builder // the code of the tests
	for _, f := range files {
		if report.IsCode(f.Path) && mayTest(f.Path) {
			named.Write(f.After)
			text, n := experiment.Turn(f.Path, f.After, f.testLines(), sort)
			a.add(f.Path, text, n)
		}
	}
	for _, f := range files {
		if a.N == 0 && !report.IsCode(f.Path) && sort == experiment.All &&
			strings.Contains(named.String(), path.Base(f.Path)) {
			text, n := experiment.TurnData(f.After, f.testLines())
			a.add(f.Path, text, n)
		}
	}
	a.says = safetext.Plural(a.N, "expected value", "expected values") + " changed"
	return a
}

// allOf applies a change to the chosen lines of all files.
func allOf(change func(file string, src []byte, lines experiment.Lines) ([]byte, int),
	lines map[string]experiment.Lines, texts map[string][]byte) (a altered) {
	for _, path := range report.SortedKeys(lines) {
		text, n := change(path, texts[path], lines[path])
		a.add(path, text, n)
	}
	return a
}

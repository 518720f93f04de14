package phases

import (
	"context"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/internal/experiment"
	"github.com/wfs-dev/wfs/internal/testpaths"
	"github.com/wfs-dev/wfs/session"
)

// file is a file that an attempt has changed since another state, with its texts in that state and now.
type file struct {
	session.Change
	before, after []byte
	// aside: it holds tests, or what tests read or are run by. An experiment can have it as it was.
	aside bool
}

// since are the files that the attempt has changed since another state, but for those of wfs's own.
func (t *variants) since(ctx context.Context, was session.Tree) ([]file, error) {
	if known, ok := t.files[was]; ok {
		return known, nil
	}
	changes, err := t.Changes(ctx, was, t.out.Tree)
	if err != nil {
		return nil, err
	}
	list := []file{}
	for _, c := range changes {
		if ownFile(c.Path) {
			continue
		}
		f := file{Change: c}
		if c.Status != "A" {
			f.before, err = t.Show(ctx, was, c.Path)
		}
		if c.Status != "D" && err == nil {
			f.after, err = t.Show(ctx, t.out.Tree, c.Path)
		}
		if err != nil {
			return nil, err
		}
		f.aside = t.testsOrInstrument(f)
		list = append(list, f)
	}
	if t.files == nil {
		t.files = map[session.Tree][]file{}
	}
	t.files[was] = list
	return list, nil
}

// asideOf are the paths of files that experiments can have as they were. edited reports whether any of them was there
// before.
func asideOf(files []file) (paths []string, edited bool) {
	for _, f := range files {
		if f.aside {
			paths = append(paths, f.Path)
			edited = edited || f.Status != "A"
		}
	}
	return paths, edited
}

// ownFile reports whether a path is one of wfs's own.
func ownFile(path string) bool {
	return strings.HasPrefix(path, ".wfs/") || strings.HasPrefix(path, ".workflow/")
}

// testsOrInstrument reports whether a changed file is a test, or says how tests are run. Of manifests only changes of
// what runs tests count: a dependency is part of the work. Of code that has tests beside it, those count.
func (t *variants) testsOrInstrument(f file) bool {
	switch {
	case testpaths.HoldsTests(f.Path), f.Status != "A" && isCode(f.Path) && testpaths.Asserts(f.Path, f.before):
		return true
	case !testpaths.AboutTests(f.Path) && !(testpaths.IsScript(f.Path) && f.Status != "A") &&
		!testpaths.IsHidden(f.Path) && !t.namedByGate(f.Path):
		return testpaths.MixesTests(f.Path) && string(testsIn(f.Path, f.before)) != string(testsIn(f.Path, f.after))
	case !testpaths.IsManifest(f.Path) || f.Status != "M":
		return true
	}
	return testpaths.RunnerKeysDiffer(f.Path, f.before, f.after)
}

// namedByGate reports whether a gate's command names a path.
func (t *variants) namedByGate(path string) bool {
	for _, g := range t.r.Phase.Gates {
		words := strings.FieldsFunc(g.Run.Text(), func(c rune) bool { return strings.ContainsRune(" \t\n\"'=;&|()", c) })
		if g.Runs() && slices.ContainsFunc(words, func(w string) bool { return strings.TrimPrefix(w, "./") == path }) {
			return true
		}
	}
	return false
}

// testsIn are the tests in the text of a file, and codeIn is the rest.
func testsIn(path string, text []byte) []byte { return text[testpaths.TestsFrom(path, text):] }

func codeIn(path string, text []byte) []byte { return text[:testpaths.TestsFrom(path, text)] }

// mayTest reports whether a file is one of tests, or code that may have tests beside it.
func mayTest(path string) bool { return testpaths.HoldsTests(path) || testpaths.MixesTests(path) }

// inCode are those of some lines of a file that are code, and no tests. Too large a file is not read.
func inCode(path string, text []byte, lines experiment.Lines) experiment.Lines {
	last, whole := strings.Count(string(codeIn(path, text)), "\n"), len(testsIn(path, text)) == 0
	return lines.Only(func(n int) bool { return len(text) <= maxRead && (whole || n <= last) })
}

// testLines are the lines of tests that a file has got.
func (f file) testLines() experiment.Lines {
	lines := experiment.Added(f.before, f.after)
	outside := inCode(f.Path, f.after, lines)
	return lines.Only(func(n int) bool { return mayTest(f.Path) && len(f.after) <= maxRead && !outside[n] })
}

// codeLines are the lines of code that files have got, and their texts. others reports whether there are other files
// that are handed over with the code.
func codeLines(files []file) (lines map[string]experiment.Lines, texts map[string][]byte, others bool) {
	lines, texts = map[string]experiment.Lines{}, map[string][]byte{}
	for _, f := range files {
		switch {
		case f.Status == "D", testpaths.AboutTests(f.Path), testpaths.IsDocument(f.Path):
		case !isCode(f.Path):
			others = true
		default:
			if added := inCode(f.Path, f.after, experiment.Added(f.before, f.after)); len(added) > 0 {
				lines[f.Path], texts[f.Path] = added, f.after
			}
		}
	}
	return lines, texts, others
}

// testWords are the names in the lines of tests that files have got.
func testWords(files []file) map[string]bool {
	names := map[string]bool{}
	for _, f := range files {
		maps.Copy(names, experiment.Words(f.Path, f.after, f.testLines()))
	}
	return names
}

// editedWords are the names in those lines of tests that the attempt's do not have any more.
func editedWords(files []file) map[string]bool {
	names := map[string]bool{}
	for _, f := range files {
		if isCode(f.Path) && mayTest(f.Path) {
			maps.Copy(names, experiment.Words(f.Path, f.before, experiment.Added(f.after, f.before)))
		}
	}
	return names
}

// lost is a value that edited lines of tests expected and that the attempt's tests do not have anywhere, "" when there
// is none.
func lost(files []file) string {
	wanted, have := map[string]bool{}, map[string]bool{}
	var data, code strings.Builder
	for _, f := range files {
		if !isCode(f.Path) { // tests may read data wherever it lies
			data.Write(f.after)
		} else if mayTest(f.Path) {
			code.Write(f.after)
			maps.Copy(wanted, experiment.Expected(f.Path, f.before, experiment.Added(f.after, f.before)))
			maps.Copy(have, experiment.Values(f.Path, f.after))
		}
	}
	for _, v := range sortedKeys(wanted) {
		phrase := strings.ContainsAny(v, " :;,.|") && strings.Contains(code.String(), v) // a cell of a table in a text
		if !have[v] && !phrase && !strings.Contains(data.String(), v) {
			return v
		}
	}
	return ""
}

// altered are files of the attempt with some of their lines changed on purpose.
type altered struct {
	texts map[string][]byte
	n     int // changes
	paths []string
	says  string // what was changed
}

func (a *altered) add(path string, text []byte, n int) {
	if n == 0 {
		return
	}
	if a.texts == nil {
		a.texts = map[string][]byte{}
	}
	a.texts[path], a.n, a.paths = text, a.n+n, append(a.paths, path)
}

// turned are tests with other expected values in all that they have got. Data is turned only where the code of tests
// holds no values.
func turned(files []file, sort experiment.Sort) (a altered) {
	var named strings.Builder // what the code of the tests says
	for _, f := range files {
		if isCode(f.Path) && mayTest(f.Path) {
			named.Write(f.after)
			text, n := experiment.Turn(f.Path, f.after, f.testLines(), sort)
			a.add(f.Path, text, n)
		}
	}
	for _, f := range files {
		if a.n == 0 && !isCode(f.Path) && sort == experiment.All && strings.Contains(named.String(), path.Base(f.Path)) {
			text, n := experiment.TurnData(f.after, f.testLines())
			a.add(f.Path, text, n)
		}
	}
	a.says = plural(a.n, "expected value", "expected values") + " changed"
	return a
}

// allOf makes a change to all files that have chosen lines.
func allOf(change func(file string, src []byte, lines experiment.Lines) ([]byte, int),
	lines map[string]experiment.Lines, texts map[string][]byte) (a altered) {
	for _, path := range sortedKeys(lines) {
		text, n := change(path, texts[path], lines[path])
		a.add(path, text, n)
	}
	return a
}

package phases

import (
	"bytes"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/wfs-dev/wfs/session"
)

// A test may ask for something else although its own text is as it was: a file that it reads has changed, or a table or a
// function that it uses.

// maxSiblings bounds how many unchanged test files are read to see whether they use what changed.
const maxSiblings = 500

// maxBeside bounds how many entries of one directory are read.
const maxBeside = 5000

// used is what changed in a lap that tests may use without being changed themselves.
type used struct {
	fixtures []string       // changed files that are no code
	helpers  []helper       // what test files declare beside tests, and that changed or names a fixture
	siblings []*changedFile // unchanged test files that name one of those
}

// helper is what a test file declares beside its tests.
type helper struct{ file, name string }

// use finds out what tests may use, once.
func (l *lapFiles) use() *used {
	if l.uses != nil {
		return l.uses
	}
	l.uses = &used{} // asked for again while it is found out
	u := &used{}
	var near []string
	for _, c := range l.changes {
		switch {
		case c.Status == "D":
		case isFixture(c.Path):
			u.fixtures = append(u.fixtures, c.Path)
			near = append(near, testDirs(c.Path)...)
		case l.holdsTests(c):
			near = append(near, path.Dir(c.Path))
			if f := l.file(c); f.oldKnown {
				u.helpers = append(u.helpers, changedHelpers(f)...)
			}
		}
	}
	if len(u.fixtures)+len(u.helpers) == 0 {
		return l.uses
	}
	files := l.unchanged(near)
	for _, f := range slices.Concat(files, l.testFiles()) {
		u.helpers = append(u.helpers, u.helpersWith(f)...)
	}
	for _, f := range files {
		names := func(h helper) bool { return hasWord(f.now, h.name) }
		if u.namesFixture(f.path, string(f.now)) || slices.ContainsFunc(u.helpers, names) {
			f.decls = declarations(f.path, f.now)
			u.siblings = append(u.siblings, f)
		}
	}
	l.uses = u
	return u
}

// isFixture reports whether a file may be read by tests and holds none.
func isFixture(file string) bool {
	if len(path.Base(file)) < 3 {
		return false
	}
	return !isCode(file) || slices.ContainsFunc(strings.Split(path.Dir(file), "/"), func(dir string) bool {
		return dir == "testdata" || dir == "fixtures" || dir == "__fixtures__"
	})
}

// testDirs are the directories of tests that may read a file: those that it is in, and those of tests beside them.
func testDirs(file string) []string {
	var out []string
	for dir := path.Dir(file); ; dir = path.Dir(dir) {
		out = append(out, dir)
		for _, name := range []string{"test", "tests", "spec", "__tests__"} {
			out = append(out, path.Join(dir, name))
		}
		if dir == "." || dir == "/" {
			return out
		}
	}
}

// unchanged reads test files of directories that did not change.
func (l *lapFiles) unchanged(dirs []string) []*changedFile {
	if l.list == nil {
		return nil
	}
	var out []*changedFile
	slices.Sort(dirs)
	for _, dir := range slices.Compact(dirs) {
		for _, name := range l.list(dir) {
			file := path.Join(dir, name)
			if !isTestFile(file) || !isCode(file) || slices.ContainsFunc(l.changes, func(c session.Change) bool { return c.Path == file }) {
				continue
			}
			if text := l.now(file); text != nil {
				out = append(out, &changedFile{path: file, now: text})
			}
			if len(out) == maxSiblings {
				return out
			}
		}
	}
	return out
}

// files lists the files of a directory of the work tree by name, nothing when it cannot be read.
func (j *Judge) files(dir string) []string {
	root, err := os.OpenRoot(j.Root)
	if err != nil {
		return nil
	}
	defer func() { _ = root.Close() }()
	f, err := root.Open(filepath.FromSlash(dir))
	if err != nil {
		return nil
	}
	defer func() { _ = f.Close() }()
	entries, _ := f.ReadDir(maxBeside)
	var names []string
	for _, e := range entries {
		if e.Type().IsRegular() {
			names = append(names, e.Name())
		}
	}
	slices.Sort(names)
	return names
}

// namesFixture reports whether the text of a test file names a changed file, or the directory that it is in as a whole.
func (u *used) namesFixture(file, text string) bool {
	return slices.ContainsFunc(u.fixtures, func(fixture string) bool {
		if hasWord([]byte(text), path.Base(fixture)) {
			return true
		}
		dir := path.Dir(fixture)
		return dir != path.Dir(file) && namesDirectory(text, path.Base(dir))
	})
}

// namesDirectory reports whether a text has a quoted path that ends in a directory or goes on with a pattern.
func namesDirectory(text, dir string) bool {
	if len(dir) < 3 || slices.Contains([]string{"test", "tests", "spec", "src"}, dir) {
		return false
	}
	for i := strings.Index(text, dir); i >= 0; {
		rest := strings.TrimPrefix(text[i+len(dir):], "/")
		if i > 0 && strings.ContainsRune("\"'`/", rune(text[i-1])) && rest != "" && strings.ContainsRune("\"'`*%$", rune(rest[0])) {
			return true
		}
		next := strings.Index(text[i+1:], dir)
		if next < 0 {
			return false
		}
		i += 1 + next
	}
	return false
}

// usesChanged reports whether a test of a file uses a changed fixture, or something that changed beside it.
func (l *lapFiles) usesChanged(file string, d declaration) bool {
	u := l.use()
	return u.namesFixture(file, d.body) || slices.ContainsFunc(u.helpers, func(h helper) bool {
		return hasWord([]byte(d.body), h.name) && l.sees(file, h.file)
	})
}

// sees reports whether a test file may use what another one declares.
func (l *lapFiles) sees(file, other string) bool {
	base := path.Base(other)
	switch {
	case file == other:
		return true
	case path.Ext(file) != path.Ext(other):
		return false
	case path.Ext(file) == ".go":
		return path.Dir(file) == path.Dir(other)
	case base == "conftest.py": // pytest gives its fixtures to all tests below
		dir := path.Dir(other)
		return dir == "." || strings.HasPrefix(file, dir+"/")
	}
	return hasWord(l.now(file), strings.TrimSuffix(base, path.Ext(base)))
}

// changedHelpers are what a test file declares beside its tests that is new or different.
func changedHelpers(f *changedFile) []helper {
	if strings.HasSuffix(f.path, ".go") {
		return helpersOf(f, func(d declaration) bool { return !sameIn(f.oldDecls, d) })
	}
	before := map[string]int{}
	for line := range bytes.Lines(f.before) {
		before[string(bytes.TrimSpace(line))]++
	}
	return ownersOf(f, func(line string) bool {
		before[line]--
		return before[line] < 0
	})
}

// helpersWith are what a test file declares beside its tests that names a changed fixture.
func (u *used) helpersWith(f *changedFile) []helper {
	if len(u.fixtures) == 0 || !u.namesFixture(f.path, string(f.now)) {
		return nil
	}
	if strings.HasSuffix(f.path, ".go") {
		if f.decls == nil {
			f.decls = declarations(f.path, f.now)
		}
		return helpersOf(f, func(d declaration) bool { return u.namesFixture(f.path, d.body) })
	}
	return ownersOf(f, func(line string) bool { return u.namesFixture(f.path, line) })
}

func helpersOf(f *changedFile, is func(declaration) bool) []helper {
	var out []helper
	for _, d := range f.decls {
		if !d.test && d.name != "_" && is(d) {
			out = append(out, helper{f.path, d.name})
		}
	}
	return out
}

var ownerRE = sync.OnceValue(func() (r struct {
	within, method *regexp.Regexp
	named          []*regexp.Regexp
}) {
	const words = `^\s*(?:(?:export|default|public|private|protected|internal|static|final|async|readonly|abstract|pub)\s+)*`
	r.within = regexp.MustCompile(words + `(?:(?:RSpec\.)?(?:class|describe|context|suite|module|namespace|mod|object)\b|[)\]}])`)
	r.method = regexp.MustCompile(`^\s*(?:[\w<>\[\],?.]+\s+)+([\w$]+)\s*\([^;]*$`)
	for _, form := range []string{
		words + `(?:const|let|var|val|def|function\*?|fn|fun)\s+(?:self\.)?([\w$]+)`,
		`^\s*(?:[\w<>\[\],?.]+\s+)*([\w$]+)\s*(?::[^=]+)?=(?:[^=>~]|$)`, // a constant or a field
		`^\s*let!?\(:(\w+)\)`, // RSpec
	} {
		r.named = append(r.named, regexp.MustCompile(form))
	}
	return r
})

// ownersOf names what the marked lines of a test file belong to, of what stands outside of tests: at the top, or in a
// class or a suite. It goes by indentation. Lines that only bring names in belong to nothing.
func ownersOf(f *changedFile, marked func(line string) bool) []helper {
	if f.decls == nil {
		f.decls = declarations(f.path, f.now)
	}
	text := string(f.now)
	if strings.HasSuffix(f.path, ".rs") && !isTestFile(f.path) {
		_, text, _ = strings.Cut(text, "#[cfg(test)]")
	}
	lines := strings.Split(text, "\n")
	var out []helper
	for i, line := range lines {
		if text := strings.TrimSpace(line); text == "" || !marked(text) || strings.Contains(line, "require(") {
			continue
		}
		name := ownerOf(f.path, lines[:i+1])
		if name == "" || slices.Contains(out, helper{f.path, name}) || slices.ContainsFunc(f.decls, func(d declaration) bool { return d.test && d.name == name }) {
			continue
		}
		out = append(out, helper{f.path, name})
	}
	return out
}

// ownerOf is the name of the outermost declaration around the last line that is no class and no suite, "" when that is
// none.
func ownerOf(file string, lines []string) string {
	indent := func(s string) int { return len(s) - len(strings.TrimLeft(s, " \t")) }
	var around []string
	for i, depth := len(lines)-1, 1<<30; i >= 0 && depth > 0; i-- {
		line := lines[i]
		if strings.TrimSpace(line) == "" || indent(line) >= depth {
			continue
		}
		if depth = indent(line); i == len(lines)-1 || !strings.ContainsRune(")]}", rune(strings.TrimSpace(line)[0])) {
			around = append(around, line)
		} else {
			depth++ // what is closed here was opened on a line of the same depth
		}
	}
	re := ownerRE()
	forms := re.named
	if ext := path.Ext(file); ext == ".java" || ext == ".groovy" || ext == ".cs" {
		forms = append(slices.Clone(forms), re.method)
	}
	for _, line := range slices.Backward(around) {
		if re.within.MatchString(line) {
			continue
		}
		for _, form := range forms {
			if m := form.FindStringSubmatch(line); m != nil {
				return m[1]
			}
		}
		return ""
	}
	return ""
}

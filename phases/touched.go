package phases

import (
	"bytes"
	"context"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/wfs-dev/wfs/internal/testpaths"
	"github.com/wfs-dev/wfs/session"
)

// lapFiles are the files that changed since the lap began, with their texts.
type lapFiles struct {
	changes []session.Change
	now     func(path string) []byte         // nil when it is gone, or no ordinary file
	before  func(path string) ([]byte, bool) // at the lap's start; false when it cannot be known
	visits  []session.Change                 // changes since the phase was entered
	entered func(path string) ([]byte, bool) // the text of a file then; may be nil
	cache   map[string]*changedFile
	list    func(dir string) []string // names of the files of a directory; may be nil
	uses    *used
	modules map[string]string // of Go, by directory; "" for none
}

func (j *Judge) lapFiles(ctx context.Context, r session.JudgeRequest) *lapFiles {
	l := &lapFiles{now: j.read, list: j.files}
	for _, c := range r.Changed {
		if !strings.HasPrefix(c.Path, ".wfs/") {
			l.changes = append(l.changes, c)
		}
	}
	for _, c := range r.Visit {
		if !strings.HasPrefix(c.Path, ".wfs/") {
			l.visits = append(l.visits, c)
		}
	}
	tree := r.LapStart.Tree
	if tree == "" {
		tree = r.Baseline.Tree
	}
	l.before, l.entered = j.shown(ctx, tree), j.shown(ctx, r.VisitTree)
	return l
}

// shown reads files of a tree; nil when there is none to read from.
func (j *Judge) shown(ctx context.Context, tree session.Tree) func(path string) ([]byte, bool) {
	if j.Show == nil || tree == "" {
		return nil
	}
	return func(path string) ([]byte, bool) {
		data, err := j.Show(ctx, tree, path)
		return data[:min(len(data), maxRead)], err == nil
	}
}

// changedFile is one changed file, read once.
type changedFile struct {
	path        string
	decls       []declaration
	oldDecls    []declaration
	visitDecls  []declaration // when the phase was entered, if it has changed since
	oldKnown    bool
	now, before []byte
}

func (l *lapFiles) file(c session.Change) *changedFile {
	if f := l.cache[c.Path]; f != nil {
		return f
	}
	f := &changedFile{path: c.Path, oldKnown: c.Status == "A"}
	if c.Status != "D" {
		f.now = l.now(c.Path)
	}
	if !f.oldKnown && l.before != nil {
		f.before, f.oldKnown = l.before(c.Path)
	}
	f.decls, f.oldDecls = declarations(c.Path, f.now), declarations(c.Path, f.before)
	if l.entered != nil && slices.ContainsFunc(l.visits, func(v session.Change) bool { return v.Path == c.Path && v.Status != "A" }) {
		if text, ok := l.entered(c.Path); ok {
			f.visitDecls = declarations(c.Path, text)
		}
	}
	if l.cache == nil {
		l.cache = map[string]*changedFile{}
	}
	l.cache[c.Path] = f
	return f
}

// tests yields the changed files that may declare a test. where is the file that the runner named for it, if it did.
func (l *lapFiles) tests(id session.TestID, where string) []*changedFile {
	pkg, _ := goTest(id)
	var out []*changedFile
	for _, c := range l.changes {
		switch isGo := strings.HasSuffix(c.Path, "_test.go"); {
		case !l.holdsTests(c), isGo != (pkg != ""), isGo && !l.inPackage(c.Path, pkg),
			where != "" && !sameFile(c.Path, where):
			continue
		}
		out = append(out, l.file(c))
	}
	return out
}

// holdsTests reports whether a changed file is a test file, or a Rust file with its tests inside.
func (l *lapFiles) holdsTests(c session.Change) bool {
	if isTestFile(c.Path) {
		return true
	}
	if !strings.HasSuffix(c.Path, ".rs") {
		return false
	}
	f := l.file(c)
	return len(f.decls) > 0 || len(f.oldDecls) > 0
}

// inPackage reports whether a Go file belongs to a package, or may where nobody can tell its module.
func (l *lapFiles) inPackage(file, pkg string) bool {
	if module, dir := l.module(file); module != "" {
		if dir != "." {
			file = strings.TrimPrefix(file, dir+"/")
		}
		return pkg == path.Join(module, path.Dir(file))
	}
	return inPackage(file, pkg)
}

// module is the path of the Go module that a file is in, and its directory; "" if nobody can tell.
func (l *lapFiles) module(file string) (name, dir string) {
	for _, dir := range above(file) {
		name, known := l.modules[dir]
		if !known {
			if m := moduleRE().FindSubmatch(l.now(path.Join(dir, "go.mod"))); m != nil {
				name = string(m[1])
			}
			if l.modules == nil {
				l.modules = map[string]string{}
			}
			l.modules[dir] = name
		}
		if name != "" {
			return name, dir
		}
	}
	return "", ""
}

// above are the directories that a file is in, the nearest first.
func above(file string) (dirs []string) {
	for dir := path.Dir(file); ; dir = path.Dir(dir) {
		if dirs = append(dirs, dir); dir == "." || dir == "/" {
			return dirs
		}
	}
}

var moduleRE = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)^\s*module\s+"?([^\s"]+)`) })

// inPackage reports whether a Go file may belong to a package, judging by the end of its import path.
func inPackage(file, pkg string) bool {
	dir := path.Dir(file)
	for dir != "." {
		if pkg == dir || strings.HasSuffix(pkg, "/"+dir) {
			return true
		}
		// The module may begin below the top: sub/mod/a is example.org/mod/a.
		_, rest, ok := strings.Cut(dir, "/")
		if !ok {
			return false
		}
		dir = rest
	}
	return true // at the top: the module's own name is anything
}

// touched reports whether a test is different from what it was at the lap's start: its own text is, or what it uses of
// its test files, or a file that is named after it.
func (l *lapFiles) touched(id session.TestID, where string) bool {
	names := declaredNames(id)
	declares := func(d declaration) bool {
		return d.test && slices.ContainsFunc(names, func(n string) bool { return d.declares(id, n) })
	}
	for _, f := range l.tests(id, where) {
		if slices.ContainsFunc(f.decls, func(d declaration) bool {
			return declares(d) && (!f.oldKnown || !f.had(d) || l.usesChanged(f.path, d))
		}) {
			return true
		}
	}
	pkg, _ := goTest(id)
	for _, f := range l.use().siblings {
		isGo := strings.HasSuffix(f.path, "_test.go")
		if isGo != (pkg != "") || isGo && !l.inPackage(f.path, pkg) || where != "" && !sameFile(f.path, where) {
			continue
		}
		if slices.ContainsFunc(f.decls, func(d declaration) bool { return declares(d) && l.usesChanged(f.path, d) }) {
			return true
		}
	}
	for _, c := range l.changes {
		if !strings.HasSuffix(c.Path, ".go") && isTestFile(c.Path) && l.mentions(c, names[0]) {
			return true
		}
	}
	return false
}

// onlyTests reports whether nothing but tests, what they read, and documents was changed.
func (l *lapFiles) onlyTests() bool {
	return !slices.ContainsFunc(l.changes, func(c session.Change) bool {
		return !testpaths.HoldsTests(c.Path) && !testpaths.IsDocument(c.Path)
	})
}

// declared reports whether a changed file declares a test.
func (l *lapFiles) declared(id session.TestID, where string) bool {
	return slices.ContainsFunc(l.tests(id, where), func(f *changedFile) bool {
		return slices.ContainsFunc(f.decls, func(d declaration) bool { return d.test && d.declares(id, leaf(id)) })
	})
}

// mentions reports whether a file that is no code we can read speaks of a test: by its own name (testdata/TestParse.golden),
// or in its text.
func (l *lapFiles) mentions(c session.Change, name string) bool {
	if strings.Contains(c.Path, name) {
		return true
	}
	return !isCode(c.Path) && len(name) > 3 && strings.Contains(string(l.file(c).now), name)
}

// declaredNames are the names that a test may have been declared by, the likeliest first.
func declaredNames(id session.TestID) []string {
	names := []string{leaf(id)}
	if _, name := goTest(id); name != "" {
		return append(names, strings.Split(name, "/")[1:]...) // methods of suites
	}
	if segments := strings.Split(string(id), "::"); len(segments) > 2 {
		names = append(names, segments[1:len(segments)-1]...) // adds::case_1 of rstest
	}
	if suites := strings.Split(string(id), suiteSep); len(suites) > 1 {
		names = append(names, suites[:len(suites)-1]...) // tests whose subtest it is
	}
	return names
}

// declares reports whether a declaration makes a test that its runner calls leaf.
func (d declaration) declares(id session.TestID, leaf string) bool {
	return declares(id, leaf, d.name) || d.alias != "" && declares(id, leaf, d.alias)
}

// declares reports whether a declaration called name makes a test that its runner calls leaf. Runners that report classes
// may put the suites' names in front.
func declares(id session.TestID, leaf, name string) bool {
	return fits(name, leaf) || strings.Contains(string(id), "::") && (strings.HasSuffix(leaf, " "+name) || strings.Contains(name, "*") && fits("* "+name, leaf))
}

func sameIn(list []declaration, d declaration) bool {
	return slices.ContainsFunc(list, func(o declaration) bool { return o.name == d.name && o.body == d.body })
}

// had reports whether the file declared the very same before, as often as it does now.
func (f *changedFile) had(d declaration) bool {
	n := 0
	for _, o := range f.decls {
		if o.name == d.name && o.body == d.body {
			n++
		}
	}
	for _, o := range f.oldDecls {
		if o.name == d.name && o.body == d.body {
			n--
		}
	}
	return n <= 0
}

// alias is the name by which a test is shown that a changed file declares by another one.
func (l *lapFiles) alias(name string) string {
	for _, c := range l.changes {
		if !l.holdsTests(c) {
			continue
		}
		for _, d := range l.file(c).decls {
			if d.name == name && d.alias != name {
				return d.alias
			}
		}
	}
	return ""
}

// emptied reports whether a test of this id was made unable to fail. With sure it must be known that it was not so at
// the lap's start; without, it is enough that it is so now.
func (l *lapFiles) emptied(id session.TestID, where string, sure bool) bool {
	name, empty := leaf(id), false
	for _, f := range l.tests(id, where) {
		for _, d := range f.decls {
			if !d.test || !d.declares(id, name) {
				continue
			}
			if !d.empty {
				return false // one of that name can fail
			}
			was := slices.ContainsFunc(f.oldDecls, func(o declaration) bool { return o.name == d.name && !o.empty })
			empty = empty || !sure || f.oldKnown && was
		}
	}
	return empty
}

// removed reports whether a name stood in a changed file at the lap's start and is gone from all of them: it is not
// missing because it does not exist yet, but because somebody took it away.
func (l *lapFiles) removed(name string) bool {
	if i := strings.LastIndexAny(name, `./:\`); i >= 0 {
		name = name[i+1:]
	}
	if name == "" {
		return false
	}
	was := false
	for _, c := range l.changes {
		if isTestFile(c.Path) || !isCode(c.Path) {
			continue
		}
		f := l.file(c)
		if hasWord(production(c.Path, f.now), name) {
			return false
		}
		was = was || f.oldKnown && hasWord(production(c.Path, f.before), name) || c.Status == "D" && strings.TrimSuffix(path.Base(c.Path), path.Ext(c.Path)) == name
	}
	return was
}

// named reports whether the file of a breakage named what it misses at the lap's start already.
func (l *lapFiles) named(x breakage) bool {
	name := x.Missing[strings.LastIndexAny(x.Missing, `./:\`)+1:]
	return slices.ContainsFunc(l.changes, func(c session.Change) bool {
		return sameFile(c.Path, x.File) && name != "" && hasWord(l.file(c).before, name)
	})
}

// production is a source file without the tests that Rust keeps at its end.
func production(file string, text []byte) []byte {
	if strings.HasSuffix(file, ".rs") {
		text, _, _ = bytes.Cut(text, []byte("#[cfg(test)]"))
	}
	return text
}

// isCode reports whether declarations of a file are read by the rules of its language.
func isCode(file string) bool {
	switch path.Ext(file) {
	case ".go", ".rs", ".rb", ".java", ".kt", ".kts", ".groovy", ".scala", ".cs", ".fs", ".vb", ".php":
		return true
	}
	return isScriptFile(file)
}

func hasWord(text []byte, word string) bool {
	isWord := func(c byte) bool {
		return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
	}
	for from := 0; ; {
		i := strings.Index(string(text[from:]), word)
		if i < 0 {
			return false
		}
		i += from
		end := i + len(word)
		if (i == 0 || !isWord(text[i-1])) && (end == len(text) || !isWord(text[end])) {
			return true
		}
		from = end
	}
}

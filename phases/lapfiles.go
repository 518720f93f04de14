package phases

import (
	"cmp"
	"context"
	"encoding/json"
	"path"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/internal/lazyregexp"
	"github.com/wfs-dev/wfs/internal/testpaths"
	"github.com/wfs-dev/wfs/phases/report"
	"github.com/wfs-dev/wfs/session"
)

// lapFiles are the files that changed since the lap began, with their texts.
type lapFiles struct {
	changes []session.Change
	now     func(path string) []byte // nil when it is gone, or no ordinary file
	before  func(path string) []byte // at the lap's start; nil when it cannot be known
	modules map[string]string        // of Go, by directory; "" for none
}

func (t Trees) lapFiles(ctx context.Context, r session.JudgeRequest) *lapFiles {
	l := &lapFiles{now: t.shown(ctx, r.Tree), before: t.shown(ctx, lapStart(r))}
	for _, c := range r.Changed {
		if !ownFile(c.Path) {
			l.changes = append(l.changes, c)
		}
	}
	return l
}

// lapStart is the tree with which the lap began.
func lapStart(r session.JudgeRequest) session.Tree {
	return cmp.Or(r.LapStart.Tree, r.Baseline.Tree)
}

// shown reads files of a tree, as far as they are read.
func (t Trees) shown(ctx context.Context, tree session.Tree) func(path string) []byte {
	return func(path string) []byte {
		text, _ := t.Show(ctx, tree, path)
		return text[:min(len(text), maxRead)]
	}
}

// was is the text of a file at the lap's start, nil when there was none or it cannot be known.
func (l *lapFiles) was(c session.Change) []byte {
	if c.Status == "A" || l.before == nil {
		return nil
	}
	return l.before(c.Path)
}

// holdsTests reports whether a changed file is one of tests, or holds some beside its code.
func (l *lapFiles) holdsTests(c session.Change) bool {
	if testpaths.HoldsTests(c.Path) {
		return true
	}
	if !testpaths.MixesTests(c.Path) {
		return false
	}
	now, was := l.now(c.Path), l.was(c)
	return testpaths.TestsFrom(c.Path, now) < len(now) || testpaths.TestsFrom(c.Path, was) < len(was)
}

// changedTests reports whether tests were changed in what a tool names in an error.
func (l *lapFiles) changedTests(printed string) bool {
	return slices.ContainsFunc(l.changes, func(c session.Change) bool {
		return c.Status != "D" && report.SameFile(c.Path, printed) && l.holdsTests(c)
	})
}

// changedIn reports whether tests were changed in a Go package.
func (l *lapFiles) changedIn(pkg session.TestID) bool {
	return slices.ContainsFunc(l.changes, func(c session.Change) bool {
		return strings.HasSuffix(c.Path, "_test.go") && l.inPackage(c.Path, string(pkg))
	})
}

// onlyTests reports whether nothing but tests, what they read, and documents was changed.
func (l *lapFiles) onlyTests() bool {
	return !slices.ContainsFunc(l.changes, func(c session.Change) bool {
		return !testpaths.HoldsTests(c.Path) && !testpaths.IsDocument(c.Path)
	})
}

// anyCode reports whether code was changed, or what tests are made of.
func (l *lapFiles) anyCode() bool {
	return slices.ContainsFunc(l.changes, func(c session.Change) bool {
		return isCode(c.Path) || testpaths.HoldsTests(c.Path)
	})
}

// named reports whether the file of a breakage named what it misses at the lap's start already.
func (l *lapFiles) named(x report.Breakage) bool {
	name := x.Missing[strings.LastIndexAny(x.Missing, `./:\`)+1:]
	return slices.ContainsFunc(l.changes, func(c session.Change) bool {
		return report.SameFile(c.Path, x.File) && name != "" && hasWord(l.was(c), name)
	})
}

// ownPackage is the name of the project's own package, if Node cannot find that: it has no exports yet.
func (l *lapFiles) ownPackage(message string) string {
	name := report.NodePackage(message)
	var manifest struct{ Name string }
	if name == "" || json.Unmarshal(l.now("package.json"), &manifest) != nil || manifest.Name != name {
		return ""
	}
	return name
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
			if m := moduleRE.FindSubmatch(l.now(path.Join(dir, "go.mod"))); m != nil {
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

var moduleRE = lazyregexp.New(`(?m)^\s*module\s+"?([^\s"]+)`)

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

// isCode reports whether a file is source code.
func isCode(file string) bool {
	switch path.Ext(file) {
	case ".go", ".rs", ".rb", ".java", ".kt", ".kts", ".groovy", ".scala", ".cs", ".fs", ".vb", ".php":
		return true
	}
	return report.IsScript(file)
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

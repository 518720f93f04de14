package verdict

import (
	"encoding/json"
	"path"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/internal/lazyregexp"
	"github.com/wfs-dev/wfs/internal/testpaths"
	"github.com/wfs-dev/wfs/phases/report"
	"github.com/wfs-dev/wfs/session"
)

// Files has the list of files that changed since the lap began, and reads their contents.
type Files struct {
	Changes []session.Change
	Now     func(path string) []byte // contents now; nil if the file is missing or irregular
	Before  func(path string) []byte // contents at the lap's start; nil if unknown
}

// Was returns the contents of a file at the lap's start; nil if the file did not exist, or the contents are unknown.
func (l *Files) Was(c session.Change) []byte {
	if c.Status == "A" || l.Before == nil {
		return nil
	}
	return l.Before(c.Path)
}

// HoldsTests reports whether a changed file is a test file, or a code file that contains tests now or at the lap's
// start.
func (l *Files) HoldsTests(c session.Change) bool {
	if testpaths.HoldsTests(c.Path) {
		return true
	}
	if !testpaths.MixesTests(c.Path) {
		return false
	}
	now, was := l.Now(c.Path), l.Was(c)
	return testpaths.TestsFrom(c.Path, now) < len(now) || testpaths.TestsFrom(c.Path, was) < len(was)
}

// changedTests reports whether tests were changed in the file that an error message names.
func (l *Files) changedTests(printed string) bool {
	return slices.ContainsFunc(l.Changes, func(c session.Change) bool {
		return c.Status != "D" && report.SameFile(c.Path, printed) && l.HoldsTests(c)
	})
}

// changedIn reports whether test files of a Go package were changed.
func (l *Files) changedIn(pkg session.TestID) bool {
	return slices.ContainsFunc(l.Changes, func(c session.Change) bool {
		return strings.HasSuffix(c.Path, "_test.go") && l.inPackage(c.Path, string(pkg))
	})
}

var moduleRE = lazyregexp.New(`(?m)^\s*module\s+"?([^\s"]+)`)

// inPackage reports whether a Go file belongs to a package. If no go.mod gives the name of the module, it reports
// whether the file may belong to it.
func (l *Files) inPackage(file, pkg string) bool {
	for _, dir := range above(file) {
		if m := moduleRE.FindStringSubmatch(string(l.Now(path.Join(dir, "go.mod")))); m != nil {
			return pkg == path.Join(m[1], strings.TrimPrefix(path.Dir(file), strings.TrimSuffix(dir, ".")))
		}
	}
	return InPackage(file, pkg)
}

// OnlyTests reports whether the lap changed nothing but tests, files that tests read, and documents.
func (l *Files) OnlyTests() bool {
	return !slices.ContainsFunc(l.Changes, func(c session.Change) bool {
		return !testpaths.HoldsTests(c.Path) && !testpaths.IsDocument(c.Path)
	})
}

// Elsewhere reports whether the lap changed other tests only than the file or Go package of a test, whose file is "" if
// unknown. Changed helpers and data may be used by any test.
func (l *Files) Elsewhere(id session.TestID, file string) bool {
	pkg, _ := report.SplitGo(id)
	class, _, _ := strings.Cut(string(id), "::")
	return !slices.ContainsFunc(l.Changes, func(c session.Change) bool {
		stem, python := strings.CutSuffix(path.Base(c.Path), ".py")
		switch {
		case !testpaths.IsTest(c.Path):
			return !testpaths.IsDocument(c.Path)
		case pkg != "":
			return l.inPackage(c.Path, pkg)
		case file != "":
			return report.SameFile(c.Path, file)
		}
		return !python || slices.Contains(strings.Split(class, "."), stem)
	})
}

// anyCode reports whether the lap changed any code, test, or file that tests read.
func (l *Files) anyCode() bool {
	return slices.ContainsFunc(l.Changes, func(c session.Change) bool {
		return report.IsCode(c.Path) || testpaths.HoldsTests(c.Path)
	})
}

// named reports whether the file of a breakage used the missing name at the lap's start already.
func (l *Files) named(x report.Breakage) bool {
	name := x.Missing[strings.LastIndexAny(x.Missing, `./:\`)+1:]
	return slices.ContainsFunc(l.Changes, func(c session.Change) bool {
		return report.SameFile(c.Path, x.File) && name != "" && HasWord(l.Was(c), name)
	})
}

// ownPackage returns the name of the project's own Node package if the error message is that this package cannot be
// found. Node prints that as long as the package has no exports.
func (l *Files) ownPackage(message string) string {
	name := report.NodePackage(message)
	var manifest struct{ Name string }
	if name == "" || json.Unmarshal(l.Now("package.json"), &manifest) != nil || manifest.Name != name {
		return ""
	}
	return name
}

// above returns the directories that contain a file, innermost first.
func above(file string) (dirs []string) {
	for dir := path.Dir(file); ; dir = path.Dir(dir) {
		if dirs = append(dirs, dir); dir == "." || dir == "/" {
			return dirs
		}
	}
}

// InPackage reports whether a Go file may belong to a package, judging by the end of the import path.
func InPackage(file, pkg string) bool {
	dir := path.Dir(file)
	for dir != "." {
		if pkg == dir || strings.HasSuffix(pkg, "/"+dir) {
			return true
		}
		// The module may begin in a subdirectory: sub/mod/a may be the package example.org/mod/a.
		_, rest, ok := strings.Cut(dir, "/")
		if !ok {
			return false
		}
		dir = rest
	}
	// A file at the top may belong to any package, since the module may have any name.
	return true
}

// HasWord reports whether a text contains a word by itself, not as a part of a longer word.
func HasWord(text []byte, word string) bool {
	for from := 0; ; {
		i := strings.Index(string(text[from:]), word)
		if i < 0 {
			return false
		}
		i += from
		end := i + len(word)
		if (i == 0 || !isWordByte(text[i-1])) && (end == len(text) || !isWordByte(text[end])) {
			return true
		}
		from = end
	}
}

// OwnFile reports whether a path is in one of wfs's own directories.
func OwnFile(path string) bool {
	return strings.HasPrefix(path, ".wfs/") || strings.HasPrefix(path, ".workflow/")
}

func isWordByte(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}

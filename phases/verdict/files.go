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

// Files are the files that changed since the lap began, with their contents.
type Files struct {
	Changes []session.Change
	Now     func(path string) []byte // nil for a missing or irregular file
	Before  func(path string) []byte // at the lap's start; nil if unknown
}

// Was returns the contents of a file at the lap's start; nil if it did not exist or is unknown.
func (l *Files) Was(c session.Change) []byte {
	if c.Status == "A" || l.Before == nil {
		return nil
	}
	return l.Before(c.Path)
}

// HoldsTests reports whether a changed file is a test file, or code that contains tests.
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

// changedTests reports whether tests changed in a file named in an error.
func (l *Files) changedTests(printed string) bool {
	return slices.ContainsFunc(l.Changes, func(c session.Change) bool {
		return c.Status != "D" && report.SameFile(c.Path, printed) && l.HoldsTests(c)
	})
}

// changedIn reports whether tests were changed in a Go package.
func (l *Files) changedIn(pkg session.TestID) bool {
	return slices.ContainsFunc(l.Changes, func(c session.Change) bool {
		return strings.HasSuffix(c.Path, "_test.go") && l.inPackage(c.Path, string(pkg))
	})
}

var moduleRE = lazyregexp.New(`(?m)^\s*module\s+"?([^\s"]+)`)

// inPackage reports whether a Go file belongs to a package, or may belong to it if no go.mod names its module.
func (l *Files) inPackage(file, pkg string) bool {
	for _, dir := range above(file) {
		if m := moduleRE.FindStringSubmatch(string(l.Now(path.Join(dir, "go.mod")))); m != nil {
			return pkg == path.Join(m[1], strings.TrimPrefix(path.Dir(file), strings.TrimSuffix(dir, ".")))
		}
	}
	return InPackage(file, pkg)
}

// OnlyTests reports whether only tests, files that they read, and documents changed.
func (l *Files) OnlyTests() bool {
	return !slices.ContainsFunc(l.Changes, func(c session.Change) bool {
		return !testpaths.HoldsTests(c.Path) && !testpaths.IsDocument(c.Path)
	})
}

// anyCode reports whether code or files of tests changed.
func (l *Files) anyCode() bool {
	return slices.ContainsFunc(l.Changes, func(c session.Change) bool {
		return report.IsCode(c.Path) || testpaths.HoldsTests(c.Path)
	})
}

// named reports whether the broken file already used the missing name at the lap's start.
func (l *Files) named(x report.Breakage) bool {
	name := x.Missing[strings.LastIndexAny(x.Missing, `./:\`)+1:]
	return slices.ContainsFunc(l.Changes, func(c session.Change) bool {
		return report.SameFile(c.Path, x.File) && name != "" && HasWord(l.Was(c), name)
	})
}

// ownPackage returns the name of the project's own package if Node cannot find it because it has no exports yet.
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

// InPackage reports whether a Go file may belong to a package, given the end of the import path.
func InPackage(file, pkg string) bool {
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
	return true // at the top: the module may have any name
}

// HasWord reports whether a text contains a word, not as a part of a longer one.
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

// OwnFile reports whether a path belongs to wfs.
func OwnFile(path string) bool {
	return strings.HasPrefix(path, ".wfs/") || strings.HasPrefix(path, ".workflow/")
}

func isWordByte(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}

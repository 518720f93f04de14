package phases

import (
	"go/parser"
	"go/token"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/wfs-dev/wfs/internal/testpaths"
	"github.com/wfs-dev/wfs/phases/report"
	"github.com/wfs-dev/wfs/session"
)

// mistake says why no code of the project can mend an error in a test file, "" if some may.
func (l *lap) mistake(x report.Breakage) string {
	file := x.File
	for _, c := range l.files.changes {
		if report.SameFile(c.Path, x.File) {
			file = c.Path
		}
	}
	switch {
	case strings.HasSuffix(file, ".rs"):
		if name := report.UnlinkedCrate(x.Message); name != "" && !slices.Contains(strings.Split(file, "/"), "src") &&
			!l.files.isCrate(file, name) {
			return name + " is not a crate of this one"
		}
		if text := l.files.now(file); x.Line > 0 &&
			x.Line <= strings.Count(string(text[:testpaths.TestsFrom(file, text)]), "\n") {
			return "cannot be built"
		}
	case strings.HasSuffix(file, ".go") && x.Misfit != "" && l.ownTypes(file, string(x.Unit), x.Misfit):
		return "cannot be built: " + x.Misfit
	}
	return ""
}

// ownTypes reports whether an error of the Go compiler is about nothing that the project's code could change:
// constants, what other modules declare, and what test files do.
func (l *lap) ownTypes(file, unit, msg string) bool {
	m := goMisfitRE().FindStringSubmatch(msg)
	if m == nil {
		return false
	}
	if m[1]+m[2] != "" { // the test itself says which type a constant is to have
		return true
	}
	text := l.files.now(file)
	of, _, dotted := strings.Cut(m[3], ".")
	if !dotted {
		return l.files.inTestFile(path.Dir(file), of)
	}
	parsed, _ := parser.ParseFile(token.NewFileSet(), "", text, parser.ImportsOnly)
	if parsed == nil {
		return false
	}
	module, _ := l.files.module(file)
	if module == "" {
		module = report.ModulePrefix(unit, file)
	}
	for _, spec := range parsed.Imports {
		from, _ := strconv.Unquote(spec.Path.Value)
		name := path.Base(from)
		if spec.Name != nil {
			name = spec.Name.Name
		}
		if name == of {
			return module != "" && from != module && !strings.HasPrefix(from, module+"/")
		}
	}
	// The testing package is not ours to extend.
	return regexp.MustCompile(`\b` + regexp.QuoteMeta(of) + ` (?:\*testing\.[A-Z]|testing\.TB\b)`).Match(text)
}

// goMisfitRE finds what an error is about: constants alone, or what is called.
var goMisfitRE = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\(untyped \w+ constant[^)]*\) as \w+ value in (variable declaration|return statement)|` +
		`\(mismatched types (untyped) \w+ and untyped|\b(?:argument to|call to) ([\w.]+)`)
})

// inTestFile reports whether a name is that of a function of a changed test file of a directory, in Go.
func (l *lapFiles) inTestFile(dir, name string) bool {
	declares := regexp.MustCompile(`(?m)^func (?:\([^)]*\) )?` + regexp.QuoteMeta(name) + `\b`)
	return slices.ContainsFunc(l.changes, func(c session.Change) bool {
		return path.Dir(c.Path) == dir && strings.HasSuffix(c.Path, "_test.go") && declares.Match(l.now(c.Path))
	})
}

// isCrate reports whether a manifest above a file gives the crate this name. Without a manifest nobody can tell.
func (l *lapFiles) isCrate(file, name string) bool {
	found := false
	for _, dir := range above(file) {
		text := l.now(path.Join(dir, "Cargo.toml"))
		found = found || text != nil
		for _, m := range crateRE().FindAllSubmatch(text, -1) {
			if strings.ReplaceAll(string(m[1]), "-", "_") == name {
				return true
			}
		}
	}
	return !found
}

var crateRE = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)^\s*name\s*=\s*["']([^"']+)["']`) })

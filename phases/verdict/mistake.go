package verdict

import (
	"path"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/internal/lazyregexp"
	"github.com/wfs-dev/wfs/internal/testpaths"
	"github.com/wfs-dev/wfs/phases/report"
)

// mistake returns the reason why an error in a test file cannot be repaired by writing code for the project; "" if it
// may be.
func (l *Files) mistake(x report.Breakage) string {
	file := x.File
	for _, c := range l.Changes {
		if report.SameFile(c.Path, x.File) {
			file = c.Path
		}
	}
	if constantMisfit.MatchString(x.Misfit) {
		return "cannot be built: " + x.Misfit
	}
	if !strings.HasSuffix(file, ".rs") {
		return ""
	}
	if name := report.UnlinkedCrate(x.Message); name != "" && !slices.Contains(strings.Split(file, "/"), "src") &&
		!l.isCrate(file, name) {
		return name + " is not a crate of this one"
	}
	if text := l.Now(file); x.Line > 0 && x.Line <= strings.Count(string(text[:testpaths.TestsFrom(file, text)]), "\n") {
		return "cannot be built"
	}
	return ""
}

// isCrate reports whether a Cargo.toml in a directory above a file names this crate. It also returns true if there is
// no Cargo.toml.
func (l *Files) isCrate(file, name string) bool {
	found := false
	for _, dir := range above(file) {
		text := l.Now(path.Join(dir, "Cargo.toml"))
		found = found || text != nil
		for _, m := range crateRE.FindAllStringSubmatch(string(text), -1) {
			if strings.ReplaceAll(m[1], "-", "_") == name {
				return true
			}
		}
	}
	return !found
}

// constantMisfit matches Go's messages about constants of the wrong type where the test itself declares the type.
var constantMisfit = lazyregexp.New(`\(untyped \w+ constant[^)]*\) as \w+ value in (?:variable declaration|return statement)|` +
	`\(mismatched types untyped \w+ and untyped`)

var crateRE = lazyregexp.New(`(?m)^\s*name\s*=\s*["']([^"']+)["']`)

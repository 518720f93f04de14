package registry

import (
	_ "embed"
	"path"
	"strings"
)

// FileKind is a kind of file or directory below a clone's directory.
type FileKind struct {
	Pattern string // of the path below that directory, with slashes; * matches anything within one name
	Name    string // for display
	Dir     bool
	Lost    string // the consequence if it cannot be used
	Cache   bool   // no consequence: the next command recreates it
	check   func(path string) error
}

//go:embed layout.txt
var layout string

// checks has the content check for each kind of file.
var checks = map[string]func(path string) error{
	"identity of this clone": reads(readIdentity), journalKind: checkJournal, "request": checkRequest,
	"exclude rules": checkExclude, "claim": reads(readClaim),
	"list of what a work tree was given": reads(readProvided),
	"note of a half-made work tree":      checkHalfMade,
}

// Layout lists all state of this clone outside refs and objects, including that of other packages. Examine does not
// look into directories whose pattern ends in /*.
func Layout() []FileKind {
	var kinds []FileKind
	for line := range strings.Lines(layout) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		row := strings.SplitN(line, "|", 3)
		pattern, dir := strings.CutSuffix(strings.TrimSpace(row[0]), "/")
		name, lost := strings.TrimSpace(row[1]), strings.TrimSpace(row[2])
		kinds = append(kinds, FileKind{Pattern: pattern, Name: name, Dir: dir, Lost: lost, Cache: lost == "",
			check: checks[name]})
	}
	return kinds
}

// reads returns a check that reads the file with its reader.
func reads[T any](read func(path string) (T, error)) func(string) error {
	return func(path string) error {
		_, err := read(path)
		return err
	}
}

// KindOf returns the kind of a path below a clone's directory, with slashes, or nil if no pattern matches.
func KindOf(kinds []FileKind, rel string) *FileKind {
	for i, k := range kinds {
		if ok, err := path.Match(k.Pattern, rel); ok && err == nil &&
			strings.Count(rel, "/") == strings.Count(k.Pattern, "/") {
			return &kinds[i]
		}
	}
	return nil
}

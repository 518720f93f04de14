package registry

import (
	_ "embed"
	"path"
	"strings"
)

// FileKind describes one kind of file or directory in a clone's state directory, .git/wfs. It is a line of layout.txt.
type FileKind struct {
	Pattern string // path relative to .git/wfs, with slashes; * matches anything within one name
	Name    string // name for messages
	Dir     bool
	Lost    string // the consequence if the file cannot be used
	Cache   bool   // there is no consequence, because the next command recreates the file
	check   func(path string) error
}

//go:embed layout.txt
var layout string

// checks has the functions that check a file's content, by FileKind.Name.
var checks = map[string]func(path string) error{
	"identity of this clone": reads(readIdentity), journalKind: checkJournal, "request": checkRequest,
	"exclude rules": checkExclude, "claim": reads(readClaim),
	"list of what a work tree was given": reads(readProvided),
	"note of a half-made work tree":      checkHalfMade,
}

// Layout lists all kinds of files that this clone has outside refs and objects, including those of other packages. If a
// directory's pattern ends in /*, Examine does not look into it.
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

// reads returns a content check that only tries to read the file with `read`.
func reads[T any](read func(path string) (T, error)) func(string) error {
	return func(path string) error {
		_, err := read(path)
		return err
	}
}

// KindOf returns the kind that matches a path, or nil if none does. `rel` is relative to the clone's state directory,
// with slashes.
func KindOf(kinds []FileKind, rel string) *FileKind {
	for i, k := range kinds {
		if ok, err := path.Match(k.Pattern, rel); ok && err == nil &&
			strings.Count(rel, "/") == strings.Count(k.Pattern, "/") {
			return &kinds[i]
		}
	}
	return nil
}

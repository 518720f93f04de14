package registry

import (
	_ "embed"
	"path"
	"strings"
)

// FileKind is one sort of thing below a clone's directory.
type FileKind struct {
	Pattern string // of the path below that directory, with slashes; * stands for anything within one name
	Name    string // for people
	Dir     bool
	Lost    string // what follows when it cannot be used
	Cache   bool   // nothing follows: what is wrong with its content is made up for by the next command
	check   func(path string) error
}

//go:embed layout.txt
var layout string

// checks are for the content of files, by their kind.
var checks = map[string]func(path string) error{
	"identity of this clone": reads(readIdentity), journalKind: checkJournal, "request": checkRequest,
	"exclude rules": checkExclude, "claim": reads(readClaim),
	"list of what a work tree was given": reads(readProvided),
	"note of a half-made work tree":      checkHalfMade,
}

// Layout lists everything that this clone keeps outside refs and objects, also what other packages put there.
// The content of directories whose pattern ends in /* is not examined.
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

// reads is the check of a file by its reader.
func reads[T any](read func(path string) (T, error)) func(string) error {
	return func(path string) error {
		_, err := read(path)
		return err
	}
}

// KindOf returns the kind of a path below a clone's directory, with slashes, nil for one that is no kind of ours.
func KindOf(kinds []FileKind, rel string) *FileKind {
	for i, k := range kinds {
		if ok, err := path.Match(k.Pattern, rel); ok && err == nil &&
			strings.Count(rel, "/") == strings.Count(k.Pattern, "/") {
			return &kinds[i]
		}
	}
	return nil
}

package registry

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/session"
)

// Flaw is a problem with a file or directory in the clone's state directory, .git/wfs.
type Flaw struct {
	Path string   // absolute path of the file
	Kind FileKind // the kind that the path should have; the zero value for the state directory itself
	// The session and the work tree that the file belongs to, each "" if there is none. Worktree is the name in the
	// file's path.
	Session  session.ID
	Worktree string
	Err      error // the problem; wraps session.ErrNewer if a newer wfs wrote the file, which must not be touched then
	Wrong    bool  // the file has the wrong type, so no process of wfs can have it open
	Left     bool  // a killed process left this file unfinished: harmless
}

// Examine checks all state of this clone and returns the flaws. It writes nothing and opens nothing that could block.
// If it returns an error, it also returns the flaws found before.
func (c *Clone) Examine() ([]Flaw, error) {
	found, err := c.private(c.dir)
	if errors.Is(err, durable.ErrNotPrivate) {
		return []Flaw{{Path: c.dir, Err: err, Wrong: !isDir(c.dir)}}, nil
	}
	if err != nil || !found {
		return nil, err
	}
	e := examiner{clone: c, kinds: Layout()}
	err = e.dir("")
	return e.flaws, err
}

func isDir(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.IsDir()
}

type examiner struct {
	clone *Clone
	kinds []FileKind
	flaws []Flaw
}

// dir checks the contents of a directory, given by its path relative to the clone's state directory.
func (e *examiner) dir(rel string) error {
	entries, err := entriesOf(filepath.Join(e.clone.dir, filepath.FromSlash(rel)))
	if err != nil {
		return err
	}
	for _, entry := range entries {
		at := path.Join(rel, entry.Name())
		if durable.IsAside(entry.Name()) {
			continue
		}
		if strings.HasPrefix(entry.Name(), durable.TempPrefix) {
			e.add(at, FileKind{Name: "unfinished file", Cache: true}, Flaw{Left: true})
			continue
		}
		kind := KindOf(e.kinds, at)
		if kind == nil { // not from wfs, or from a newer wfs
			continue
		}
		if err := e.look(at, *kind, entry); err != nil {
			return err
		}
	}
	return nil
}

func (e *examiner) look(rel string, kind FileKind, entry fs.DirEntry) error {
	full := filepath.Join(e.clone.dir, filepath.FromSlash(rel))
	switch {
	case kind.Dir && !entry.IsDir():
		e.add(rel, kind, Flaw{Err: fmt.Errorf("is not a directory (%s)", typeOf(entry)), Wrong: true})
		return nil
	case !kind.Dir && !entry.Type().IsRegular():
		e.add(rel, kind, Flaw{Err: fmt.Errorf("is not a regular file (%s)", typeOf(entry)), Wrong: true})
		return nil
	case kind.Dir:
		if _, err := entriesOf(full); err != nil {
			e.add(rel, kind, Flaw{Err: err})
			return nil
		}
		if e.goesOn(rel) {
			return e.dir(rel)
		}
		return nil
	case kind.check == nil:
		return nil
	}
	err := kind.check(full)
	if ifThere(err) != nil { // a missing file was removed since the directory was listed
		e.add(rel, kind, Flaw{Err: err})
	}
	return nil
}

// goesOn reports whether the layout describes files in a directory, so that its contents are checked too.
func (e *examiner) goesOn(rel string) bool {
	return slices.ContainsFunc(e.kinds, func(k FileKind) bool {
		ok, _ := path.Match(path.Dir(k.Pattern), rel) // no error is possible: the patterns are well-formed
		return ok
	})
}

func (e *examiner) add(rel string, kind FileKind, f Flaw) {
	f.Path, f.Kind = filepath.Join(e.clone.dir, filepath.FromSlash(rel)), kind
	switch names := strings.Split(rel, "/"); {
	case len(names) < 2:
	case names[0] == "sessions", names[0] == "half-made":
		if id, err := session.ParseID(names[1]); err == nil && string(id) == names[1] {
			f.Session = id
		}
	case names[0] == "worktrees":
		f.Worktree = names[1]
	}
	e.flaws = append(e.flaws, f)
}

// typeNames has the names of file types for messages. All other types are devices.
var typeNames = map[fs.FileMode]string{
	0: "a file", fs.ModeDir: "a directory", fs.ModeSymlink: "a symbolic link", fs.ModeNamedPipe: "a named pipe",
	fs.ModeSocket: "a socket",
}

func typeOf(entry fs.DirEntry) string { return cmp.Or(typeNames[entry.Type()], "a device") }

// The content checks of the kinds of files.

func checkJournal(path string) error {
	if journalName(path) == "" { // not named as a journal, so not checked as one
		return nil
	}
	_, err := readJournal(path)
	return err
}

func checkRequest(path string) error {
	data, err := durable.ReadFile(path, maxRequest)
	if err != nil {
		return err
	}
	r, ok := parseRequest(data)
	switch {
	case !ok:
		return errors.New("is not a request")
	case r.V > FormatVersion:
		return session.ErrNewer
	}
	return nil
}

func checkExclude(path string) error {
	data, err := durable.ReadFile(path, maxExclude)
	if err != nil {
		return err
	}
	return checkSum(data)
}

func checkHalfMade(path string) error {
	name := filepath.Base(path)
	id, err := session.ParseID(name)
	if err != nil || string(id) != name {
		return nil
	}
	_, err = readHalfMade(path, id)
	return err
}

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

// Flaw is a problem with a file or directory below a clone's directory.
type Flaw struct {
	Path string   // absolute
	Kind FileKind // the expected kind; the zero value for the clone's own directory
	// The owner: Session and Worktree, or "" if there is none. Worktree is the name in the file's path.
	Session  session.ID
	Worktree string
	Err      error // wraps session.ErrNewer for a file that a newer wfs wrote, which is not touched
	Wrong    bool  // it has the wrong type, so no process can have it open
	Left     bool  // an unfinished file of a killed process: harmless
}

// Examine checks all state of this clone. It writes nothing and opens nothing that could block. With an error it
// returns the flaws found so far.
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

// dir checks the contents of a directory, given by its path below the clone's.
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
		if kind == nil { // foreign, or of a newer wfs
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
	if ifThere(err) != nil { // otherwise it was removed in the meantime
		e.add(rel, kind, Flaw{Err: err})
	}
	return nil
}

// goesOn reports whether the layout has entries below a directory.
func (e *examiner) goesOn(rel string) bool {
	return slices.ContainsFunc(e.kinds, func(k FileKind) bool {
		ok, _ := path.Match(path.Dir(k.Pattern), rel) // the patterns are well-formed
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

// typeNames are for display. Other types are devices.
var typeNames = map[fs.FileMode]string{
	0: "a file", fs.ModeDir: "a directory", fs.ModeSymlink: "a symbolic link", fs.ModeNamedPipe: "a named pipe",
	fs.ModeSocket: "a socket",
}

func typeOf(entry fs.DirEntry) string { return cmp.Or(typeNames[entry.Type()], "a device") }

// The checks of files.

func checkJournal(path string) error {
	if journalName(path) == "" { // another kind of file
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

package registry

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/session"
)

// HalfMade is a note about a work tree that wfs is creating or removing. The note is written before the first step and
// removed after the last. If the note exists while the lock of its session is free, the process died before the last
// step.
type HalfMade struct {
	Version int        `json:"v"`
	Session session.ID `json:"session"`
	Dir     string     `json:"dir"`   // absolute path of the work tree
	Above   string     `json:"above"` // the nearest ancestor of Dir that existed before
	Name    string     `json:"name"`  // name of git's entry for the work tree, in .git/worktrees
	RunID   string     `json:"run_id,omitempty"`
	// where the work tree is moved after its contents were checked: a path from TrashOf or AsideOf
	Trash string `json:"trash,omitempty"`
	Seen  string `json:"seen,omitempty"`  // for a removal: digest of file stamps before the check
	Moved bool   `json:"moved,omitempty"` // the work tree is at Trash; any directory at Dir is not ours
}

const maxHalfMade = 1 << 16

func (c *Clone) halfMadeDir() string { return filepath.Join(c.dir, "half-made") }

// KeepHalfMade writes a note durably. A session has at most one note.
func (c *Clone) KeepHalfMade(h HalfMade) error {
	if _, err := c.Session(h.Session).dir(); err != nil {
		return err
	}
	h.Version = FormatVersion
	return c.writeDocument(filepath.Join(c.halfMadeDir(), string(h.Session)), h)
}

// HalfMade lists the notes of all sessions.
func (c *Clone) HalfMade() ([]HalfMade, error) {
	files, err := entriesOf(c.halfMadeDir())
	var list []HalfMade
	for _, f := range files {
		id, bad := session.ParseID(f.Name())
		if bad != nil || string(id) != f.Name() {
			continue // an unfinished file, not a note
		}
		path := filepath.Join(c.halfMadeDir(), f.Name())
		h, err := readHalfMade(path, id)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		list = append(list, h)
	}
	return list, err
}

func readHalfMade(path string, id session.ID) (h HalfMade, err error) {
	if h, err = readDocument[HalfMade](path, maxHalfMade); err != nil {
		return h, err
	}
	if h.Session != id || !filepath.IsAbs(h.Dir) || !filepath.IsAbs(h.Above) || h.Trash != "" && !h.IsTrash() &&
		!h.isAside() {
		return h, corrupt(path, "it names no directory of that session")
	}
	return h, nil
}

// TrashOf returns the path, next to a work tree, to which the work tree is renamed before wfs deletes it. `salt` makes
// the path unique.
func TrashOf(dir, salt string) string {
	return filepath.Join(filepath.Dir(dir), trashPrefix(dir)+salt)
}

// AsideOf returns the path, next to a work tree, to which the work tree is renamed if wfs keeps it instead of deleting
// it, because it holds the only copy of some files. `salt` makes the path unique.
func AsideOf(dir, salt string) string { return dir + asideMark + salt }

// Aside returns the AsideOf path that corresponds to Trash. A work tree that was renamed to be deleted is renamed again
// to Aside, if it turns out to hold the only copy of some files.
func (h HalfMade) Aside() string {
	return AsideOf(h.Dir, strings.TrimPrefix(filepath.Base(h.Trash), trashPrefix(h.Dir)))
}

const asideMark = ".wfs-kept-"

func trashPrefix(dir string) string { return "." + filepath.Base(dir) + ".wfs-removed-" }

// IsTrash reports whether Trash is a path from TrashOf, so that wfs deletes the work tree there.
func (h HalfMade) IsTrash() bool {
	return filepath.Dir(h.Trash) == filepath.Dir(h.Dir) && strings.HasPrefix(filepath.Base(h.Trash), trashPrefix(h.Dir))
}

// isAside reports whether Trash is a path from AsideOf, so that wfs keeps the work tree there.
func (h HalfMade) isAside() bool {
	return filepath.Dir(h.Trash) == filepath.Dir(h.Dir) && strings.HasPrefix(h.Trash, h.Dir+asideMark)
}

// ForgetHalfMade durably removes the session's note, if there is one.
func (s Session) ForgetHalfMade() error {
	if _, err := s.dir(); err != nil {
		return err
	}
	err := os.Remove(filepath.Join(s.clone.halfMadeDir(), string(s.id)))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return durable.SyncDir(s.clone.halfMadeDir()) // this sync also makes all earlier steps durable
}

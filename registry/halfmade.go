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

// HalfMade is a note about a work tree that is being created or removed. It is written before the first step and
// removed after the last. If the note exists while its session's lock is free, a dead process left that work tree
// unfinished.
type HalfMade struct {
	Version int        `json:"v"`
	Session session.ID `json:"session"`
	Dir     string     `json:"dir"`   // the work tree's path, absolute
	Above   string     `json:"above"` // its nearest ancestor that existed before
	Name    string     `json:"name"`  // the name of git's entry
	RunID   string     `json:"run_id,omitempty"`
	// its future path after its contents were checked: TrashOf or AsideOf
	Trash string `json:"trash,omitempty"`
	Seen  string `json:"seen,omitempty"`  // stamp of its files before that check, for a removal
	Moved bool   `json:"moved,omitempty"` // it is at Trash, and checked: a directory at Dir now is not ours
}

const maxHalfMade = 1 << 16

func (c *Clone) halfMadeDir() string { return filepath.Join(c.dir, "half-made") }

// KeepHalfMade writes a note durably. Each session has at most one.
func (c *Clone) KeepHalfMade(h HalfMade) error {
	if _, err := c.Session(h.Session).dir(); err != nil {
		return err
	}
	h.Version = FormatVersion
	return c.writeDocument(filepath.Join(c.halfMadeDir(), string(h.Session)), h)
}

// HalfMade lists all notes.
func (c *Clone) HalfMade() ([]HalfMade, error) {
	files, err := entriesOf(c.halfMadeDir())
	var list []HalfMade
	for _, f := range files {
		id, bad := session.ParseID(f.Name())
		if bad != nil || string(id) != f.Name() {
			continue // an unfinished file
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

// TrashOf returns the path to which a work tree is moved before it is removed. salt makes it unique.
func TrashOf(dir, salt string) string {
	return filepath.Join(filepath.Dir(dir), trashPrefix(dir)+salt)
}

// AsideOf returns the path to which a work tree is moved that holds the only copy of some files.
func AsideOf(dir, salt string) string { return dir + asideMark + salt }

// Aside returns the path for a work tree in the trash that is to be kept instead.
func (h HalfMade) Aside() string {
	return AsideOf(h.Dir, strings.TrimPrefix(filepath.Base(h.Trash), trashPrefix(h.Dir)))
}

const asideMark = ".wfs-kept-"

func trashPrefix(dir string) string { return "." + filepath.Base(dir) + ".wfs-removed-" }

// IsTrash reports whether Trash is a path from TrashOf, where everything is removed.
func (h HalfMade) IsTrash() bool {
	return filepath.Dir(h.Trash) == filepath.Dir(h.Dir) && strings.HasPrefix(filepath.Base(h.Trash), trashPrefix(h.Dir))
}

// isAside reports whether Trash is a path from AsideOf, where nothing is removed.
func (h HalfMade) isAside() bool {
	return filepath.Dir(h.Trash) == filepath.Dir(h.Dir) && strings.HasPrefix(h.Trash, h.Dir+asideMark)
}

// ForgetHalfMade removes the session's note, if it exists.
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
	return durable.SyncDir(s.clone.halfMadeDir()) // and with it all earlier steps
}

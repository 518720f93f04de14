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

// HalfMade is a work tree that is being made or removed. It is written down before the first step and forgotten after
// the last, so that whoever finds one and its session's lock free knows what a dead process left, and where.
type HalfMade struct {
	Version int        `json:"v"`
	Session session.ID `json:"session"`
	Dir     string     `json:"dir"`   // of the work tree, absolute
	Above   string     `json:"above"` // the directory above it that was there before
	Name    string     `json:"name"`  // under which git keeps it
	RunID   string     `json:"run_id,omitempty"`
	// where it is moved, once somebody has looked at what is in it: by TrashOf or AsideOf
	Trash string `json:"trash,omitempty"`
	Seen  string `json:"seen,omitempty"`  // stamp of its files before somebody looked, for what is to be removed
	Moved bool   `json:"moved,omitempty"` // it is there, and looked at: whatever lies in Dir now is somebody else's
}

const maxHalfMade = 1 << 16

func (c *Clone) halfMadeDir() string { return filepath.Join(c.dir, "half-made") }

// KeepHalfMade writes an entry durably. There is one for each session.
func (c *Clone) KeepHalfMade(h HalfMade) error {
	if _, err := c.Session(h.Session).dir(); err != nil {
		return err
	}
	h.Version = FormatVersion
	return c.writeDocument(filepath.Join(c.halfMadeDir(), string(h.Session)), h)
}

// HalfMade lists all entries.
func (c *Clone) HalfMade() ([]HalfMade, error) {
	files, err := entriesOf(c.halfMadeDir())
	var list []HalfMade
	for _, f := range files {
		id, bad := session.ParseID(f.Name())
		if bad != nil || string(id) != f.Name() {
			continue // a file that was being written
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

// TrashOf is where a work tree is moved to be removed. salt tells it from others.
func TrashOf(dir, salt string) string {
	return filepath.Join(filepath.Dir(dir), trashPrefix(dir)+salt)
}

// AsideOf is where a work tree is moved that holds what nobody else has.
func AsideOf(dir, salt string) string { return dir + asideMark + salt }

// Aside is where what was moved to the trash is kept after all.
func (h HalfMade) Aside() string {
	return AsideOf(h.Dir, strings.TrimPrefix(filepath.Base(h.Trash), trashPrefix(h.Dir)))
}

const asideMark = ".wfs-kept-"

func trashPrefix(dir string) string { return "." + filepath.Base(dir) + ".wfs-removed-" }

// IsTrash reports whether the trash is what TrashOf makes: everything in it is removed.
func (h HalfMade) IsTrash() bool {
	return filepath.Dir(h.Trash) == filepath.Dir(h.Dir) && strings.HasPrefix(filepath.Base(h.Trash), trashPrefix(h.Dir))
}

// isAside reports whether the trash is what AsideOf makes: nothing in it is removed.
func (h HalfMade) isAside() bool {
	return filepath.Dir(h.Trash) == filepath.Dir(h.Dir) && strings.HasPrefix(h.Trash, h.Dir+asideMark)
}

// ForgetHalfMade removes the session's entry, if there is one.
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
	return durable.SyncDir(s.clone.halfMadeDir()) // and with it all that was made or removed before
}

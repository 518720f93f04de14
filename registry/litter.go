package registry

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/session"
)

// Litter is a directory of this clone's state that can be removed, with its size.
type Litter struct {
	Path   string
	Bytes  int64
	Newest time.Time // when a file in it was last written
}

// weigh measures everything in a directory.
func weigh(dir string) (Litter, error) {
	l := Litter{Path: dir}
	err := filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil {
			return ifThere(err)
		}
		info, err := d.Info()
		if err != nil {
			return ifThere(err)
		}
		if !d.IsDir() {
			l.Bytes += info.Size()
		}
		if info.ModTime().After(l.Newest) {
			l.Newest = info.ModTime()
		}
		return nil
	})
	return l, err
}

// OldRuns returns the directories of those runs of a session to which nothing was written since `before`, except the
// runs in `keep`.
func (s Session) OldRuns(before time.Time, keep ...string) ([]Litter, error) {
	dir, err := s.dir()
	if err != nil {
		return nil, err
	}
	entries, err := entriesOf(filepath.Join(dir, runsName))
	if err != nil {
		return nil, err
	}
	var old []Litter
	for _, e := range entries {
		if !e.IsDir() || slices.Contains(keep, e.Name()) {
			continue
		}
		l, err := weigh(filepath.Join(dir, runsName, e.Name()))
		if err != nil {
			return nil, err
		}
		if l.Newest.Before(before) {
			old = append(old, l)
		}
	}
	return old, nil
}

// Sessions lists the sessions of which this clone has state, including deleted sessions.
func (c *Clone) Sessions() ([]session.ID, error) {
	entries, err := entriesOf(filepath.Join(c.dir, "sessions"))
	var ids []session.ID
	for _, e := range entries {
		if id, err := session.ParseID(e.Name()); err == nil && string(id) == e.Name() && e.IsDir() {
			ids = append(ids, id)
		}
	}
	return ids, err
}

// Litter measures all state that the clone has of the session. `events` means that removing it would lose something: a
// journal has events that extend a ledger, or cannot be read, or requests are pending.
func (s Session) Litter() (l Litter, events bool, err error) {
	dir, err := s.dir()
	if err != nil {
		return l, false, err
	}
	tips, err := s.Tips()
	if err != nil {
		return l, false, err
	}
	for _, tip := range tips {
		found, _, err := s.Peek(tip)
		if tip != "" && (len(found) > 0 || err != nil) {
			events = true
		}
	}
	if asked, _ := os.ReadDir(filepath.Join(dir, "inbox")); len(asked) > 0 {
		events = true // requests that no driver has processed yet
	}
	l, err = weigh(dir)
	return l, events, err
}

// WorktreeLitter returns and measures the state of each work tree that no longer exists, except one with a claim.
// `there` reports whether a work tree exists.
func (c *Clone) WorktreeLitter(there func(id string) (bool, error)) ([]Litter, error) {
	entries, err := entriesOf(filepath.Join(c.dir, "worktrees"))
	if err != nil {
		return nil, err
	}
	var list []Litter
	for _, e := range entries {
		name := e.Name()
		if known, err := there(name); err != nil {
			return nil, err
		} else if known || !plain(name[0]) || name[0] == '.' || !e.IsDir() {
			continue
		}
		l, err := weigh(filepath.Join(c.dir, "worktrees", name))
		if err != nil {
			return nil, err
		}
		if _, err := os.Lstat(filepath.Join(l.Path, "claim")); errors.Is(err, fs.ErrNotExist) {
			list = append(list, l)
		}
	}
	return list, nil
}

// Remove deletes the directory of litter. It renames the directory first, so that if it is killed, no half-deleted
// directory has the old name. It also deletes directories that earlier, killed calls have renamed.
func (c *Clone) Remove(l Litter) error {
	if rel, err := filepath.Rel(c.dir, l.Path); err != nil || !filepath.IsLocal(rel) || rel == "." {
		return errors.New(l.Path + " is not below " + c.dir)
	}
	dir, name := filepath.Split(l.Path)
	if err := os.Rename(l.Path, filepath.Join(dir, durable.TempPrefix+"gone-"+name)); ifThere(err) != nil {
		return err
	}
	gone, err := filepath.Glob(filepath.Join(dir, durable.TempPrefix+"gone-*"))
	if err != nil {
		return err
	}
	for _, path := range gone {
		if err := os.RemoveAll(path); err != nil {
			return err
		}
	}
	return durable.SyncDir(filepath.Clean(dir))
}

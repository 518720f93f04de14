package registry

import (
	"errors"
	"os"
	"path/filepath"
	"slices"

	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/session"
)

// Identity identifies this clone. A copy of a clone has the same identity at first, and a copy of all state of the
// original: runs that are not its own, and work trees that the original is creating.
type Identity struct {
	Version int      `json:"v"`
	ID      string   `json:"id"`
	Path    string   `json:"path"`               // of the git common directory, without links
	Device  uint64   `json:"device,omitempty"`   // of that directory; 0 if the system has no such numbers
	Inode   uint64   `json:"inode,omitempty"`    // the same
	NotOurs []string `json:"not_ours,omitempty"` // runs that began in the clone that this clone was copied from
}

const maxIdentity = 1 << 20

// Place is the result of Whence.
type Place int

const (
	Same    Place = iota // nothing has changed
	Unknown              // no identity is recorded, or it is unreadable
	Moved                // it was moved, or restored, from another path
	Copied               // the clone that it was copied from still exists
)

func (c *Clone) identityFile() string { return filepath.Join(c.dir, "clone") }

// Whence compares the recorded identity with the clone's current place. now is the identity to record, with the ID of
// the recorded one, if any. It writes nothing.
func (c *Clone) Whence() (place Place, was, now Identity, err error) {
	if now, err = identityOf(filepath.Dir(c.dir)); err != nil {
		return Unknown, was, now, err
	}
	was, err = readIdentity(c.identityFile())
	if errors.Is(err, session.ErrNewer) {
		return Unknown, was, now, err
	}
	if err != nil {
		return Unknown, Identity{}, now, nil
	}
	now.ID, now.NotOurs = was.ID, was.NotOurs
	sameFile := was.Inode == now.Inode && was.Inode != 0 // not the device's number, which may change at a reboot
	switch {
	case was.Path == now.Path: // if it was restored from a backup, the original is gone
		return Same, was, now, nil
	case !sameFile && was.isStill():
		return Copied, was, now, nil
	}
	return Moved, was, now, nil
}

// isStill reports whether the clone with an identity is still at its path.
func (i Identity) isStill() bool {
	theirs, err := readIdentity(filepath.Join(i.Path, "wfs", "clone"))
	return err == nil && theirs.ID == i.ID && theirs.Path == i.Path
}

func identityOf(commonDir string) (i Identity, err error) {
	if i.Path, err = filepath.EvalSymlinks(commonDir); err != nil {
		return i, err
	}
	info, err := os.Stat(i.Path)
	if err != nil {
		return i, err
	}
	i.Version = FormatVersion
	i.Device, i.Inode, _ = durable.FileID(info)
	return i, nil
}

func readIdentity(path string) (i Identity, err error) {
	i, err = readDocument[Identity](path, maxIdentity)
	if err == nil && i.ID == "" {
		err = corrupt(path, "it has no id")
	}
	return i, err
}

// Identify records the clone's identity. It moves an unreadable file aside.
func (c *Clone) Identify(i Identity) error {
	if err := c.make(c.dir); err != nil {
		return err
	}
	if _, err := readIdentity(c.identityFile()); ifThere(err) != nil {
		if errors.Is(err, session.ErrNewer) {
			return err
		}
		if _, err := durable.MoveAside(c.identityFile()); err != nil {
			return err
		}
	}
	if err := c.writeDocument(c.identityFile(), i); err != nil {
		return err
	}
	durable.Hit(durable.CloneKnown)
	return nil
}

// Ours reports whether a run began in this clone.
func (c *Clone) Ours(runID string) bool {
	i, err := readIdentity(c.identityFile())
	return err != nil || !slices.Contains(i.NotOurs, runID)
}

// LeaveHalfMade moves the notes of half-made work trees aside, because they are another clone's. It returns the runs in
// them, and the path where the notes are kept, or "" if there were none.
func (c *Clone) LeaveHalfMade() (runs []string, kept string, err error) {
	list, err := c.HalfMade()
	if err != nil && !errors.Is(err, ErrCorrupt) && !errors.Is(err, session.ErrNewer) {
		return nil, "", err
	}
	for _, h := range list {
		runs = append(runs, h.RunID)
	}
	if found, err := durable.CheckDir(c.halfMadeDir()); !found || err != nil {
		return runs, "", err
	}
	kept, err = durable.MoveAside(c.halfMadeDir())
	return runs, kept, err
}

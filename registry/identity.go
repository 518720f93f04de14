package registry

import (
	"errors"
	"os"
	"path/filepath"
	"slices"

	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/session"
)

// Identity identifies this clone. If the user copies a clone with its .git directory, the copy has the same identity at
// first, and all other state of the original too: runs that did not begin in the copy, and notes about work trees that
// the original is creating.
type Identity struct {
	Version int      `json:"v"`
	ID      string   `json:"id"`
	Path    string   `json:"path"`               // path of the git common directory, without symbolic links
	Device  uint64   `json:"device,omitempty"`   // device number of that directory; 0 if the system has no such numbers
	Inode   uint64   `json:"inode,omitempty"`    // inode number of that directory; 0 as for Device
	NotOurs []string `json:"not_ours,omitempty"` // ids of the runs that began in the clone that this clone is a copy of
}

const maxIdentity = 1 << 20

// Place says how the clone's current path relates to the path in its identity; see Whence.
type Place int

const (
	Same    Place = iota // the path has not changed
	Unknown              // no identity is recorded, or it is unreadable
	Moved                // the clone was moved, or restored from a backup, to another path
	Copied               // the clone is a copy, and the original still exists
)

func (c *Clone) identityFile() string { return filepath.Join(c.dir, "clone") }

// Whence compares the recorded identity, `was`, with the clone's current path and inode. `now` is the identity to
// record: current values, with the ID that is recorded already, if any. Whence writes nothing.
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
	sameFile := was.Inode == now.Inode && was.Inode != 0 // not Device, which may change at a reboot
	switch {
	case was.Path == now.Path: // whatever the inode is: a backup restored here has replaced the original
		return Same, was, now, nil
	case !sameFile && was.isStill():
		return Copied, was, now, nil
	}
	return Moved, was, now, nil
}

// isStill reports whether the clone with this identity still exists at the path in it.
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

// Identify records the clone's identity. If the recorded identity is unreadable, it moves that file aside first.
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

// Ours reports whether a run began in this clone, and not in the clone that this one is a copy of. It returns true if
// this clone's identity cannot be read.
func (c *Clone) Ours(runID string) bool {
	i, err := readIdentity(c.identityFile())
	return err != nil || !slices.Contains(i.NotOurs, runID)
}

// LeaveHalfMade moves the notes of half-made work trees aside, because they are those of the clone that this one is a
// copy of. It returns the ids of the runs in the notes, and the path to which it moved the notes, or "" if there were
// none.
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

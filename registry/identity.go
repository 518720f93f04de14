package registry

import (
	"errors"
	"os"
	"path/filepath"
	"slices"

	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/session"
)

// Identity says which clone this is. A copy of a clone has the same one at first, with everything that goes on in the
// original: runs that are not its own, work trees that are being made for the other.
type Identity struct {
	Version int      `json:"v"`
	ID      string   `json:"id"`
	Path    string   `json:"path"`               // of the git common directory, without links
	Device  uint64   `json:"device,omitempty"`   // of that directory; 0 where the system has no such numbers
	Inode   uint64   `json:"inode,omitempty"`    // likewise
	NotOurs []string `json:"not_ours,omitempty"` // runs that began in the clone that this one is a copy of
}

const maxIdentity = 1 << 20

// Place is what Whence finds out.
type Place int

const (
	Same    Place = iota // nothing has changed
	Unknown              // nothing is written down yet, or what is cannot be read
	Moved                // it was elsewhere before, or was restored from elsewhere
	Copied               // the clone that this was copied from is still there
)

func (c *Clone) identityFile() string { return filepath.Join(c.dir, "clone") }

// Whence compares what is written down with where the clone is. now is what ought to be written down, with the identity
// of before, if there is one. It writes nothing.
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
	sameFile := was.Inode == now.Inode && was.Inode != 0 // the device's number may be another after a reboot
	switch {
	case was.Path == now.Path: // if it was restored from a backup, this is the only one there is
		return Same, was, now, nil
	case !sameFile && was.isStill():
		return Copied, was, now, nil
	}
	return Moved, was, now, nil
}

// isStill reports whether the clone that an identity describes is where it was.
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

// Identify writes down which clone this is. What is there and cannot be used is moved aside.
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

// LeaveHalfMade takes the notes of work trees that are being made or removed out of the way: they are another clone's.
// It returns the runs that they name, and where they are kept, "" when there were none.
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

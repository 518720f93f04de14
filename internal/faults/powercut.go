//go:build linux && amd64

package faults

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Model is the extent of the loss in a power cut. Both are possible in a journaling file system, where a sync of any
// file or directory makes all earlier names durable, and the content of that file.
type Model string

const (
	ContentLost Model = "content-lost" // names survive; content that was not synced is lost
	NamesLost   Model = "names-lost"   // names since the last sync are lost as well
)

// Disk replays calls and computes the files after a power cut.
type Disk struct {
	now, kept map[string]*inode // by path; kept: at the last sync
}

type inode struct {
	mode      fs.FileMode
	target    string // of a symbolic link
	now, kept []byte
	out       []byte // written out; durable after the next sync of anything
	pending   bool
}

// ReadDisk reads a directory as the durable state.
func ReadDisk(dir string) (*Disk, error) {
	d := &Disk{now: map[string]*inode{}}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		n := &inode{mode: info.Mode()}
		switch {
		case info.Mode()&fs.ModeSymlink != 0:
			n.target, err = os.Readlink(path)
		case info.Mode().IsRegular():
			n.now, err = os.ReadFile(path)
			n.kept = n.now
		case !info.IsDir():
			return nil // sockets and the like
		}
		rel, _ := filepath.Rel(dir, path)
		d.now[rel] = n
		return err
	})
	d.kept = maps.Clone(d.now)
	return d, err
}

// Matters reports whether a call can change the files after a power cut.
func (c Call) Matters(m Model) bool {
	if m == NamesLost {
		return c.Kind == Sync || c.Kind == Chmod
	}
	return c.Kind != Write && c.Kind != Truncate && c.Kind != WriteOut
}

// Apply replays one call.
func (d *Disk) Apply(c Call) error {
	n := d.now[c.Path]
	need := c.Kind != Create && c.Kind != Mkdir && c.Kind != Symlink && c.Kind != Rename && c.Kind != Remove
	if need && n == nil {
		return fmt.Errorf("%s: there is no such file", c)
	}
	switch c.Kind {
	case Create:
		d.now[c.Path] = &inode{mode: 0o644}
	case Truncate:
		n.now = resized(n.now, c.Offset)
	case Write:
		n.now = resized(n.now, max(int64(len(n.now)), c.Offset+int64(len(c.Data))))
		copy(n.now[c.Offset:], c.Data)
	case Rename:
		d.rename(c.Path, c.To)
	case Link:
		d.now[c.To] = n
	case Symlink:
		d.now[c.Path] = &inode{mode: fs.ModeSymlink, target: c.To}
	case Remove:
		delete(d.now, c.Path)
	case Mkdir:
		d.now[c.Path] = &inode{mode: fs.ModeDir | 0o755}
	case Chmod:
		n.mode = n.mode&^fs.ModePerm | fs.FileMode(c.Offset)&fs.ModePerm
	case WriteOut:
		n.out, n.pending = slices.Clone(n.now), true
	case Sync:
		n.kept = slices.Clone(n.now)
		for _, other := range d.now {
			if other.pending {
				other.kept, other.out, other.pending = other.out, nil, false
			}
		}
		d.kept = maps.Clone(d.now)
	}
	return nil
}

// resized returns a copy with the given size, padded with zeros.
func resized(data []byte, size int64) []byte {
	out := make([]byte, size)
	copy(out, data)
	return out
}

// rename moves a name and all names below it. "" is a path outside of the root.
func (d *Disk) rename(from, to string) {
	for path, n := range maps.Clone(d.now) {
		rest, ok := strings.CutPrefix(path, from)
		if from == "" || !ok || rest != "" && rest[0] != '/' {
			continue
		}
		delete(d.now, path)
		if to != "" {
			d.now[to+rest] = n
		}
	}
}

// Cut writes the files after a power cut into an empty directory.
func (d *Disk) Cut(m Model, dir string) error {
	names := d.now
	if m == NamesLost {
		names = d.kept
	}
	for _, path := range slices.Sorted(maps.Keys(names)) { // directories come before their contents
		n, to := names[path], filepath.Join(dir, path)
		var err error
		switch {
		case n.mode.IsDir():
			err = os.MkdirAll(to, n.mode.Perm()|0o700)
		case n.mode&fs.ModeSymlink != 0:
			err = os.Symlink(n.target, to)
		default:
			err = os.WriteFile(to, n.kept, n.mode.Perm()|0o200)
			if err == nil && n.mode.Perm()&0o200 == 0 {
				err = os.Chmod(to, n.mode.Perm())
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

//go:build linux && amd64

package faults

import (
	"bytes"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Model says how much a power cut destroys. Both models are possible on a journaling file system. There, a sync of any
// file or directory makes all earlier changes of names durable, and a sync of a file also its content.
type Model string

const (
	ContentLost Model = "content-lost" // all names are as they were; content that was not synced is lost
	NamesLost   Model = "names-lost"   // names that changed since the last sync are lost too
)

// Disk replays calls, and computes which files exist after a power cut.
type Disk struct {
	now, kept map[string]*inode // files by path: now, and durably since the last sync
}

type inode struct {
	mode      fs.FileMode
	target    string // target of a symbolic link
	now, kept []byte
	out       []byte // content at the last WriteOut; durable after the next Sync of any file
	pending   bool
}

// ReadDisk returns a Disk with the files of a directory, all of them durable.
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
			return nil // sockets and the like are skipped
		}
		rel, _ := filepath.Rel(dir, path)
		d.now[rel] = n
		return err
	})
	d.kept = maps.Clone(d.now)
	return d, err
}

// Matters reports whether a call can change what a power cut right after it leaves.
func (c Call) Matters(m Model) bool {
	if m == NamesLost {
		return c.Kind == Sync || c.Kind == Chmod
	}
	return c.Kind != Write && c.Kind != Truncate && c.Kind != WriteOut
}

// Apply replays one call. It returns an error if the call's file does not exist.
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

// Synced reports whether a file's content would survive a power cut. It is true for directories and links.
func (d *Disk) Synced(path string) bool {
	n := d.now[path]
	return n == nil || bytes.Equal(n.now, n.kept)
}

// resized returns a copy of data, cut or padded with zeros to `size` bytes.
func resized(data []byte, size int64) []byte {
	out := make([]byte, size)
	copy(out, data)
	return out
}

// rename renames a path, and all paths below it. A path of "" is outside of the root, so the files leave or enter it.
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

// Cut writes the files that exist after a power cut into an empty directory.
func (d *Disk) Cut(m Model, dir string) error {
	names := d.now
	if m == NamesLost {
		names = d.kept
	}
	for _, path := range slices.Sorted(maps.Keys(names)) { // sorted, so that directories come before their contents
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

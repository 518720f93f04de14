package gitstate

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/gitstate/gitcmd"
	"github.com/wfs-dev/wfs/session"
)

// Unkept lists what is in the work tree and in no snapshot of it: ignored paths, directories collapsed, those
// that the exclude file leaves out, and what a snapshot has skipped or held out. What is exactly as in another
// work tree is not in the list, and neither are links into it. See Unsaved for what no setting of git's brings
// into one.
func (r *Repo) Unkept(ctx context.Context, exclude string, not session.Staged, other *Repo) ([]string, error) {
	ignored, err := r.Ignored(ctx)
	if err != nil {
		return nil, err
	}
	names := ignored
	if exclude != "" {
		before, err := r.IgnoredBefore(ctx, exclude)
		if err != nil {
			return nil, err
		}
		names = append(names, before...)
	}
	for _, h := range not.HeldOut {
		names = append(names, h.Path)
	}
	for _, s := range not.Skipped {
		names = append(names, s.Path)
	}
	slices.Sort(names)
	var list []string
	for _, name := range slices.Compact(names) {
		same, err := sameIn(r.Git.Root, other.Git.Root, strings.TrimSuffix(name, "/"))
		if err != nil {
			return nil, err
		}
		if !same {
			list = append(list, name)
		}
	}
	return list, nil
}

// Kept reports whether nothing in a snapshot would be lost with its work tree: the files and the index are
// those of HEAD's commit, and a ref leads to that.
func (r *Repo) Kept(ctx context.Context, s session.Snapshot) (bool, error) {
	if !s.Clean() || s.Head.Ref != "" || s.Head.Commit == "" {
		return s.Clean(), nil
	}
	out, err := r.Git.Run(ctx, gitcmd.Opts{}, "for-each-ref", "--count=1", "--format=%(refname)",
		"--contains="+string(s.Head.Commit))
	return len(out) > 0, err
}

// sameIn reports whether everything at a path of one directory is the same in another one, or is a link into that. What
// leads back into the first, by a link or a mount, is no copy.
func sameIn(dir, other, name string) (bool, error) {
	target, err := filepath.EvalSymlinks(other)
	if err != nil {
		return false, err
	}
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return false, err
	}
	if leadsInto(real, filepath.Join(dir, filepath.FromSlash(path.Dir(name))),
		filepath.Join(other, filepath.FromSlash(path.Dir(name)))) {
		return false, nil
	}
	differs := errors.New("differs")
	err = filepath.WalkDir(filepath.Join(dir, filepath.FromSlash(name)),
		func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			rel, err := filepath.Rel(dir, path)
			if err != nil {
				return err
			}
			there := filepath.Join(other, rel)
			switch {
			case d.IsDir() && leadsInto(real, path, there):
				return differs
			case d.IsDir():
				return nil
			case d.Type()&fs.ModeSymlink != 0:
				to, err := os.Readlink(path)
				if err != nil {
					return err
				}
				if theirs, err := os.Readlink(there); err == nil && theirs == to || filepath.IsAbs(to) && inside(to, target) {
					return nil
				}
				return differs
			case !d.Type().IsRegular():
				return differs
			}
			same, err := sameFile(path, there)
			if err == nil && !same {
				err = differs
			}
			return err
		})
	if errors.Is(err, differs) || errors.Is(err, fs.ErrPermission) { // what cannot be read is not known to be the same
		return false, nil
	}
	return err == nil, err
}

// leadsInto reports whether a directory of another work tree lies in fact in a real one, or is the same as mine.
func leadsInto(real, mine, theirs string) bool {
	to, err := filepath.EvalSymlinks(theirs)
	if err != nil {
		return false // there is none
	}
	if inside(to, real) {
		return true
	}
	a, errA := os.Stat(mine)
	b, errB := os.Stat(to)
	return errA == nil && errB == nil && os.SameFile(a, b)
}

func sameFile(a, b string) (bool, error) {
	info, err := os.Lstat(b)
	if err != nil || !info.Mode().IsRegular() {
		return false, nil
	}
	mine, err := os.Lstat(a)
	if err != nil || mine.Size() != info.Size() {
		return false, err
	}
	if os.SameFile(mine, info) && gitcmd.LinksOf(info) == 1 { // mounted there: no other name of it
		return false, nil
	}
	x, err := os.Open(a)
	if err != nil {
		return false, err
	}
	defer x.Close()
	y, err := os.Open(b)
	if err != nil {
		return false, nil // unreadable there: not known to be the same
	}
	defer y.Close()
	var bx, by [64 << 10]byte
	for {
		n, errX := io.ReadFull(x, bx[:])
		m, errY := io.ReadFull(y, by[:])
		if !bytes.Equal(bx[:n], by[:m]) {
			return false, nil
		}
		if errX != nil || errY != nil {
			if errX == io.EOF || errX == io.ErrUnexpectedEOF {
				errX = nil
			}
			return errX == nil, errX
		}
	}
}

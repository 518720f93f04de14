package unsaved

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/gitstate/gitcmd"
	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/session"
)

// Unkept lists the paths of the work tree that none of its snapshots has: ignored paths, with directories collapsed,
// paths that the exclude file leaves out, and those that a snapshot skipped or held out. It leaves out paths with the
// same content in another work tree, and links into that one. See Unsaved for files that cannot be in a snapshot with
// any git settings.
func (r *Finder) Unkept(ctx context.Context, exclude string, not session.Staged, other *gitcmd.Git) ([]string, error) {
	ignored, err := r.Settings.Ignored(ctx)
	if err != nil {
		return nil, err
	}
	names := ignored
	if exclude != "" {
		before, err := r.Settings.IgnoredBefore(ctx, exclude)
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
		same, err := sameIn(r.Git.Root, other.Root, strings.TrimSuffix(name, "/"))
		if err != nil {
			return nil, err
		}
		if !same {
			list = append(list, name)
		}
	}
	return list, nil
}

// Kept reports whether removing the work tree would lose nothing of a snapshot: its files and index are those of HEAD's
// commit, and a ref reaches that commit.
func (r *Finder) Kept(ctx context.Context, s session.Snapshot) (bool, error) {
	if !s.Clean() || s.Head.Ref != "" || s.Head.Commit == "" {
		return s.Clean(), nil
	}
	out, err := r.Git.Ask(ctx, "for-each-ref", "--count=1", "--format=%(refname)",
		"--contains="+string(s.Head.Commit))
	return len(out) > 0, err
}

// sameIn reports whether everything at a path of one directory is the same in another one, or a link into that. A path
// that leads back into the first one, by a link or a mount, is not a copy.
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
			if d.IsDir() {
				if leadsInto(real, path, there) {
					return errDiffers
				}
				return nil
			}
			same, err := sameFile(path, there, d.Type(), target)
			if err == nil && !same {
				err = errDiffers
			}
			return err
		})
	if errors.Is(err, errDiffers) || errors.Is(err, fs.ErrPermission) { // unreadable: not known to be the same
		return false, nil
	}
	return err == nil, err
}

var errDiffers = errors.New("differs")

// sameFile reports whether two files are the same, or the first is a link into the directory target.
func sameFile(path, there string, kind fs.FileMode, target string) (bool, error) {
	if kind.IsRegular() {
		return gitcmd.SameContent(path, there)
	}
	if kind&fs.ModeSymlink == 0 {
		return false, nil
	}
	to, err := os.Readlink(path)
	if err != nil {
		return false, err
	}
	theirs, err := os.Readlink(there)
	return err == nil && theirs == to || filepath.IsAbs(to) && durable.Inside(to, target), nil
}

// leadsInto reports whether a directory of another work tree is really inside of the directory real, or is the same as
// mine.
func leadsInto(real, mine, theirs string) bool {
	to, err := filepath.EvalSymlinks(theirs)
	if err != nil {
		return false // it does not exist
	}
	if durable.Inside(to, real) {
		return true
	}
	a, errA := os.Stat(mine)
	b, errB := os.Stat(to)
	return errA == nil && errB == nil && os.SameFile(a, b)
}

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

// Unkept lists the paths of the work tree that no snapshot of it contains: ignored paths (a directory stands for
// everything in it), paths that the session's exclude file leaves out of checkpoints, and paths that a snapshot skipped
// or held out. It omits paths that have the same content in the work tree `other`, and links to that. For files that
// can never be in a snapshot, see Unsaved.
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

// Kept reports whether a snapshot contains nothing that would be lost with its work tree: its files and its index are
// the same as in HEAD's commit, and a ref reaches that commit.
func (r *Finder) Kept(ctx context.Context, s session.Snapshot) (bool, error) {
	if !s.Clean() || s.Head.Ref != "" || s.Head.Commit == "" {
		return s.Clean(), nil
	}
	out, err := r.Git.Ask(ctx, "for-each-ref", "--count=1", "--format=%(refname)",
		"--contains="+string(s.Head.Commit))
	return len(out) > 0, err
}

// sameIn reports whether everything at a path in one directory is the same at that path in another directory, or is a
// link to there. If a link or a mount in the other directory leads back into the first one, that is not a copy, and
// sameIn returns false.
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
	if errors.Is(err, errDiffers) || errors.Is(err, fs.ErrPermission) { // unreadable: it may differ
		return false, nil
	}
	return err == nil, err
}

var errDiffers = errors.New("differs")

// sameFile reports whether two files have the same content, or the first is a link into the directory target.
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

// leadsInto reports whether the directory theirs (of another work tree) is really in the directory real, or is the same
// directory as mine.
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

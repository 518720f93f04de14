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

// Unkept lists what is in the work tree and in no snapshot of it: ignored paths, directories collapsed, those
// that the exclude file leaves out, and what a snapshot has skipped or held out. What is exactly as in another
// work tree is not in the list, and neither are links into it. See Unsaved for what no setting of git's brings
// into one.
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

// Kept reports whether nothing in a snapshot would be lost with its work tree: the files and the index are
// those of HEAD's commit, and a ref leads to that.
func (r *Finder) Kept(ctx context.Context, s session.Snapshot) (bool, error) {
	if !s.Clean() || s.Head.Ref != "" || s.Head.Commit == "" {
		return s.Clean(), nil
	}
	out, err := r.Git.Ask(ctx, "for-each-ref", "--count=1", "--format=%(refname)",
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
	if errors.Is(err, errDiffers) || errors.Is(err, fs.ErrPermission) { // what cannot be read is not known to be the same
		return false, nil
	}
	return err == nil, err
}

var errDiffers = errors.New("differs")

// sameFile reports whether two files are the same. A link may also lead into a directory.
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

// leadsInto reports whether a directory of another work tree lies in fact in a real one, or is the same as mine.
func leadsInto(real, mine, theirs string) bool {
	to, err := filepath.EvalSymlinks(theirs)
	if err != nil {
		return false // there is none
	}
	if durable.Inside(to, real) {
		return true
	}
	a, errA := os.Stat(mine)
	b, errB := os.Stat(to)
	return errA == nil && errB == nil && os.SameFile(a, b)
}

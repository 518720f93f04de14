package unsaved

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/gitstate/gitcmd"
	"github.com/wfs-dev/wfs/gitstate/object"
)

// Unsaved lists files of a linked work tree that can never be in a snapshot: files in the user's own directory (.wfs)
// that differ from HEAD's commit, and submodules with work that their remotes are not known to have. It omits files
// that have the same content in the work tree `other`.
func (r *Finder) Unsaved(ctx context.Context, other *gitcmd.Git) ([]string, error) {
	own, err := r.ownChanges(ctx)
	if err != nil {
		return nil, err
	}
	var list []string
	for _, name := range own {
		if same, err := sameIn(r.Git.Root, other.Root, name); err != nil {
			return nil, err
		} else if !same {
			list = append(list, name)
		}
	}
	nested, err := r.nestedWork(ctx, other)
	return append(list, nested...), err
}

// ownChanges lists the files of the user's own directory that differ from HEAD's commit, and exist or are in the index.
// It omits ignored files.
func (r *Finder) ownChanges(ctx context.Context) ([]string, error) {
	out, err := r.Git.Ask(ctx, "status", "--porcelain", "-z", "--untracked-files=all", "--no-renames",
		"--ignore-submodules=all",
		"--", ":(top,literal)"+object.UserDir)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, line := range gitcmd.SplitZ(out) { // XY PATH: X is the state in the index, Y that of the file
		if len(line) > 3 && line[:2] != " D" && line[:2] != "D " {
			names = append(names, strings.TrimSuffix(line[3:], "/"))
		}
	}
	hidden, err := r.unlooked(ctx)
	names = append(names, hidden...)
	slices.Sort(names)
	return slices.Compact(names), err
}

// unlooked lists the existing files of the user's own directory whose changes git is set to ignore.
func (r *Finder) unlooked(ctx context.Context) (names []string, err error) {
	out, err := r.Git.Ask(ctx, "ls-files", "-v", "-z", "--", ":(top,literal)"+object.UserDir)
	for _, line := range gitcmd.SplitZ(out) { // a lower-case letter means assume-unchanged, S skip-worktree
		if len(line) > 2 && (line[0] == 'S' || line[0] >= 'a') {
			if _, gone := r.Git.Lstat(line[2:]); gone == nil {
				names = append(names, line[2:])
			}
		}
	}
	return names, err
}

// Packages reports whether a directory of the work tree was created by a package installer and contains no repository.
func (r *Finder) Packages(name string) bool {
	name = filepath.FromSlash(strings.TrimSuffix(name, "/"))
	_, err := r.Git.Lstat(filepath.ToSlash(filepath.Join(name, "pyvenv.cfg")))
	if err != nil && filepath.Base(name) != "node_modules" {
		return false
	}
	_, err = contentStamp(filepath.Join(r.Git.Root, name))
	return !errors.Is(err, errRepository)
}

// Stamps returns a fingerprint for each of some paths of the work tree, made of the names, sizes and times of all files
// there: if it changes, the files have changed. A directory may end in a slash. Files that each run creates again
// (compiled Python, package caches) are ignored. Unreadable paths have no fingerprint.
func (r *Finder) Stamps(names []string) map[string]string {
	stamps := map[string]string{}
	for _, name := range names {
		if stamp, err := contentStamp(filepath.Join(r.Git.Root,
			filepath.FromSlash(strings.TrimSuffix(name, "/")))); err == nil {
			stamps[name] = stamp
		}
	}
	return stamps
}

// errRepository means that a directory contains a repository: in that, refs may move without a change of file sizes.
var errRepository = errors.New("a repository")

// contentStamp returns the fingerprint of a path for Stamps.
func contentStamp(top string) (string, error) {
	sum := sha256.New()
	err := filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && d.Name() == ".cache" && filepath.Base(filepath.Dir(path)) == "node_modules":
			return fs.SkipDir
		case d.IsDir() && path != top && gitcmd.IsRepository(path):
			return errRepository
		case d.IsDir(), strings.HasSuffix(path, ".pyc") && filepath.Base(filepath.Dir(path)) == "__pycache__":
			return nil
		}
		return addStamp(sum, top, path, d)
	})
	if err != nil {
		return "", err
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

func addStamp(sum hash.Hash, top, path string, d fs.DirEntry) error {
	rel, err := filepath.Rel(top, path)
	if err != nil {
		return err
	}
	info, err := d.Info()
	if err != nil {
		return err
	}
	to := ""
	if d.Type()&fs.ModeSymlink != 0 {
		if to, err = os.Readlink(path); err != nil {
			return err
		}
	}
	fmt.Fprintf(sum, "f %q %s %d %d %q\n", rel, d.Type(), info.Size(), info.ModTime().UnixNano(), to)
	return nil
}

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

// Unsaved lists files that belong to a linked work tree and cannot be in any snapshot: differences from HEAD's commit
// in the user's own directory, and submodules with anything that their remotes are not known to have. It leaves out
// files with the same content in another work tree.
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

// ownChanges lists the files of the user's own directory that exist, or are in the index, and differ from HEAD's
// commit. It leaves out ignored files.
func (r *Finder) ownChanges(ctx context.Context) ([]string, error) {
	out, err := r.Git.Ask(ctx, "status", "--porcelain", "-z", "--untracked-files=all", "--no-renames",
		"--ignore-submodules=all",
		"--", ":(top,literal)"+object.UserDir)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, line := range gitcmd.SplitZ(out) { // XY PATH: X is the state of the index, Y of the file
		if len(line) > 3 && line[:2] != " D" && line[:2] != "D " {
			names = append(names, strings.TrimSuffix(line[3:], "/"))
		}
	}
	hidden, err := r.unlooked(ctx)
	names = append(names, hidden...)
	slices.Sort(names)
	return slices.Compact(names), err
}

// unlooked lists the existing files of the user's own directory whose changes git ignores.
func (r *Finder) unlooked(ctx context.Context) (names []string, err error) {
	out, err := r.Git.Ask(ctx, "ls-files", "-v", "-z", "--", ":(top,literal)"+object.UserDir)
	for _, line := range gitcmd.SplitZ(out) { // lower case, or S
		if len(line) > 2 && (line[0] == 'S' || line[0] >= 'a') {
			if _, gone := r.Git.Lstat(line[2:]); gone == nil {
				names = append(names, line[2:])
			}
		}
	}
	return names, err
}

// Packages reports whether package installers created a directory of the work tree, and no repository is in it.
func (r *Finder) Packages(name string) bool {
	name = filepath.FromSlash(strings.TrimSuffix(name, "/"))
	_, err := r.Git.Lstat(filepath.ToSlash(filepath.Join(name, "pyvenv.cfg")))
	if err != nil && filepath.Base(name) != "node_modules" {
		return false
	}
	_, err = contentStamp(filepath.Join(r.Git.Root, name))
	return !errors.Is(err, errRepository)
}

// Stamps returns a digest for each of some paths of the work tree, to detect changes: of names, sizes and times of all
// files there. Directories may end in a slash. Files that each run creates again do not count: compiled Python and
// package caches. Unreadable paths have no digest.
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

// errRepository means that a directory has a repository, in which refs may move without changing the sizes of files.
var errRepository = errors.New("a repository")

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

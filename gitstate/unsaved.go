package gitstate

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Unsaved lists what is in a linked work tree, or goes with it, and can be in no snapshot: what differs from HEAD's commit
// in the user's own directory, and submodules with anything that no remote of theirs is known to have. What is exactly as
// in another work tree is not in the list.
func (r *Repo) Unsaved(ctx context.Context, other *Repo) ([]string, error) {
	own, err := r.ownChanges(ctx)
	if err != nil {
		return nil, err
	}
	var list []string
	for _, name := range own {
		if same, err := sameIn(r.root, other.root, name); err != nil {
			return nil, err
		} else if !same {
			list = append(list, name)
		}
	}
	nested, err := r.nestedWork(ctx)
	return append(list, nested...), err
}

// ownChanges lists the files of the user's own directory that are there, or in the index, and not as HEAD's commit has
// them. Ignored ones are left out.
func (r *Repo) ownChanges(ctx context.Context) ([]string, error) {
	out, err := r.git(ctx, gitOpts{}, "status", "--porcelain", "-z", "--untracked-files=all", "--no-renames", "--ignore-submodules=all",
		"--", ":(top,literal)"+userDir)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, line := range splitZ(out) { // XY PATH: X is about the index, Y about the file
		if len(line) > 3 && line[:2] != " D" && line[:2] != "D " {
			names = append(names, strings.TrimSuffix(line[3:], "/"))
		}
	}
	hidden, err := r.git(ctx, gitOpts{}, "ls-files", "-v", "-z", "--", ":(top,literal)"+userDir)
	for _, line := range splitZ(hidden) { // with a small letter, or S: git was told not to look
		if len(line) > 2 && (line[0] == 'S' || line[0] >= 'a') {
			if _, gone := r.lstat(line[2:]); gone == nil {
				names = append(names, line[2:])
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names), err
}

// nestedWork names the repositories of submodules that are removed with a linked work tree, in it or in its git directory,
// and hold something that is perhaps nowhere else.
func (r *Repo) nestedWork(ctx context.Context) ([]string, error) {
	info, err := r.readIndex(ctx, r.indexPath())
	if err != nil {
		return nil, err
	}
	var list []string
	seen := map[string]bool{} // git directories
	for _, name := range info.gitlinks {
		dir := filepath.Join(r.root, filepath.FromSlash(name))
		if !isRepository(dir) {
			continue
		}
		gitDir := gitDirOf(dir)
		seen[gitDir] = true
		if pushed := r.pushed(ctx, gitDir, dir); !pushed {
			list = append(list, name)
		}
	}
	modules := filepath.Join(r.gitDir, "modules")
	err = filepath.WalkDir(modules, func(path string, d fs.DirEntry, err error) error {
		if err != nil && path == modules && absent(err) {
			return fs.SkipAll
		}
		if err != nil || !d.IsDir() || !isGitDir(path) {
			return err
		}
		if real, err := filepath.EvalSymlinks(path); err == nil && seen[real] {
			return fs.SkipDir
		}
		if rel, err := filepath.Rel(modules, path); err == nil && !r.pushed(ctx, path, "") {
			list = append(list, filepath.ToSlash(rel)) // not checked out any more, but its commits are there
		}
		return fs.SkipDir
	})
	return list, err
}

// gitDirOf returns the git directory of a repository that isRepository has found, without links, "" when it cannot be
// read.
func gitDirOf(dir string) string {
	path := filepath.Join(dir, ".git")
	if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
		path = linkTo(path)
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return ""
	}
	return real
}

// pushed reports whether a submodule's repository holds nothing but what came from its remotes, by what it knows of them:
// no commit, in reflogs and stashes neither, no file that is not committed, ignored ones included, and no submodule or
// work tree of its own. dir is where it is checked out, "" for nowhere. What cannot be read is not pushed.
func (r *Repo) pushed(ctx context.Context, gitDir, dir string) bool {
	if gitDir == "" {
		return false
	}
	for _, more := range []string{"modules", "worktrees"} {
		if left, err := os.ReadDir(filepath.Join(gitDir, more)); len(left) > 0 || err != nil && !absent(err) {
			return false
		}
	}
	at := &Repo{root: dir, commonDir: gitDir, gitDir: gitDir, env: r.env, userEnv: r.userEnv}
	if dir == "" {
		at.root = gitDir
	}
	out, err := at.git(ctx, gitOpts{gitDir: gitDir}, "rev-list", "--max-count=1", "--exclude=refs/tags/*", "--all", "--reflog", "HEAD", "--not", "--remotes")
	if err != nil || len(out) > 0 {
		return false
	}
	if dir == "" {
		return true
	}
	out, err = at.git(ctx, gitOpts{gitDir: gitDir}, "status", "--porcelain", "--untracked-files=normal", "--ignored=traditional", "--ignore-submodules=none")
	return err == nil && len(out) == 0
}

// Packages reports whether a directory of the work tree is one that installers of packages make, with no repository in it.
func (r *Repo) Packages(name string) bool {
	name = filepath.FromSlash(strings.TrimSuffix(name, "/"))
	_, err := r.lstat(filepath.ToSlash(filepath.Join(name, "pyvenv.cfg")))
	if err != nil && filepath.Base(name) != "node_modules" {
		return false
	}
	_, err = contentStamp(filepath.Join(r.root, name))
	return !errors.Is(err, errRepository)
}

// Stamps returns a digest for each of some paths of the work tree, by which a change in it is seen: names, sizes and times
// of all files there. Directories may end in a slash. What a run makes anew each time, compiled Python and caches of
// packages, does not count. What cannot be read has none.
func (r *Repo) Stamps(names []string) map[string]string {
	stamps := map[string]string{}
	for _, name := range names {
		if stamp, err := contentStamp(filepath.Join(r.root, filepath.FromSlash(strings.TrimSuffix(name, "/")))); err == nil {
			stamps[name] = stamp
		}
	}
	return stamps
}

// errRepository says that refs may move in a directory without a trace in the sizes of its files.
var errRepository = errors.New("a repository")

func contentStamp(top string) (string, error) {
	sum := sha256.New()
	err := filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(top, path)
		if err != nil {
			return err
		}
		if d.IsDir() {
			if d.Name() == ".cache" && filepath.Base(filepath.Dir(path)) == "node_modules" {
				return fs.SkipDir
			}
			if rel != "." && isRepository(path) {
				return errRepository
			}
			return nil
		}
		if strings.HasSuffix(rel, ".pyc") && filepath.Base(filepath.Dir(path)) == "__pycache__" {
			return nil
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
	})
	if err != nil {
		return "", err
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

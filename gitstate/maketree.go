package gitstate

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/session"
)

// ErrDirTaken says that a work tree cannot be made where it was asked for.
var ErrDirTaken = errors.New("the directory cannot be used")

// PlanWorktree returns the directory that a new work tree would have, cleaned and without links above it, and the
// directory above it that is there already. The error wraps ErrDirTaken when it cannot be made there.
func (r *Repo) PlanWorktree(ctx context.Context, dir string) (path, above string, err error) {
	if dir, err = filepath.Abs(dir); err != nil {
		return "", "", err
	}
	if _, err := os.Lstat(dir); err == nil {
		return "", "", fmt.Errorf("%w: %s is there already", ErrDirTaken, dir)
	} else if !errors.Is(err, fs.ErrNotExist) {
		return "", "", fmt.Errorf("%w: %w", ErrDirTaken, err)
	}
	above = filepath.Dir(dir)
	for {
		if _, err := os.Stat(above); err == nil {
			break
		} else if !errors.Is(err, fs.ErrNotExist) {
			return "", "", fmt.Errorf("%w: %w", ErrDirTaken, err)
		}
		above = filepath.Dir(above)
	}
	rest, err := filepath.Rel(above, dir)
	if err != nil {
		return "", "", err
	}
	if above, err = filepath.EvalSymlinks(above); err != nil {
		return "", "", err
	}
	path = filepath.Join(above, rest)
	if inside(path, r.commonDir) {
		return "", "", fmt.Errorf("%w: %s lies in git's own directory", ErrDirTaken, path)
	}
	trees, err := r.Worktrees(ctx)
	if err != nil {
		return "", "", err
	}
	for _, t := range trees {
		switch {
		case t.Path == path:
			return "", "", fmt.Errorf("%w: git remembers a work tree in %s, which is gone (git worktree prune forgets it)", ErrDirTaken, path)
		case !t.Gone && inside(path, t.Path):
			if err := r.mustIgnore(ctx, t.Path, path); err != nil {
				return "", "", err
			}
		}
	}
	return path, above, nil
}

// mustIgnore refuses a directory inside of a work tree that git does not ignore there: it would be seen as a part of it.
func (r *Repo) mustIgnore(ctx context.Context, tree, path string) error {
	rel, err := filepath.Rel(tree, path)
	if err != nil {
		return err
	}
	at := &Repo{root: tree, env: r.env, userEnv: r.userEnv}
	_, err = at.git(ctx, gitOpts{}, "check-ignore", "-q", "--no-index", filepath.ToSlash(rel)+"/")
	var failed *GitError
	if errors.As(err, &failed) && failed.Exit == 1 {
		return fmt.Errorf("%w: %s lies in the work tree %s, and is not ignored there", ErrDirTaken, path, tree)
	}
	return err
}

// inside reports whether a path is another one or lies below it.
func inside(path, dir string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && (rel == "." || filepath.IsLocal(rel))
}

// AddWorktree makes a linked work tree in a directory that PlanWorktree has returned, with HEAD detached at a commit and
// the files of a tree, "" for the commit's own. Files of another tree are as if they were staged.
func (r *Repo) AddWorktree(ctx context.Context, dir string, at session.Commit, tree session.Tree) (*Repo, error) {
	if _, err := r.git(ctx, gitOpts{write: true}, "worktree", "add", "--quiet", "--detach", "--no-checkout", dir, string(at)); err != nil {
		return nil, err
	}
	durable.Hit(durable.WorktreeAdded)
	made := &Repo{root: dir, env: r.env, userEnv: r.userEnv}
	files := string(tree)
	if files == "" {
		files = string(at)
	}
	if _, err := made.git(ctx, gitOpts{write: true}, "-c", "core.splitIndex=false", "read-tree", "-m", "-u", files); err != nil {
		return nil, fmt.Errorf("the files of the new work tree: %w", err)
	}
	made, err := Open(ctx, Options{Dir: dir, Env: r.userEnv, Write: true})
	if err != nil {
		return nil, err
	}
	if err := made.syncWorktree(); err != nil {
		return nil, err
	}
	durable.Hit(durable.WorktreeFilled)
	return made, nil
}

// syncWorktree makes durable what makes a directory a work tree. Its files are in git.
func (r *Repo) syncWorktree() error {
	for _, file := range []string{"HEAD", "commondir", "gitdir", "index"} {
		if err := durable.SyncFile(filepath.Join(r.gitDir, file)); err != nil {
			return err
		}
	}
	if err := durable.SyncFile(filepath.Join(r.root, ".git")); err != nil {
		return err
	}
	for _, dir := range []string{r.gitDir, filepath.Dir(r.gitDir), r.commonDir, r.root, filepath.Dir(r.root)} {
		if err := durable.SyncDir(dir); err != nil {
			return err
		}
	}
	return nil
}

// OpenLinked opens the linked work tree of this repository in a directory, nil when there is none.
func (r *Repo) OpenLinked(ctx context.Context, dir string) (*Repo, error) {
	t, err := r.linkedAt(ctx, dir)
	if err != nil || t == nil || t.Gone {
		return nil, err
	}
	return Open(ctx, Options{Dir: dir, Env: r.userEnv, Write: true})
}

// RemoveWorktree removes a linked work tree with everything in it, and directories above it that are empty then, up to
// the one that stays. It is renamed to trash first, which lies beside it: whatever somebody puts into its old place is
// not touched. What is in it must be kept elsewhere, and the caller must have written down that it is being removed;
// killed in the middle, it is called again with the same names.
func (r *Repo) RemoveWorktree(ctx context.Context, dir, trash, stays string) error {
	if inside(r.root, dir) || inside(r.commonDir, dir) {
		return fmt.Errorf("%s is not removed: this repository lies in it", dir)
	}
	if err := r.awaitGit(ctx, dir); err != nil {
		return err
	}
	t, err := r.linkedAt(ctx, dir)
	if err != nil {
		return err
	}
	if t != nil && !t.Gone {
		if err := os.Rename(dir, trash); err != nil {
			return err
		}
	} else {
		_ = os.Remove(dir) // git had made the directory, and nothing in it; one that is not empty is somebody else's
	}
	if err := os.RemoveAll(trash); err != nil {
		return err
	}
	durable.Hit(durable.WorktreeEmptied)
	if err := r.ForgetWorktree(ctx, dir); err != nil {
		return err
	}
	for above := filepath.Dir(dir); above != stays && inside(above, stays); above = filepath.Dir(above) {
		if os.Remove(above) != nil {
			break // not empty, or not ours
		}
	}
	return nil
}

// ForgetWorktree removes git's entry of a linked work tree of which nothing is left.
func (r *Repo) ForgetWorktree(ctx context.Context, dir string) error {
	t, err := r.linkedAt(ctx, dir)
	if err != nil || t == nil {
		return err
	}
	if _, err := os.Lstat(dir); err == nil {
		return nil // something else is there now, and git would look into it
	}
	_, err = r.git(ctx, gitOpts{write: true}, "worktree", "remove", "--force", "--force", dir)
	return err
}

// linkedAt returns the linked work tree that git has in a directory, nil for none.
func (r *Repo) linkedAt(ctx context.Context, dir string) (*Worktree, error) {
	trees, err := r.Linked(ctx)
	for i := range trees {
		if trees[i].Path == dir {
			return &trees[i], nil
		}
	}
	return nil, err
}

// awaitGit waits for a git process that still fills a work tree: it may outlive the wfs that began it.
func (r *Repo) awaitGit(ctx context.Context, dir string) error {
	t, err := r.linkedAt(ctx, dir)
	if err != nil || t == nil {
		return err
	}
	lock := filepath.Join(r.linkedDir(t.ID), "index.lock")
	for waited := time.Duration(0); waited < lockPatience; waited += lockPoll {
		if _, err := os.Lstat(lock); err != nil || oursByMark(lock) {
			return nil
		}
		if err := pause(ctx, lockPoll); err != nil {
			return err
		}
	}
	return nil
}

// Dirty reports how many paths of the work tree differ from HEAD or are untracked, directories counted once. It takes
// no lock.
func (r *Repo) Dirty(ctx context.Context) (int, error) {
	out, err := r.git(ctx, gitOpts{}, "status", "--porcelain", "--no-renames", "-z")
	return strings.Count(string(out), "\x00"), err
}

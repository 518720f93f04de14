package gitstate

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/wfs-dev/wfs/gitstate/gitcmd"
	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/session"
)

// ErrDirTaken says that a work tree cannot be made where it was asked for.
var ErrDirTaken = errors.New("the directory cannot be used")

// NewWorktree is where a work tree is made, or was.
type NewWorktree struct {
	Path   string // its top directory, without links above it
	Above  string // the directory above it that was there before
	Name   string // under which git keeps it
	Making string // a place beside it, where it is made whole before it comes to its place
}

// PlanWorktree says where a new work tree would be. taken are names of others that are planned, and whose
// entries may not be in their places yet. The error wraps ErrDirTaken when it cannot be made there.
func (r *Repo) PlanWorktree(ctx context.Context, dir string, taken ...string) (NewWorktree, error) {
	var n NewWorktree
	dir, err := filepath.Abs(dir)
	if err != nil {
		return n, err
	}
	const maxName = 230 // bytes: it has a longer one while it is made or removed
	if len(filepath.Base(dir)) > maxName {
		return n, fmt.Errorf("%w: the name of %s is too long", ErrDirTaken, dir)
	}
	if _, err := os.Lstat(dir); err == nil {
		return n, dirTaken(dir)
	} else if !errors.Is(err, fs.ErrNotExist) {
		return n, fmt.Errorf("%w: %w", ErrDirTaken, err)
	}
	n.Above = filepath.Dir(dir)
	for {
		if _, err := os.Stat(n.Above); err == nil {
			break
		} else if !errors.Is(err, fs.ErrNotExist) {
			return n, fmt.Errorf("%w: %w", ErrDirTaken, err)
		}
		n.Above = filepath.Dir(n.Above)
	}
	rest, err := filepath.Rel(n.Above, dir)
	if err != nil {
		return n, err
	}
	if n.Above, err = filepath.EvalSymlinks(n.Above); err != nil {
		return n, err
	}
	n.Path = filepath.Join(n.Above, rest)
	if inside(n.Path, r.Git.CommonDir) {
		return n, fmt.Errorf("%w: %s lies in git's own directory", ErrDirTaken, n.Path)
	}
	trees, err := r.Worktrees(ctx)
	if err != nil {
		return n, err
	}
	for _, t := range trees {
		switch {
		case t.Path == n.Path:
			return n, fmt.Errorf("%w: git remembers a work tree in %s, which is gone (git worktree prune forgets it)",
				ErrDirTaken, n.Path)
		case !t.Gone && inside(n.Path, t.Path):
			if err := r.mustIgnore(ctx, t.Path, n.Path); err != nil {
				return n, err
			}
		}
	}
	n.Name, err = r.freeName(n.Path, taken)
	return n, err
}

// freeName makes the name of a work tree's git directory out of that of its directory, fit for refs as well.
func (r *Repo) freeName(path string, taken []string) (string, error) {
	base := strings.Map(func(c rune) rune {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-' {
			return c
		}
		return '-'
	}, filepath.Base(path))
	base = base[:min(len(base), 80)]
	name := base
	for i := 1; ; i++ {
		if _, err := os.Lstat(r.Git.LinkedDir(name)); gitcmd.Absent(err) && !slices.Contains(taken, name) {
			return name, nil
		} else if err != nil && !gitcmd.Absent(err) {
			return "", err
		}
		name = fmt.Sprintf("%s%d", base, i)
	}
}

// mustIgnore refuses a directory inside of a work tree that git does not ignore there: it would be seen as a
// part of it.
func (r *Repo) mustIgnore(ctx context.Context, tree, path string) error {
	rel, err := filepath.Rel(tree, path)
	if err != nil {
		return err
	}
	at := &Repo{Git: &gitcmd.Git{Root: tree, Env: r.Git.Env, UserEnv: r.Git.UserEnv}}
	_, err = at.Git.Run(ctx, gitcmd.Opts{}, "check-ignore", "-q", "--no-index", filepath.ToSlash(rel)+"/")
	var failed *gitcmd.GitError
	if errors.As(err, &failed) && failed.Exit == 1 {
		return fmt.Errorf("%w: %s lies in the work tree %s, and is not ignored there", ErrDirTaken, path, tree)
	}
	return err
}

// inside reports whether a path is another one or lies below it.
func inside(path, dir string) bool { return durable.Inside(path, dir) }

// AddWorktree makes a linked work tree, with HEAD detached at a commit and the files of a tree, "" for the
// commit's own. Files of another tree are as if they were staged. The error wraps ErrDirTaken when the
// directory is somebody else's, who made it since it was planned: then nothing of it is ours.
//
// Git's own command makes the parts of an entry one after the other; killed in between, it leaves one that no
// command of git's can read and that stops `git gc`. So the parts are made elsewhere, in the layout that
// gitrepository-layout(5) describes, and the entry comes to its place whole, and after it the directory with
// all files. Repositories of a new kind are left to git.
func (r *Repo) AddWorktree(ctx context.Context, n NewWorktree, at session.Commit, tree session.Tree) (*Repo, error) {
	files := string(tree)
	if files == "" {
		files = string(at)
	}
	if r.promised() { // what cannot be fetched is to be found while there is nothing yet
		whole, err := tree, error(nil)
		if whole == "" {
			whole, err = r.TreeOf(ctx, at)
		}
		if err == nil {
			err = r.fetchPromised(ctx, session.Tree(r.newObject("tree", nil).id), whole)
		}
		if err != nil {
			return nil, fmt.Errorf("the files of the new work tree: %w", err)
		}
	}
	add := r.addWhole
	if !r.Git.ReadsDirectly() {
		add = r.addByGit
	}
	if err := add(ctx, n, at, files); err != nil {
		return nil, err
	}
	made, err := Open(ctx, gitcmd.Options{Dir: n.Path, Env: r.Git.UserEnv, Write: true, Waits: r.Git.Waits})
	if err != nil {
		return nil, err
	}
	durable.Hit(durable.WorktreeFilled)
	return made, nil
}

func dirTaken(dir string) error { return fmt.Errorf("%w: %s already exists", ErrDirTaken, dir) }

func (r *Repo) addByGit(ctx context.Context, n NewWorktree, at session.Commit, files string) error {
	if _, err := os.Lstat(n.Path); err == nil {
		return dirTaken(n.Path)
	}
	if _, err := r.Git.Run(ctx, gitcmd.Opts{Write: true}, "worktree", "add", "--quiet", "--detach", "--no-checkout", n.Path,
		string(at)); err != nil {
		return err
	}
	durable.Hit(durable.WorktreeAdded)
	return r.fillWorktree(ctx, n.Path, "", files)
}

func (r *Repo) fillWorktree(ctx context.Context, dir, gitDir, files string) error {
	in := &Repo{Git: &gitcmd.Git{Root: dir, Env: r.Git.Env, UserEnv: r.Git.UserEnv}}
	if _, err := in.Git.Run(ctx, gitcmd.Opts{Write: true, GitDir: gitDir}, "-c", "core.splitIndex=false", "read-tree", "-m",
		"-u", files); err != nil {
		return fmt.Errorf("the files of the new work tree: %w", err)
	}
	var all []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			all = append(all, path)
		}
		return err
	})
	if err != nil {
		return err
	}
	return durable.WriteOut(all) // git does not, and a power cut would leave empty files, which look like edits
}

// newGitDir is where the git directory of a new work tree is made before it comes to its place.
func (r *Repo) newGitDir(name string) string {
	return filepath.Join(r.Git.StateDir(), "worktrees", name, "new")
}

func (r *Repo) addWhole(ctx context.Context, n NewWorktree, at session.Commit, files string) error {
	if err := os.MkdirAll(filepath.Dir(n.Path), 0o777); err != nil {
		return err
	}
	if _, err := os.Lstat(n.Path); err == nil {
		return dirTaken(n.Path)
	}
	if err := os.Mkdir(n.Making, 0o777); err != nil {
		return err
	}
	link := filepath.Join(n.Making, ".git")
	if err := os.WriteFile(link, []byte("gitdir: "+filepath.ToSlash(r.Git.LinkedDir(n.Name))+"\n"), 0o666); err != nil {
		return err
	}
	dir := r.newGitDir(n.Name)
	if err := r.makeGitDir(dir, string(at)); err != nil {
		return err
	}
	if err := r.fillWorktree(ctx, n.Making, dir, files); err != nil {
		return err
	}
	for name, text := range map[string]string{"commondir": "../..\n",
		"gitdir": filepath.ToSlash(filepath.Join(n.Path, ".git")) + "\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			return err
		}
	}
	if err := openUp(dir); err != nil {
		return err
	}
	for _, file := range []string{filepath.Join(dir, "HEAD"), filepath.Join(dir, "commondir"),
		filepath.Join(dir, "gitdir"), filepath.Join(dir, "index"), link} {
		if err := durable.SyncFile(file); err != nil {
			return err
		}
	}
	for _, d := range []string{dir, n.Making} {
		if err := durable.SyncDir(d); err != nil {
			return err
		}
	}
	entries := filepath.Dir(r.Git.LinkedDir(n.Name))
	if err := os.MkdirAll(entries, 0o777); err != nil {
		return err
	}
	if err := os.Rename(dir, r.Git.LinkedDir(n.Name)); err != nil {
		return err
	}
	if err := errors.Join(durable.SyncDir(entries), durable.SyncDir(r.Git.CommonDir)); err != nil {
		return err
	}
	durable.Hit(durable.WorktreeAdded)
	if err := os.Rename(n.Making, n.Path); err != nil {
		if gitcmd.IsThere(n.Path) {
			err = errors.Join(dirTaken(n.Path), os.RemoveAll(n.Making))
		}
		return err
	}
	return durable.SyncDir(filepath.Dir(n.Path))
}

// openUp gives a private git directory the modes that git's own entries have: as those of the directory that all share.
func openUp(dir string) error {
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		mode := fs.FileMode(0o644)
		if d.IsDir() {
			mode = 0o755
		}
		return os.Chmod(path, mode)
	})
}

// OpenLinked opens the linked work tree of this repository in a directory, nil when there is none.
func (r *Repo) OpenLinked(ctx context.Context, dir string) (*Repo, error) {
	t, err := r.linkedAt(ctx, dir)
	if err != nil || t == nil || t.Gone {
		return nil, err
	}
	return Open(ctx, gitcmd.Options{Dir: dir, Env: r.Git.UserEnv, Write: true})
}

// MoveWorktree renames a linked work tree to a place beside it, with everything in it. Whatever else lies in
// its old place stays there. Git's entry stays, and leads to the old place.
func (r *Repo) MoveWorktree(ctx context.Context, n NewWorktree, to string) error {
	if inside(r.Git.Root, n.Path) || inside(r.Git.CommonDir, n.Path) {
		return fmt.Errorf("%s is not removed: this repository lies in it", n.Path)
	}
	if err := r.AwaitFilled(ctx, n.Name); err != nil {
		return err
	}
	t, err := r.linkedAt(ctx, n.Path)
	if err != nil || t == nil || t.Gone {
		return err
	}
	if other, err := r.WorktreeIn(ctx, n.Path); err != nil || other != nil {
		if err == nil {
			err = fmt.Errorf("the work tree %s lies in it", other.Path)
		}
		return err
	}
	if err := NotMounted(n.Path); err != nil {
		return err
	}
	if err := os.Rename(n.Path, to); err != nil {
		return err
	}
	return durable.SyncDir(filepath.Dir(n.Path))
}

// RemoveWorktree removes what is left of a linked work tree that is not in its place any more: trash, which
// MoveWorktree made of it, "" for none, git's entry, and directories above that are empty then. Nothing in its
// old place is touched but an empty directory. When the trash cannot be removed, all else is. It can be called
// again.
func (r *Repo) RemoveWorktree(ctx context.Context, n NewWorktree, trash string) error {
	var left error
	if trash != "" {
		if left = NotMounted(trash); left == nil {
			left = os.RemoveAll(trash)
		}
	}
	durable.Hit(durable.WorktreeEmptied)
	if info, err := os.Lstat(n.Path); err == nil && info.IsDir() {
		_ = os.Remove(n.Path) // with nothing in it; one that is not empty is somebody else's
	}
	if err := os.RemoveAll(r.newGitDir(n.Name)); err != nil {
		return errors.Join(left, err)
	}
	if err := r.ForgetWorktree(ctx, n.Path); err != nil {
		return errors.Join(left, err)
	}
	for above := filepath.Dir(n.Path); above != n.Above && inside(above, n.Above); above = filepath.Dir(above) {
		if os.Remove(above) != nil {
			break // not empty, or not ours
		}
	}
	return left
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
	if !r.Git.ReadsDirectly() {
		_, err = r.Git.Run(ctx, gitcmd.Opts{Write: true}, "worktree", "remove", "--force", "--force", dir)
		return err
	}
	// Git removes its parts one after the other; killed in between, it leaves an entry without a HEAD.
	away := r.newGitDir(strings.TrimSuffix(t.ID, "@linked"))
	if err := errors.Join(os.RemoveAll(away), durable.MkdirAll(filepath.Dir(away))); err != nil {
		return err
	}
	if err := os.Rename(r.Git.LinkedDir(t.ID), away); err != nil {
		return err
	}
	durable.Hit(durable.EntryAway)
	_ = os.Remove(filepath.Dir(r.Git.LinkedDir(t.ID))) // as git does when it was the last
	return os.RemoveAll(away)
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

// AwaitFilled waits for a git process that still fills a work tree, by the name under which git keeps it: it
// may outlive the wfs that began it.
func (r *Repo) AwaitFilled(ctx context.Context, name string) error {
	for waited := time.Duration(0); waited < gitcmd.LockPatience; waited += gitcmd.LeftPoll {
		busy := false
		for _, dir := range []string{r.Git.LinkedDir(name), r.newGitDir(name)} {
			lock := filepath.Join(dir, "index.lock")
			if _, err := os.Lstat(lock); err == nil && !gitcmd.OursByMark(lock) {
				busy = true
			}
		}
		if !busy {
			return nil
		}
		if err := gitcmd.Pause(ctx, gitcmd.LeftPoll); err != nil {
			return err
		}
	}
	return nil
}

// Dirty reports how many paths of the work tree differ from HEAD or are untracked, directories counted once and
// wfs's own not at all. It takes no lock.
func (r *Repo) Dirty(ctx context.Context) (int, error) {
	out, err := r.Git.Run(ctx, gitcmd.Opts{}, "status", everySubmodule, "--porcelain", "--no-renames", "-z", "--", ":/",
		":(top,exclude)"+userDir)
	return strings.Count(string(out), "\x00"), err
}

package worktree

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
	"github.com/wfs-dev/wfs/internal/lazyregexp"
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
func (r *Trees) PlanWorktree(ctx context.Context, dir string, taken ...string) (NewWorktree, error) {
	n, err := placeFor(dir)
	if err != nil {
		return n, err
	}
	if durable.Inside(n.Path, r.Git.CommonDir) {
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
		case !t.Gone && durable.Inside(n.Path, t.Path):
			if err := mustIgnore(ctx, r.Git, t.Path, n.Path); err != nil {
				return n, err
			}
		}
	}
	n.Name, err = r.freeName(n.Path, taken)
	return n, err
}

// placeFor finds the real path of a directory that is to be made, and the one above it that is there.
func placeFor(dir string) (n NewWorktree, err error) {
	if dir, err = filepath.Abs(dir); err != nil {
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
	above := filepath.Dir(dir)
	for _, err := os.Stat(above); err != nil; _, err = os.Stat(above) {
		if !errors.Is(err, fs.ErrNotExist) {
			return n, fmt.Errorf("%w: %w", ErrDirTaken, err)
		}
		above = filepath.Dir(above)
	}
	n.Above, err = filepath.EvalSymlinks(above)
	n.Path = filepath.Join(n.Above, strings.TrimPrefix(dir, above))
	return n, err
}

var unfitForNames = lazyregexp.New(`[^a-zA-Z0-9_-]`)

// freeName makes the name of a work tree's git directory out of that of its directory, fit for refs as well.
func (r *Trees) freeName(path string, taken []string) (string, error) {
	base := unfitForNames.ReplaceAllString(filepath.Base(path), "-")
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
func mustIgnore(ctx context.Context, git *gitcmd.Git, tree, path string) error {
	rel, err := filepath.Rel(tree, path)
	if err != nil {
		return err
	}
	at := gitcmd.New(gitcmd.Place{Root: tree, Env: git.Env, UserEnv: git.UserEnv})
	_, err = at.Ask(ctx, "check-ignore", "-q", "--no-index", filepath.ToSlash(rel)+"/")
	if failed := gitcmd.Failed(err); failed != nil && failed.Exit == 1 {
		return fmt.Errorf("%w: %s lies in the work tree %s, and is not ignored there", ErrDirTaken, path, tree)
	}
	return err
}

// Add makes a linked work tree, with HEAD detached at a commit and the files of a tree, "" for the
// commit's own. Files of another tree are as if they were staged. The error wraps ErrDirTaken when the
// directory is somebody else's, who made it since it was planned: then nothing of it is ours.
//
// Git's own command makes the parts of an entry one after the other; killed in between, it leaves one that no
// command of git's can read and that stops `git gc`. So the parts are made elsewhere, in the layout that
// gitrepository-layout(5) describes, and the entry comes to its place whole, and after it the directory with
// all files. Repositories of a new kind are left to git.
func (r *Trees) Add(ctx context.Context, n NewWorktree, at session.Commit, tree session.Tree) error {
	files := string(tree)
	if files == "" {
		files = string(at)
	}
	if !r.Git.ReadsDirectly() {
		return r.addByGit(ctx, n, at, files)
	}
	return r.addWhole(ctx, n, at, files)
}

func dirTaken(dir string) error { return fmt.Errorf("%w: %s already exists", ErrDirTaken, dir) }

func (r *Trees) addByGit(ctx context.Context, n NewWorktree, at session.Commit, files string) error {
	if _, err := os.Lstat(n.Path); err == nil {
		return dirTaken(n.Path)
	}
	if _, err := r.Git.Run(ctx, gitcmd.Opts{Write: true}, "worktree", "add", "--quiet", "--detach", "--no-checkout",
		n.Path,
		string(at)); err != nil {
		return err
	}
	durable.Hit(durable.WorktreeAdded)
	return fill(ctx, r.Git, n.Path, "", files)
}

func fill(ctx context.Context, git *gitcmd.Git, dir, gitDir, files string) error {
	in := gitcmd.New(gitcmd.Place{Root: dir, Env: git.Env, UserEnv: git.UserEnv})
	if _, err := in.Run(ctx, gitcmd.Opts{Write: true, GitDir: gitDir}, "read-tree", "-m",
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
func (r *Trees) newGitDir(name string) string {
	return filepath.Join(r.Git.StateDir(), "worktrees", name, "new")
}

func (r *Trees) addWhole(ctx context.Context, n NewWorktree, at session.Commit, files string) error {
	if err := os.MkdirAll(filepath.Dir(n.Path), 0o777); err != nil {
		return err
	}
	if _, err := os.Lstat(n.Path); err == nil {
		return dirTaken(n.Path)
	}
	if err := os.Mkdir(n.Making, 0o777); err != nil {
		return err
	}
	dir := r.newGitDir(n.Name)
	if err := r.makeParts(ctx, n, dir, at, files); err != nil {
		return err
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

// makeParts makes both parts of a linked work tree, durable: the directory with all files, and what is to become its
// entry.
func (r *Trees) makeParts(ctx context.Context, n NewWorktree, dir string, at session.Commit, files string) error {
	link := filepath.Join(n.Making, ".git")
	if err := os.WriteFile(link, []byte("gitdir: "+filepath.ToSlash(r.Git.LinkedDir(n.Name))+"\n"), 0o666); err != nil {
		return err
	}
	if err := r.Git.MakeGitDir(dir, string(at)); err != nil {
		return err
	}
	if err := fill(ctx, r.Git, n.Making, dir, files); err != nil {
		return err
	}
	made := []string{link}
	for name, text := range map[string]string{"commondir": "../..\n",
		"gitdir": filepath.ToSlash(filepath.Join(n.Path, ".git")) + "\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			return err
		}
	}
	if err := openUp(dir); err != nil {
		return err
	}
	for _, name := range []string{"HEAD", "commondir", "gitdir", "index"} {
		made = append(made, filepath.Join(dir, name))
	}
	for _, file := range made {
		if err := durable.SyncFile(file); err != nil {
			return err
		}
	}
	return errors.Join(durable.SyncDir(dir), durable.SyncDir(n.Making))
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

// MoveWorktree renames a linked work tree to a place beside it, with everything in it. Whatever else lies in
// its old place stays there. Git's entry stays, and leads to the old place.
func (r *Trees) MoveWorktree(ctx context.Context, n NewWorktree, to string) error {
	if durable.Inside(r.Git.Root, n.Path) || durable.Inside(r.Git.CommonDir, n.Path) {
		return fmt.Errorf("%s is not removed: this repository lies in it", n.Path)
	}
	if err := r.AwaitFilled(ctx, n.Name); err != nil {
		return err
	}
	t, err := r.LinkedAt(ctx, n.Path)
	if err != nil || t == nil || t.Gone {
		return err
	}
	if err := r.nothingElse(ctx, n.Path); err != nil {
		return err
	}
	if err := os.Rename(n.Path, to); err != nil {
		return err
	}
	return durable.SyncDir(filepath.Dir(n.Path))
}

// nothingElse is an error when another work tree or a mount lies in a directory.
func (r *Trees) nothingElse(ctx context.Context, dir string) error {
	other, err := r.WorktreeIn(ctx, dir)
	if err != nil {
		return err
	}
	if other != nil {
		return fmt.Errorf("the work tree %s lies in it", other.Path)
	}
	return NotMounted(dir)
}

// RemoveWorktree removes what is left of a linked work tree that is not in its place any more: trash, which
// MoveWorktree made of it, "" for none, git's entry, and directories above that are empty then. Nothing in its
// old place is touched but an empty directory, or one that links nowhere. When the trash cannot be removed, all else is. It can be called
// again.
func (r *Trees) RemoveWorktree(ctx context.Context, n NewWorktree, trash string) error {
	var left error
	if trash != "" {
		if left = NotMounted(trash); left == nil {
			left = os.RemoveAll(trash)
		}
	}
	durable.Hit(durable.WorktreeEmptied)
	if info, err := os.Lstat(n.Path); err == nil && info.IsDir() {
		if linksNowhere(n.Path) {
			_ = os.Remove(filepath.Join(n.Path, ".git"))
		}
		_ = os.Remove(n.Path) // with nothing in it; one that is not empty is somebody else's
	}
	if err := os.RemoveAll(r.newGitDir(n.Name)); err != nil {
		return errors.Join(left, err)
	}
	if err := r.ForgetWorktree(ctx, n.Path); err != nil {
		return errors.Join(left, err)
	}
	for above := filepath.Dir(n.Path); above != n.Above && durable.Inside(above, n.Above); above = filepath.Dir(above) {
		if os.Remove(above) != nil {
			break // not empty, or not ours
		}
	}
	return left
}

// linksNowhere reports whether all that is in a directory is the file by which git finds the rest of a linked work tree,
// and there is no rest.
func linksNowhere(dir string) bool {
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 || entries[0].Name() != ".git" {
		return false
	}
	to, err := gitcmd.LeadsTo(dir)
	if err == nil {
		_, err = os.Lstat(to)
	}
	return gitcmd.Absent(err)
}

// ForgetWorktree removes git's entry of a linked work tree of which nothing is left.
func (r *Trees) ForgetWorktree(ctx context.Context, dir string) error {
	t, err := r.LinkedAt(ctx, dir)
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

// LinkedAt returns the linked work tree that git has in a directory, nil for none.
func (r *Trees) LinkedAt(ctx context.Context, dir string) (*Worktree, error) {
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
func (r *Trees) AwaitFilled(ctx context.Context, name string) error {
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

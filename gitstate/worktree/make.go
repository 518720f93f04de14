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

// ErrDirTaken is the error if a work tree cannot be created in the requested directory.
var ErrDirTaken = errors.New("the directory cannot be used")

// NewWorktree has the paths of a work tree that is to be created or was created.
type NewWorktree struct {
	Path   string // top directory, with symbolic links above it resolved
	Above  string // nearest parent directory that existed before the work tree
	Name   string // name of git's entry for the work tree
	Making string // directory next to Path in which the work tree is completed before it is renamed to Path
}

// PlanWorktree chooses the paths for a new work tree in a directory. `taken` has the names of other planned work trees,
// for which git may not have an entry yet. The error wraps ErrDirTaken if the directory cannot be used.
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

// placeFor returns the real path of a directory that does not exist yet, and its nearest existing parent.
func placeFor(dir string) (n NewWorktree, err error) {
	if dir, err = filepath.Abs(dir); err != nil {
		return n, err
	}
	const maxName = 230 // bytes; while the work tree is created or removed, its directory has a longer name
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

// freeName returns an unused name for git's entry of a work tree. It is made from the name of its directory, and valid
// in refs.
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

// mustIgnore returns an error if git does not ignore a directory that is inside of a work tree: it would regard the
// directory as a part of that work tree.
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

// Add creates a linked work tree. Its HEAD is detached at a commit, and its files are those of a tree; "" stands for
// the commit's own tree. With another tree, the difference looks like staged changes. The error wraps ErrDirTaken if
// another process has created the directory since it was planned; Add does not touch that directory.
//
// `git worktree add` creates the parts of its entry one after the other. If it is killed in between, it leaves an entry
// that no git command can read and that stops `git gc`. So wfs creates the entry elsewhere, in the layout of
// gitrepository-layout(5), and renames it to its place when it is complete. Then it does the same with the directory of
// all files. In a repository that wfs cannot read directly, it runs git.
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

// fill writes the files of a commit or tree to a new work tree, and syncs them.
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
	// git does not sync files, and a power cut would leave empty files, which look like edits
	return durable.WriteOut(all)
}

// newGitDir returns the directory in which wfs completes the git directory of a new work tree, before it renames it to
// its place.
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

// makeParts creates both parts of a linked work tree, durably: the directory with all files, and the git directory that
// becomes git's entry.
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

// openUp gives a private git directory the modes that git's own entries have.
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

// MoveWorktree renames a linked work tree, with everything in it, to a directory next to it. If another repository or a
// file is at the old path, it moves nothing. Git's entry stays, and still has the old path.
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

// nothingElse returns an error if a directory contains another work tree or a mount point.
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

// RemoveWorktree removes what is left of a linked work tree that is no longer at its path: the directory `trash` to
// which MoveWorktree has moved it ("" for none), git's entry, and parent directories that become empty. At the old
// path, it only removes a directory that is empty, or that has just a .git file which points nowhere. If it cannot
// remove trash, it removes the rest. It can be repeated.
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
		_ = os.Remove(n.Path) // fails if it is not empty: then it belongs to the user
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

// linksNowhere reports whether a directory contains only the .git file of a linked work tree for which git has no entry
// any more.
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

// ForgetWorktree removes git's entry for a linked work tree that no longer exists.
func (r *Trees) ForgetWorktree(ctx context.Context, dir string) error {
	t, err := r.LinkedAt(ctx, dir)
	if err != nil || t == nil {
		return err
	}
	if _, err := os.Lstat(dir); err == nil {
		return nil // another directory is there, which git would treat as that work tree
	}
	if !r.Git.ReadsDirectly() {
		_, err = r.Git.Run(ctx, gitcmd.Opts{Write: true}, "worktree", "remove", "--force", "--force", dir)
		return err
	}
	// Git removes the parts of an entry one after the other. If it is killed in between, it leaves an entry without a
	// HEAD. So rename the entry first.
	away := r.newGitDir(strings.TrimSuffix(t.ID, "@linked"))
	if err := errors.Join(os.RemoveAll(away), durable.MkdirAll(filepath.Dir(away))); err != nil {
		return err
	}
	if err := os.Rename(r.Git.LinkedDir(t.ID), away); err != nil {
		return err
	}
	durable.Hit(durable.EntryAway)
	_ = os.Remove(filepath.Dir(r.Git.LinkedDir(t.ID))) // if this was the last entry, as git does
	return os.RemoveAll(away)
}

// LinkedAt returns the linked work tree for which git's entry has the path dir, nil if there is none.
func (r *Trees) LinkedAt(ctx context.Context, dir string) (*Worktree, error) {
	trees, err := r.Linked(ctx)
	for i := range trees {
		if trees[i].Path == dir {
			return &trees[i], nil
		}
	}
	return nil, err
}

// AwaitFilled waits while a git process is still writing the files of a work tree: it may run longer than the wfs that
// started it. name is the name of git's entry for the work tree.
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

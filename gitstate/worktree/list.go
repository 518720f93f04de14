// Package worktree lists, makes, moves and removes the work trees of a repository, and checks the directories around
// one.
package worktree

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"github.com/wfs-dev/wfs/gitstate/gitcmd"
	"github.com/wfs-dev/wfs/gitstate/object"
	"github.com/wfs-dev/wfs/gitstate/refs"
	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/session"
)

// Trees are the work trees of a repository, as seen from one of them.
type Trees struct {
	Git     *gitcmd.Git
	Objects *object.Store
	Refs    *refs.Refs
}

// New returns the work trees of a repository, as seen from the work tree of git.
func New(git *gitcmd.Git, objects *object.Store, refs *refs.Refs) *Trees {
	return &Trees{Git: git, Objects: objects, Refs: refs}
}

// Worktree is one work tree of the repository, as git's own files describe it.
type Worktree struct {
	ID     string         // "main", or for a linked work tree its name, see gitcmd.WorktreeID
	Path   string         // top directory
	Branch string         // full name of the branch that it is on, also during a rebase; "" if HEAD is detached
	Commit session.Commit // commit of a detached HEAD
	Gone   bool           // it is not at Path: it was deleted, or moved without git
	Locked bool           // `git worktree lock` has locked it: it may be on a removable disk
	Why    string         // reason for that lock, "" for none
}

// WorktreeIn returns a work tree of the repository that is below a directory, nil if there is none.
func (r *Trees) WorktreeIn(ctx context.Context, dir string) (*Worktree, error) {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return nil, err
	}
	list, err := r.Worktrees(ctx)
	if err != nil {
		return nil, err
	}
	for _, t := range list {
		if p, err := filepath.EvalSymlinks(t.Path); err == nil && p != real && durable.Inside(p, real) {
			return &t, nil
		}
	}
	return nil, nil
}

// Worktrees lists the work trees of the repository. The main work tree is the first, unless the repository is bare.
func (r *Trees) Worktrees(ctx context.Context) ([]Worktree, error) {
	var list []Worktree
	if main, err := r.Git.MainWorktree(ctx); err != nil {
		return nil, err
	} else if main != "" {
		t := Worktree{ID: "main", Path: main}
		if err := r.headOf(ctx, r.Git.CommonDir, &t); err != nil {
			return nil, err
		}
		list = append(list, t)
	}
	linked, err := r.Linked(ctx)
	return append(list, linked...), err
}

// Linked lists the linked work trees of the repository. It skips entries of git that have no path, for example that of
// a work tree that is being created.
func (r *Trees) Linked(ctx context.Context) ([]Worktree, error) {
	dirs, err := os.ReadDir(filepath.Join(r.Git.CommonDir, "worktrees"))
	if err != nil {
		if gitcmd.Absent(err) {
			err = nil
		}
		return nil, err
	}
	var list []Worktree
	for _, d := range dirs {
		dir := filepath.Join(r.Git.CommonDir, "worktrees", d.Name())
		path, err := gitcmd.LinkedPath(dir)
		if err != nil {
			return nil, err
		}
		if path == "" {
			continue
		}
		t := Worktree{ID: gitcmd.WorktreeID(dir, r.Git.CommonDir), Path: path, Gone: gone(path, dir)}
		if t.Why, t.Locked, err = lockedWhy(dir); err != nil {
			return nil, err
		}
		if err := r.headOf(ctx, dir, &t); err != nil {
			if gitcmd.Absent(err) {
				continue // it is being created or removed
			}
			return nil, err
		}
		list = append(list, t)
	}
	return list, nil
}

// gone reports whether a linked work tree is not at the path at which git expects it. If the path cannot be read, the
// work tree may exist, so gone returns false.
func gone(path, gitDir string) bool {
	info, err := os.Lstat(filepath.Join(path, ".git"))
	if err != nil {
		return gitcmd.Absent(err)
	}
	if !info.Mode().IsRegular() {
		return true // another repository is in its place
	}
	to, err := gitcmd.LeadsTo(path)
	if err != nil {
		return gitcmd.Absent(err)
	}
	theirs, err := os.Stat(to)
	if err != nil {
		return gitcmd.Absent(err)
	}
	ours, err := os.Stat(gitDir)
	return err == nil && !os.SameFile(theirs, ours)
}

// lockedWhy returns the reason why a linked work tree is locked, and whether it is.
func lockedWhy(gitDir string) (why string, locked bool, err error) {
	text, err := gitcmd.ReadFile(filepath.Join(gitDir, "locked"))
	if gitcmd.Absent(err) {
		return "", false, nil
	}
	return strings.TrimSpace(string(text)), err == nil, err
}

// headOf sets the branch or the commit of a work tree, from the HEAD in its git directory.
func (r *Trees) headOf(ctx context.Context, gitDir string, t *Worktree) error {
	data, err := gitcmd.ReadBounded(filepath.Join(gitDir, "HEAD"), gitcmd.MaxRef)
	if err != nil {
		return err
	}
	text := strings.TrimSpace(string(data))
	if !r.Git.ReadsDirectly() { // HEAD may be stored in another format, and this file be a dummy
		out, err := r.Git.Run(ctx, gitcmd.Opts{GitDir: gitDir, OkExit: []int{1}}, "symbolic-ref", "-q", "HEAD")
		if err != nil {
			return err
		}
		if ref := strings.TrimSpace(string(out)); ref != "" {
			text = "ref: " + ref
		} else if out, err = r.Git.Run(ctx, gitcmd.Opts{GitDir: gitDir}, "rev-parse", "--verify", "HEAD"); err != nil {
			return err
		} else {
			text = strings.TrimSpace(string(out))
		}
	}
	if ref, ok := strings.CutPrefix(text, "ref:"); ok {
		t.Branch = strings.TrimSpace(ref)
		return nil
	}
	t.Commit = session.Commit(text)
	t.Branch, err = refs.Rebasing(gitDir)
	return err
}

// ElsewhereOn returns the path of another work tree that has a branch checked out, "" if there is none. If that work
// tree is missing, it counts only if it is locked, because then it may come back.
func (r *Trees) ElsewhereOn(ctx context.Context, branch string) (string, error) {
	trees, err := r.On(ctx, branch)
	for _, t := range trees {
		if t.ID != r.Git.Worktree && (!t.Gone || t.Locked) {
			return t.Path, nil
		}
	}
	return "", err
}

// On lists the work trees that have a branch checked out, including missing work trees.
func (r *Trees) On(ctx context.Context, branch string) ([]Worktree, error) {
	trees, err := r.Worktrees(ctx)
	var on []Worktree
	for _, t := range trees {
		if t.Branch == branch {
			on = append(on, t)
		}
	}
	return on, err
}

// WorktreePath returns the path of the work tree with an id (see Worktree), "" if there is none.
func (r *Trees) WorktreePath(ctx context.Context, id string) (string, error) {
	if id == r.Git.Worktree {
		return r.Git.Root, nil
	}
	if id == "main" {
		path, err := r.Git.MainWorktree(ctx)
		if path == r.Git.CommonDir {
			path = "" // unknown
		}
		return path, err
	}
	linked, err := r.Linked(ctx)
	for _, t := range linked {
		if t.ID == id && !t.Gone {
			return t.Path, nil
		}
	}
	return "", err
}

// LeaveGone detaches HEAD in missing work trees that have a branch checked out, and returns their paths: otherwise git
// would still regard the branch as in use there. Everything else that git stores about these work trees stays, in case
// they come back.
func (r *Trees) LeaveGone(ctx context.Context, branch string) ([]string, error) {
	tip, err := r.Refs.Ref(ctx, branch)
	if err != nil || tip == "" {
		return nil, err
	}
	trees, err := r.On(ctx, branch)
	if err != nil {
		return nil, err
	}
	var left []string
	for _, t := range trees {
		if t.ID == r.Git.Worktree || !t.Gone || t.Locked {
			continue
		}
		dir := r.Git.LinkedDir(t.ID)
		if on, err := refs.Rebasing(dir); err != nil || on != "" {
			continue // the user may want to finish the rebase there
		}
		why := "checkout: moving from " + strings.TrimPrefix(branch, "refs/heads/") + " to " + string(tip)
		if _, err := r.Git.Run(ctx, gitcmd.Opts{GitDir: dir, Write: true}, "update-ref", "--no-deref", "-m", why, "HEAD",
			string(tip)); err != nil {
			return left, err
		}
		left = append(left, t.Path)
	}
	return left, nil
}

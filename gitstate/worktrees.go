package gitstate

import (
	"context"

	"github.com/wfs-dev/wfs/gitstate/gitcmd"
	"github.com/wfs-dev/wfs/gitstate/worktree"
	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/session"
)

// AddWorktree creates a linked work tree, as Trees.Add does, and opens it.
func (r *Repo) AddWorktree(ctx context.Context, n worktree.NewWorktree, at session.Commit, tree session.Tree) (*Repo,
	error) {
	if err := r.Trees.Add(ctx, n, at, tree); err != nil {
		return nil, err
	}
	made, err := Open(ctx, gitcmd.Options{Dir: n.Path, Env: r.Git.UserEnv, Write: true, Waits: r.Git.Waits})
	if err != nil {
		return nil, err
	}
	durable.Hit(durable.WorktreeFilled)
	return made, nil
}

// OpenLinked opens the linked work tree of this repository that is in directory dir. It returns nil if there is none.
func (r *Repo) OpenLinked(ctx context.Context, dir string) (*Repo, error) {
	t, err := r.Trees.LinkedAt(ctx, dir)
	if err != nil || t == nil || t.Gone {
		return nil, err
	}
	return Open(ctx, gitcmd.Options{Dir: dir, Env: r.Git.UserEnv, Write: true})
}

package worktrees

import (
	"context"
	"slices"

	"github.com/wfs-dev/wfs/gitstate"
	"github.com/wfs-dev/wfs/session"
)

// lostWith lists the files that exist only in a linked work tree, and in no snapshot: those that git ignores, and those
// that wfs cannot save. Files made by the set-up are omitted if they are unchanged. here is the work tree where the
// command was typed.
func (t *Trees) lostWith(ctx context.Context, tree, here *gitstate.Repo, id session.ID, dir, exclude string,
	snap session.Snapshot) (found lost, err error) {
	other, err := t.MainRepo(ctx)
	if err != nil {
		return found, err
	}
	if other.Worktree() == tree.Worktree() { // in a bare repository, files were copied from another work tree
		other = here
	}
	names, err := tree.Unkept(ctx, exclude, snap.Staged, other.Git)
	if err != nil {
		return found, err
	}
	p, err := t.Clone.Worktree(tree.Worktree()).Provided(id, dir)
	if err != nil {
		return found, err
	}
	now := tree.Stamps(slices.DeleteFunc(slices.Clone(names), func(n string) bool { return p.Stamps[n] == "" }))
	found.Ignored = slices.DeleteFunc(names, func(n string) bool { return now[n] != "" && now[n] == p.Stamps[n] })
	found.provided = p.Session != ""
	found.Unsaved, err = tree.Unsaved(ctx, other.Git)
	return found, err
}

// lost lists the files that would be lost with a work tree.
type lost struct {
	Ignored []string // by git, or left out of checkpoints
	Unsaved []string // files that git cannot add under any of its settings

	provided bool // it is recorded which files the set-up made
}

func (l lost) all() []string { return append(slices.Clone(l.Ignored), l.Unsaved...) }

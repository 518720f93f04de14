package worktrees

import (
	"context"
	"slices"

	"github.com/wfs-dev/wfs/gitstate"
	"github.com/wfs-dev/wfs/session"
)

// lostWith returns the files that would be lost with a linked work tree, because no snapshot has them: files that git
// ignores, and files that wfs cannot save. It leaves out files that the set-up made and that are unchanged. `here` is
// the work tree where the command was typed.
func (t *Trees) lostWith(ctx context.Context, tree, here *gitstate.Repo, id session.ID, dir, exclude string,
	snap session.Snapshot) (found lost, err error) {
	other, err := t.MainRepo(ctx)
	if err != nil {
		return found, err
	}
	// in a bare repository there is no main work tree: the files were copied from another one
	if other.Worktree() == tree.Worktree() {
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

// lost has the paths of files that would be lost with a work tree.
type lost struct {
	Ignored []string // files that git ignores, or that checkpoints leave out
	Unsaved []string // files that git cannot add, whatever its settings

	provided bool // there is a record of the files that the set-up made
}

func (l lost) all() []string { return append(slices.Clone(l.Ignored), l.Unsaved...) }

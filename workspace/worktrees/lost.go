package worktrees

import (
	"context"
	"slices"

	"github.com/wfs-dev/wfs/gitstate"
	"github.com/wfs-dev/wfs/session"
)

// lostWith lists what is in a linked work tree, and in no snapshot of it nor anywhere else that is known: what
// git ignores, and what it can save in no way. What the set-up made is left out as long as nobody has changed
// it. here is the work tree where the command was typed.
func (t *Trees) lostWith(ctx context.Context, tree, here *gitstate.Repo, id session.ID, dir, exclude string,
	snap session.Snapshot) (found lost, err error) {
	other, err := t.MainRepo(ctx)
	if err != nil {
		return found, err
	}
	if other.Worktree() == tree.Worktree() { // a bare repository: what was copied came from another work tree
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

// lost is what would go for good with a work tree.
type lost struct {
	Ignored []string // by git, or left out of checkpoints
	Unsaved []string // what no setting of git's would bring into one

	provided bool // it is known what the set-up had made
}

func (l lost) all() []string { return append(slices.Clone(l.Ignored), l.Unsaved...) }

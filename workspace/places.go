package workspace

import (
	"context"

	"github.com/wfs-dev/wfs/engine"
	"github.com/wfs-dev/wfs/gitstate"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workspace/check"
)

// Where a session is: the work tree whose HEAD is on its branch. A verb that is given a session's name acts there,
// wherever it was typed.

// EnterNamed goes to the work tree of a session that was named; "" is the current session, which is here.
func (w *Workspace) EnterNamed(ctx context.Context, name string) error {
	if name == "" {
		return nil
	}
	if err := w.OpenWriter(ctx); err != nil {
		return err
	}
	if err := w.know(ctx); err != nil { // a work tree may have to be connected again
		return err
	}
	id, err := w.Resolve(ctx, name)
	if err != nil {
		return err
	}
	t, err := w.Elsewhere(ctx, id)
	if err != nil || t == nil || t.Gone {
		return err
	}
	return w.GoTo(ctx, t.Path, id)
}

// Elsewhere returns another work tree that has a session checked out, one that is there before one that is gone. It is
// nil when there is none, or when the session is checked out here.
func (w *Workspace) Elsewhere(ctx context.Context, id session.ID) (*gitstate.Worktree, error) {
	trees, err := w.Repo.On(ctx, session.BranchOf(id))
	if err != nil {
		return nil, err
	}
	for _, t := range trees {
		if t.ID == w.Repo.Worktree() {
			return nil, nil
		}
	}
	return w.otherThanHere(trees, id), nil
}

// otherThanHere picks the work tree of a session that is not this one, one that is there before one that is gone.
func (w *Workspace) otherThanHere(trees []gitstate.Worktree, id session.ID) *gitstate.Worktree {
	var found *gitstate.Worktree
	for i, t := range trees {
		if t.ID != w.Repo.Worktree() && t.Branch == session.BranchOf(id) && (found == nil || found.Gone && !t.Gone) {
			found = &trees[i]
		}
	}
	return found
}

// NotGone refuses to act on a session whose work tree is not there any more.
func (w *Workspace) NotGone(ctx context.Context, id session.ID) error {
	t, err := w.Elsewhere(ctx, id)
	if err == nil && t != nil && t.Gone {
		err = Gone(id, t)
	}
	return err
}

// mustBeCurrent refuses to act on a session that is checked out neither here nor in a work tree of its own.
func (w *Workspace) mustBeCurrent(ctx context.Context, id session.ID) error {
	head, err := w.Repo.Head(ctx)
	if err != nil || head.Ref == session.BranchOf(id) {
		return err
	}
	if err := w.NotGone(ctx, id); err != nil {
		return err
	}
	return refuse(session.RefuseNotCurrent, engine.WayTo(head, id), "%s is not current in this work tree, and has none of its own", id)
}

// Gone says what to do about a session whose work tree is not where it was.
func Gone(id session.ID, t *gitstate.Worktree) error {
	if !t.Locked {
		return refuse(session.RefuseWorktree, check.GoneHint(id), "the work tree of %s is not there any more: %s", id, t.Path)
	}
	why := ""
	if t.Why != "" {
		why = ": " + t.Why
	}
	return refuse(session.RefuseWorktree, "bring it back, or git worktree unlock "+t.Path,
		"the work tree of %s is not there now, and git keeps it locked%s (%s)", id, why, t.Path)
}

// InTree says where a command acted when that was not where it was typed: " in <path>".
func (w *Workspace) InTree() string {
	if w.Away == "" {
		return ""
	}
	return " in " + w.Repo.Root()
}

// leaveGone takes a session that is about to become current here away from a work tree that is not there any more.
func (w *Workspace) leaveGone(ctx context.Context, id session.ID) error {
	t, err := w.Elsewhere(ctx, id)
	if err != nil || t == nil || !t.Gone {
		return err
	}
	if t.Locked {
		return Gone(id, t)
	}
	left, err := w.Repo.LeaveGone(ctx, session.BranchOf(id))
	for _, path := range left {
		w.Front.Note("%s was checked out in %s, which is not there any more: that entry of git's is detached now (git worktree prune forgets it)", id, path)
	}
	return err
}

// Here is the work tree that the command acts in.
func (w *Workspace) Here() *gitstate.Worktree {
	return &gitstate.Worktree{ID: w.Repo.Worktree(), Path: w.Repo.Root()}
}

// PlaceOf returns the work tree that has a session checked out, nil for none.
func (w *Workspace) PlaceOf(ctx context.Context, id session.ID) (*gitstate.Worktree, error) {
	cur, err := w.Current(ctx)
	if err != nil || id == cur {
		return w.Here(), err
	}
	return w.Elsewhere(ctx, id)
}

// PlaceAmong is PlaceOf for many sessions. cur is the current one.
func (w *Workspace) PlaceAmong(trees []gitstate.Worktree, id, cur session.ID) *gitstate.Worktree {
	if id == cur {
		return w.Here()
	}
	return w.otherThanHere(trees, id)
}

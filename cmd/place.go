package cmd

import (
	"context"
	"fmt"

	"github.com/wfs-dev/wfs/cmd/internal/present"
	"github.com/wfs-dev/wfs/engine"
	"github.com/wfs-dev/wfs/gitstate"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workspace/check"
)

// Where a session is: the work tree whose HEAD is on its branch. A verb that is given a session's name acts there,
// wherever it was typed.

// beginAt is begin for verbs that take a session's name: it goes to the work tree that has the session checked out.
// "" is the current session.
func (a *app) beginAt(ctx context.Context, command, name string, detached bool) error {
	if err := a.enterNamed(ctx, name); err != nil {
		return err
	}
	return a.begin(ctx, command, detached)
}

// enterNamed goes to the work tree of a session that was named; "" is the current session, which is here.
func (a *app) enterNamed(ctx context.Context, name string) error {
	if name == "" {
		return nil
	}
	if err := a.openFor(ctx, true); err != nil {
		return err
	}
	if err := a.know(ctx); err != nil { // a work tree may have to be connected again
		return err
	}
	id, err := a.resolve(ctx, name)
	if err != nil {
		return err
	}
	return a.enter(ctx, id)
}

// enter goes to the work tree that has a session checked out. It stays here when none has.
func (a *app) enter(ctx context.Context, id session.ID) error {
	t, err := a.elsewhere(ctx, id)
	if err != nil || t == nil || t.Gone {
		return err
	}
	return a.goTo(ctx, t.Path, id)
}

// elsewhere returns another work tree that has a session checked out, one that is there before one that is gone. It is
// nil when there is none, or when the session is checked out here.
func (a *app) elsewhere(ctx context.Context, id session.ID) (*gitstate.Worktree, error) {
	trees, err := a.repo.On(ctx, session.BranchOf(id))
	if err != nil {
		return nil, err
	}
	for _, t := range trees {
		if t.ID == a.repo.Worktree() {
			return nil, nil
		}
	}
	return otherThan(a.repo.Worktree(), trees, session.BranchOf(id)), nil
}

// goTo lets the command act in another work tree, on a session there. No lock may be held yet.
func (a *app) goTo(ctx context.Context, path string, id session.ID) error {
	repo, err := gitstate.Open(ctx, gitstate.Options{Dir: path, Env: a.env.Environ, Write: true, Waits: a.waits})
	if err != nil {
		return err
	}
	a.repo, a.eng.Store, a.away = repo, repo, id
	return nil
}

// notGone refuses to act on a session whose work tree is not there any more.
func (a *app) notGone(ctx context.Context, id session.ID) error {
	t, err := a.elsewhere(ctx, id)
	if err == nil && t != nil && t.Gone {
		err = goneRefusal(id, t)
	}
	return err
}

// mustBeCurrent refuses to act on a session that is checked out neither here nor in a work tree of its own.
func (a *app) mustBeCurrent(ctx context.Context, id session.ID) error {
	head, err := a.repo.Head(ctx)
	if err != nil || head.Ref == session.BranchOf(id) {
		return err
	}
	if err := a.notGone(ctx, id); err != nil {
		return err
	}
	return &session.Refusal{Code: session.RefuseNotCurrent, Message: string(id) + " is not current in this work tree, and has none of its own",
		Hint: engine.WayTo(head, id)}
}

// goneRefusal says what to do about a session whose work tree is not where it was.
func goneRefusal(id session.ID, t *gitstate.Worktree) error {
	r := &session.Refusal{Code: session.RefuseWorktree, Message: fmt.Sprintf("the work tree of %s is not there any more: %s", id, t.Path),
		Hint: check.GoneHint(id)}
	if t.Locked {
		why := ""
		if t.Why != "" {
			why = ": " + t.Why
		}
		r.Message = fmt.Sprintf("the work tree of %s is not there now, and git keeps it locked%s (%s)", id, why, t.Path)
		r.Hint = "bring it back, or git worktree unlock " + t.Path
	}
	return r
}

// inTree says where a command acted when that was not where it was typed: " in <path>".
func (a *app) inTree() string {
	if a.away == "" {
		return ""
	}
	return " in " + a.repo.Root()
}

// leaveGone takes a session that is about to become current here away from a work tree that is not there any more.
func (a *app) leaveGone(ctx context.Context, id session.ID) error {
	t, err := a.elsewhere(ctx, id)
	if err != nil || t == nil || !t.Gone {
		return err
	}
	if t.Locked {
		return goneRefusal(id, t)
	}
	left, err := a.repo.LeaveGone(ctx, session.BranchOf(id))
	for _, path := range left {
		a.note("%s was checked out in %s, which is not there any more: that entry of git's is detached now (git worktree prune forgets it)", id, path)
	}
	return err
}

// here is the work tree that the command acts in, without what is not known of it.
func (a *app) here() *gitstate.Worktree {
	return &gitstate.Worktree{ID: a.repo.Worktree(), Path: a.repo.Root()}
}

// seenIn returns the work tree that has a session checked out, nil for none. cur is the current session.
func (a *app) seenIn(ctx context.Context, id, cur session.ID) (*gitstate.Worktree, error) {
	if id == cur {
		return a.here(), nil
	}
	return a.elsewhere(ctx, id)
}

// seenFrom is seenIn for one session.
func (a *app) seenFrom(ctx context.Context, id session.ID) (*gitstate.Worktree, error) {
	cur, err := a.current(ctx)
	if err != nil {
		return nil, err
	}
	return a.seenIn(ctx, id, cur)
}

// seen describes a session as it is seen from here.
func (a *app) seen(ctx context.Context, s *session.Session) (present.Session, *gitstate.Worktree, error) {
	in, err := a.seenFrom(ctx, s.ID)
	if err != nil {
		return present.Session{}, nil, err
	}
	return a.describe(s, in), in, nil
}

// where is seenIn for many sessions.
func (a *app) where(trees []gitstate.Worktree, id, cur session.ID) *gitstate.Worktree {
	if id == cur {
		return a.here()
	}
	return otherThan(a.repo.Worktree(), trees, session.BranchOf(id))
}

// otherThan picks a work tree on a branch that is not this one, one that is there before one that is gone.
func otherThan(here string, trees []gitstate.Worktree, branch string) *gitstate.Worktree {
	var found *gitstate.Worktree
	for i, t := range trees {
		if t.ID != here && t.Branch == branch && (found == nil || found.Gone && !t.Gone) {
			found = &trees[i]
		}
	}
	return found
}

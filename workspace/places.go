package workspace

import (
	"context"
	"strings"

	"github.com/wfs-dev/wfs/engine/checkpoint"
	"github.com/wfs-dev/wfs/gitstate"
	"github.com/wfs-dev/wfs/gitstate/worktree"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workspace/check"
)

// Places finds the work trees in which sessions are checked out. A command that names a session acts in that session's
// work tree, wherever it was typed.
type Places struct {
	w *Workspace
	// the session that the command acts on if it is in another work tree; "" if the command acts where it was typed
	Away session.ID
}

// GoTo makes the command act in another work tree, on the session that is there. The command must not hold locks yet.
func (p *Places) GoTo(ctx context.Context, path string, id session.ID) error {
	repo, err := p.w.RepoAt(ctx, path, true)
	if err == nil {
		p.Use(repo, id)
	}
	return err
}

// Use makes the command act in another work tree, which is already open. `away` is the session there; "" means that it
// is the work tree where the command was typed.
func (p *Places) Use(repo *gitstate.Repo, away session.ID) {
	p.w.Act(repo)
	p.Away = away
}

// MainRepo returns the main work tree. In a bare repository, which has none, it returns this one.
func (p *Places) MainRepo(ctx context.Context) (*gitstate.Repo, error) {
	here := p.w.Repo
	path, err := here.WorktreePath(ctx, "main")
	if err != nil || path == "" || here.Worktree() == "main" {
		return here, err
	}
	return p.w.RepoAt(ctx, path, false)
}

// EnterNamed makes the command act in the work tree of a session. If `name` is "", the command stays here, where the
// current session is.
func (p *Places) EnterNamed(ctx context.Context, name string) error {
	if name == "" {
		return nil
	}
	if err := p.w.OpenWriter(ctx); err != nil {
		return err
	}
	if err := p.w.know(ctx); err != nil {
		return err
	}
	id, err := p.w.Resolve(ctx, name)
	if err != nil {
		return err
	}
	t, err := p.Elsewhere(ctx, id)
	if err != nil || t == nil || t.Gone {
		return err
	}
	return p.GoTo(ctx, t.Path, id)
}

// Elsewhere returns another work tree that has a session checked out, preferably one whose directory exists. It returns
// nil if there is none, or if the session is checked out here.
func (p *Places) Elsewhere(ctx context.Context, id session.ID) (*worktree.Worktree, error) {
	t, err := p.PlaceOf(ctx, id)
	if err != nil || t == nil || t.ID == p.w.Repo.Worktree() {
		return nil, err
	}
	return t, nil
}

// On returns the work tree that has a session checked out, nil for none. If there are several, it prefers this work
// tree, then one whose directory exists.
func (p *Places) On(trees []worktree.Worktree, id session.ID) *worktree.Worktree {
	var found *worktree.Worktree
	for i, t := range trees {
		switch {
		case t.Branch != session.BranchOf(id):
		case t.ID == p.w.Repo.Worktree():
			return p.Here()
		case found == nil || found.Gone && !t.Gone:
			found = &trees[i]
		}
	}
	return found
}

// NotGone returns a refusal if a session is checked out in a work tree whose directory no longer exists.
func (p *Places) NotGone(ctx context.Context, id session.ID) error {
	t, err := p.Elsewhere(ctx, id)
	if err == nil && t != nil && t.Gone {
		err = Gone(id, t)
	}
	return err
}

// mustBeCurrent returns a refusal if a session is not checked out in the work tree that the command acts in.
func (p *Places) mustBeCurrent(ctx context.Context, id session.ID) error {
	head, err := p.w.Repo.Head(ctx)
	if err != nil || head.Ref == session.BranchOf(id) {
		return err
	}
	if err := p.NotGone(ctx, id); err != nil {
		return err
	}
	return session.Refuse(session.RefuseNotCurrent, checkpoint.WayTo(head, id),
		"%s is not current in this work tree, and has none of its own", id)
}

// Gone returns the refusal for a session whose work tree is missing, with a hint how to continue.
func Gone(id session.ID, t *worktree.Worktree) error {
	if !t.Locked {
		return session.Refuse(session.RefuseWorktree, check.GoneHint(id), "the work tree of %s is not there any more: %s",
			id, t.Path)
	}
	why := ""
	if t.Why != "" {
		why = ": " + t.Why
	}
	return session.Refuse(session.RefuseWorktree, "bring it back, or git worktree unlock "+t.Path,
		"the work tree of %s is not there now, and git keeps it locked%s (%s)", id, why, t.Path)
}

// InTree returns " in <path>" for messages if the command acts in another work tree than the one where it was typed, ""
// otherwise.
func (p *Places) InTree() string {
	if p.Away == "" {
		return ""
	}
	return " in " + p.w.Repo.Root()
}

// leaveGone prepares a session for being checked out here, if git believes that it is still checked out in a work tree
// that no longer exists: it detaches git's entry for that work tree.
func (p *Places) leaveGone(ctx context.Context, id session.ID) error {
	t, err := p.Elsewhere(ctx, id)
	if err != nil || t == nil || !t.Gone {
		return err
	}
	if t.Locked {
		return Gone(id, t)
	}
	left, err := p.w.Repo.LeaveGone(ctx, session.BranchOf(id))
	for _, path := range left {
		p.w.Front.Note("%s was checked out in %s, which is not there any more: that entry of git's is detached now (git worktree prune forgets it)", id, path)
	}
	return err
}

// Here returns the work tree that the command acts in.
func (p *Places) Here() *worktree.Worktree {
	return &worktree.Worktree{ID: p.w.Repo.Worktree(), Path: p.w.Repo.Root()}
}

// PlaceOf returns the work tree that has a session checked out, nil for none. On says which one if there are several.
func (p *Places) PlaceOf(ctx context.Context, id session.ID) (*worktree.Worktree, error) {
	trees, err := p.w.Repo.Worktrees(ctx)
	return p.On(trees, id), err
}

// Belonging returns the work tree that belongs to a session. It prefers one on the session's branch (of these, the
// current one). Next is one on the branch with the session's finished work. Last is one that was made for the session
// and is on no branch now, for instance after an undo.
func (p *Places) Belonging(ctx context.Context, id session.ID) (*worktree.Worktree, error) {
	trees, err := p.w.Repo.Worktrees(ctx)
	if err != nil {
		return nil, err
	}
	if t := p.On(trees, id); t != nil {
		return t, nil
	}
	v, err := p.w.View(ctx, id)
	if err != nil {
		return nil, err
	}
	f := v.Session.Finished
	if v.Session.Status != session.StatusFinished {
		f = nil
	}
	for i, t := range trees {
		if f != nil && t.Branch == f.Branch && t.ID == f.Turn.Worktree {
			return &trees[i], nil
		}
	}
	for i, t := range trees {
		if t.Branch != "" || t.Gone {
			continue
		}
		if made, err := p.w.Clone.Worktree(t.ID).Provided(id, t.Path); err != nil || made.Session == id {
			return &trees[i], err
		}
	}
	return nil, session.Refuse(session.RefuseNotCurrent, "wfs resume "+string(id), "%s is checked out in no work tree", id)
}

// HalfMoved returns a description of the operation on this work tree that a killed command left unfinished, and the
// command that completes it. The description is "" if there is none, or if that is unknown. The command is "" if any
// command completes the operation.
func (p *Places) HalfMoved(ctx context.Context) (what, completes string) {
	clone, tree := p.w.Clone, p.w.Repo.Worktree()
	id, err := clone.Worktree(tree).Claimed()
	if err != nil || id == "" {
		return "", ""
	}
	if _, held, err := clone.Worktree(tree).Holder(); err != nil || held {
		return "", ""
	}
	v, err := p.w.View(ctx, id)
	switch {
	case err != nil:
		return "", ""
	case v.Session.Moving != nil:
		return v.Session.Moving.Summary, p.w.Engine.Completes(ctx, id, v.Session.Moving.Turn)
	case v.Session.Deleting != nil:
		return v.Session.Deleting.Summary, ""
	}
	return "", ""
}

// SayRescue prints the commands that show the content of a rescue (saved files that were in no commit), after a line
// that has named the rescue. A rescue is a commit whose parents have that content. If it no longer exists, nothing is
// printed.
func SayRescue(ctx context.Context, repo *gitstate.Repo, ref string, say func(string, ...any)) {
	parts, err := repo.RescuedParts(ctx, ref)
	if err != nil {
		return
	}
	for i, p := range parts {
		what := "to look at it"
		if i > 0 {
			what = "and " + strings.TrimSuffix(p.What, ",")
		}
		say("  %s: %s", what, p.Show())
	}
}

package engine

import (
	"context"

	"github.com/wfs-dev/wfs/session"
)

// giveUpFinish takes a handover back that did not become true. When nobody can tell whether it did, it stays as
// it is for the next command to look at.
func (h *Hand) giveUpFinish(ctx context.Context, f session.FinishStarted, cause error) error {
	if events := h.j.Events(); events[len(events)-1].Kind().IsTurn() {
		return nil
	}
	if err := h.takeBackFinish(ctx, f); err != nil {
		return err
	}
	if h.S.Finishing != nil {
		return h.dropFinish(cause)
	}
	return h.j.Unclaim(h.e.Store.Worktree())
}

// dropFinish ends a handover that left nothing behind, and the claim with it: there is nothing to complete.
func (h *Hand) dropFinish(cause error) error {
	if err := h.append(session.Dropped{Why: oneLine(cause.Error(), 200)}); err != nil {
		return err
	}
	return h.j.Unclaim(h.e.Store.Worktree())
}

// takeBackFinish removes a half-made branch, if it still looks like what the finish made of it and nobody is on it. Its
// commit may have been amended, so it is kept.
func (h *Hand) takeBackFinish(ctx context.Context, f session.FinishStarted) error {
	now, err := h.e.Store.Ref(ctx, f.Branch)
	if err != nil || now == "" {
		return err
	}
	head, err := h.e.Store.Head(ctx)
	if err != nil || head.Ref == f.Branch {
		return err
	}
	if other, err := h.e.Store.ElsewhereOn(ctx, f.Branch); err != nil || other != "" {
		return err
	}
	if now != f.Base {
		tree, err := h.e.Store.TreeOf(ctx, now)
		if err != nil || tree != f.Tree {
			return err // somebody has worked on it since: theirs
		}
		made := session.Snapshot{Tree: tree, HeadTree: tree, Head: session.Head{Ref: f.Branch, Commit: now}}
		ref, err := h.e.Store.Rescue(ctx, h.ID, "undoing an incomplete finish", made, h.e.Clock.Now().Unix())
		if err != nil {
			return err
		}
		h.keptAt(ref)
	}
	_, err = h.e.Store.Settle(ctx, h.ID, session.Turn{Refs: []session.RefMove{{Ref: f.Branch, Old: now}}})
	return err
}

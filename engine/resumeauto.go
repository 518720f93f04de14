package engine

import (
	"context"
	"fmt"
	"time"

	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/session/codec"
	"github.com/wfs-dev/wfs/session/fold"
)

// AutoFound is an auto-save that a session can go back to, and the checkpoint that it was made upon.
type AutoFound struct {
	session.AutoSave
	Checkpoint int
	// what the visit of the interrupted attempt began with; "" of a rescue: its files are a person's
	Since session.Tree
}

// FindBackup returns a rescue of a session that was made while its branch was checked out.
func (e *Engine) FindBackup(ctx context.Context, id session.ID, number string) (*AutoFound, error) {
	ref := session.RescueOf(id, number)
	a, err := e.Store.Backup(ctx, ref)
	if err != nil {
		return nil, err
	}
	if a == nil {
		return nil, &session.Refusal{Code: session.RefuseNothing, Message: fmt.Sprintf("%s has no backup %q", id, number),
			Hint: "wfs backups " + string(id)}
	}
	if a.Head.Ref != session.BranchOf(id) || a.Code == "" {
		return nil, &session.Refusal{Code: session.RefuseNothing,
			Message: fmt.Sprintf("backup %s was not made on %s", number, short(session.BranchOf(id))),
			Hint:    "git cherry-pick -n " + ref + "^2"}
	}
	return e.upon(ctx, id, a)
}

// FindAuto returns the auto-save of a session that still says something: nothing has happened since but that an
// interrupted run was recovered, which keeps what was found as a checkpoint. Recovery may make one stale, so it
// is looked for before the session is opened.
func (e *Engine) FindAuto(ctx context.Context, id session.ID) (*AutoFound, error) {
	a, err := e.Store.Auto(ctx, id)
	if err != nil {
		return nil, err
	}
	if a == nil {
		return nil, &session.Refusal{Code: session.RefuseNothing, Message: string(id) + " has no backup",
			Hint: "wfs resume " + string(id)}
	}
	stale, err := e.stale(ctx, id, a)
	if err != nil {
		return nil, err
	}
	if stale {
		return nil, &session.Refusal{Code: session.RefuseNothing,
			Message: fmt.Sprintf("the backup of %s is from %s, older than its latest checkpoint", id, clockOf(a.At)),
			Hint:    "to see it: git show --stat " + session.AutoOf(id) + "^2"}
	}
	return e.upon(ctx, id, a)
}

// upon finds the checkpoint that a backup was made upon.
func (e *Engine) upon(ctx context.Context, id session.ID, a *session.AutoSave) (*AutoFound, error) {
	s, err := e.cached(ctx, id, a.Ledger)
	if err != nil {
		return nil, err
	}
	live, err := e.Store.File(ctx, a.Commit, session.FileEvents)
	if err != nil {
		return nil, err
	}
	found := &AutoFound{*a, s.Current, ""}
	if live == nil { // a rescue
		return found, nil
	}
	events, err := codec.DecodeLines(live)
	if err == nil {
		s, err = fold.Extend(s, events)
	}
	if err != nil {
		return nil, fmt.Errorf("%s of backup %s: %w", session.FileEvents, a.Commit.Short(), err)
	}
	found.Since = s.Visit.Tree
	if c := s.At(s.Current); found.Since == "" && c != nil { // the attempt was the first of its visit
		found.Since = c.Tree
	}
	return found, nil
}

// stale reports whether anything but the recovery of an interrupted run has happened since an auto-save was made.
func (e *Engine) stale(ctx context.Context, id session.ID, a *session.AutoSave) (bool, error) {
	commits, err := e.Store.Ledgers(ctx, id)
	if err != nil {
		return false, err
	}
	for _, c := range commits {
		if c.Commit == a.Ledger {
			return false, nil
		}
		events, err := e.eventsOf(ctx, c.Commit)
		if err != nil {
			return false, err
		}
		if n := len(events); n == 0 {
			return true, nil
		} else if b, ok := events[n-1].Body.(session.Checkpointed); !ok || b.Trigger != session.TriggerInterrupted {
			return true, nil
		}
	}
	return true, nil
}

// ResumeAuto puts the files of an auto-save back, upon the checkpoint that it was made upon. What is there is
// kept, as by every move.
func (h *Hand) ResumeAuto(ctx context.Context, a *AutoFound) (*Relocated, error) {
	r, err := h.resumeAuto(ctx, a)
	if err != nil {
		return nil, err
	}
	return h.move(ctx, r)
}

// ResumeAuto is what Hand.ResumeAuto would do.
func (l *Look) ResumeAuto(ctx context.Context, a *AutoFound) (Preview, error) {
	r, err := l.h.resumeAuto(ctx, a)
	if err != nil {
		return Preview{}, err
	}
	return l.preview(ctx, r)
}

func (h *Hand) resumeAuto(ctx context.Context, a *AutoFound) (relocation, error) {
	r, err := h.resumeAt(ctx, a.Checkpoint)
	if err != nil {
		return r, err
	}
	r.summary = fmt.Sprintf("resume %s with the backup of %s", h.ID, clockOf(a.At))
	r.tree, r.raw, r.since = a.Tree, a.Raw, a.Since
	// The agent may have committed since the checkpoint: then the branch goes to where it was, and what it had staged is
	// staged again.
	code := h.S.At(a.Checkpoint).Code
	if a.Head.Ref == h.S.Branch() && a.Head.Commit != "" && a.Head.Commit != code {
		code = a.Head.Commit
		if r.index, err = h.e.Store.TreeOf(ctx, code); err != nil {
			return r, err
		}
	}
	if a.Index != "" {
		r.index = a.Index
	}
	tip, err := h.e.Store.Ref(ctx, h.S.Branch())
	if err != nil {
		return r, err
	}
	r.refs, r.tip = nil, tip
	if tip != code {
		r.refs = []session.RefMove{{Ref: h.S.Branch(), Old: tip, New: code}}
	}
	return r, nil
}

// clockOf is a time for a summary.
func clockOf(at int64) string { return time.Unix(at, 0).UTC().Format("2006-01-02 15:04:05 UTC") }

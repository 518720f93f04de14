package transition

import (
	"context"
	"fmt"
	"time"

	"github.com/wfs-dev/wfs/internal/safetext"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/session/codec"
	"github.com/wfs-dev/wfs/session/fold"
)

// AutoFound is a backup that a session can be restored to, and the checkpoint that it is based on.
type AutoFound struct {
	session.AutoSave
	Checkpoint int
	// tree at the start of the visit (the attempts in a row at one phase) that the interrupted attempt belongs to; "" for
	// a rescue, because its files are a person's
	Since session.Tree
}

// FindBackup returns the rescue with the given number. It refuses a rescue that was not made while the session's branch
// was checked out.
func (e *Saves) FindBackup(ctx context.Context, id session.ID, number string) (*AutoFound, error) {
	ref := session.RescueOf(id, number)
	a, err := e.Git.Backup(ctx, ref)
	if err != nil {
		return nil, err
	}
	if a == nil {
		return nil, &session.Refusal{Code: session.RefuseNothing, Message: fmt.Sprintf("%s has no backup %q", id, number),
			Hint: "wfs backups " + string(id)}
	}
	if a.Head.Ref != session.BranchOf(id) || a.Code == "" {
		return nil, &session.Refusal{Code: session.RefuseNothing,
			Message: fmt.Sprintf("backup %s was not made on %s", number, safetext.ShortRef(session.BranchOf(id))),
			Hint:    "git cherry-pick -n " + ref + "^2"}
	}
	return e.upon(ctx, id, a)
}

// FindAuto returns the session's auto-save, and refuses a stale one. The auto-save is stale if anything has happened in
// the session since, except for the recovery of an interrupted run, which makes a checkpoint of the files. Opening the
// session recovers it and may make the auto-save stale, so call FindAuto before.
func (e *Saves) FindAuto(ctx context.Context, id session.ID) (*AutoFound, error) {
	a, err := e.Git.Auto(ctx, id)
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

// upon adds to a backup the checkpoint that it is based on and, for an auto-save, the tree at the start of the visit.
func (e *Saves) upon(ctx context.Context, id session.ID, a *session.AutoSave) (*AutoFound, error) {
	s, err := e.AtTip(ctx, id, a.Ledger)
	if err != nil {
		return nil, err
	}
	live, err := e.Git.File(ctx, a.Commit, session.FileEvents)
	if err != nil {
		return nil, err
	}
	found := &AutoFound{*a, s.Current, ""}
	if live == nil { // the backup is a rescue
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

// stale reports whether anything except the recovery of an interrupted run happened since an auto-save.
func (e *Saves) stale(ctx context.Context, id session.ID, a *session.AutoSave) (bool, error) {
	commits, err := e.Git.Ledgers(ctx, id)
	if err != nil {
		return false, err
	}
	for _, c := range commits {
		if c.Commit == a.Ledger {
			return false, nil
		}
		events, err := e.EventsOf(ctx, c.Commit)
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

// ResumeAuto restores the files of a backup, on the checkpoint that it is based on. Like every move, it saves the
// current files first.
func (h *Going) ResumeAuto(ctx context.Context, a *AutoFound) (*Relocated, error) {
	r, err := h.resumeAuto(ctx, a)
	if err != nil {
		return nil, err
	}
	return h.Move(ctx, r)
}

func (h *Going) resumeAuto(ctx context.Context, a *AutoFound) (Relocation, error) {
	r, err := h.resumeAt(ctx, a.Checkpoint)
	if err != nil {
		return r, err
	}
	r.Summary = fmt.Sprintf("resume %s with the backup of %s", h.ID, clockOf(a.At))
	r.Tree, r.raw, r.since = a.Tree, a.Raw, a.Since
	// The agent may have committed since the checkpoint. Then the branch moves to that commit, and the agent's index is
	// restored.
	code := h.S.At(a.Checkpoint).Code
	if a.Head.Ref == h.S.Branch() && a.Head.Commit != "" && a.Head.Commit != code {
		code = a.Head.Commit
		if r.Index, err = h.Git.TreeOf(ctx, code); err != nil {
			return r, err
		}
	}
	if a.Index != "" {
		r.Index = a.Index
	}
	tip, err := h.Git.Ref(ctx, h.S.Branch())
	if err != nil {
		return r, err
	}
	r.refs, r.Tip = nil, tip
	if tip != code {
		r.refs = []session.RefMove{{Ref: h.S.Branch(), Old: tip, New: code}}
	}
	return r, nil
}

// clockOf formats a time for a summary.
func clockOf(at int64) string { return time.Unix(at, 0).UTC().Format("2006-01-02 15:04:05 UTC") }

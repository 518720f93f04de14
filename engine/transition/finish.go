package transition

import (
	"context"
	"fmt"

	"github.com/wfs-dev/wfs/engine/hand"
	"github.com/wfs-dev/wfs/internal/safetext"
	"github.com/wfs-dev/wfs/session"
)

// Finish describes how a session is finished: its work becomes a commit on a new branch of the user.
type Finish struct {
	Branch      string         // full name of the new branch
	Base        session.Commit // the commit that the new branch starts from
	Tree, Files session.Tree   // tree of the handover commit; tree of the work tree afterwards
	Finished    session.Finished
	Before      func() error                   // called when nothing is in the way, before anything changes
	Commit      func() (session.Commit, error) // creates the branch
}

// Make carries out a finish, given a snapshot of the work tree. It returns the number of its operation. It creates the
// new branch before it moves the ledger, because git runs the user's hooks for the commit, and these may fail. Until
// the ledger moves, the finish can be undone.
func (h *FinishTurn) Make(ctx context.Context, f *Finish, snap session.Snapshot) (n int64, err error) {
	st := h.Git
	// The session's documents leave the work tree at the end. The checkpoints have them, except for bytes that git
	// converts.
	plan, err := h.PlanMove(ctx, snap, f.Files, "")
	if err != nil {
		return 0, err
	}
	t := session.Turn{Worktree: st.Worktree(), HeadOld: h.S.Branch(), HeadNew: f.Branch, HeadOldCommit: snap.Head.Commit,
		Tree: f.Files, TreeOld: snap.Tree, Index: f.Tree, IndexOld: snap.Index, RawOld: plan.Raw}
	made := t
	made.Refs = []session.RefMove{{Ref: f.Branch}}
	if err := st.AwaitLocks(ctx, h.ID, made); err != nil {
		return 0, err
	}
	if err := f.Before(); err != nil {
		return 0, err
	}
	if snap.Raw = plan.Raw; snap.Raw != "" {
		if t.Rescue, err = h.rescue(ctx, "finish "+string(h.ID), snap, false); err != nil {
			return 0, err
		}
	}
	started := session.FinishStarted{Branch: f.Branch, Base: f.Base, Tree: f.Tree, Turn: t}
	if err := h.begin(started, t, "finish/journaled"); err != nil {
		return 0, err
	}
	commit, err := f.Commit()
	if err != nil {
		return 0, joined(err, h.dropFinish(err))
	}
	t.Refs = []session.RefMove{{Ref: f.Branch, New: commit}}
	f.Finished.Branch, f.Finished.Commit = f.Branch, commit
	d := session.Draft{NoCode: true, Turn: t, Anchors: []session.Commit{commit},
		LedgerMessage: hand.LedgerMessage(h.ID, "finished on "+safetext.ShortRef(f.Branch))}
	if _, err := h.Turn(ctx, d, func(m session.Made) (session.Body, error) {
		f.Finished.Turn = m.Turn
		return f.Finished, nil
	}, func() (err error) {
		n, err = h.LogOp(ctx, h.Op(session.Event{At: h.Clock.Now(), Body: f.Finished}, "finish",
			SummaryOfFinish(h.ID, f.Branch), 0, f.Finished.Turn))
		return err
	}); err != nil {
		if h.S.Status != session.StatusFinished { // the turn is not published: remove the branch
			err = joined(err, h.giveUpFinish(ctx, started, err))
		}
		return 0, err
	}
	h.Halfway = nil
	h.Stayed = h.dropDocuments(ctx, t) // the work is handed over even if this fails
	f.Finished.Turn.Found = h.Halfway  // for the message; the event is already written
	return n, h.Files.Unclaim(st.Worktree())
}

// begin durably records an intent: it claims the work tree for the session and appends the intent to the journal.
// `point` is the name of this step for fault injection. Until the turn is published, the next command completes or
// undoes it.
func (h *Mover) begin(intent session.Body, t session.Turn, point string) error {
	if err := h.Files.Claim(t.Worktree); err != nil {
		return err
	}
	h.Halfway = nil
	if err := h.Append(intent); err != nil {
		return err
	}
	h.Hit(point)
	return nil
}

func joined(err, second error) error {
	if second != nil {
		return fmt.Errorf("%w; then: %v", err, second)
	}
	return err
}

// dropDocuments removes the session's documents, .workflow/, from the work tree, unless they changed since the finish
// began. Other files may have changed meanwhile, since hooks and gates take time. Those changes are the user's and in
// no ref, so dropDocuments leaves them as they are. If this fails nothing is lost, because the checkpoints and the
// turn's rescue have the documents.
func (h *FinishTurn) dropDocuments(ctx context.Context, t session.Turn) error {
	st := h.Git
	snap, err := h.Snapshot(ctx)
	if err != nil {
		return err
	}
	if as, err := st.HandoverTree(ctx, t.TreeOld, snap.Tree, ""); err != nil || as != t.TreeOld {
		return err // the documents changed
	}
	without, err := st.HandoverTree(ctx, snap.Tree, t.Tree, "")
	if err != nil || without == snap.Tree {
		return err
	}
	plan, err := h.PlanMove(ctx, snap, without, "")
	if err != nil {
		return err
	}
	if snap.Raw = plan.Raw; snap.Raw != "" && snap.Raw != t.RawOld { // these bytes were written since the finish began
		ref, err := st.Rescue(ctx, h.ID, "documents of "+string(h.ID)+" leave the work tree", snap, h.Clock.Now().Unix())
		if err != nil {
			return err
		}
		h.keptAt(ref)
	}
	return st.MoveTree(ctx, plan)
}

// giveUpFinish undoes a finish that was not published. If it is unknown whether the finish was published, giveUpFinish
// leaves everything to the next command, which recovers.
func (h *FinishTurn) giveUpFinish(ctx context.Context, f session.FinishStarted, cause error) error {
	if events := h.Files.Events(); events[len(events)-1].Kind().IsTurn() {
		return nil
	}
	if err := h.takeBackFinish(ctx, f); err != nil {
		return err
	}
	if h.S.Finishing != nil {
		return h.dropFinish(cause)
	}
	return h.Files.Unclaim(h.Git.Worktree())
}

// dropFinish records that a finish did not happen, with the reason `cause`, and removes its claim of the work tree. It
// is called when the finish has left nothing to complete or to undo.
func (h *FinishTurn) dropFinish(cause error) error {
	if err := h.Append(session.Dropped{Why: safetext.OneLine(cause.Error(), 200)}); err != nil {
		return err
	}
	return h.Files.Unclaim(h.Git.Worktree())
}

// takeBackFinish removes the new branch of an incomplete finish, unless the branch has other files than the finish gave
// it, or is checked out. It first rescues the branch's commit, because the user may have amended it.
func (h *FinishTurn) takeBackFinish(ctx context.Context, f session.FinishStarted) error {
	now, err := h.Git.Ref(ctx, f.Branch)
	if err != nil || now == "" {
		return err
	}
	head, err := h.Git.Head(ctx)
	if err != nil || head.Ref == f.Branch {
		return err
	}
	if other, err := h.Git.ElsewhereOn(ctx, f.Branch); err != nil || other != "" {
		return err
	}
	if now != f.Base {
		tree, err := h.Git.TreeOf(ctx, now)
		if err != nil || tree != f.Tree {
			return err // it has new commits, which are the user's
		}
		made := session.Snapshot{Tree: tree, HeadTree: tree, Head: session.Head{Ref: f.Branch, Commit: now}}
		ref, err := h.Git.Rescue(ctx, h.ID, "undoing an incomplete finish", made, h.Clock.Now().Unix())
		if err != nil {
			return err
		}
		h.keptAt(ref)
	}
	_, err = h.Git.Settle(ctx, h.ID, session.Turn{Refs: []session.RefMove{{Ref: f.Branch, Old: now}}})
	return err
}

// settleDocuments completes the finish of a dead process: it removes the session's documents, .workflow/, from the work
// tree, if no file has changed since the finish began.
func (h *FinishTurn) settleDocuments(ctx context.Context, t session.Turn) error {
	head, err := h.Git.Head(ctx)
	if err != nil || head.Ref != t.HeadNew || t.Worktree != h.Git.Worktree() {
		return err
	}
	snap, err := h.Snapshot(ctx)
	if err != nil || snap.Tree != t.TreeOld {
		return err
	}
	return h.dropDocuments(ctx, t)
}

// SummaryOfFinish returns the summary of a finish.
func SummaryOfFinish(id session.ID, branch string) string {
	return "finish " + string(id) + " on " + safetext.ShortRef(branch)
}

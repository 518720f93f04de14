package transition

import (
	"context"
	"fmt"

	"github.com/wfs-dev/wfs/engine/checkpoint"
	"github.com/wfs-dev/wfs/engine/hand"
	"github.com/wfs-dev/wfs/internal/safetext"
	"github.com/wfs-dev/wfs/session"
)

// Recover brings the files and refs that a dead process was changing to the old state or the new one. The last event of
// the journal decides:
//
//	a turn, ledger not moved       it did not happen, and is dropped; its objects are garbage, the work tree is unchanged
//	ledger moved, no journal yet   settle the turn: branch, HEAD, index
//	move_started                   rescue the current files, then complete the move. If that fails, undo it: the command
//	                               that found it reports so and does no more
//	finish_started                 remove the new branch
//	delete_started                 complete the deletion
func (a *All) Recover(ctx context.Context) error {
	h := a.FinishTurn
	if h.S.Deleting != nil {
		if err := a.Deleting.recoverDelete(ctx); err != nil {
			return err
		}
	}
	if f := h.S.Finishing; f != nil {
		if err := h.takeBackFinish(ctx, *f); err != nil {
			return err
		}
	}
	if turn := h.Pending; turn != nil {
		h.Pending = nil
		if err := h.Drop(*turn, fmt.Errorf("the process died before it was published")); err != nil {
			return err
		}
	}
	if !h.Files.Existed() {
		if err := h.settle(ctx); err != nil {
			return err
		}
	}
	if m := h.S.Moving; m != nil {
		if err := h.recoverMove(ctx, *m); err != nil {
			return err
		}
	}
	if f := h.S.Finishing; f != nil {
		if err := h.Append(session.Dropped{Why: "the process died before finish was complete"}); err != nil {
			return err
		}
		h.tellRecovered(Recovered{Did: SummaryOfFinish(h.ID, f.Branch), Became: Dropped, Found: h.Halfway})
	}
	return nil
}

// settle applies the ref moves of the turn at the ledger's tip, if the process that made the turn died before it could.
// That is certain if the previous journal still exists and ends with that turn. Without this journal, the clone's state
// was deleted or the user has reset a branch on purpose, so settle moves nothing.
func (h *FinishTurn) settle(ctx context.Context) error {
	turn, op, err := h.lastTurn(ctx)
	if err != nil || turn == nil {
		return err
	}
	commits, err := h.Git.Ledgers(ctx, h.ID)
	if err != nil {
		return err
	}
	var before session.Commit
	if len(commits) > 1 {
		before = commits[1].Commit
	}
	dead, err := h.Peek(h.ID, before)
	if err != nil {
		return err
	}
	if n := len(dead); n == 0 || dead[n-1].Seq != h.S.Seq-int64(len(h.Live)) || !dead[n-1].Kind().IsTurn() {
		return nil
	}
	if op != nil && isCheckpoint(op.Kind) && turn.Worktree != h.Git.Worktree() {
		op = nil // the turn moved no files, and index and operation log belong to another work tree
	}
	if op != nil {
		gone, err := h.elsewhere(ctx, *turn, op.Summary)
		if err != nil {
			return err
		}
		if gone {
			op = nil // the operation log of that work tree is gone, too
		}
	}
	settled, err := h.Git.Settle(ctx, h.ID, *turn)
	if err != nil {
		return err
	}
	if op != nil {
		n, err := h.Git.LogOp(ctx, *op)
		if err != nil {
			return err
		}
		why := hand.Behind(settled.HeadBehind)
		if op.Kind == "finish" {
			if h.Stayed = h.settleDocuments(ctx, *turn); h.Stayed != nil {
				why = "could not remove the session's documents from the work tree: " + safetext.FirstLine(h.Stayed.Error())
			}
		}
		if turn.Tree != "" { // the turn moved files
			h.tellRecovered(Recovered{Did: op.Summary, Became: Completed, Why: why, Op: n, Rescued: turn.Rescue,
				Found: append(turn.Found, h.Halfway...),
				Note:  h.noteOf(ctx, session.MoveKind(op.Kind), *turn, n)})
		}
	}
	// The new journal replaces the previous one. So if the branch is moved back from now on, settle will take that as the
	// user's intention.
	if h.Files, err = h.OpenFiles(h.ID, before); err != nil {
		return err
	}
	return h.Files.Rotate(h.Tip)
}

// lastTurn returns the turn that made the ledger's tip, and the operation to log for it, if any.
func (h *FinishTurn) lastTurn(ctx context.Context) (*session.Turn, *session.Op, error) {
	events, err := h.EventsOf(ctx, h.Tip)
	if err != nil || len(events) == 0 {
		return nil, nil, err
	}
	ev := events[len(events)-1]
	switch b := ev.Body.(type) {
	case session.Checkpointed:
		if b.Trigger == session.TriggerBirth && b.Turn.HeadNew != "" { // a session created in a work tree of its own
			op := opOfBirth(h.Hand, ev, b.Turn)
			return &b.Turn, &op, nil
		}
		var run *session.RunResult
		if b.Trigger == session.TriggerAttempt {
			for _, e := range events {
				if r, ok := e.Body.(session.RunEnded); ok {
					run = &r.RunResult
				}
			}
		}
		if hand.Logged(b.Trigger) || checkpoint.Answers(run) {
			op := checkpoint.OpOf(h.Hand, ev, b, run)
			return &b.Turn, &op, nil
		}
		return &b.Turn, nil, nil
	case session.Moved:
		op := h.Op(ev, string(b.How), b.Summary, b.Undoes, b.Turn)
		return &b.Turn, &op, nil
	case session.Finished:
		op := h.Op(ev, "finish", SummaryOfFinish(h.ID, b.Branch), 0, b.Turn)
		return &b.Turn, &op, nil
	}
	if op, ok := h.RecordedOp(ev); ok {
		op.Turn.Worktree = h.Git.Worktree() // the log of any work tree will do, because no file moves
		return &op.Turn, &op, nil
	}
	return nil, nil, nil
}

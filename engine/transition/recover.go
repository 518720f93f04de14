package transition

import (
	"context"
	"fmt"

	"github.com/wfs-dev/wfs/engine/checkpoint"
	"github.com/wfs-dev/wfs/engine/hand"
	"github.com/wfs-dev/wfs/session"
)

// Recover brings files and refs that a dead process left behind to the old state or the new one. Its rows, by the last
// word of the journal:
//
//	a turn, ledger not moved       it did not happen: say so; the objects are garbage, the work tree is as it was
//	ledger moved, no journal yet   settle the turn: branch, HEAD, index
//	move_started                   rescue what is there now, then carry the move out to its end, or if that fails take it
//	                               back: the command that found it says so, and does no more
//	finish_started                 take the half-made branch back
//	delete_started                 carry the deletion out to its end
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

// settle makes the moves of the ledger tip's turn if the process that published it died before it could. The evidence
// is the previous journal: it still ends with that turn. Without it (a clone whose state was deleted, a branch that
// somebody reset on purpose) nothing is moved.
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
		op = nil // it moved no files; its index and its log are another work tree's
	}
	if op != nil {
		gone, err := h.elsewhere(ctx, *turn, op.Summary)
		if err != nil {
			return err
		}
		if gone {
			op = nil // its log is gone as well
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
				why = "could not remove the session's documents from the work tree: " + session.FirstLine(h.Stayed.Error())
			}
		}
		if turn.Tree != "" { // it moved files
			h.tellRecovered(Recovered{Did: op.Summary, Became: Completed, Why: why, Op: n, Rescued: turn.Rescue,
				Found: append(turn.Found, h.Halfway...),
				Note:  h.noteOf(ctx, session.MoveKind(op.Kind), *turn, n)})
		}
	}
	// With the journal that was missing the evidence ends: whoever moves a branch back from now on means it.
	if h.Files, err = h.OpenFiles(h.ID, before); err != nil {
		return err
	}
	return h.Files.Rotate(h.Tip)
}

// lastTurn returns the moves of the turn that made the ledger's tip, and the operation to log for it if there is one.
func (h *FinishTurn) lastTurn(ctx context.Context) (*session.Turn, *session.Op, error) {
	events, err := h.EventsOf(ctx, h.Tip)
	if err != nil || len(events) == 0 {
		return nil, nil, err
	}
	ev := events[len(events)-1]
	switch b := ev.Body.(type) {
	case session.Checkpointed:
		if b.Trigger == session.TriggerBirth && b.Turn.HeadNew != "" { // in a work tree of its own
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
		op.Turn.Worktree = h.Git.Worktree() // any will do: nothing of a work tree is moved
		return &op.Turn, &op, nil
	}
	return nil, nil, nil
}

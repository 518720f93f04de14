package engine

import (
	"context"
	"fmt"
	"slices"

	"github.com/wfs-dev/wfs/session"
)

// recover brings a session that a dead process left behind to the old state or the new one. Its rows, by the last word
// of the journal:
//
//	a turn, ledger not moved       it did not happen: say so; the objects are garbage, the work tree is as it was
//	ledger moved, no journal yet   settle the turn: branch, HEAD, index
//	move_started                   rescue what is there now, then carry the move out to its end, or if that fails take it
//	                               back: the command that found it says so, and does no more
//	finish_started                 take the half-made branch back
//	delete_started                 carry the deletion out to its end
//	attempt_started                interrupted; what the run left is checkpointed as such, and locks of git's that dead
//	                               processes of it left are set aside, here and in the next two rows
//	run_ended                      nothing: it is judged next, also when its judging was interrupted
//	judged, decided                judged again: the tree may have changed since
//	what a person said             it becomes the operation that it would have been
func (h *Hand) recover(ctx context.Context) error {
	if h.S.Deleting != nil {
		if err := h.recoverDelete(ctx); err != nil {
			return err
		}
	}
	if f := h.S.Finishing; f != nil {
		if err := h.takeBackFinish(ctx, *f); err != nil {
			return err
		}
	}
	if turn := h.pending; turn != nil {
		h.pending = nil
		if err := h.drop(*turn, fmt.Errorf("the process died before it was published")); err != nil {
			return err
		}
	}
	if !h.j.Existed() {
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
		if err := h.append(session.Dropped{Why: "the process died before finish was complete"}); err != nil {
			return err
		}
		h.tellRecovered(Recovered{Did: summaryOfFinish(h.ID, f.Branch), Became: Dropped, Found: h.halfway})
	}
	if err := h.recoverAttempt(ctx); err != nil {
		return err
	}
	since := h.S.Seq
	for _, ev := range slices.Backward(h.live) {
		if !isAnswer(ev.Body) {
			break
		}
		since = ev.Seq - 1
	}
	return h.logAnswer(ctx, since)
}

// settle makes the moves of the ledger tip's turn if the process that published it died before it could. The evidence
// is the previous journal: it still ends with that turn. Without it (a clone whose state was deleted, a branch that
// somebody reset on purpose) nothing is moved.
func (h *Hand) settle(ctx context.Context) error {
	turn, op, err := h.lastTurn(ctx)
	if err != nil || turn == nil {
		return err
	}
	commits, err := h.e.Store.Ledgers(ctx, h.ID)
	if err != nil {
		return err
	}
	var before session.Commit
	if len(commits) > 1 {
		before = commits[1].Commit
	}
	dead, err := h.e.Peek(h.ID, before)
	if err != nil {
		return err
	}
	if n := len(dead); n == 0 || dead[n-1].Seq != h.S.Seq-int64(len(h.live)) || !dead[n-1].Kind().IsTurn() {
		return nil
	}
	if op != nil && isCheckpoint(op.Kind) && turn.Worktree != h.e.Store.Worktree() {
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
	settled, err := h.e.Store.Settle(ctx, h.ID, *turn)
	if err != nil {
		return err
	}
	if op != nil {
		n, err := h.e.Store.LogOp(ctx, *op)
		if err != nil {
			return err
		}
		why := behind(settled.HeadBehind)
		if op.Kind == "finish" {
			if h.Stayed = h.settleDocuments(ctx, *turn); h.Stayed != nil {
				why = "could not remove the session's documents from the work tree: " + firstLine(h.Stayed.Error())
			}
		}
		if turn.Tree != "" { // it moved files
			h.tellRecovered(Recovered{Did: op.Summary, Became: Completed, Why: why, Op: n, Rescued: turn.Rescue,
				Found: append(turn.Found, h.halfway...),
				Note:  h.e.noteOf(ctx, session.MoveKind(op.Kind), *turn, n)})
		}
	}
	// With the journal that was missing the evidence ends: whoever moves a branch back from now on means it.
	j, err := h.e.OpenJournal(h.ID, before)
	if err != nil {
		return err
	}
	h.j = j
	return j.Rotate(h.Tip)
}

// elsewhere refuses to go on when a move of another work tree died half-way: files, index and HEAD can be
// brought to its end only there. It reports true when that work tree is gone.
func (h *Hand) elsewhere(ctx context.Context, t session.Turn, summary string) (gone bool, err error) {
	if t.Worktree == h.e.Store.Worktree() {
		return false, nil
	}
	path, err := h.e.Store.WorktreePath(ctx, t.Worktree)
	if err != nil || path == "" {
		return err == nil, err
	}
	return false, &session.Refusal{Code: session.RefuseWorktree,
		Message: fmt.Sprintf("a command in the work tree %s was interrupted half-way: %s", path, summary),
		Hint:    fmt.Sprintf("cd %s && %s", path, h.e.Completes(ctx, h.ID, t))}
}

// settleDocuments ends a finish: .workflow/ leaves the work tree, if nobody has changed anything there since.
func (h *Hand) settleDocuments(ctx context.Context, t session.Turn) error {
	head, err := h.e.Store.Head(ctx)
	if err != nil || head.Ref != t.HeadNew || t.Worktree != h.e.Store.Worktree() {
		return err
	}
	snap, err := h.snapshot(ctx)
	if err != nil || snap.Tree != t.TreeOld {
		return err
	}
	return h.dropDocuments(ctx, t)
}

// lastTurn returns the moves of the turn that made the ledger's tip, and the operation to log for it if there is one.
func (h *Hand) lastTurn(ctx context.Context) (*session.Turn, *session.Op, error) {
	events, err := h.e.eventsOf(ctx, h.Tip)
	if err != nil || len(events) == 0 {
		return nil, nil, err
	}
	ev := events[len(events)-1]
	switch b := ev.Body.(type) {
	case session.Checkpointed:
		if b.Trigger == session.TriggerBirth && b.Turn.HeadNew != "" { // in a work tree of its own
			op := h.opOfBirth(ev, b.Turn)
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
		if logged(b.Trigger) || answers(run) {
			op := h.opOfCheckpoint(ev, b, run)
			return &b.Turn, &op, nil
		}
		return &b.Turn, nil, nil
	case session.Moved:
		op := h.op(ev, string(b.How), b.Summary, b.Undoes, b.Turn)
		return &b.Turn, &op, nil
	case session.Finished:
		op := h.op(ev, "finish", summaryOfFinish(h.ID, b.Branch), 0, b.Turn)
		return &b.Turn, &op, nil
	}
	if op, ok := h.recordedOp(ev); ok {
		op.Turn.Worktree = h.e.Store.Worktree() // any will do: nothing of a work tree is moved
		return &op.Turn, &op, nil
	}
	return nil, nil, nil
}

func (h *Hand) op(ev session.Event, kind, summary string, undoes int64, t session.Turn) session.Op {
	return session.Op{At: ev.At.Unix(), Kind: kind, Session: h.ID, Summary: summary, Ledger: h.Tip, Undoes: undoes,
		Turn: t}
}

// recoverAttempt ends an attempt that nobody carries on.
func (h *Hand) recoverAttempt(ctx context.Context) error {
	o := h.S.Open
	if o == nil {
		return nil
	}
	if err := h.deadLocks(ctx); err != nil {
		return err
	}
	if o.Run != nil {
		if o.Judgement == nil {
			return nil
		}
		return h.append(session.Reopened{Why: "the process died after the verdict"})
	}
	if err := h.left(h.e.Works.Left(h.ID, o.RunID)); err != nil {
		return err
	}
	if alive := h.e.Works.Alive(h.ID, o.RunID); len(alive) > 0 {
		return h.block(ctx, survivors(alive))
	}
	if err := h.append(session.Interrupted{Why: "killed"}); err != nil {
		return err
	}
	_, err := h.save(ctx, session.TriggerInterrupted, "interrupted; found in the work tree")
	return err
}

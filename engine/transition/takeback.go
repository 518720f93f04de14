package transition

import (
	"context"
	"fmt"

	"github.com/wfs-dev/wfs/engine/hand"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/session/codec"
	"github.com/wfs-dev/wfs/session/oplog"
	"github.com/wfs-dev/wfs/workflows"
)

// isRecord reports whether an operation of a kind changed nothing but what is said of a session.
func isRecord(kind string, op session.Op) bool {
	switch kind {
	case hand.OpAbandon, hand.OpRevive, hand.OpRename, hand.OpEdit, hand.OpRepin, hand.OpPhase, hand.OpNote,
		hand.OpAllow, hand.OpBudget:
		return true
	case hand.OpApprove, hand.OpReject:
		return op.Turn.Tree == ""
	}
	return false
}

// isCheckpoint reports whether an operation of a kind that is no record made a checkpoint, and left the files
// as they were.
func isCheckpoint(kind string) bool {
	return kind == hand.OpCheckpoint || kind == hand.OpApprove || kind == hand.OpReject
}

func recorded(n int64, summary string) *Relocated {
	return &Relocated{Op: n, Event: session.Moved{MoveStarted: session.MoveStarted{How: session.MoveUndo,
		Summary: summary, To: -1}}}
}

// takeBack brings back what an operation changed in what is said of the session, unless somebody has changed the same
// since. Nothing is removed from history: it is a turn like any other.
func (h *Undoing) takeBack(ctx context.Context, op session.Op, t turning, f session.Former) (int64, error) {
	if f.Spec != nil {
		text, err := h.Git.File(ctx, t.ledger, session.FileSpec)
		if err != nil {
			return 0, err
		}
		h.KeepDoc(session.FileSpec, append([]byte{}, text...))
	}
	if f.Plan != nil {
		if err := h.pinFormer(ctx, t.ledger); err != nil {
			return 0, err
		}
	}
	n, err := h.RecordOp(ctx, func(turn session.Turn) session.Body {
		return session.TakenBack{Summary: summaryOfUndo(op), Undoes: op.Number, Former: f, Turn: turn}
	})
	if err == nil {
		err = h.KeepExclude(ctx) // which follows what is allowed
	}
	return n, err
}

// planTakeBack is what an operation changed in what is said of the session, refused when it cannot be brought back.
func (h *Undoing) planTakeBack(ctx context.Context, op session.Op) (t turning, f session.Former, err error) {
	if t, err = h.around(ctx, op); err != nil {
		return t, f, err
	}
	f = oplog.FormerOf(&t.before, &t.after)
	if since := oplog.Overtaken(f, &t.after, &h.S); since != "" {
		verb, about := verbOf(op)
		return t, f, &session.Refusal{Code: session.RefuseMoved, Hint: h.insteadOf(f, t.before.Current),
			Message: fmt.Sprintf("cannot %s %q: of %s, %s", verb, about, h.ID, since)}
	}
	if o := h.S.Open; o != nil && (f.Plan != nil || f.Stand != nil) {
		return t, f, &session.Refusal{Code: session.RefuseAttempt,
			Message: fmt.Sprintf("attempt %d at %s is not judged yet", o.Attempt, o.Phase), Hint: "wfs run --max-attempts 1"}
	}
	return t, f, nil
}

// insteadOf is the command that makes by hand what an undo would have made. at is the checkpoint that the
// session stood on.
func (h *Undoing) insteadOf(f session.Former, at int) string {
	switch {
	case f.Notes != nil:
		return fmt.Sprintf("wfs resume %s@%d", h.ID, at)
	case f.Title != nil:
		return fmt.Sprintf("wfs edit %s --name %q", h.ID, session.OneLine(orElse(*f.Title, h.S.Goal), 200))
	case f.Plan != nil:
		return fmt.Sprintf("wfs edit %s --reload", h.ID)
	case f.Spec != nil:
		return fmt.Sprintf("wfs edit %s --spec FILE", h.ID)
	case f.Goal != nil:
		return fmt.Sprintf("wfs edit %s --goal %q", h.ID, session.OneLine(*f.Goal, 200))
	case f.Stand != nil && f.Stand.Phase != workflows.Done && f.Stand.Phase != h.S.Phase:
		return fmt.Sprintf("wfs reject --to %s", f.Stand.Phase)
	}
	return "wfs status " + string(h.ID)
}

func orElse(s, other string) string {
	if s == "" {
		return other
	}
	return s
}

// pinFormer lets the session run what it ran at an earlier ledger commit, with the limits of then.
func (h *Undoing) pinFormer(ctx context.Context, ledger session.Commit) error {
	docs, err := h.documentsOf(ctx, ledger, session.FilePlan, session.FileWorkflow, session.FileBaseline)
	if err != nil {
		return err
	}
	plan, err := h.DecodePlan(docs[session.FilePlan])
	if err != nil {
		return fmt.Errorf("session %s: the former plan.json: %w", h.ID, err)
	}
	text, err := h.Git.File(ctx, ledger, session.FileExclude)
	if err != nil {
		return err
	}
	_, limits := codec.SplitGuard(text)
	if differ, err := h.LimitsDiffer(limits); err != nil {
		return err
	} else if differ {
		if err := h.Limit(limits); err != nil {
			return err
		}
	}
	for name, data := range docs {
		h.KeepDoc(name, data)
	}
	h.PlanText, h.Plan = docs[session.FilePlan], plan
	return nil
}

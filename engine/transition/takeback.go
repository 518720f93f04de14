package transition

import (
	"context"
	"fmt"

	"github.com/wfs-dev/wfs/engine/hand"
	"github.com/wfs-dev/wfs/internal/safetext"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/session/codec"
	"github.com/wfs-dev/wfs/session/oplog"
	"github.com/wfs-dev/wfs/workflows"
)

// isRecord reports whether an operation, which is of this kind or an undo of one, changed only the session's record and
// no files.
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

// isCheckpoint reports whether an operation of this kind, for which isRecord is false, made a checkpoint and left the
// files unchanged.
func isCheckpoint(kind string) bool {
	return kind == hand.OpCheckpoint || kind == hand.OpApprove || kind == hand.OpReject
}

func recorded(n int64, summary string) *Relocated {
	return &Relocated{Op: n, Event: session.Moved{MoveStarted: session.MoveStarted{How: session.MoveUndo,
		Summary: summary, To: -1}}}
}

// takeBack undoes an operation that changed only the session's record: it restores the former values `f`. It removes
// nothing from history, because it is a turn like any other. It returns the number of its own operation.
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
		err = h.KeepExclude(ctx) // update the exclude file, which also has the allowed paths
	}
	return n, err
}

// planTakeBack returns the session before and after an operation, and the values `f` of its record that the operation
// changed, as they were before. It refuses if a later operation has changed the same values, or if an open attempt
// depends on them.
func (h *Undoing) planTakeBack(ctx context.Context, op session.Op) (t turning, f session.Former, err error) {
	if t, err = h.around(ctx, op); err != nil {
		return t, f, err
	}
	f = oplog.FormerOf(&t.before, &t.after)
	if since := oplog.Overtaken(f, &t.after, &h.S); since != "" {
		verb, about := verbOf(op)
		return t, f, &session.Refusal{Code: session.RefuseMoved, Hint: h.insteadOf(f, t),
			Message: fmt.Sprintf("cannot %s %q: %s", verb, safetext.OneLine(about, 100), since)}
	}
	if o := h.S.Open; o != nil && (f.Plan != nil || f.Stand != nil) {
		return t, f, &session.Refusal{Code: session.RefuseAttempt,
			Message: fmt.Sprintf("attempt %d at %s is not judged yet", o.Attempt, o.Phase), Hint: "wfs run --max-attempts 1"}
	}
	return t, f, nil
}

// insteadOf returns the command by which the user can restore the values `f`, or see them, when the undo of the
// operation in t is refused.
func (h *Undoing) insteadOf(f session.Former, t turning) string {
	switch {
	case f.Notes != nil:
		return fmt.Sprintf("wfs resume %s@%d", h.ID, t.before.Current)
	case f.Title != nil:
		return fmt.Sprintf("wfs edit %s --name %s", h.ID,
			safetext.ShellWord(safetext.OneLine(orElse(*f.Title, h.S.Goal), 200)))
	case f.Plan != nil:
		return fmt.Sprintf("wfs edit %s --reload", h.ID)
	case f.Spec != nil && f.Spec.Digest != "":
		return fmt.Sprintf("git show %s:%s", t.ledger.Short(), session.FileSpec)
	case f.Goal != nil && *f.Goal == safetext.OneLine(*f.Goal, 200):
		return fmt.Sprintf("wfs edit %s --goal %s", h.ID, safetext.ShellWord(*f.Goal))
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

// pinFormer makes the plan of an earlier ledger commit the session's plan again, together with the limits of that
// commit on the size and number of new files.
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

package engine

import (
	"context"
	"fmt"

	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/session/oplog"
)

// record makes a turn that changes what is said of a session, and no file, index or HEAD. summary is for the ledger.
func (h *Hand) record(ctx context.Context, summary string, body func(session.Turn) session.Body,
	log func() error) error {
	d := session.Draft{NoCode: true, LedgerMessage: ledgerMessage(h.ID, summary)}
	_, err := h.turn(ctx, d, func(m session.Made) (session.Body, error) { return body(m.Turn), nil }, log)
	return err
}

// recordOp is record for what `wfs undo` can take back.
func (h *Hand) recordOp(ctx context.Context, body func(session.Turn) session.Body) (n int64, err error) {
	op, _ := h.recordedOp(session.Event{At: h.e.Clock.Now(), Body: body(session.Turn{})})
	err = h.record(ctx, op.Summary, body, func() error {
		op.Ledger = h.Tip
		n, err = h.e.logOp(ctx, op)
		return err
	})
	return n, err
}

// KeepJournal puts what only the journal says into the ledger, since the journal goes.
func (h *Hand) KeepJournal(ctx context.Context) error {
	if len(h.live) == 0 {
		return nil
	}
	const what = "data of the journal"
	return h.record(ctx, what, func(t session.Turn) session.Body {
		return session.Answered{Summary: what, Since: h.S.Seq, Turn: t}
	}, nil)
}

// recordedOp is the operation that an event of recordOp stands for. It reports false for other events.
func (h *Hand) recordedOp(ev session.Event) (session.Op, bool) {
	kind, summary, undoes := "", "", int64(0)
	switch b := ev.Body.(type) {
	case session.Abandoned:
		kind, summary, undoes = OpAbandon, b.Summary, b.Undoes
	case session.Revived:
		kind, summary, undoes = OpRevive, b.Summary, b.Undoes
	case session.TakenBack:
		summary, undoes = b.Summary, b.Undoes
	case session.Renamed:
		kind, summary = OpRename, fmt.Sprintf("rename %s: %s", h.ID, b.Title)
	case session.Edited:
		kind, summary = OpEdit, fmt.Sprintf("edit %s: %s", h.ID, firstOf(b.Changes))
	case session.Repinned:
		kind, summary = OpRepin, fmt.Sprintf("update the configuration of %s: %s", h.ID, firstOf(b.Changes))
	case session.Answered:
		if kind, summary = b.Op, b.Summary; kind == "" {
			return session.Op{}, false
		}
	case session.PhaseMoved:
		kind, summary = OpPhase, fmt.Sprintf("send %s back from %s to %s", h.ID, b.From, b.To)
		if b.Skip {
			summary = fmt.Sprintf("skip %s of %s", b.From, h.ID)
		}
		if b.Anyway {
			summary = fmt.Sprintf("pass %s of %s without a verdict", b.From, h.ID)
		}
	default:
		return session.Op{}, false
	}
	if undoes > 0 {
		kind = string(session.MoveUndo)
	}
	return h.op(ev, kind, oneLine(summary, 200), undoes, session.Turn{}), true
}

func firstOf(changes []string) string {
	switch len(changes) {
	case 0:
		return "nothing"
	case 1:
		return changes[0]
	}
	return fmt.Sprintf("%s, and %d more", changes[0], len(changes)-1)
}

// Abandon says that nobody goes on with the session. Edits in the work tree, if it is current here, become a
// checkpoint first. Nothing is removed. It returns that checkpoint, nil when there was nothing to keep, and the
// operation's number.
func (h *Hand) Abandon(ctx context.Context, reason string) (*session.Checkpoint, int64, error) {
	switch h.S.Status {
	case session.StatusFinished:
		return nil, 0, &session.Refusal{Code: session.RefuseFinal,
			Message: fmt.Sprintf("%s is finished: there is nothing to abandon", h.ID), Hint: "wfs delete " + string(h.ID)}
	case session.StatusAbandoned:
		return nil, 0, nil
	}
	kept, err := h.save(ctx, session.TriggerSwitch, "edits saved when the session was abandoned")
	if err != nil {
		return nil, 0, err
	}
	n, err := h.recordOp(ctx, func(t session.Turn) session.Body {
		return session.Abandoned{Reason: oneLine(reason, 300), Summary: "abandon " + string(h.ID), Turn: t}
	})
	return kept, n, err
}

// Revive brings an abandoned session back.
func (h *Hand) Revive(ctx context.Context) (int64, error) {
	r := session.Revived{Status: oplog.Alive(&h.S), Summary: reviveSummary(h.ID)}
	if r.Status == session.StatusPaused {
		r.Why = "restored"
	}
	return h.recordOp(ctx, func(t session.Turn) session.Body {
		r.Turn = t
		return r
	})
}

// original follows undos down to the operation that they are about. Taking op back means to take that back, or
// with redo to do it again.
func (e *Engine) original(ctx context.Context, op session.Op) (kind string, redo bool, err error) {
	ops, err := e.Store.Ops(ctx)
	if err != nil {
		return "", false, err
	}
	return originalIn(ops, op)
}

// originalIn is the same, given the operations of op's work tree.
func originalIn(ops []session.Op, op session.Op) (kind string, redo bool, err error) {
	byNumber := map[int64]session.Op{}
	for _, o := range ops {
		byNumber[o.Number] = o
	}
	for op.Undoes > 0 {
		before, ok := byNumber[op.Undoes]
		if !ok {
			return "", false, fmt.Errorf("operation %d is not in the log", op.Undoes)
		}
		op, redo = before, !redo
	}
	return op.Kind, redo, nil
}

func reviveSummary(id session.ID) string { return "bring " + string(id) + " back" }

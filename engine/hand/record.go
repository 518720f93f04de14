package hand

import (
	"context"
	"fmt"

	"github.com/wfs-dev/wfs/internal/safetext"
	"github.com/wfs-dev/wfs/session"
)

// record makes a turn that changes only the session's record: it moves no file, index or HEAD. `summary` is the subject
// of the ledger commit.
func (h *Hand) record(ctx context.Context, summary string, body func(session.Turn) session.Body,
	log func() error) error {
	d := session.Draft{NoCode: true, LedgerMessage: LedgerMessage(h.ID, summary)}
	_, err := h.Turn(ctx, d, func(m session.Made) (session.Body, error) { return body(m.Turn), nil }, log)
	return err
}

// RecordOp does the same as record, for a change that `wfs undo` can undo. It returns the number of the operation.
func (h *Hand) RecordOp(ctx context.Context, body func(session.Turn) session.Body) (n int64, err error) {
	op, _ := h.RecordedOp(session.Event{At: h.base.Clock.Now(), Body: body(session.Turn{})})
	err = h.record(ctx, op.Summary, body, func() error {
		op.Ledger = h.Tip
		n, err = h.base.LogOp(ctx, op)
		return err
	})
	return n, err
}

// KeepJournal copies the events of the journal into the ledger before the journal is removed.
func (h *Hand) KeepJournal(ctx context.Context) error {
	if len(h.Live) == 0 {
		return nil
	}
	const what = "data of the journal"
	return h.record(ctx, what, func(t session.Turn) session.Body {
		return session.Answered{Summary: what, Since: h.S.Seq, Turn: t}
	}, nil)
}

// RecordedOp returns the operation to log for an event that RecordOp has written. It returns false for all other
// events.
func (h *Hand) RecordedOp(ev session.Event) (session.Op, bool) {
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
		kind, summary = OpEdit, fmt.Sprintf("edit %s: %s", h.ID, FirstOf(b.Changes))
	case session.Repinned:
		kind, summary = OpRepin, fmt.Sprintf("update the configuration of %s: %s", h.ID, FirstOf(b.Changes))
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
	return h.Op(ev, kind, safetext.OneLine(summary, 200), undoes, session.Turn{}), true
}

// FirstOf names the first change and counts the others.
func FirstOf(changes []string) string {
	switch len(changes) {
	case 0:
		return "nothing"
	case 1:
		return changes[0]
	}
	return fmt.Sprintf("%s, and %d more", changes[0], len(changes)-1)
}

// Op returns the operation to log for an event.
func (h *Hand) Op(ev session.Event, kind, summary string, undoes int64, t session.Turn) session.Op {
	return session.Op{At: ev.At.Unix(), Kind: kind, Session: h.ID, Summary: summary, Ledger: h.Tip, Undoes: undoes,
		Turn: t}
}

// These are the kinds of operations that change no files. session.MoveKind has those that do.
const (
	OpCheckpoint = "checkpoint"
	OpAbandon    = "abandon"
	OpRevive     = "revive"
	OpDelete     = "delete"
	OpRestore    = "restore"
	OpRename     = "rename"
	OpEdit       = "edit"
	OpRepin      = "repin"
	OpPhase      = "phase"
	OpApprove    = "approve" // OpApprove and OpReject make a checkpoint, unless they only answer whether the work is done
	OpReject     = "reject"
	OpNote       = "note"
	OpAllow      = "allow"
	OpBudget     = "budget"
)

// Logged reports whether a checkpoint with this trigger is an operation of a person, which is logged, and not part of a
// run.
func Logged(t session.Trigger) bool {
	return t == session.TriggerManual || t == session.TriggerSwitch
}

// LogOp appends an operation to the log. It links the operation to the one that this process logged before, because all
// operations of one process belong to one command.
func (e *Base) LogOp(ctx context.Context, op session.Op) (int64, error) {
	op.With = e.Logged
	n, err := e.Git.LogOp(ctx, op)
	if err == nil {
		e.Logged = n
	}
	return n, err
}

package engine

import (
	"context"
	"fmt"
	"strings"

	"github.com/wfs-dev/wfs/session"
)

// Undoable returns the operation that an undo takes back: the newest one of this work tree. An undo is an operation
// itself, so that undo of undo is redo.
func (e *Engine) Undoable(ctx context.Context) (session.Op, error) {
	ops, err := e.Store.Ops(ctx)
	if err != nil {
		return session.Op{}, err
	}
	if len(ops) == 0 {
		return session.Op{}, &session.Refusal{Code: session.RefuseNothing, Message: "nothing to undo in this work tree", Hint: "wfs log"}
	}
	return ops[0], nil
}

// Undo takes an operation of this session back: files, index, HEAD and refs as they were before it, and each ref only
// if it is still where the operation left it. Edits made since are rescued, and come back with the next undo.
func (h *Hand) Undo(ctx context.Context, op session.Op) (*Relocated, error) {
	if out, done, err := h.undoRecord(ctx, op); done || err != nil {
		return out, err
	}
	head, err := h.e.Store.Head(ctx)
	if err != nil {
		return nil, err
	}
	on := op.Turn.HeadNew
	if on == "" { // the operation moved the session's branch below HEAD
		on = h.S.Branch()
	}
	if nameOf(head) != on {
		return nil, movedOn(op, "HEAD", short(nameOf(head)))
	}
	r := relocation{how: session.MoveUndo, summary: summaryOfUndo(op), tree: op.Turn.TreeOld, index: op.Turn.IndexOld,
		head: op.Turn.HeadOld, to: -1, undoes: op.Number}
	for i := len(op.Turn.Refs) - 1; i >= 0; i-- {
		m := op.Turn.Refs[i]
		now, err := h.e.Store.Ref(ctx, m.Ref)
		if err != nil {
			return nil, err
		}
		if now != m.New {
			return nil, movedOn(op, short(m.Ref), now.Short())
		}
		r.refs = append(r.refs, session.RefMove{Ref: m.Ref, Old: m.New, New: m.Old})
		if m.Ref == h.S.Branch() {
			if r.to, err = h.checkpointOf(m.Old); err != nil {
				return nil, err
			}
		}
	}
	if r.to >= 0 {
		if r.docs, err = h.docsAt(ctx, r.to); err != nil {
			return nil, err
		}
	}
	if r.status, err = h.statusAfterUndo(ctx, op); err != nil {
		return nil, err
	}
	return h.move(ctx, r)
}

// summaryOfUndo names what is taken back; taking an undo back is doing it again.
func summaryOfUndo(op session.Op) string {
	if again, ok := strings.CutPrefix(op.Summary, "undo: "); ok && op.Kind == string(session.MoveUndo) {
		return "redo: " + again
	}
	if again, ok := strings.CutPrefix(op.Summary, "redo: "); ok && op.Kind == string(session.MoveUndo) {
		return "undo: " + again
	}
	return "undo: " + op.Summary
}

func movedOn(op session.Op, what, where string) error {
	return &session.Refusal{Code: session.RefuseMoved, Message: fmt.Sprintf("cannot undo %q: %s is at %s by now, not where that operation left it", op.Summary, what, where), Hint: "wfs log"}
}

func (h *Hand) checkpointOf(code session.Commit) (int, error) {
	for i := range h.S.Checkpoints {
		if h.S.Checkpoints[i].Code == code {
			return i, nil
		}
	}
	return -1, fmt.Errorf("commit %s is no checkpoint of %s", code.Short(), h.ID)
}

// statusAfterUndo is the session's status when a birth or a finish is taken back, or done again; "" otherwise.
func (h *Hand) statusAfterUndo(ctx context.Context, op session.Op) (session.Status, error) {
	kind, redo, err := h.e.original(ctx, op)
	if err != nil {
		return "", err
	}
	alive := session.StatusPaused
	switch {
	case h.S.Phase == "done":
		alive = session.StatusCompleted
	case h.S.Runs == 0:
		alive = session.StatusCreated
	}
	switch kind {
	case string(session.MoveNew):
		if redo {
			return alive, nil
		}
		return session.StatusAbandoned, nil
	case "finish":
		if redo {
			return session.StatusFinished, nil
		}
		return alive, nil
	}
	return "", nil
}

package engine

import (
	"context"
	"errors"
	"fmt"
	"maps"

	"github.com/wfs-dev/wfs/engine/transition"
	"github.com/wfs-dev/wfs/session"
)

// New creates a session, makes it current in this work tree, and runs its gates on the base. If a gate cannot run, New
// undoes everything, and returns an error and no hand. If it had moved files, it also returns the Relocated of that
// undo, which names the backup of edits that were made while the gates ran.
func (e *Engine) New(ctx context.Context, b transition.Birth) (*Hand, *transition.Relocated, error) {
	id := b.Created.ID
	born, err := e.Born(id)
	if err != nil {
		return nil, nil, err
	}
	// from a `wfs new` that was killed before the ledger existed: that session never existed
	if len(born.Files.Events()) > 0 {
		if err := born.Files.Discard(); err != nil {
			return nil, nil, err
		}
	}
	h := e.with(born)
	h.Plan, h.PlanText, h.Docs = b.Plan, b.PlanText, session.Files{
		session.FilePlan: b.PlanText, session.FileWorkflow: b.Workflow, session.FileExclude: b.Exclude}
	if b.Spec != nil {
		h.Docs[session.FileSpec] = b.Spec
	}
	maps.Copy(h.Docs, b.Docs)
	moved, err := h.Going.Begin(ctx, b, h.Drive.JudgeBase)
	if err != nil {
		// Once the ledger exists, the session exists: the next command completes it from the journal.
		if tip, e := e.Git.Ref(context.WithoutCancel(ctx), session.LedgerOf(id)); e != nil || tip != "" {
			return nil, nil, fmt.Errorf("%w (the session exists; to complete it: wfs resume %s)", err, id)
		}
		return nil, nil, transition.Discarded(h.Files, err)
	}
	e.Hit("birth/created")
	if b.Own {
		return h, moved, nil
	}
	first := h.S.At(0)
	moved, err = h.Going.Move(ctx, transition.Relocation{How: session.MoveNew, Summary: transition.SummaryOfNew(id),
		Tree: first.Tree, Index: first.Tree, Head: h.S.Branch(), Tip: first.Code, To: -1})
	var refused *session.Refusal
	if errors.As(err, &refused) && refused.Code == session.RefuseInTheWay { // files appeared since they were checked
		err = &session.Refusal{Code: refused.Code, Message: refused.Message + "; the session exists",
			Hint: fmt.Sprintf("move them aside, then wfs resume %s", id)}
	}
	if err != nil {
		return h, nil, err
	}
	if h.S.Base0 != nil {
		return h, moved, nil
	}
	if err := h.baseline(ctx, first.Tree); err != nil { // the files had to be moved before the gates could run
		op := session.Op{Number: moved.Op, Kind: string(session.MoveNew), Session: id, Summary: moved.Event.Summary,
			Turn: moved.Event.Turn}
		back, undo := h.Undo(context.WithoutCancel(ctx), op)
		if undo != nil {
			return h, moved, fmt.Errorf("%w; undoing that failed too: %v", err, undo)
		}
		return nil, back, err
	}
	return h, moved, nil
}

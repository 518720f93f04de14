package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/session/fold"
)

// Fork is the birth of a session that goes on from a checkpoint of another: the same goal, items, plan and
// agent, in the phase and lap that the checkpoint led to, held to the same tests. Created.ID is left to the
// caller.
func (e *Engine) Fork(ctx context.Context, id session.ID, at int) (b Birth, err error) {
	tip, err := e.Store.Ref(ctx, session.LedgerOf(id))
	if err != nil {
		return b, err
	}
	v, err := e.Load(ctx, id, tip)
	if err != nil {
		return b, err
	}
	s, h := &v.Session, &Hand{e: e, ID: id, Tip: tip, S: v.Session}
	c := s.At(at)
	if s.Base0 == nil {
		return b, &session.Refusal{Code: session.RefuseBaseline, Hint: "wfs run " + string(id),
			Message: fmt.Sprintf("the gates have not run on the base of %s yet: there is nothing to fork", id)}
	}
	docs, err := h.docsAt(ctx, at)
	if err != nil {
		return b, err
	}
	read := func(from session.Commit, name string) []byte {
		data, e := e.Store.File(ctx, from, name)
		err = errors.Join(err, e)
		return data
	}
	b = Birth{At: c.Code, Base: s.Base0, Anchor: docs, Allowed: s.Allowed, Created: s.Created,
		PlanText: read(tip, session.FilePlan), Workflow: read(tip, session.FileWorkflow), Spec: read(tip, session.FileSpec),
		Exclude: read(tip, session.FileExclude), Docs: session.Files{session.FileBaseline: read(tip, session.FileBaseline),
			session.FileLap: read(docs, session.FileLap), session.FileEvidence: read(docs, session.FileEvidence)}}
	if err != nil {
		return b, err
	}
	if b.Plan, err = e.DecodePlan(b.PlanText); err != nil {
		return b, fmt.Errorf("session %s: %w: plan.json: %w", id, ErrUnreadable, err)
	}
	f, err := fold.ForkAt(s, at)
	if err != nil {
		return b, err
	}
	if c.Green {
		if f.Gates, err = h.judgedAt(ctx, c); err != nil {
			return b, err
		}
	}
	b.Created.ID, b.Created.Parent, b.Created.Fork = "", fmt.Sprintf("%s@%d", id, at), f
	b.Created.Left, b.Created.HeldOut = nil, nil
	return b, nil
}

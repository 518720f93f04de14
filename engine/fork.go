package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/wfs-dev/wfs/engine/transition"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/session/fold"
)

// Fork returns the description of a new session that continues from checkpoint `at` of session `id`. The new session
// has the same goal, items, plan and agent, and is held to the same tests. It begins in the phase and lap that followed
// the checkpoint. The caller sets Created.ID.
func (e *Engine) Fork(ctx context.Context, id session.ID, at int) (b transition.Birth, err error) {
	read, err := e.Reading(ctx, id)
	if err != nil {
		return b, err
	}
	h, s, tip := e.with(read), &read.S, read.Tip
	c := s.At(at)
	if s.Base0 == nil {
		return b, &session.Refusal{Code: session.RefuseBaseline, Hint: "wfs run " + string(id),
			Message: fmt.Sprintf("the gates have not run on the base of %s yet: there is nothing to fork", id)}
	}
	docs, err := h.DocsAt(ctx, at)
	if err != nil {
		return b, err
	}
	file := func(from session.Commit, name string) []byte {
		data, e := e.Git.File(ctx, from, name)
		err = errors.Join(err, e)
		return data
	}
	b = transition.Birth{At: c.Code, Base: s.Base0, Anchor: docs, Allowed: s.Allowed, Created: s.Created,
		Plan: h.Plan, PlanText: h.PlanText, Workflow: file(tip, session.FileWorkflow), Spec: file(tip, session.FileSpec),
		Exclude: file(tip, session.FileExclude), Docs: session.Files{session.FileBaseline: file(tip, session.FileBaseline),
			session.FileLap: file(docs, session.FileLap), session.FileEvidence: file(docs, session.FileEvidence)}}
	if err != nil {
		return b, err
	}
	f, err := fold.ForkAt(s, at)
	if err != nil {
		return b, err
	}
	if c.Green {
		if f.Gates, err = h.JudgedAt(ctx, c); err != nil {
			return b, err
		}
	}
	b.Created.ID, b.Created.Parent, b.Created.Fork = "", fmt.Sprintf("%s@%d", id, at), f
	b.Created.Left, b.Created.HeldOut = nil, nil
	return b, nil
}

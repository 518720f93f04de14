package engine

import (
	"context"
	"fmt"

	"github.com/wfs-dev/wfs/session"
)

// ensureBaseline runs the gates on the base if they have not run there yet. That is the case if `wfs new` failed or was
// killed after it had created the session and before the gates ran.
func (h *Drive) ensureBaseline(ctx context.Context) error {
	if h.S.Base0 != nil {
		return nil
	}
	first := h.S.At(0)
	snap, err := h.Snapshot(ctx)
	if err != nil {
		return err
	}
	if first == nil || snap.Tree != first.Tree {
		return session.Refuse(session.RefuseBaseline, "wfs resume @0 && wfs run",
			"the gates have not run on this session's base yet, and its files have changed since")
	}
	return h.baseline(ctx, snap.Tree)
}

// baseline runs the gates on the base and checkpoints their results.
func (h *Drive) baseline(ctx context.Context, tree session.Tree) error {
	b, ev, err := h.JudgeBase(ctx, tree)
	if err != nil {
		return err
	}
	work := context.WithoutCancel(ctx)
	if err := h.KeepJSON(session.FileBaseline, ev); err != nil {
		return err
	}
	if err := h.Append(b); err != nil {
		return err
	}
	_, err = h.Make(work, session.Checkpointed{Trigger: session.TriggerBaseline, Summary: baselineSummary(b)}, nil)
	return err
}

func baselineSummary(b session.Baseline) string {
	s := fmt.Sprintf("baseline, %d tests pass", session.CountsOf(b.Gates).Passed)
	if n := len(b.Red); n > 0 {
		s += fmt.Sprintf(", %d already failing", n)
	}
	if n := len(b.Flaky); n > 0 {
		s += fmt.Sprintf(", %d flaky", n)
	}
	return s
}

package judging

import (
	"context"

	"github.com/wfs-dev/wfs/engine/decide"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

// holdOut runs the hold-out tests, which the agent never sees, on a tree whose judgement j completes the work, or in a
// phase that requires them. If they fail, the judgement fails. If they cannot run, the session is blocked, because the
// user asked for these tests.
func (h *Judging) holdOut(ctx context.Context, req session.JudgeRequest, j session.Judgement) (session.Judgement,
	error) {
	if h.Plan.Holdout == nil || !(req.Phase.Holdout && j.Verdict == session.Pass) && !decide.Completes(&h.S, h.Plan, j) {
		return j, nil
	}
	if known := h.S.Holdout; known != nil && known.Tree == j.Tree && known.Digest == h.Plan.Holdout.Digest &&
		known.Verdict == session.Pass {
		return j, nil
	}
	req.Tree, req.LapStart = j.Tree, j.Evidence
	req.Phase.Gates = h.HoldingOut(h.proving(req.Phase.Gates, nil))
	r, err := h.Gates.Holdout(ctx, req, false)
	if err != nil {
		return j, err
	}
	j.Holdout = &r
	switch r.Verdict {
	case session.Fail:
		j.Verdict, j.Class, j.Reason = session.Fail, session.ClassHoldout, r.Reason
	case session.Blocked:
		j.Verdict, j.Class, j.Reason = session.Blocked, session.ClassInfraError, r.Reason
	}
	return j, nil
}

// HoldingOut returns the gates that run hold-out tests: the configured one, or else the given ones.
func (h *Judging) HoldingOut(gates []workflows.Gate) []workflows.Gate {
	if g := h.Plan.Holdout.Gate; g != nil {
		return []workflows.Gate{*g}
	}
	return gates
}

package engine

import (
	"context"
	"slices"

	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

// leftOut is the phase to which a judgement leads and which the lap is too small for, nil when it is entered. What it
// would be judged by has judged the same tree.
func leftOut(p *workflows.Plan, target session.PhaseName, j *session.Judgement) *workflows.Phase {
	ph := p.Workflow.Tidying()
	if p.Workflow.Refactor != workflows.RefactorAuto || ph == nil || ph.Name != target || j.Lines == nil ||
		*j.Lines >= workflows.SmallLap {
		return nil
	}
	for _, g := range ph.Gates {
		judged := slices.ContainsFunc(j.Gates, func(r session.GateResult) bool {
			return r.Gate == g.Name && r.Verdict == session.Pass
		})
		if g.Runs() && !judged {
			return nil
		}
	}
	return ph
}

// countLines counts the lines of code that the lap changed, where that decides which phase follows. What git cannot
// compare is not known: nothing is left out then.
func (h *Hand) countLines(ctx context.Context, o *session.Open, j *session.Judgement) {
	ph, tidying := h.Plan.Workflow.Phase(o.Phase), h.Plan.Workflow.Tidying()
	if h.Plan.Workflow.Refactor != workflows.RefactorAuto || tidying == nil || ph == nil ||
		ph.On[workflows.Pass] != tidying.Name || j.Verdict != session.Pass {
		return
	}
	files, err := h.e.Store.Lines(ctx, h.S.LapTree, j.Tree)
	if err != nil {
		return
	}
	n := 0
	for _, f := range files {
		switch {
		case h.e.HoldsTests(f.Path):
		case f.Binary:
			n += workflows.SmallLap
		default:
			n += f.Added + f.Removed
		}
	}
	j.Lines = &n
}

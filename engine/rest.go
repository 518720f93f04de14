package engine

import (
	"context"
	"slices"

	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

// judgeRest has the gates of the plan that were not asked yet judge work that is complete with the judgement j: a gate that
// did not run is no pass. The first that says no decides.
func (h *Hand) judgeRest(ctx context.Context, req session.JudgeRequest, j session.Judgement) (session.Judgement, error) {
	if !completes(&h.S, h.Plan, j) {
		return j, nil
	}
	rest := slices.DeleteFunc(slices.Clone(h.Plan.Baseline), func(g workflows.Gate) bool {
		return !waits(g) || slices.ContainsFunc(j.Gates, func(r session.GateResult) bool { return r.Gate == g.Name })
	})
	if len(rest) == 0 {
		return j, nil
	}
	for i := range rest {
		rest[i].Expect = workflows.ExpectPass
	}
	req.Tree, req.All, req.Phase.Gates, req.Phase.Guards = j.Tree, true, rest, workflows.Guards{}
	last, err := h.e.Works.Judge(ctx, req)
	if err != nil {
		return j, err
	}
	j.Gates, j.NotRun = append(slices.Clip(j.Gates), last.Gates...), nil
	for gate, tests := range last.Evidence.Gates {
		j.Evidence.Gates[gate] = tests
	}
	if last.Verdict != session.Pass {
		j.Verdict, j.Class, j.Reason = last.Verdict, last.Class, last.Reason
	}
	return j, nil
}

// waits reports whether a gate may be passed over before the work is complete.
func waits(g workflows.Gate) bool { return len(g.Paths) > 0 || g.When != "" }

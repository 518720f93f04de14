package judging

import (
	"context"
	"slices"

	"github.com/wfs-dev/wfs/engine/decide"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

// judgeRest runs all remaining gates of the plan if the judgement j completes the work, because a gate that has not run
// on this tree has not passed. The first failure decides.
func (h *Judging) judgeRest(ctx context.Context, req session.JudgeRequest, j session.Judgement) (session.Judgement,
	error) {
	if !decide.Completes(&h.S, h.Plan, j) {
		return j, nil
	}
	rest := slices.DeleteFunc(slices.Clone(h.Plan.Baseline), func(g workflows.Gate) bool { return !decide.Waits(g) })
	rest = slices.DeleteFunc(append(rest, passedBefore(&h.S, h.Plan)...), func(g workflows.Gate) bool {
		ran := slices.ContainsFunc(j.Gates, func(r session.GateResult) bool { return r.Gate == g.Name })
		asked := slices.ContainsFunc(req.Phase.Gates, func(own workflows.Gate) bool {
			return own.Name == g.Name && slices.Equal(own.Require, g.Require)
		})
		return ran && (len(g.Require) == 0 || asked)
	})
	// with its requirements, if a phase has any
	slices.SortStableFunc(rest, func(a, b workflows.Gate) int { return len(b.Require) - len(a.Require) })
	rest = unique(rest)
	if len(rest) == 0 {
		return j, nil
	}
	for i := range rest {
		rest[i].Expect = workflows.ExpectPass
	}
	req.Tree, req.All, req.Phase.Gates, req.Phase.Guards = j.Tree, true, rest, workflows.Guards{}
	last, err := h.Gates.Judge(ctx, req)
	if err != nil {
		return j, err
	}
	if slices.ContainsFunc(rest, func(g workflows.Gate) bool { return g.Runs() }) {
		j.Ungated = false
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

// passedBefore returns the gates of phases that passed on the way to the current checkpoint. They have to run again,
// because their results are of earlier trees. It leaves out gates that expect failing tests or a certain change,
// because these apply to their own phase only.
func passedBefore(s *session.Session, p *workflows.Plan) []workflows.Gate {
	way := s.Way()
	var gates []workflows.Gate
	for _, ph := range p.Workflow.Phases {
		if !slices.ContainsFunc(way, func(c session.Checkpoint) bool {
			return c.Phase == ph.Name &&
				c.Verdict == session.Pass
		}) {
			continue
		}
		for _, g := range ph.Gates {
			since := g.Since != "" && g.Since != workflows.SinceSession
			if g.Expect != workflows.ExpectRed && len(g.Changes) == 0 && !since {
				gates = append(gates, g)
			}
		}
	}
	return gates
}

// unique returns the first gate of each name.
func unique(gates []workflows.Gate) []workflows.Gate {
	seen := map[string]bool{}
	return slices.DeleteFunc(gates, func(g workflows.Gate) bool {
		had := seen[g.Name]
		seen[g.Name] = true
		return had
	})
}

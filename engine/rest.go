package engine

import (
	"context"
	"slices"

	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

// judgeRest has the gates of the plan that were not asked yet judge work that is complete with the judgement j:
// a gate that did not run is no pass. The first that says no decides.
func (h *Hand) judgeRest(ctx context.Context, req session.JudgeRequest, j session.Judgement) (session.Judgement,
	error) {
	if !completes(&h.S, h.Plan, j) {
		return j, nil
	}
	rest := slices.DeleteFunc(slices.Clone(h.Plan.Baseline), func(g workflows.Gate) bool { return !waits(g) })
	rest = slices.DeleteFunc(append(rest, passedBefore(&h.S, h.Plan)...), func(g workflows.Gate) bool {
		return slices.ContainsFunc(j.Gates, func(r session.GateResult) bool { return r.Gate == g.Name })
	})
	rest = unique(rest)
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

// passedBefore are the gates that other phases were passed with, on the present line of checkpoints: what they
// said was of an earlier tree. A new test that fails, and a change since a phase began, were asked for in their
// phase alone.
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
			if g.Expect != workflows.ExpectRed && len(g.Changes) == 0 {
				gates = append(gates, g)
			}
		}
	}
	return gates
}

// unique are the gates with different names, the first of each.
func unique(gates []workflows.Gate) []workflows.Gate {
	seen := map[string]bool{}
	return slices.DeleteFunc(gates, func(g workflows.Gate) bool {
		had := seen[g.Name]
		seen[g.Name] = true
		return had
	})
}

// failedElsewhere is the phase to which work goes back that all gates of its own phase passed, and one of an
// earlier phase did not: as if that phase had failed. "" when it is not so.
func failedElsewhere(s *session.Session, p *workflows.Plan, j *session.Judgement) session.PhaseName {
	own := p.Workflow.Phase(s.Open.Phase)
	if own == nil || j.Verdict != session.Fail {
		return ""
	}
	at := slices.IndexFunc(j.Gates, func(r session.GateResult) bool { return r.Verdict != session.Pass })
	if at < 0 || slices.ContainsFunc(own.Gates, func(g workflows.Gate) bool { return g.Name == j.Gates[at].Gate }) {
		return ""
	}
	for _, ph := range p.Workflow.Phases {
		if slices.ContainsFunc(ph.Gates,
			func(g workflows.Gate) bool { return g.Name == j.Gates[at].Gate && g.Expect != workflows.ExpectRed }) {
			if to := ph.On[workflows.Fail]; p.Workflow.Phase(to) != nil {
				return to
			}
		}
	}
	return workingPhase(&p.Workflow)
}

// waits reports whether a gate may be passed over before the work is complete.
func waits(g workflows.Gate) bool { return len(g.Paths) > 0 || g.When != "" }

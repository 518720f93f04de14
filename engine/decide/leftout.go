package decide

import (
	"slices"

	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

// leftOut returns the tidying phase if a judgement leads to it but the lap is too small for it, nil otherwise. A phase
// is left out only if its gates have passed on the same tree already.
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

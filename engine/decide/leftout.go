package decide

import (
	"slices"

	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

// leftOut returns the tidying phase, in which code is refactored, if it would be next but is skipped because the lap
// has changed too few lines. It returns nil otherwise. The phase is skipped only if its gates have passed on the same
// tree already.
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

package trial

import (
	"slices"

	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

// SumUp derives the judgement's verdict from its gates: the worst verdict, with the reason of the first gate that has
// it.
func SumUp(out *session.Judgement) {
	rank := func(v session.Verdict) int {
		return slices.Index([]session.Verdict{session.Pass, session.Fail, session.Blocked}, v)
	}
	for i, g := range out.Gates {
		// A gate that ran says more than a gate that only looked at the tree.
		looked := i > 0 && rank(g.Verdict) == rank(out.Verdict) && out.Gates[i-1].Where == session.InTree
		if i == 0 || rank(g.Verdict) > rank(out.Verdict) || looked && g.Verdict == session.Pass {
			out.Verdict, out.Class, out.Reason = g.Verdict, g.Class, g.Spoken()
		}
		// If tests fail as intended, that is the phase's reason to pass, whatever the order of its gates.
		if out.Verdict == session.Pass && g.Expect == string(workflows.ExpectRed) {
			out.Class, out.Reason = g.Class, g.Reason
		}
	}
}

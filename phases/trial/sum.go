package trial

import (
	"slices"

	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

// SumUp takes the judgement's verdict from its gates: the worst decides, the first of those speaks.
func SumUp(out *session.Judgement) {
	rank := func(v session.Verdict) int {
		return slices.Index([]session.Verdict{session.Pass, session.Fail, session.Blocked}, v)
	}
	for i, g := range out.Gates {
		// What passes by a look at the tree alone says less than what ran.
		looked := i > 0 && rank(g.Verdict) == rank(out.Verdict) && out.Gates[i-1].Where == session.InTree
		if i == 0 || rank(g.Verdict) > rank(out.Verdict) || looked && g.Verdict == session.Pass {
			out.Verdict, out.Class, out.Reason = g.Verdict, g.Class, g.Spoken()
		}
		// A phase that passes because tests fail as intended says so, whichever gate came first.
		if out.Verdict == session.Pass && g.Expect == string(workflows.ExpectRed) {
			out.Class, out.Reason = g.Class, g.Reason
		}
	}
}

package trial

import (
	"slices"

	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

// SumUp sets the judgement's verdict to the worst verdict of its gates. The reason is that of the first gate with this
// verdict.
func SumUp(out *session.Judgement) {
	rank := func(v session.Verdict) int {
		return slices.Index([]session.Verdict{session.Pass, session.Fail, session.Blocked}, v)
	}
	for i, g := range out.Gates {
		// A gate that ran a command takes precedence over a gate that only looked at the files.
		looked := i > 0 && rank(g.Verdict) == rank(out.Verdict) && out.Gates[i-1].Where == session.InTree
		if i == 0 || rank(g.Verdict) > rank(out.Verdict) || looked && g.Verdict == session.Pass {
			out.Verdict, out.Class, out.Reason = g.Verdict, g.Class, g.Spoken()
		}
		// If tests fail as intended, this is the reason why the phase passes, whatever the order of its gates.
		if out.Verdict == session.Pass && g.Expect == string(workflows.ExpectRed) {
			out.Class, out.Reason = g.Class, g.Reason
		}
	}
}

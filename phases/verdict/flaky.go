package verdict

import (
	"slices"

	"github.com/wfs-dev/wfs/phases/gate"
	"github.com/wfs-dev/wfs/phases/report"
	"github.com/wfs-dev/wfs/session"
)

// IsTargeted reports whether a test is a target of the lap, or belongs to a unit that could not be built when the
// lap's tests were written.
func (l *Lap) IsTargeted(id session.TestID) bool {
	return l.about().isTarget[id] || slices.ContainsFunc(l.Expected, func(unit string) bool { return Belongs(id, unit) })
}

// PassedAgain returns those of the failed tests that passed in a second run, and changes their results in l to passed.
func (l *Lap) PassedAgain(failed []session.TestID, again *gate.Run) []session.TestID {
	if !again.Ran() || again.Changed != "" {
		return nil
	}
	var flaky []session.TestID
	for _, id := range failed {
		if again.Report.Tests[id] != session.TestPass {
			continue
		}
		flaky = append(flaky, id)
		l.Now.Tests[id] = session.TestPass
		// A parent failed only because of its subtests. It is changed to passed as well, unless it failed in the
		// second run.
		for p := report.Parent(id); p != "" && again.Report.Tests[p] == session.TestPass; p = report.Parent(p) {
			l.Now.Tests[p] = session.TestPass
		}
	}
	l.index = nil
	return flaky
}

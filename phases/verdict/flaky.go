package verdict

import (
	"slices"

	"github.com/wfs-dev/wfs/phases/gate"
	"github.com/wfs-dev/wfs/phases/report"
	"github.com/wfs-dev/wfs/session"
)

// IsTargeted reports whether a test is one of the lap's, by its id or in what waited for code.
func (l *Lap) IsTargeted(id session.TestID) bool {
	return l.about().isTarget[id] || slices.ContainsFunc(l.Expected, func(unit string) bool { return Belongs(id, unit) })
}

// PassedAgain takes the second run's word for tests that failed in the first, and returns those that passed in it.
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
		// Their parents failed with them; they passed in the second run as well if nothing else fails below them.
		for p := report.Parent(id); p != "" && again.Report.Tests[p] == session.TestPass; p = report.Parent(p) {
			l.Now.Tests[p] = session.TestPass
		}
	}
	l.index = nil
	return flaky
}

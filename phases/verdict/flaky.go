package verdict

import (
	"slices"

	"github.com/wfs-dev/wfs/phases/gate"
	"github.com/wfs-dev/wfs/phases/report"
	"github.com/wfs-dev/wfs/session"
)

// IsTargeted reports whether a test belongs to the lap, by its id or by a unit that waited for code.
func (l *Lap) IsTargeted(id session.TestID) bool {
	return l.about().isTarget[id] || slices.ContainsFunc(l.Expected, func(unit string) bool { return Belongs(id, unit) })
}

// PassedAgain returns the failed tests that passed in a second run, and counts them as passed.
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
		// Parents failed with their subtests. They passed in the second run too, unless another subtest fails.
		for p := report.Parent(id); p != "" && again.Report.Tests[p] == session.TestPass; p = report.Parent(p) {
			l.Now.Tests[p] = session.TestPass
		}
	}
	l.index = nil
	return flaky
}

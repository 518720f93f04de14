package verdict

import (
	"path"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/internal/testpaths"
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

// Elsewhere reports whether the lap changed other tests only than the file or Go package of this one. Changed helpers
// and data may be used by any test, and the file of a test may be unknown: then it returns false.
func (l *Lap) Elsewhere(id session.TestID) bool {
	pkg, _ := report.SplitGo(id)
	class, _, _ := strings.Cut(string(id), "::")
	return !slices.ContainsFunc(l.Files.Changes, func(c session.Change) bool {
		file := l.Now.Files[id]
		stem, python := strings.CutSuffix(path.Base(c.Path), ".py")
		switch {
		case !testpaths.IsTest(c.Path):
			return !testpaths.IsDocument(c.Path)
		case pkg != "":
			return l.Files.inPackage(c.Path, pkg)
		case file != "":
			return report.SameFile(c.Path, file)
		}
		return !python || slices.Contains(strings.Split(class, "."), stem)
	})
}

// Package verdict interprets the results of a gate for an attempt. It runs nothing.
package verdict

import (
	"cmp"
	"fmt"

	"github.com/wfs-dev/wfs/internal/proc"
	"github.com/wfs-dev/wfs/phases/gate"
	"github.com/wfs-dev/wfs/phases/report"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

// AsOf returns a copy of the lap with the results of another run.
func (l *Lap) AsOf(run *gate.Run) *Lap {
	other := *l
	other.Now, other.exit, other.index = run.Report, run.Exit, nil
	return &other
}

// Judge judges a run by how it ended and by its results alone. The caller checks whether the run changed the tree.
func (l *Lap) Judge(g *gate.Run) Finding {
	could := Finding{Verdict: session.Blocked, Class: session.ClassInfraError}
	switch {
	// The run on the base was valid, so the attempt is the likely cause.
	case g.Astray() != "":
		return astray(g)
	case g.Ended == proc.Timeout:
		// The command finished in time on the base, so the attempt is the likely cause of the timeout. The result is
		// neither red nor green.
		return Finding{Verdict: session.Fail, Class: session.ClassTimeout,
			Failing: []session.TestID{report.GateID(g.Gate.Name)},
			Reason:  fmt.Sprintf("the command did not finish within %s", g.Gate.Timeout)}
	case cannotRun(g) != "":
		could.Reason = cannotRun(g)
		return could
	case !g.Gate.Format.PerTest() && g.Gate.Expect == workflows.ExpectRed:
		could.Reason = "its output has no per-test results, so wfs cannot see whether a new test fails"
		return could
	case !g.Gate.Format.PerTest():
		return byExit(g, l.Known[l.whole()])
	case g.Gate.Expect == workflows.ExpectRed:
		return judgeRed(l)
	}
	return judgeGreen(l)
}

// astray returns the finding for a run that judged other files than those of the tree, or changed an installed package.
func astray(g *gate.Run) Finding {
	f := Finding{Verdict: session.Fail, Class: session.ClassLeadsBack, Reason: g.Astray(),
		Failing: []session.TestID{report.GateID(g.Gate.Name)}}
	if g.Leads == nil {
		f.Class = session.ClassRoomChanged
	}
	return f
}

// cannotRun returns the reason why a gate's command did not run; "" if it did.
func cannotRun(g *gate.Run) string {
	switch {
	case g.Ended == proc.NotStarted:
		return "the command could not be started"
	case g.Unable() != "":
		return cmp.Or(g.NotInstalled(), "the command "+g.Unable())
	case g.Silent() && g.ToolMissing() != "":
		return cmp.Or(g.NotInstalled(), "the command could not run: "+g.ToolMissing())
	}
	return ""
}

// byExit judges a gate by its exit code alone.
func byExit(g *gate.Run, known bool) Finding {
	id := report.GateID(g.Gate.Name)
	switch {
	case g.Exit == 0:
		return Finding{Verdict: session.Pass, Class: session.ClassGreen, Reason: "the command exited with code 0"}
	case known:
		// An exit code cannot tell the session's failures from older ones, so nothing is proven. The verdict is fail,
		// not blocked: the agent may be able to fix it.
		return Finding{Verdict: session.Fail, Class: session.ClassCommandFailed, KnownRed: []session.TestID{id},
			Reason: fmt.Sprintf("the command exited with code %d, as it did before the session began", g.Exit)}
	}
	return Finding{Verdict: session.Fail, Class: session.ClassCommandFailed, Failing: []session.TestID{id},
		Reason: fmt.Sprintf("the command exited with code %d", g.Exit)}
}

// Lap has all data for judging a gate with per-test results. Methods of Lap run nothing, and read files only through
// Files.
type Lap struct {
	Gate     string
	exit     int
	Start    session.Tests // results at the lap's start; without any, those on the base
	Known    map[session.TestID]bool
	Now      *report.Report
	Files    *Files
	Targets  []session.TestID
	Expected []string
	Gone     []session.TestID // tests that may be missing
	// Different lists older tests that fail because tests were changed, though perhaps not in their own lines.
	Different []session.TestID
	// Excused lists older tests that fail by chance, and not because of the lap.
	Excused []session.TestID

	// Old is the report of a run with the attempt's code and the tests of the lap's start; nil if there was no such
	// run.
	Old *report.Report

	index *lapIndex
	// Later is set if a later phase, which writes the code, checks that no older test is missing; this phase then
	// allows missing tests, and collects them in left.
	Later bool
	left  []session.TestID
}

// New returns the data for judging a run, without the lap's targets.
func New(g *gate.Run, start session.Tests, known []session.TestID, files *Files) *Lap {
	l := &Lap{Gate: g.Gate.Name, exit: g.Exit, Start: start, Known: map[session.TestID]bool{}, Now: g.Report, Files: files}
	for _, id := range known {
		l.Known[id] = true
	}
	return l
}

// lapIndex answers questions about the tests of a run. It is computed once for each run.
type lapIndex struct {
	failingBelow map[session.TestID]bool // tests with a failing subtest
	ranBelow     map[session.TestID]bool // tests with a subtest that ran
	isTarget     map[session.TestID]bool
}

// whole returns the id under which the result of the gate as a whole is stored.
func (l *Lap) whole() session.TestID { return report.GateID(l.Gate) }

// RanBelow reports whether a subtest of a test ran.
func (l *Lap) RanBelow(id session.TestID) bool { return l.about().ranBelow[id] }

func (l *Lap) about() *lapIndex {
	if l.index != nil {
		return l.index
	}
	x := &lapIndex{failingBelow: map[session.TestID]bool{}, ranBelow: map[session.TestID]bool{},
		isTarget: map[session.TestID]bool{}}
	for id, s := range l.Now.Tests {
		for p := report.Parent(id); p != ""; p = report.Parent(p) {
			x.ranBelow[p] = true
			if report.Bad(s) {
				x.failingBelow[p] = true
			}
		}
	}
	for _, id := range l.Targets {
		x.isTarget[id] = true
	}
	l.index = x
	return x
}

// Finding is the judgement of a gate's results.
type Finding struct {
	Verdict  session.Verdict
	Class    session.Class
	Reason   string
	Failing  []session.TestID // tests that count against the attempt
	KnownRed []session.TestID
	Flaky    []session.TestID
	targets  []session.TestID
	Expected []string
	Passing  int
	Left     int              // see session.GateResult
	Retry    []session.TestID // tests that may be flaky: they passed before, and nothing else is wrong
}

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

// AsOf is the same lap with the results of another run.
func (l *Lap) AsOf(run *gate.Run) *Lap {
	other := *l
	other.Now, other.exit, other.index = run.Report, run.Exit, nil
	return &other
}

// Judge interprets a run, before anything is known about the tree that it left.
func (l *Lap) Judge(g *gate.Run) Finding {
	could := Finding{Verdict: session.Blocked, Class: session.ClassInfraError}
	switch {
	case g.Astray() != "": // not so on the base: the attempt is the likely cause
		return astray(g)
	case g.Ended == proc.Timeout:
		// It finished in time on the base, so the attempt is the likely cause. The result is neither red nor green.
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

// astray returns the finding for a run that did not judge the tree.
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

// Lap has all data for judging a gate with per-test results. Judging runs nothing, and reads files only by Files.
type Lap struct {
	Gate     string
	exit     int
	Start    session.Tests // at the lap's start, or on the base
	Known    map[session.TestID]bool
	Now      *report.Report
	Files    *Files
	Targets  []session.TestID
	Expected []string
	Gone     []session.TestID // may be missing
	// Different are older tests that fail because tests changed, though perhaps not their own text.
	Different []session.TestID

	// Old is the report of the present code with the tests of the lap's start; nil if that was not tried.
	Old *report.Report

	index *lapIndex
	// Later: older tests may be missing for now, as the phase that writes code checks them; left are the missing
	// ones.
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

// lapIndex answers questions about the tests that ran. It is made once.
type lapIndex struct {
	failingBelow map[session.TestID]bool // a subtest of it fails
	ranBelow     map[session.TestID]bool // a subtest of it ran
	isTarget     map[session.TestID]bool
}

// whole is the id for the gate as a whole.
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
	Failing  []session.TestID // held against the attempt
	KnownRed []session.TestID
	Flaky    []session.TestID
	targets  []session.TestID
	Expected []string
	Passing  int
	Left     int              // see GateResult
	Retry    []session.TestID // passed before, and their failing is the only fault: may be flaky
}

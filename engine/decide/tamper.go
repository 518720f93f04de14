package decide

import (
	"fmt"

	"github.com/wfs-dev/wfs/internal/safetext"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

// maxTampered limits the attempts in a row that weaken tests. The first finding is explained to the agent, so an agent
// that repeats it does so knowingly. maxTestChanges limits how often a lap may return to the phase that writes tests.
// Such a return is honest, but may go in circles.
const (
	maxTampered    = 2
	maxTestChanges = 3
)

// Frozen returns the tree whose tests the open attempt may not weaken, "" if the workflow does not forbid that. It is
// the tree with which the lap's new tests were accepted. In a phase that writes tests, and in a workflow that has no
// phase for failing tests, it is the tree at the start of the lap.
func Frozen(s *session.Session, p *workflows.Plan) session.Tree {
	ph := p.Workflow.Phase(s.Open.Phase)
	switch red := p.Workflow.Red(); {
	case p.Workflow.TamperIn(ph) == workflows.TamperOff:
		return ""
	case ph.WritesTests(), red == nil:
		return s.LapTree
	}
	return s.Frozen
}

// goesBack sends the work back to the phase that writes tests if the attempt asks to change tests, whatever the gates
// say. After maxTestChanges returns in a lap, the phase stays the same. It returns true if the attempt asks for that.
func goesBack(s *session.Session, p *workflows.Plan, d *session.Decided) bool {
	ph, red, run := p.Workflow.Phase(s.Open.Phase), p.Workflow.Red(), s.Open.Run
	if run == nil || run.TestChange == "" || ph == nil || red == nil || ph.WritesTests() || s.Open.Runner == RunnerPerson {
		return false
	}
	d.Verdict, d.Class, d.Refuted = session.Fail, session.ClassTestChange, false
	d.Reason = "the agent asks to change tests: " + safetext.OneLine(run.TestChange, 300)
	if s.TestChanges < maxTestChanges {
		d.Next, d.Progress, d.Step = red.Name, true, session.StepMoved
	}
	return true
}

// tampered returns the block of a session whose agent keeps weakening tests or asking to change them, nil for all other
// sessions.
func tampered(s *session.Session, p *workflows.Plan) session.Body {
	if s.Last == nil || s.Visit.Attempts == 0 {
		return nil
	}
	switch {
	case s.Last.Class == session.ClassTestChange:
		return Blocked(session.BlockTamper, "wfs reject --to "+string(p.Workflow.Red().Name),
			fmt.Sprintf("%s: after %d returns in this lap, %s", s.Phase, s.TestChanges, s.Last.Reason))
	case s.Last.Class != session.ClassTampered:
		return nil
	case s.Visit.Tampered >= maxTampered || s.Visit.Again:
		b := Blocked(session.BlockTamper, `wfs run --note "leave the tests alone"`,
			fmt.Sprintf("%s: %s weakened the tests", s.Phase, twice(s)))
		for _, t := range s.Tampered[:min(len(s.Tampered), 5)] {
			if t.Grave {
				b.Evidence = append(b.Evidence, safetext.OneLine(t.String(), 300))
			}
		}
		b.Evidence = append(b.Evidence,
			fmt.Sprintf("if the change is right: wfs approve %s -m WHY; if tests must change: wfs reject %s --to %s",
				s.ID, s.ID, redName(p)))
		return b
	}
	return nil
}

// twice returns, in words, how many attempts have weakened the tests.
func twice(s *session.Session) string {
	if s.Visit.Tampered < maxTampered {
		return "2 attempts"
	}
	return fmt.Sprintf("%d attempts in a row", s.Visit.Tampered)
}

func redName(p *workflows.Plan) string {
	if red := p.Workflow.Red(); red != nil {
		return string(red.Name)
	}
	return "PHASE"
}

package engine

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

// Bounds of tampering and of going back. The first time an attempt is told; whoever does it again has
// understood and goes on. Going back to change tests is honest, and a way to go in circles.
const (
	maxTampered    = 2
	maxTestChanges = 3
)

// frozen is the tree whose tests hold in the present phase. Where tests are written it is what the lap began
// with, and so it is in a workflow that never writes failing ones and asks for the guard all the same.
func frozen(s *session.Session, p *workflows.Plan) session.Tree {
	ph := p.Workflow.Phase(s.Open.Phase)
	switch red := p.Workflow.Red(); {
	case p.Workflow.TamperIn(ph) == workflows.TamperOff:
		return ""
	case ph.WritesTests(), red == nil:
		return s.LapTree
	}
	return s.Frozen
}

// goesBack leads an attempt that asks for it back to the phase that writes tests, whatever its gates say.
func goesBack(s *session.Session, p *workflows.Plan, d *session.Decided) bool {
	ph, red, run := p.Workflow.Phase(s.Open.Phase), p.Workflow.Red(), s.Open.Run
	if run == nil || run.TestChange == "" || ph == nil || red == nil || ph.WritesTests() || s.Open.Runner == runnerPerson {
		return false
	}
	d.Verdict, d.Class, d.Refuted = session.Fail, session.ClassTestChange, false
	d.Reason = "the agent asks to change tests: " + oneLine(run.TestChange, 300)
	if s.TestChanges < maxTestChanges {
		d.Next, d.Progress, d.Step = red.Name, true, session.StepMoved
	}
	return true
}

// tampered stops a session whose tests are not safe from whoever works, nil when they are.
func tampered(s *session.Session, p *workflows.Plan) session.Body {
	if s.Last == nil || s.Visit.Attempts == 0 {
		return nil
	}
	switch {
	case s.Last.Class == session.ClassTestChange:
		return blocked(session.BlockTamper, "wfs reject --to "+string(p.Workflow.Red().Name),
			fmt.Sprintf("%s: after %d returns in this lap, %s", s.Phase, s.TestChanges, s.Last.Reason))
	case s.Last.Class != session.ClassTampered:
		return nil
	case s.Visit.Tampered >= maxTampered || s.Visit.Again:
		b := blocked(session.BlockTamper, `wfs run --note "leave the tests alone"`,
			fmt.Sprintf("%s: %s weakened the tests", s.Phase, twice(s)))
		for _, t := range s.Tampered[:min(len(s.Tampered), 5)] {
			if t.Grave {
				b.Evidence = append(b.Evidence, oneLine(t.String(), 300))
			}
		}
		b.Evidence = append(b.Evidence,
			fmt.Sprintf("if the change is right: wfs approve %s -m WHY; if tests must change: wfs reject %s --to %s",
				s.ID, s.ID, redName(p)))
		return b
	}
	return nil
}

// twice counts the attempts that did what they had been told not to do.
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

// tamperedText is for the message of a finish: what was done to tests on the way, and let through, in a line each. It
// is empty when that is nothing.
func tamperedText(s *session.Session) string {
	list := s.TamperedOn()
	if len(list) == 0 {
		return ""
	}
	const most = 20
	var b strings.Builder
	b.WriteString("\nExisting tests were weakened or changed:\n")
	for _, t := range list[:min(len(list), most)] {
		fmt.Fprintf(&b, "- %s\n", oneLine(t.String(), 200))
	}
	if more := len(list) - most; more > 0 {
		fmt.Fprintf(&b, "- and %d more\n", more)
	}
	return b.String()
}

// putBack are the paths of the newest findings that are as in the frozen tree again. It is for the brief only: what git
// cannot compare is left out.
func (h *Hand) putBack(ctx context.Context) (paths []string) {
	if h.S.Last == nil || h.S.Last.Class != session.ClassTampered || h.S.Frozen == "" {
		return nil
	}
	changes, err := h.e.Store.Changes(ctx, h.S.Frozen, h.S.Open.Tree)
	if err != nil {
		return nil
	}
	for _, t := range h.S.Tampered {
		same := !slices.ContainsFunc(changes, func(c session.Change) bool { return c.Path == t.Path })
		if t.Grave && same && !slices.Contains(paths, t.Path) {
			paths = append(paths, t.Path)
		}
	}
	return paths
}

package plans

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/workflows"
)

// atComplexity drops the phases and gates of a plan that do not take part at its complexity. Work that would enter a
// dropped phase goes where that phase's pass leads. It records the complexity in the plan if anything depends on it.
func atComplexity(p *workflows.Plan, level workflows.Complexity) []workflows.Finding {
	if level == "" {
		level = workflows.Medium
	}
	left := func(at []workflows.Complexity) bool {
		if len(at) > 0 {
			p.Complexity = level
		}
		return len(at) > 0 && !slices.Contains(at, level)
	}
	w := &p.Workflow
	dropped := map[workflows.PhaseName]workflows.PhaseName{} // where a pass of the dropped phase leads
	for _, ph := range w.Phases {
		if left(ph.Complexity) {
			dropped[ph.Name] = ph.On[workflows.Pass]
		}
	}
	goesTo := func(to workflows.PhaseName) workflows.PhaseName {
		for range len(dropped) {
			if next, is := dropped[to]; is {
				to = next
			}
		}
		return to
	}
	w.Phases = slices.DeleteFunc(w.Phases, func(ph workflows.Phase) bool { return left(ph.Complexity) })
	for i := range w.Phases {
		ph := &w.Phases[i]
		ph.Complexity, ph.On = nil, maps.Clone(ph.On)
		ph.On[workflows.Pass] = goesTo(ph.On[workflows.Pass])
		if ph.On[workflows.Fail] = goesTo(ph.On[workflows.Fail]); w.Phase(ph.On[workflows.Fail]) == nil {
			ph.On[workflows.Fail] = ph.Name
		}
		ph.Gates = slices.DeleteFunc(slices.Clone(ph.Gates), func(g workflows.Gate) bool { return left(g.Complexity) })
		for j := range ph.Gates {
			ph.Gates[j].Complexity = nil
		}
	}
	w.Start = goesTo(w.Start)
	if l := w.Laps; l != nil {
		l.First, l.Then = goesTo(l.First), goesTo(l.Then)
	}
	if w.Phase(w.Start) == nil {
		return []workflows.Finding{workflows.Findingf("workflow %s has no phase at complexity %s", w.Name, level)}
	}
	return nil
}

// breakpoints makes the work of a plan stop at those breakpoints at which it stops with this autonomy: a phase for the
// approval of a person follows each of them. It records the autonomy in the plan if there are breakpoints.
func breakpoints(p *workflows.Plan, level workflows.Autonomy) []workflows.Finding {
	var phases []workflows.Phase
	var findings []workflows.Finding
	for _, ph := range p.Workflow.Phases {
		if ph.Breakpoint != "" {
			p.Autonomy = level
		}
		if ph.Run.Human || !ph.Breakpoint.Stops(level) {
			phases = append(phases, ph)
			continue
		}
		stop := approval(&ph)
		if p.Workflow.Phase(stop.Name) != nil {
			findings = append(findings, workflows.Findingf("phase %s: the approval of its breakpoint is called %s, "+
				"as another phase is\ngive that phase another name", ph.Name, stop.Name))
		}
		ph.On[workflows.Pass] = stop.Name
		phases = append(phases, ph, stop)
	}
	p.Workflow.Phases = phases
	return findings
}

// approval returns the phase in which a person approves what passed the phase before. Its gates judge what the person
// may have edited. A rejection leads to where the work is done again.
func approval(ph *workflows.Phase) workflows.Phase {
	name := ph.Name + "-APPROVAL"
	if strings.ToUpper(string(ph.Name)) != string(ph.Name) {
		name = ph.Name + "-approval"
	}
	stop := workflows.Phase{Name: name, Approves: ph.Name, Run: workflows.Run{Human: true}, Limits: ph.Limits,
		Brief: fmt.Sprintf("%s has passed. Look at its work, then approve or reject it.", ph.Name),
		On: map[workflows.Verdict]workflows.PhaseName{workflows.Pass: ph.On[workflows.Pass],
			workflows.Fail: ph.Name}}
	if ph.Review != nil {
		stop.On[workflows.Fail] = ph.On[workflows.Fail]
	}
	for _, g := range ph.Gates {
		if len(g.Changes) == 0 { // what the phase changed was changed before this one began
			stop.Gates = append(stop.Gates, g)
		}
	}
	return stop
}

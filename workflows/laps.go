package workflows

import "slices"

// Autonomy says how far the work goes without a person: at which breakpoints it stops.
type Autonomy string

const (
	Cautious   Autonomy = "cautious"   // stops at every breakpoint
	Balanced   Autonomy = "balanced"   // the default: stops at breakpoints that are "balanced" or "always"
	Aggressive Autonomy = "aggressive" // stops only at breakpoints that are "always"
)

// Breakpoint says at which autonomy a person must approve what passed a phase, before the work goes on.
type Breakpoint string

const (
	BreakAlways   Breakpoint = "always"
	BreakBalanced Breakpoint = "balanced" // with Balanced and Cautious
	BreakCautious Breakpoint = "cautious" // only with Cautious
)

// Stops reports whether the work stops at a breakpoint with this autonomy.
func (b Breakpoint) Stops(a Autonomy) bool {
	switch b {
	case BreakAlways:
		return true
	case BreakBalanced:
		return a != Aggressive
	case BreakCautious:
		return a == Cautious
	}
	return false
}

// Complexity says how much structure the work needs.
type Complexity string

const (
	Simple  Complexity = "simple"
	Medium  Complexity = "medium" // the default
	Complex Complexity = "complex"
)

// LapStart returns the first phase of each lap, or the first phase of a workflow without laps.
func (w *Workflow) LapStart() PhaseName {
	if w.Laps != nil && w.Laps.First != "" {
		return w.Laps.First
	}
	return w.Start
}

// AfterLaps returns the phase that follows the last lap, Done for none.
func (w *Workflow) AfterLaps() PhaseName {
	if w.Laps != nil && w.Laps.Then != "" {
		return w.Laps.Then
	}
	return Done
}

// Follows reports whether a phase belongs to those after the last lap: it is Laps.Then, or a pass leads there from it.
func (w *Workflow) Follows(phase PhaseName) bool {
	then := w.AfterLaps()
	return then != Done && (phase == then || w.LeadsTo(then, phase))
}

// checkLaps reports mistakes in the phases at which laps begin and end.
func (w *Workflow) checkLaps(r *reader) {
	for _, at := range []struct {
		key   string
		phase PhaseName
	}{{"laps.first", w.Laps.First}, {"laps.then", w.Laps.Then}} {
		if at.phase != "" && w.Phase(at.phase) == nil {
			r.fail(at.key, " is %s, which is not a phase", quote(string(at.phase)))
		}
	}
	if slices.ContainsFunc(w.Phases, func(p Phase) bool { return p.On[Pass] == NextLap && w.Follows(p.Name) }) {
		r.fail("laps.then", ": a pass leads from %s to %s, and must lead to %s", w.Laps.Then, NextLap, Done)
	}
}

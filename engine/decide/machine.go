package decide

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/looplab/fsm"

	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

// Next returns the phase that follows a verdict. The workflow becomes a table for looplab/fsm. It uses no callbacks of
// that package, because they run after the state has changed and cannot prevent the change.
func Next(w *workflows.Workflow, from session.PhaseName, verdict session.Verdict) (session.PhaseName, error) {
	m := fsm.NewFSM(string(from), table(w), fsm.Callbacks{})
	err := m.Event(context.Background(), string(verdict))
	var stays fsm.NoTransitionError
	if err != nil && !errors.As(err, &stays) { // a phase that leads to itself is the most common transition
		return "", fmt.Errorf("workflow %s: %w", w.Name, err)
	}
	return session.PhaseName(m.Current()), nil
}

// table returns the workflow as transitions, in a fixed order.
func table(w *workflows.Workflow) fsm.Events {
	var t fsm.Events
	for _, p := range w.Phases {
		for _, v := range slices.Sorted(maps.Keys(p.On)) {
			t = append(t, fsm.EventDesc{Name: string(v), Src: []string{string(p.Name)}, Dst: string(p.On[v])})
		}
	}
	return t
}

// Transition is one arrow of a workflow: from a phase, on a verdict, to a phase.
type Transition struct {
	From    session.PhaseName `json:"from"`
	Verdict session.Verdict   `json:"verdict"`
	To      session.PhaseName `json:"to"` // a phase, workflows.Done or workflows.NextLap
}

// Transitions returns all transitions of a workflow, in a fixed order.
func Transitions(w *workflows.Workflow) []Transition {
	var list []Transition
	for _, e := range table(w) {
		for _, from := range e.Src {
			list = append(list, Transition{session.PhaseName(from), session.Verdict(e.Name), session.PhaseName(e.Dst)})
		}
	}
	return list
}

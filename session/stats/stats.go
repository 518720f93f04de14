// Package stats summarises attempts by agent, model and phase.
package stats

import (
	"cmp"
	"slices"

	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/session/cost"
)

// Stat summarises the attempts that one agent made with one model in one phase.
type Stat struct {
	Agent    string            `json:"agent"`
	Model    string            `json:"model,omitempty"`
	Phase    session.PhaseName `json:"phase"`
	Attempts int               `json:"attempts"` // number of judged attempts
	Passed   int               `json:"passed"`
	Claims   int               `json:"claims"` // claims to be done that wfs checked
	True     int               `json:"true"`
	Used     cost.Usage        `json:"used,omitzero"` // usage of all runs, judged or not
}

// Of summarises the events of one session. If an agent has no name, Stat.Agent is the kind of its runner, such as
// "command".
func Of(events []session.Event) []Stat {
	var all []Stat
	// the previous run, which names the agent of a run that was cut off before it reported its name
	last := &session.RunResult{}
	of := func(o *session.Open) *Stat {
		r := cmp.Or(o.Run, last)
		who := Stat{Agent: cmp.Or(r.Agent, o.Agent, o.Runner), Model: r.Model, Phase: o.Phase}
		i := slices.IndexFunc(all, who.like)
		if i < 0 {
			i, all = len(all), append(all, who)
		}
		return &all[i]
	}
	var open *session.Open
	for _, e := range events {
		if b, ok := e.Body.(session.AttemptStarted); ok {
			open = &session.Open{AttemptStarted: b}
		}
		if open == nil || open.Runner == "person" {
			continue
		}
		switch b := e.Body.(type) {
		case session.RunEnded:
			open.Run, last = &b.RunResult, &b.RunResult
			s := of(open)
			s.Used = s.Used.Plus(b.Usage())
		case session.UsageFound:
			s := of(open)
			s.Used = s.Used.Plus(b.Usage)
		case session.Judged:
			open.Judgement = &b.Judgement
		case session.Reopened:
			open.Judgement = nil
		case session.Decided:
			open.Decided = &b
		case session.Checkpointed:
			if d := open.Decided; b.Trigger == session.TriggerAttempt && d != nil && d.Class != session.ClassAsked {
				of(open).judged(open)
			}
			open = nil
		}
	}
	return all
}

// judged adds a judged attempt to the counts.
func (s *Stat) judged(o *session.Open) {
	s.Attempts++
	if o.Decided.Verdict == session.Pass {
		s.Passed++
	}
	if o.Claimed() {
		s.Claims++
		if !o.Decided.Refuted {
			s.True++
		}
	}
}

// Add merges the rows of another session into a list of rows.
func Add(all, more []Stat) []Stat {
	for _, m := range more {
		i := slices.IndexFunc(all, m.like)
		if i < 0 {
			all = append(all, m)
		} else {
			all[i] = all[i].Plus(m)
		}
	}
	return all
}

func (s Stat) like(t Stat) bool {
	return s.Agent == t.Agent && s.Model == t.Model && s.Phase == t.Phase
}

// Plus returns the sum of two rows.
func (s Stat) Plus(t Stat) Stat {
	s.Attempts += t.Attempts
	s.Passed += t.Passed
	s.Claims += t.Claims
	s.True += t.True
	s.Used = s.Used.Plus(t.Used)
	return s
}

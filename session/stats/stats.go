// Package stats summarises attempts by agent, model and phase.
package stats

import (
	"cmp"
	"slices"

	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/session/cost"
)

// Stat summarises the attempts of an agent with a model in a phase.
type Stat struct {
	Agent    string            `json:"agent"`
	Model    string            `json:"model,omitempty"`
	Phase    session.PhaseName `json:"phase"`
	Attempts int               `json:"attempts"` // judged
	Passed   int               `json:"passed"`
	Claims   int               `json:"claims"` // checked claims to be done
	True     int               `json:"true"`
	Used     cost.Usage        `json:"used,omitzero"` // by all runs, judged or not
}

// Of counts the events of one session. An agent without a card is named after its runner.
func Of(events []session.Event) []Stat {
	var all []Stat
	last := &session.RunResult{} // names the agent of a run that was cut off before it reported its name
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

// judged counts a judged attempt.
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

// Add adds the rows of another session.
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

// Plus adds the counts of another row.
func (s Stat) Plus(t Stat) Stat {
	s.Attempts += t.Attempts
	s.Passed += t.Passed
	s.Claims += t.Claims
	s.True += t.True
	s.Used = s.Used.Plus(t.Used)
	return s
}

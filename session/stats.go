package session

import (
	"cmp"
	"slices"
)

// Stat is how the attempts of an agent with a model went in a phase.
type Stat struct {
	Agent    string    `json:"agent"`
	Model    string    `json:"model,omitempty"`
	Phase    PhaseName `json:"phase"`
	Attempts int       `json:"attempts"` // judged
	Passed   int       `json:"passed"`
	Claims   int       `json:"claims"` // to be done, that were checked
	True     int       `json:"true"`
	Used     Usage     `json:"used,omitzero"` // by runs, those that were not judged included
}

// Stats counts the events of one session. An agent without a card has the name of its runner.
func Stats(events []Event) []Stat {
	var all []Stat
	last := &RunResult{} // names the agent of a run that was cut off before it said so
	of := func(o *Open) *Stat {
		r := cmp.Or(o.Run, last)
		who := Stat{Agent: cmp.Or(r.Agent, o.Agent, o.Runner), Model: r.Model, Phase: o.Phase}
		i := slices.IndexFunc(all, who.like)
		if i < 0 {
			i, all = len(all), append(all, who)
		}
		return &all[i]
	}
	var open *Open
	for _, e := range events {
		if b, ok := e.Body.(AttemptStarted); ok {
			open = &Open{AttemptStarted: b}
		}
		if open == nil || open.Runner == "person" {
			continue
		}
		switch b := e.Body.(type) {
		case RunEnded:
			open.Run, last = &b.RunResult, &b.RunResult
			s := of(open)
			s.Used = s.Used.Plus(b.Usage())
		case UsageFound:
			s := of(open)
			s.Used = s.Used.Plus(b.Usage)
		case Judged:
			open.Judgement = &b.Judgement
		case Reopened:
			open.Judgement = nil
		case Decided:
			open.Decided = &b
		case Checkpointed:
			if d := open.Decided; b.Trigger == TriggerAttempt && d != nil && d.Class != ClassAsked {
				s := of(open)
				s.Attempts++
				if d.Verdict == Pass {
					s.Passed++
				}
				if open.Claimed() {
					s.Claims++
					if !d.Refuted {
						s.True++
					}
				}
			}
			open = nil
		}
	}
	return all
}

// AddStats adds the rows of another session.
func AddStats(all, more []Stat) []Stat {
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

// Claimed reports whether the agent said that it was done, and that was checked: what nobody judged is neither true nor
// refuted.
func (o *Open) Claimed() bool {
	d := o.Decided
	judged := d.Refuted || o.Judgement != nil &&
		slices.ContainsFunc(o.Judgement.Gates, func(g GateResult) bool { return g.Where != InTree })
	return o.Run != nil && o.Run.Done && judged && d.Verdict != Blocked && !d.NothingLeft
}

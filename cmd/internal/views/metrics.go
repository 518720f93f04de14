package views

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/wfs-dev/wfs/cmd/internal/present"
	"github.com/wfs-dev/wfs/engine/decide"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/session/cost"
)

// Attempt has what was measured of one attempt.
type Attempt struct {
	Place
	Agent      string          `json:"agent,omitempty"` // or `command`, `script`
	Model      string          `json:"model,omitempty"`
	Outcome    session.Outcome `json:"outcome,omitempty"`
	Verdict    session.Verdict `json:"verdict,omitempty"`
	Claimed    bool            `json:"claimed,omitempty"` // the agent said that it is done
	Refuted    bool            `json:"refuted,omitempty"` // and the gates disagreed
	RunMillis  int64           `json:"run_millis"`        // of the agent
	GateMillis int64           `json:"gate_millis"`
	Used       cost.Usage      `json:"used,omitzero"` // of the run; its `millis` are those of the run
	Tools      int             `json:"tools,omitempty"`
	Gates      []Gate          `json:"gates,omitempty"`
	Reason     string          `json:"reason,omitempty"` // of the verdict
	Tests      session.Counts  `json:"tests,omitzero"`   // results in all gates
	Note       string          `json:"note,omitempty"`   // what the agent said, or asked
	denied     []string
	class      session.Class
	ended      string // how a run ended that failed
	toolUse    []session.ToolUse
}

// CleanCheckout stands among the gates for all gates together in a clean checkout. No gate has such a name.
const CleanCheckout = "clean checkout"

// Gate is the result of one gate.
type Gate struct {
	Gate    string             `json:"gate"`
	Verdict session.Verdict    `json:"verdict"`
	Millis  int64              `json:"millis"`
	Numbers map[string]float64 `json:"numbers,omitempty"`
	result  *session.GateResult
}

// Says describes the result in words, such as "12 passed, 1 failed (as intended)".
func (g Gate) Says() string {
	if g.result == nil {
		return string(g.Verdict)
	}
	return present.GateSays(*g.result).String()
}

// Attempts returns all attempts of agents, oldest first. A person's answers are not among them.
func Attempts(facts []Fact) []Attempt {
	list := []Attempt{}
	var a *Attempt
	for _, f := range facts {
		if b, ok := f.Body.(session.AttemptStarted); ok {
			if a = nil; !f.person {
				list = append(list, Attempt{Place: f.Place, Agent: cmp.Or(b.Agent, b.Runner)})
				a = &list[len(list)-1]
			}
		}
		if a == nil {
			continue
		}
		switch b := f.Body.(type) {
		case session.RunEnded:
			a.ran(&b.RunResult)
		case session.UsageFound:
			a.Used, a.RunMillis = a.Used.Plus(b.Usage), a.RunMillis+b.Millis
		case session.Judged:
			a.judged(&b.Judgement)
		case session.Decided:
			a.Verdict, a.Refuted, a.Reason = b.Verdict, b.Refuted, b.Reason
		case session.Checkpointed:
			a = nil
		}
	}
	return list
}

func (a *Attempt) ran(r *session.RunResult) {
	a.Agent, a.Model, a.Outcome, a.Claimed = cmp.Or(r.Agent, a.Agent), r.Model, r.Outcome, r.Done
	a.Note = cmp.Or(r.Note, r.Ask)
	if a.RunMillis += max(0, r.Millis); troubled(*r) {
		a.ended = decide.Ended(*r)
	}
	a.Used = a.Used.Plus(r.Usage())
	a.Tools, a.denied, a.toolUse = r.Tools, r.Denied, r.ToolUse
}

func (a *Attempt) judged(j *session.Judgement) {
	a.Gates, a.class, a.Reason, a.Tests = nil, j.Class, j.Reason, session.CountsOf(j.Gates)
	for i, g := range j.Gates {
		millis := g.Millis
		if g.Cached {
			millis = 0
		}
		a.GateMillis += millis
		a.Gates = append(a.Gates, Gate{g.Gate, g.Verdict, millis, g.Numbers, &j.Gates[i]})
	}
	if p := j.Proof; p != nil {
		clean := Gate{Gate: CleanCheckout, Verdict: p.Verdict, result: &session.GateResult{}}
		for _, g := range p.Gates {
			clean.Millis += g.Millis
		}
		a.GateMillis += clean.Millis
		a.Gates = append(a.Gates, clean)
	}
}

// Sum is the sum of what was measured of some attempts, or of the runs of one gate.
type Sum struct {
	Name       string     `json:"name"`
	Attempts   int        `json:"attempts"` // judged attempts, or runs of the gate
	Passed     int        `json:"passed"`
	RunMillis  int64      `json:"run_millis,omitempty"` // of agents
	GateMillis int64      `json:"gate_millis"`
	Used       cost.Usage `json:"used,omitzero"`
	Tools      int        `json:"tools,omitempty"`
}

// Series is a number that a gate read from its output, over time.
type Series struct {
	Gate   string   `json:"gate"`
	Name   string   `json:"name"`
	Base   *float64 `json:"base,omitempty"` // on the base, before any work
	Values []Value  `json:"values"`
}

// Value is one value of a Series.
type Value struct {
	Checkpoint *int    `json:"checkpoint,omitempty"` // of the attempt
	Value      float64 `json:"value"`
}

// Metrics has what a session measured.
type Metrics struct {
	Phases   []Sum     `json:"phases"`
	Gates    []Sum     `json:"gates"`
	Numbers  []Series  `json:"numbers"`
	Waits    Waits     `json:"waits"`
	Attempts []Attempt `json:"attempts"`
}

// Waits says how long a session waited. A wait that has not ended does not count.
type Waits struct {
	LimitMillis  int64 `json:"limit_millis"`  // for limits
	PersonMillis int64 `json:"person_millis"` // for a person
}

// Measure returns the metrics of a session.
func Measure(facts []Fact) Metrics {
	m := Metrics{Phases: []Sum{}, Gates: []Sum{}, Numbers: []Series{}, Attempts: Attempts(facts)}
	for i, f := range facts {
		switch b := f.Body.(type) {
		case session.Baseline:
			for _, g := range b.Gates {
				for _, name := range slices.Sorted(maps.Keys(g.Numbers)) {
					v := g.Numbers[name]
					m.series(g.Gate, name).Base = &v
				}
			}
		case session.Waiting:
			if i+1 < len(facts) {
				m.Waits.add(b.Reason, facts[i+1].At.Sub(f.At))
			}
		}
	}
	for _, a := range m.Attempts {
		sum(&m.Phases, string(a.Phase)).attempt(&a)
		for _, g := range a.Gates {
			sum(&m.Gates, g.Gate).add(g.Verdict, g.Millis)
			for _, name := range slices.Sorted(maps.Keys(g.Numbers)) {
				n := m.series(g.Gate, name)
				n.Values = append(n.Values, Value{a.Checkpoint, g.Numbers[name]})
			}
		}
	}
	return m
}

// Laps returns the sum of each lap, oldest first.
func (m *Metrics) Laps() (laps []Sum) {
	for _, a := range m.Attempts {
		sum(&laps, fmt.Sprintf("lap %d", a.Lap)).attempt(&a)
	}
	return laps
}

func (s *Sum) attempt(a *Attempt) {
	s.add(a.Verdict, a.GateMillis)
	s.RunMillis += a.RunMillis
	s.Used = s.Used.Plus(a.Used)
	s.Tools += a.Tools
}

func (s *Sum) add(v session.Verdict, millis int64) {
	if v != "" {
		s.Attempts++
	}
	if v == session.Pass {
		s.Passed++
	}
	s.GateMillis += millis
}

func (w *Waits) add(why session.WaitReason, d time.Duration) {
	if d = max(0, d); why == session.WaitLimit {
		w.LimitMillis += d.Milliseconds()
	} else {
		w.PersonMillis += d.Milliseconds()
	}
}

func (m *Metrics) series(gate, name string) *Series {
	i := slices.IndexFunc(m.Numbers, func(s Series) bool { return s.Gate == gate && s.Name == name })
	if i < 0 {
		i, m.Numbers = len(m.Numbers), append(m.Numbers, Series{Gate: gate, Name: name, Values: []Value{}})
	}
	return &m.Numbers[i]
}

func sum(list *[]Sum, name string) *Sum {
	i := slices.IndexFunc(*list, func(s Sum) bool { return s.Name == name })
	if i < 0 {
		i, *list = len(*list), append(*list, Sum{Name: name})
	}
	return &(*list)[i]
}

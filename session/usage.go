package session

import (
	"github.com/wfs-dev/wfs/session/cost"
	"github.com/wfs-dev/wfs/workflows"
)

// Usage is what one run used up. What it says is untrusted: nothing of it is negative.
func (r RunResult) Usage() cost.Usage {
	u := cost.Usage{USD: cost.Dollars(r.CostUSD), Turns: max(0, int64(r.Turns)), Millis: max(0, r.Millis),
		Tokens: r.Tokens.Sane()}
	if u.USD == 0 {
		u.Estimated = cost.Dollars(r.EstimatedUSD)
		u.USD = u.Estimated
	}
	return u
}

// Worked reports whether a run may have cost something: it was not turned away at the door.
func (r RunResult) Worked() bool {
	switch r.Outcome {
	case OutcomeLimit, OutcomeRateLimited, OutcomeOverloaded, OutcomeAuth, OutcomeBilling, OutcomeConfig,
		OutcomeNotStarted, OutcomeWait:
		u := r.Usage()
		return u.USD > 0 || u.Tokens.Sum() > 0
	}
	return true
}

// UsageByPhase is what the session used up, by phase and lap.
func (s *Session) UsageByPhase() []cost.PhaseUsage {
	var list []cost.PhaseUsage
	for _, c := range s.Checkpoints {
		list = cost.With(list, c.Phase, c.Lap, c.Used)
	}
	for _, p := range s.PhaseUsage {
		list = cost.With(list, p.Phase, p.Lap, p.Usage)
	}
	return list
}

// UsageFound is what is known of a run whose end nobody saw. It is appended by whoever finds it.
type UsageFound struct {
	body
	RunID string `json:"run_id"` // id of the run
	cost.Usage
	// the conversation that the agent had worked in, and that the next attempt continues
	Conversation *Conversation `json:"conversation,omitempty"`
}

// BudgetSet replaces caps that a person had typed before, and those of the plan. What is 0 stays as it was.
type BudgetSet struct {
	body
	Budget  workflows.Budget `json:"budget"`            // caps that are left out stay as they were
	Request string           `json:"request,omitempty"` // id of the request that caused it
}

// BudgetWarned says that a budget is nearly used up.
type BudgetWarned struct {
	body
	BudgetLine
	// identifies this cap; another number or another day gives another key
	Key string `json:"key"`
}

// BudgetLine is one cap, and what of it is used up.
type BudgetLine struct {
	Scope string  `json:"scope"` // `session`, `phase`, `day`
	What  string  `json:"what"`  // a field of Cap
	Spent float64 `json:"spent"` // used up
	Cap   float64 `json:"cap"`   // the limit
}

// Hindered counts runs in a row that the provider or the network did not let work, and that changed nothing.
type Hindered struct {
	// of the newest of these runs: `limit`, `rate_limited`, `overloaded`
	Outcome Outcome `json:"outcome"`
	Runs    int     `json:"runs"`   // in a row, that changed nothing
	Waited  int64   `json:"waited"` // seconds of waiting after them, as planned
}

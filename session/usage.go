package session

import (
	"github.com/wfs-dev/wfs/session/cost"
	"github.com/wfs-dev/wfs/workflows"
)

// Usage returns the usage of one run. The reported numbers are untrusted: negative ones become 0.
func (r RunResult) Usage() cost.Usage {
	u := cost.Usage{USD: cost.Dollars(r.CostUSD), Turns: max(0, int64(r.Turns)), Millis: max(0, r.Millis),
		Tokens: r.Tokens.Sane()}
	if u.USD == 0 {
		u.Estimated = cost.Dollars(r.EstimatedUSD)
		u.USD = u.Estimated
	}
	return u
}

// Worked reports whether a run may have cost something, and was not rejected at once.
func (r RunResult) Worked() bool {
	switch r.Outcome {
	case OutcomeLimit, OutcomeRateLimited, OutcomeOverloaded, OutcomeAuth, OutcomeBilling, OutcomeConfig,
		OutcomeNotStarted, OutcomeWait:
		u := r.Usage()
		return u.USD > 0 || u.Tokens.Sum() > 0
	}
	return true
}

// UsageByPhase returns the session's usage by phase and lap.
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

// UsageFound has the usage of a run that was cut off. The process that finds such a run appends it.
type UsageFound struct {
	body
	RunID string `json:"run_id"` // id of the run
	cost.Usage
	// the conversation that the agent worked in, and that the next attempt continues
	Conversation *Conversation `json:"conversation,omitempty"`
}

// BudgetSet replaces caps of the plan, and those typed earlier. A cap that is 0 does not change.
type BudgetSet struct {
	body
	Budget  workflows.Budget `json:"budget"`            // caps that are left out do not change
	Request string           `json:"request,omitempty"` // id of the request that caused it
}

// BudgetWarned says that a budget is nearly used up.
type BudgetWarned struct {
	body
	BudgetLine
	// identifies this cap; another number or another day gives another key
	Key string `json:"key"`
}

// BudgetLine is one cap and its usage.
type BudgetLine struct {
	Scope string  `json:"scope"` // `session`, `phase`, `day`
	What  string  `json:"what"`  // a field of Cap
	Spent float64 `json:"spent"` // used up
	Cap   float64 `json:"cap"`   // the limit
}

// Hindered counts runs in a row that the provider or the network stopped and that changed nothing.
type Hindered struct {
	// of the newest of these runs: `limit`, `rate_limited`, `overloaded`
	Outcome Outcome `json:"outcome"`
	Runs    int     `json:"runs"`   // in a row, that changed nothing
	Waited  int64   `json:"waited"` // seconds of waiting after them, as planned
}

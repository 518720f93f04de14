package session

import (
	"github.com/wfs-dev/wfs/session/cost"
	"github.com/wfs-dev/wfs/workflows"
)

// Usage returns the usage of one run. Agents report these numbers, so they are not trusted: negative ones become 0.
func (r RunResult) Usage() cost.Usage {
	u := cost.Usage{USD: cost.Dollars(r.CostUSD), Turns: max(0, int64(r.Turns)), Millis: max(0, r.Millis),
		Tokens: r.Tokens.Sane()}
	if u.USD == 0 {
		u.Estimated = cost.Dollars(r.EstimatedUSD)
		u.USD = u.Estimated
	}
	return u
}

// Worked reports whether a run may have cost something. A run that the provider rejected at once did not.
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

// UsageFound has the usage of a run that was cut off. The process that later finds that run appends this event.
type UsageFound struct {
	body
	RunID string `json:"run_id"` // id of the run
	cost.Usage
	// the agent's conversation in that run; the next attempt continues it
	Conversation *Conversation `json:"conversation,omitempty"`
}

// BudgetSet replaces caps of the plan and caps that were set earlier. A cap of 0 leaves the earlier cap unchanged.
type BudgetSet struct {
	body
	Budget  workflows.Budget `json:"budget"`            // caps that are left out do not change
	Request string           `json:"request,omitempty"` // id of the request that caused it
}

// BudgetWarned records the warning that a budget is nearly used up, so that it is not repeated.
type BudgetWarned struct {
	body
	BudgetLine
	// identifies this warning: another cap or another day gives another key
	Key string `json:"key"`
}

// BudgetLine is one cap and its usage.
type BudgetLine struct {
	Scope string  `json:"scope"` // `session`, `phase`, `day`
	What  string  `json:"what"`  // name of the cap, as in the plan
	Spent float64 `json:"spent"` // amount used so far
	Cap   float64 `json:"cap"`   // the limit
}

// Hindered counts the newest runs in a row that the provider or the network stopped before they changed anything.
type Hindered struct {
	// outcome of the newest of these runs: `limit`, `rate_limited`, `overloaded`
	Outcome Outcome `json:"outcome"`
	Runs    int     `json:"runs"`   // number of these runs
	Waited  int64   `json:"waited"` // seconds that the session was to wait after these runs
}

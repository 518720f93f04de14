package cost

import (
	"slices"
	"time"

	"github.com/wfs-dev/wfs/workflows"
)

// Account has the usage of a session. Undo never reduces it.
type Account struct {
	// total, including the work on checkpoints that the session went back from
	Used  Usage `json:"used,omitzero"`
	Fresh Usage `json:"fresh,omitzero"` // usage since the newest checkpoint
	// usage by phase and lap that is not in the `used` of a checkpoint of that phase and lap. An entry is negative if
	// such a `used` contains usage of another phase or lap
	PhaseUsage  []PhaseUsage   `json:"phase_usage,omitempty"`
	RecentUsage []QuarterUsage `json:"recent_usage,omitempty"` // usage by time, for the last 25 hours of work
	Rates       []Rate         `json:"rates,omitempty"`        // costs per token, the newest last
	// when agents were started, within one hour before the newest start (Unix times)
	Calls []int64 `json:"calls,omitempty"`
}

// Use adds usage of a phase and lap, at a time.
func (a *Account) Use(at time.Time, phase workflows.PhaseName, lap int, u Usage) {
	if u == (Usage{}) {
		return
	}
	a.Used, a.Fresh = a.Used.Plus(u), a.Fresh.Plus(u)
	a.PhaseUsage = With(slices.Clone(a.PhaseUsage), phase, lap, u)

	begun := at.Unix() - at.Unix()%quarter
	recent := slices.Clone(a.RecentUsage)
	i := slices.IndexFunc(recent, func(q QuarterUsage) bool { return q.At == begun })
	if i < 0 {
		recent = append(recent, QuarterUsage{At: begun})
		// remove the first entries, not the earliest ones: the clock may have jumped
		recent = recent[max(0, len(recent)-maxQuarters):]
		i = len(recent) - 1
	}
	recent[i].Usage = recent[i].Usage.Plus(u)
	a.RecentUsage = recent
}

// Kept returns the usage since the newest checkpoint, and assigns it to a new checkpoint of a phase and lap.
func (a *Account) Kept(phase workflows.PhaseName, lap int) Usage {
	u := a.Fresh
	a.Fresh = Usage{}
	a.PhaseUsage = With(slices.Clone(a.PhaseUsage), phase, lap, Usage{}.Minus(u))
	return u
}

// With adds usage to the entry for a phase and lap, and returns the list. An entry that becomes zero is removed.
func With(list []PhaseUsage, phase workflows.PhaseName, lap int, u Usage) []PhaseUsage {
	i := slices.IndexFunc(list, func(p PhaseUsage) bool { return p.Phase == phase && p.Lap == lap })
	if i < 0 {
		i, list = len(list), append(list, PhaseUsage{Phase: phase, Lap: lap})
	}
	if list[i].Usage = list[i].Plus(u); list[i].Usage == (Usage{}) {
		return slices.Delete(list, i, i+1)
	}
	return list
}

// In returns the usage of a phase in a lap.
func In(list []PhaseUsage, phase workflows.PhaseName, lap int) (sum Usage) {
	for _, p := range list {
		if p.Phase == phase && p.Lap == lap {
			sum = sum.Plus(p.Usage)
		}
	}
	return sum
}

// PhaseUsage is the usage of a phase in one lap.
type PhaseUsage struct {
	Phase workflows.PhaseName `json:"phase"` // the phase
	Lap   int                 `json:"lap"`   // the lap
	Usage
}

// QuarterUsage is the usage within a quarter of an hour. Quarters suffice for sums by day, because days begin at the
// start of a quarter in every time zone.
type QuarterUsage struct {
	At int64 `json:"at"` // when the quarter began (Unix time)
	Usage
}

const (
	quarter     = 15 * 60 // length of a quarter of an hour in seconds
	maxQuarters = 100     // no day has more quarters
)

// UsedBetween returns the usage from one time to another. Both are Unix times and multiples of a quarter of an hour;
// `to` is excluded. Only the last 25 hours of work are known.
func (a *Account) UsedBetween(from, to int64) Usage {
	var sum Usage
	for _, q := range a.RecentUsage {
		if q.At >= from && q.At < to {
			sum = sum.Plus(q.Usage)
		}
	}
	return sum
}

// Rate has the total cost of runs of one agent with one model, and the number of their new tokens. Their quotient is
// the cost per token.
type Rate struct {
	Agent  string `json:"agent"`           // name of its card
	Model  string `json:"model,omitempty"` // the model
	USD    Money  `json:"cost_usd"`        // cost of all these runs
	Tokens int64  `json:"tokens"`          // tokens of all these runs, without tokens read from a cache
}

const maxRates = 20

func (a *Account) rate(agent, model string) int {
	return slices.IndexFunc(a.Rates, func(r Rate) bool { return r.Agent == agent && r.Model == model })
}

// Priced adds a run's reported cost and new tokens to the rate of its agent and model. A run without a reported cost is
// ignored.
func (a *Account) Priced(agent, model string, u Usage) {
	n := u.Tokens.New()
	if u.USD == u.Estimated || n == 0 {
		return
	}
	rates := slices.Clone(a.Rates)
	i := a.rate(agent, model)
	if i < 0 {
		rates = append(rates[max(0, len(rates)+1-maxRates):], Rate{Agent: agent, Model: model})
		i = len(rates) - 1
	}
	rates[i].USD += u.USD
	rates[i].Tokens += n
	a.Rates = rates
}

// Estimate returns an estimate of the cost of a run that was ended before it reported its cost: its new tokens times
// the rate of this session's earlier runs with the same agent and model. Without such runs it returns 0.
func (a *Account) Estimate(agent, model string, t Tokens) Money {
	i := a.rate(agent, model)
	if i < 0 {
		return 0
	}
	return money(a.Rates[i].USD.USD() * float64(t.Sane().New()) / float64(a.Rates[i].Tokens))
}

// maxCalls is the maximum length of Account.Calls.
const maxCalls = 1000

// Called records that an agent was started at a time.
func (a *Account) Called(at time.Time) {
	now := at.Unix()
	// entries from the future are removed as well: the clock may have jumped
	calls := slices.DeleteFunc(slices.Clone(a.Calls), func(c int64) bool { return c <= now-3600 || c > now+3600 })
	calls = append(calls, now)
	a.Calls = calls[max(0, len(calls)-maxCalls):]
}

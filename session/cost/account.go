package cost

import (
	"slices"
	"time"

	"github.com/wfs-dev/wfs/workflows"
)

// Account is the usage of a session. Undo never reduces it.
type Account struct {
	// total, including work before a return to an earlier checkpoint
	Used  Usage `json:"used,omitzero"`
	Fresh Usage `json:"fresh,omitzero"` // the part since the newest checkpoint
	// by phase and lap, without the `used` of checkpoints of the same phase and lap. Negative where such a
	// `used` has usage of another phase or lap
	PhaseUsage  []PhaseUsage   `json:"phase_usage,omitempty"`
	RecentUsage []QuarterUsage `json:"recent_usage,omitempty"` // by time, of the last 25 hours of work
	Rates       []Rate         `json:"rates,omitempty"`        // the newest last
	// when agents were started within the hour before the newest start (Unix times)
	Calls []int64 `json:"calls,omitempty"`
}

// Use adds the usage of an attempt or a run, at a time.
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
		recent = recent[max(0, len(recent)-maxQuarters):] // by order, not by time: clocks jump
		i = len(recent) - 1
	}
	recent[i].Usage = recent[i].Usage.Plus(u)
	a.RecentUsage = recent
}

// Kept assigns the usage since the newest checkpoint to a new one of a phase and lap, and returns it.
func (a *Account) Kept(phase workflows.PhaseName, lap int) Usage {
	u := a.Fresh
	a.Fresh = Usage{}
	a.PhaseUsage = With(slices.Clone(a.PhaseUsage), phase, lap, Usage{}.Minus(u))
	return u
}

// With adds usage to the entry of a phase in a lap.
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

// QuarterUsage is the usage within a quarter of an hour. In every time zone, days begin at the start of a quarter.
type QuarterUsage struct {
	At int64 `json:"at"` // its beginning (Unix time)
	Usage
}

const (
	quarter     = 15 * 60 // seconds
	maxQuarters = 100     // no day has more
)

// UsedBetween returns the usage from one time until before another, in Unix seconds; both must be multiples of a
// quarter of an hour. It covers the last 25 hours of work.
func (a *Account) UsedBetween(from, to int64) Usage {
	var sum Usage
	for _, q := range a.RecentUsage {
		if q.At >= from && q.At < to {
			sum = sum.Plus(q.Usage)
		}
	}
	return sum
}

// Rate is the total cost that runs of an agent with a model reported, and their new tokens.
type Rate struct {
	Agent  string `json:"agent"`           // name of its card
	Model  string `json:"model,omitempty"` // the model
	USD    Money  `json:"cost_usd"`        // of all of them
	Tokens int64  `json:"tokens"`          // in all of them, without those from a cache
}

const maxRates = 20

func (a *Account) rate(agent, model string) int {
	return slices.IndexFunc(a.Rates, func(r Rate) bool { return r.Agent == agent && r.Model == model })
}

// Priced records the cost that a run of an agent with a model reported.
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

// Estimate returns an estimated cost of a run that was ended before it reported one. It multiplies its new tokens by
// the rate of earlier runs of this session with the same agent and model. It returns 0 without such runs.
func (a *Account) Estimate(agent, model string, t Tokens) Money {
	i := a.rate(agent, model)
	if i < 0 {
		return 0
	}
	return money(a.Rates[i].USD.USD() * float64(t.Sane().New()) / float64(a.Rates[i].Tokens))
}

// maxCalls bounds the length of Account.Calls.
const maxCalls = 1000

// Called records the start of an agent.
func (a *Account) Called(at time.Time) {
	now := at.Unix()
	// clocks jump
	calls := slices.DeleteFunc(slices.Clone(a.Calls), func(c int64) bool { return c <= now-3600 || c > now+3600 })
	calls = append(calls, now)
	a.Calls = calls[max(0, len(calls)-maxCalls):]
}

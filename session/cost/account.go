package cost

import (
	"slices"
	"time"

	"github.com/wfs-dev/wfs/workflows"
)

// Account is what a session used up. Nothing ever takes it back: what is spent is spent.
type Account struct {
	// in all, also by work that the session has gone back from
	Used  Usage `json:"used,omitzero"`
	Fresh Usage `json:"fresh,omitzero"` // the part since the newest checkpoint
	// by phase and lap, without what the `used` of a checkpoint of the same phase and lap says. Negative where such a
	// `used` has usage of another phase or lap
	PhaseUsage  []PhaseUsage   `json:"phase_usage,omitempty"`
	RecentUsage []QuarterUsage `json:"recent_usage,omitempty"` // by time, of the last 25 hours of work
	Rates       []Rate         `json:"rates,omitempty"`        // the newest last
	// when agents were started within the hour before the newest start (Unix times)
	Calls []int64 `json:"calls,omitempty"`
}

// Use counts what an attempt, or a run of it, used up at a time.
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

// Kept moves what is fresh to a checkpoint of a phase and lap, and returns it.
func (a *Account) Kept(phase workflows.PhaseName, lap int) Usage {
	u := a.Fresh
	a.Fresh = Usage{}
	a.PhaseUsage = With(slices.Clone(a.PhaseUsage), phase, lap, Usage{}.Minus(u))
	return u
}

// With adds usage to that of a phase in a lap.
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

// In is what of a list was used up in a phase of a lap.
func In(list []PhaseUsage, phase workflows.PhaseName, lap int) (sum Usage) {
	for _, p := range list {
		if p.Phase == phase && p.Lap == lap {
			sum = sum.Plus(p.Usage)
		}
	}
	return sum
}

// PhaseUsage is what a phase used up in one lap.
type PhaseUsage struct {
	Phase workflows.PhaseName `json:"phase"` // the phase
	Lap   int                 `json:"lap"`   // the lap
	Usage
}

// QuarterUsage is what was used up within a quarter of an hour. Days begin at one of these everywhere on earth.
type QuarterUsage struct {
	At int64 `json:"at"` // its beginning (Unix time)
	Usage
}

const (
	quarter     = 15 * 60 // seconds
	maxQuarters = 100     // no day has more
)

// UsedBetween is what the session used up from one time to before another one, in Unix seconds; both are multiples of a
// quarter of an hour. It knows of the last 25 hours of work.
func (a *Account) UsedBetween(from, to int64) Usage {
	var sum Usage
	for _, q := range a.RecentUsage {
		if q.At >= from && q.At < to {
			sum = sum.Plus(q.Usage)
		}
	}
	return sum
}

// Rate is what the runs of an agent with a model said that they cost, and the tokens that were new in them.
type Rate struct {
	Agent  string `json:"agent"`           // name of its card
	Model  string `json:"model,omitempty"` // which it is about
	USD    Money  `json:"cost_usd"`        // of all of them
	Tokens int64  `json:"tokens"`          // in all of them, without those from a cache
}

const maxRates = 20

func (a *Account) rate(agent, model string) int {
	return slices.IndexFunc(a.Rates, func(r Rate) bool { return r.Agent == agent && r.Model == model })
}

// Priced remembers what a run of an agent with a model said that it cost.
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

// Estimate is what a run that was ended before it said its cost may have cost, by what other runs of this
// session with the same agent and model did for each new token. It is 0 when there is none.
func (a *Account) Estimate(agent, model string, t Tokens) Money {
	i := a.rate(agent, model)
	if i < 0 {
		return 0
	}
	return money(a.Rates[i].USD.USD() * float64(t.Sane().New()) / float64(a.Rates[i].Tokens))
}

// maxCalls bounds the memory of calls.
const maxCalls = 1000

// Called remembers that an agent was started.
func (a *Account) Called(at time.Time) {
	now := at.Unix()
	// clocks jump
	calls := slices.DeleteFunc(slices.Clone(a.Calls), func(c int64) bool { return c <= now-3600 || c > now+3600 })
	calls = append(calls, now)
	a.Calls = calls[max(0, len(calls)-maxCalls):]
}

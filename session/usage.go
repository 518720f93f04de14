package session

import (
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/wfs-dev/wfs/workflows"
)

// Money is an amount of US dollars in millionths: sums of it are exact, in whatever order they are made. In
// JSON it is in dollars.
type Money int64

// Dollars makes money out of what somebody says that something cost. What is no price counts as nothing.
func Dollars(usd float64) Money {
	const most = 1e6 // nobody's run costs a million
	return money(min(usd, most))
}

func money(usd float64) Money {
	if !(usd > 0 && usd < math.MaxInt64/1e6) { // nor is NaN
		return 0
	}
	return Money(math.Round(usd * 1e6))
}

// USD is the amount in dollars.
func (m Money) USD() float64 { return float64(m) / 1e6 }

// MarshalJSON implements json.Marshaler.
func (m Money) MarshalJSON() ([]byte, error) {
	return strconv.AppendFloat(nil, m.USD(), 'f', -1, 64), nil
}

// UnmarshalJSON implements json.Unmarshaler.
func (m *Money) UnmarshalJSON(text []byte) error {
	usd, err := strconv.ParseFloat(string(text), 64)
	if err == nil {
		*m = money(usd)
	}
	return err
}

// Usage is what was used up.
type Usage struct {
	USD Money `json:"cost_usd,omitempty"` // reported by agents and commands, or estimated
	// the estimated part: for runs that were ended before they reported their cost
	Estimated Money  `json:"estimated_usd,omitempty"`
	Tokens    Tokens `json:"tokens,omitzero"` // Tokens
	Turns     int64  `json:"turns,omitempty"` // of conversations
	// runs in which an agent did work; runs that the provider rejected are not counted
	Runs     int64 `json:"runs,omitempty"`
	Priced   int64 `json:"priced,omitempty"`   // how many of those have a cost
	Attempts int64 `json:"attempts,omitempty"` // judged attempts, without answers of a person
	// time of runs and gates; a run that was killed together with wfs counts until its last output
	Millis int64 `json:"millis,omitempty"`
}

// Plus adds two usages.
func (u Usage) Plus(v Usage) Usage { return u.plus(1, v) }

// Minus is what was used up since v.
func (u Usage) Minus(v Usage) Usage { return u.plus(-1, v) }

// plus adds n times v.
func (u Usage) plus(n int64, v Usage) Usage {
	u.USD += Money(n) * v.USD
	u.Estimated += Money(n) * v.Estimated
	u.Turns += n * v.Turns
	u.Runs += n * v.Runs
	u.Priced += n * v.Priced
	u.Attempts += n * v.Attempts
	u.Millis += n * v.Millis
	u.Tokens.Input += n * v.Tokens.Input
	u.Tokens.Output += n * v.Tokens.Output
	u.Tokens.CacheRead += n * v.Tokens.CacheRead
	u.Tokens.CacheWrite += n * v.Tokens.CacheWrite
	return u
}

// Usage is what one run used up. What it says is untrusted: nothing of it is negative.
func (r RunResult) Usage() Usage {
	u := Usage{USD: Dollars(r.CostUSD), Turns: max(0, int64(r.Turns)), Millis: max(0, r.Millis), Tokens: r.Tokens.sane()}
	if u.USD == 0 {
		u.Estimated = Dollars(r.EstimatedUSD)
		u.USD = u.Estimated
	}
	return u
}

// Rate is what the runs of an agent with a model said that they cost, and the tokens that were new in them.
type Rate struct {
	Agent  string `json:"agent"`           // name of its card
	Model  string `json:"model,omitempty"` // which it is about
	USD    Money  `json:"cost_usd"`        // of all of them
	Tokens int64  `json:"tokens"`          // in all of them, without those from a cache
}

const maxRates = 20

func (s *Session) rate(agent, model string) int {
	return slices.IndexFunc(s.Rates, func(r Rate) bool { return r.Agent == agent && r.Model == model })
}

// priced remembers what a run said that it cost.
func (s *Session) priced(r RunResult, u Usage) {
	n := u.Tokens.New()
	if u.USD == u.Estimated || n == 0 {
		return
	}
	rates := slices.Clone(s.Rates)
	i := s.rate(r.Agent, r.Model)
	if i < 0 {
		rates = append(rates[max(0, len(rates)+1-maxRates):], Rate{Agent: r.Agent, Model: r.Model})
		i = len(rates) - 1
	}
	rates[i].USD += u.USD
	rates[i].Tokens += n
	s.Rates = rates
}

// Estimate is what a run that was ended before it said its cost may have cost, by what other runs of this
// session with the same agent and model did for each new token. It is 0 when there is none.
func (s *Session) Estimate(agent, model string, t Tokens) Money {
	i := s.rate(agent, model)
	if i < 0 {
		return 0
	}
	return money(s.Rates[i].USD.USD() * float64(t.sane().New()) / float64(s.Rates[i].Tokens))
}

func (t Tokens) sane() Tokens {
	const most = 1 << 50 // so that sums of them do not overflow
	sane := func(n int64) int64 { return max(0, min(n, most)) }
	return Tokens{Input: sane(t.Input), Output: sane(t.Output), CacheRead: sane(t.CacheRead),
		CacheWrite: sane(t.CacheWrite)}
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

// PhaseUsage is what a phase used up in one lap.
type PhaseUsage struct {
	Phase PhaseName `json:"phase"` // the phase
	Lap   int       `json:"lap"`   // the lap
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

// use counts what an attempt, or a run of it, used up at a time. Nothing ever takes it back: what is spent is spent.
func (s *Session) use(at time.Time, phase PhaseName, lap int, u Usage) {
	if u == (Usage{}) {
		return
	}
	s.Used, s.Fresh = s.Used.Plus(u), s.Fresh.Plus(u)
	s.CostUSD = s.Used.USD.USD()

	s.PhaseUsage = usedIn(slices.Clone(s.PhaseUsage), phase, lap, u)

	begun := at.Unix() - at.Unix()%quarter
	recent := slices.Clone(s.RecentUsage)
	i := slices.IndexFunc(recent, func(q QuarterUsage) bool { return q.At == begun })
	if i < 0 {
		recent = append(recent, QuarterUsage{At: begun})
		recent = recent[max(0, len(recent)-maxQuarters):] // by order, not by time: clocks jump
		i = len(recent) - 1
	}
	recent[i].Usage = recent[i].Usage.Plus(u)
	s.RecentUsage = recent
}

// usedIn adds usage to that of a phase in a lap.
func usedIn(list []PhaseUsage, phase PhaseName, lap int, u Usage) []PhaseUsage {
	i := slices.IndexFunc(list, func(p PhaseUsage) bool { return p.Phase == phase && p.Lap == lap })
	if i < 0 {
		i, list = len(list), append(list, PhaseUsage{Phase: phase, Lap: lap})
	}
	if list[i].Usage = list[i].Plus(u); list[i].Usage == (Usage{}) {
		return slices.Delete(list, i, i+1)
	}
	return list
}

// UsageByPhase is what the session used up, by phase and lap.
func (s *Session) UsageByPhase() []PhaseUsage {
	var list []PhaseUsage
	for _, c := range s.Checkpoints {
		list = usedIn(list, c.Phase, c.Lap, c.Used)
	}
	for _, p := range s.PhaseUsage {
		list = usedIn(list, p.Phase, p.Lap, p.Usage)
	}
	return list
}

// UsedIn is what the session used up in a phase of a lap.
func (s *Session) UsedIn(phase PhaseName, lap int) (sum Usage) {
	for _, c := range s.Checkpoints {
		if c.Phase == phase && c.Lap == lap {
			sum = sum.Plus(c.Used)
		}
	}
	for _, p := range s.PhaseUsage {
		if p.Phase == phase && p.Lap == lap {
			sum = sum.Plus(p.Usage)
		}
	}
	return sum
}

// UsedBetween is what the session used up from one time to before another one, in Unix seconds; both are multiples of a
// quarter of an hour. It knows of the last 25 hours of work.
func (s *Session) UsedBetween(from, to int64) Usage {
	var sum Usage
	for _, q := range s.RecentUsage {
		if q.At >= from && q.At < to {
			sum = sum.Plus(q.Usage)
		}
	}
	return sum
}

// maxCalls bounds the memory of calls.
const maxCalls = 1000

// called remembers that an agent was started.
func (s *Session) called(at time.Time) {
	now := at.Unix()
	// clocks jump
	calls := slices.DeleteFunc(slices.Clone(s.Calls), func(c int64) bool { return c <= now-3600 || c > now+3600 })
	calls = append(calls, now)
	s.Calls = calls[max(0, len(calls)-maxCalls):]
}

// UsageFound is what is known of a run whose end nobody saw. It is appended by whoever finds it.
type UsageFound struct {
	body
	RunID string `json:"run_id"` // id of the run
	Usage
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

// maxWarned bounds the memory of warnings.
const maxWarned = 50

// applyUsage folds the events of this file. It reports false for others.
func (s *Session) applyUsage(e Event) bool {
	switch b := e.Body.(type) {
	case UsageFound:
		if s.Open == nil || s.Open.RunID != b.RunID || s.Open.Run != nil || s.Open.Found {
			return true // counted already
		}
		open := *s.Open
		open.Found = true
		s.Open = &open
		// else its next run would count this one again
		if c := s.Visit.Conversation; c != nil && c.Total != (Total{}) && !open.HalfOpen {
			again := *c
			again.Total.CostUSD += b.USD.USD()
			again.Total.Tokens = Usage{Tokens: c.Total.Tokens}.Plus(b.Usage).Tokens
			s.Visit.Conversation = &again
		}
		s.Visit.Conversation = b.conversation(s.Visit.Conversation)
		s.use(e.At, open.Phase, open.Lap, b.Usage)
		s.Spent.RunMillis += b.Millis
	case BudgetSet:
		s.Budget = b.Budget.Over(s.Budget)
		if s.Status == StatusBlocked && s.Blocked.Reason == BlockBudget {
			s.Status, s.Blocked, s.Why = StatusPaused, nil, "the budget was set"
		}
		s.hear(b.Request)
	case BudgetWarned:
		warned := append(slices.Clone(s.Warned), b.Key)
		s.Warned = warned[max(0, len(warned)-maxWarned):]
	default:
		return false
	}
	return true
}

// Hindered counts runs in a row that the provider or the network did not let work, and that changed nothing.
type Hindered struct {
	// of the newest of these runs: `limit`, `rate_limited`, `overloaded`
	Outcome Outcome `json:"outcome"`
	Runs    int     `json:"runs"`   // in a row, that changed nothing
	Waited  int64   `json:"waited"` // seconds of waiting after them, as planned
}

// ran counts the run of an attempt.
func (s *Session) ran(e Event, open *Open, b RunEnded) {
	if open.Runner == "person" {
		return
	}
	u := b.Usage()
	if open.Runner != "command" && b.Worked() {
		u.Runs = 1
		if u.USD > 0 {
			u.Priced = 1
		}
	}
	s.use(e.At, open.Phase, open.Lap, u)
	s.priced(b.RunResult, u)
	s.hinders(b.RunResult, b.Tree != open.Tree)
	s.LastResult = &b.RunResult
}

// waitsHindered remembers how long runs are waited for that the provider did not let work.
func (s *Session) waitsHindered(b Waiting) {
	switch b.Cause {
	case CauseLimit, CauseRateLimited, CauseOverloaded:
	default:
		return
	}
	if s.Hindered != nil {
		h := *s.Hindered
		h.Waited += max(0, b.Longest)
		s.Hindered = &h
	}
}

// hinders notes whether a run was hindered.
func (s *Session) hinders(r RunResult, changed bool) {
	switch r.Outcome {
	case OutcomeLimit, OutcomeRateLimited, OutcomeOverloaded:
	case OutcomeInterrupted: // says nothing about them
		return
	default:
		s.Hindered = nil
		return
	}
	h := Hindered{Outcome: r.Outcome}
	if s.Hindered != nil && !changed {
		h = *s.Hindered
		h.Outcome = r.Outcome
	}
	h.Runs++
	s.Hindered = &h
}

package decide

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/wfs-dev/wfs/internal/safetext"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/session/cost"
	"github.com/wfs-dev/wfs/session/items"
	"github.com/wfs-dev/wfs/workflows"
)

// Day is a day by the clock of the machine, in Unix seconds: From is its beginning, To is the beginning of the next
// day.
type Day struct{ From, To int64 }

// Elsewhere is the usage of the clone's other sessions on one day, and the times when their agents started.
type Elsewhere struct {
	Used  cost.Usage
	Calls []int64
}

// Add adds the usage of a session on a day, and the times when its agents started.
func (e *Elsewhere) Add(s *session.Session, day Day) {
	e.Used = e.Used.Plus(s.UsedBetween(day.From, day.To))
	e.Calls = append(e.Calls, s.Calls...)
}

// BudgetOf returns the caps of a session. Caps that the user has set for the session override those of its plan.
func BudgetOf(s *session.Session, p *workflows.Plan) workflows.Budget { return s.Budget.Over(p.Budget) }

// Scope is a unit that has caps (the session, its current phase, or the day), with the usage that counts against them.
type Scope struct {
	Name string // "session", "phase", "day"
	Of   string // which one, to build keys: "GREEN 2" (phase and lap), a day's beginning
	Cap  workflows.Cap
	Used cost.Usage
}

// Scopes returns all scopes of a budget for a session in its current phase. `others` is the usage of the clone's other
// sessions today.
func Scopes(s *session.Session, b workflows.Budget, day Day, others cost.Usage) []Scope {
	return []Scope{
		{"session", "", b.Session, s.Used},
		{"phase", fmt.Sprintf("%s %d", s.Phase, s.Lap), b.Phase, cost.In(s.UsageByPhase(), s.Phase, s.Lap)},
		{"day", fmt.Sprint(day.From), b.Day, s.UsedBetween(day.From, day.To).Plus(others)},
	}
}

// Lines returns a line for each of the scope's caps that is set.
func (s Scope) Lines() []session.BudgetLine {
	return slices.DeleteFunc(s.All(), func(l session.BudgetLine) bool { return l.Cap <= 0 })
}

// All returns a line for every cap that a scope can have. Caps that are not set are 0.
func (s Scope) All() []session.BudgetLine {
	lines := []session.BudgetLine{
		{What: "usd", Spent: s.Used.USD.USD(), Cap: s.Cap.USD},
		{What: "tokens", Spent: float64(s.Used.Tokens.Sum()), Cap: float64(s.Cap.Tokens)},
		{What: "turns", Spent: float64(s.Used.Turns), Cap: float64(s.Cap.Turns)},
		{What: "attempts", Spent: float64(s.Used.Attempts), Cap: float64(s.Cap.Attempts)},
		{What: "seconds", Spent: float64(s.Used.Millis) / 1000, Cap: float64(s.Cap.Seconds)},
	}
	for i := range lines {
		lines[i].Scope = s.Name
	}
	return lines
}

// Reached reports whether too little of a cap is left for a run.
func Reached(l session.BudgetLine) bool {
	least := 0.0
	if l.What == "usd" { // less than half a cent is too little
		least = min(0.005, l.Cap/100)
	}
	return l.Spent+least >= l.Cap
}

// Amount formats an amount with its unit: "$2.50", "120 tokens", "1h30m0s".
func Amount(what string, n float64) string {
	switch what {
	case "usd":
		return fmt.Sprintf("$%.2f", n)
	case "seconds":
		return time.Duration(n * float64(time.Second)).Round(time.Second).String()
	}
	return strconv.FormatFloat(n, 'f', 0, 64) + " " + what
}

// warnAt is the share of a cap at which a warning begins.
const warnAt = 0.8

// budget returns the block of the session if a cap is reached, or else warnings of caps that are nearly reached.
func budget(s *session.Session, p *workflows.Plan, f Facts) (warn []session.Body, block *session.BlockedBy) {
	b := session.BlockedBy{Reason: session.BlockBudget}
	for _, scope := range Scopes(s, BudgetOf(s, p), f.Day, f.Elsewhere.Used) {
		for _, l := range scope.Lines() {
			what := scope.Name
			if what == "phase" {
				what = strings.TrimSuffix(fmt.Sprintf("phase %s, %s", s.Phase, items.LapName(s, s.Lap)), ", ")
			}
			key := strings.Join(strings.Fields(fmt.Sprintf("%s %s %s %g", scope.Name, scope.Of, l.What, l.Cap)), " ")
			switch {
			case Reached(l):
				spent := Amount(l.What, l.Spent)
				if l.What == "usd" && scope.Used.Estimated > 0 {
					spent = "~" + spent
				}
				b.Evidence = append(b.Evidence, fmt.Sprintf("%s: used %s of %s", what, spent, Amount(l.What, l.Cap)))
				if b.Hint == "" {
					b.Hint = raise(l) + " && wfs run"
				}
			case l.Spent >= warnAt*l.Cap && !slices.Contains(s.Warned, key):
				warn = append(warn, session.BudgetWarned{BudgetLine: l, Key: key})
			}
		}
	}
	if len(b.Evidence) > 0 {
		return nil, &b
	}
	return warn, nil
}

// raise returns the command that raises a cap above the current usage.
func raise(l session.BudgetLine) string {
	to := l.Cap * 2
	for to <= l.Spent*1.25 {
		to *= 2
	}
	what, value := l.What, strconv.FormatFloat(to, 'f', -1, 64)
	if l.What == "seconds" {
		what, value = "time", (time.Duration(to) * time.Second).String()
	}
	if l.Scope != "session" {
		what = l.Scope + "-" + what
	}
	return "wfs edit --budget-" + what + " " + value
}

// Leave sets the limits of a run: for each unit, such as money or tokens, the least that the caps of the scopes leave.
func Leave(r *session.RunRequest, scopes []Scope) {
	least := func(left, n float64) float64 {
		if left == 0 || n < left {
			return n
		}
		return left
	}
	var usd, tokens, turns, seconds float64
	for _, scope := range scopes {
		for _, l := range scope.Lines() {
			switch n := l.Cap - l.Spent; l.What {
			case "usd":
				usd = least(usd, max(n, 0.001))
			case "tokens":
				tokens = least(tokens, max(n, 1))
			case "turns":
				turns = least(turns, max(n, 1))
			case "seconds":
				seconds = least(seconds, max(n, 1))
			}
		}
	}
	r.LeftUSD, r.LeftTokens, r.LeftTurns, r.LeftTime = usd, int64(tokens), int(turns), time.Duration(seconds)*time.Second
}

// CallWindow is the period, in seconds, for which starts of agents count against the limit of calls per hour.
const CallWindow = 3600

// CallsWithin returns those calls (starts of agents, in Unix seconds) that are within CallWindow now, oldest first. It
// ignores calls far in the future, which were recorded while the clock was wrong.
func CallsWithin(calls []int64, now time.Time) []int64 {
	var list []int64
	for _, c := range calls {
		if c > now.Unix()-CallWindow && c <= now.Unix()+CallWindow {
			list = append(list, c)
		}
	}
	slices.Sort(list)
	return list
}

// CallsPerHour returns how many agents may start within an hour, 0 for no limit.
func CallsPerHour(b workflows.Budget) int {
	switch {
	case b.CallsPerHour < 0:
		return 0 // no limit
	case b.CallsPerHour == 0:
		return workflows.DefaultCallsPerHour
	}
	return int(b.CallsPerHour)
}

// tooFast returns the wait until another agent may start, nil if one may start now.
func tooFast(s *session.Session, p *workflows.Plan, f Facts) *session.Waiting {
	most := CallsPerHour(BudgetOf(s, p))
	calls := CallsWithin(append(slices.Clone(s.Calls), f.Elsewhere.Calls...), f.Now)
	if most == 0 || len(calls) < most {
		return nil
	}
	until := calls[len(calls)-most] + CallWindow
	return &session.Waiting{Reason: session.WaitLimit, Cause: session.CauseCalls, Until: until,
		Longest: max(1, until-f.Now.Unix()),
		Why: fmt.Sprintf("agents were started %s within the last hour in this clone, and may be %s; to allow more: wfs edit %s --budget-calls-per-hour %d",
			safetext.Plural(len(calls), "time", "times"), safetext.Plural(most, "time", "times"), s.ID, 2*most)}
}

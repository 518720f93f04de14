package cmd

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/wfs-dev/wfs/cmd/internal/present"
	"github.com/wfs-dev/wfs/engine/decide"
	"github.com/wfs-dev/wfs/engine/history"
	"github.com/wfs-dev/wfs/phases/agent"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/session/cost"
	"github.com/wfs-dev/wfs/session/items"
	"github.com/wfs-dev/wfs/workflows"
	"github.com/wfs-dev/wfs/workspace"
)

type budgetJSON struct {
	Version int               `json:"version"`
	Session session.ID        `json:"session"`
	Scopes  []scopeJSON       `json:"scopes"`
	Phases  []cost.PhaseUsage `json:"phases,omitempty"` // for each phase and lap
	Calls   callsJSON         `json:"calls"`
}

// scopeJSON is the usage of one scope of caps: a session, a phase or a day.
type scopeJSON struct {
	Scope string             `json:"scope"`           // session, phase or day
	Phase string             `json:"phase,omitempty"` // current phase, if the scope is a phase
	Lap   int                `json:"lap,omitempty"`
	From  *time.Time         `json:"from,omitempty"` // beginning of the day, if the scope is a day
	Used  cost.Usage         `json:"used"`
	Cap   workflows.Cap      `json:"cap"`
	Left  map[string]float64 `json:"left,omitempty"` // what is left, for each cap that is set
	Over  []string           `json:"reached,omitempty"`
	scope *decide.Scope      // for the printed table
}

// callsJSON says how often wfs started agents in this clone during the last hour.
type callsJSON struct {
	LastHour int        `json:"last_hour"`
	PerHour  int        `json:"per_hour,omitempty"` // 0: no limit
	Next     *time.Time `json:"next,omitempty"`     // when the next start is allowed, if the limit is reached
}

type budgetVerb struct{ *app }

func (a *budgetVerb) command() *cobra.Command {
	return &cobra.Command{
		Use: "budget [SESSION]", Short: "usage and limits",
		Long: `Budget shows what a session has used up in money, tokens, turns, attempts and time, what its caps
leave, and the same for its present phase, and for today in all sessions of this clone. Money is what agents
report. What is spent is spent: going back to an earlier checkpoint gives nothing back.

Caps come from budget: in the configuration as it was when the session was created, from wfs new --budget-usd
and from wfs edit --budget-usd. It writes nothing and takes no lock.`,
		Example: `  wfs budget
  wfs budget csv-export --json
  wfs edit --budget-usd 40               change it`,
		Args: upTo(1),
		RunE: with(a.run),
	}
}

func (a *budgetVerb) run(ctx context.Context, args []string) error {
	v, err := a.OpenView(ctx, first(args))
	if err != nil {
		return err
	}
	j, err := a.of(ctx, v)
	if err != nil {
		return err
	}
	if a.json {
		return a.answer(j)
	}
	a.say(&v.Session, j)
	return nil
}

// of collects the usage of a session, and the agent starts in its clone.
func (a *budgetVerb) of(ctx context.Context, v history.View) (budgetJSON, error) {
	s := &v.Session
	j := budgetJSON{Version: jsonVersion, Session: s.ID, Phases: s.UsageByPhase()}
	plan, err := a.PinnedPlan(ctx, v)
	if err != nil {
		return j, err
	}
	day := a.Engine.Today()
	others, err := a.Engine.Elsewhere(ctx, s.ID, day)
	if err != nil {
		return j, err
	}
	b := decide.BudgetOf(s, plan)
	for _, scope := range decide.Scopes(s, b, day, others.Used) {
		if scope.Name != "phase" || s.Phase != workflows.Done {
			j.Scopes = append(j.Scopes, scopeOf(s, scope, day))
		}
	}
	now := a.env.Now()
	calls := decide.CallsWithin(append(others.Calls, s.Calls...), now)
	j.Calls = callsJSON{LastHour: len(calls), PerHour: decide.CallsPerHour(b)}
	if n := len(calls) - j.Calls.PerHour; j.Calls.PerHour > 0 && n >= 0 {
		at := time.Unix(calls[n]+decide.CallWindow, 0).UTC()
		j.Calls.Next = &at
	}
	return j, nil
}

// scopeOf computes how much a scope has used, and how much of its caps is left.
func scopeOf(s *session.Session, scope decide.Scope, day decide.Day) scopeJSON {
	x := scopeJSON{Scope: scope.Name, Used: scope.Used, Cap: scope.Cap, scope: &scope}
	switch scope.Name {
	case "phase":
		x.Phase, x.Lap = string(s.Phase), s.Lap
	case "day":
		from := time.Unix(day.From, 0).UTC()
		x.From = &from
	}
	for _, l := range scope.Lines() {
		if x.Left == nil {
			x.Left = map[string]float64{}
		}
		x.Left[l.What] = max(0, math.Round((l.Cap-l.Spent)*1e6)/1e6)
		if decide.Reached(l) {
			x.Over = append(x.Over, l.What)
		}
	}
	return x
}

func (a *budgetVerb) say(s *session.Session, j budgetJSON) {
	a.env.Short("%s  %s", s.ID, s.Headline())
	rows := [][]any{{"", "", "used", "cap", "left"}}
	for _, x := range j.Scopes {
		name := x.Scope
		switch x.Scope {
		case "phase":
			name = x.Phase
			if lap := items.LapName(s, x.Lap); lap != "" {
				name += ", " + lap
			}
		case "day":
			name = "today, all sessions"
		}
		for _, row := range x.rows() {
			rows = append(rows, append([]any{name}, row...))
			name = ""
		}
	}
	a.env.WholeTable(rows)
	text := fmt.Sprintf("agents were started %d %s within the last hour", j.Calls.LastHour,
		plural(j.Calls.LastHour, "time", "times"))
	if j.Calls.PerHour > 0 {
		text += fmt.Sprintf(", and may be %d times", j.Calls.PerHour)
	}
	if j.Calls.Next != nil {
		text += "; the next one at " + j.Calls.Next.Format("15:04 UTC")
	}
	a.out("%s", text)
	if s.Used.Estimated > 0 {
		a.out("~ is with an estimate for runs that were ended before they reported their cost, by the new tokens of the session's other runs")
	}
	if u := s.Used; u.Runs > u.Priced {
		a.out("%d of %d agent runs reported no cost: caps in dollars do not see them, caps in tokens may",
			u.Runs-u.Priced, u.Runs)
	}
	a.sayPhases(s)
}

// rows lists the amounts of a scope (money, tokens and so on) that are used or have a cap.
func (x *scopeJSON) rows() (rows [][]any) {
	for _, l := range x.scope.All() {
		name := cmp.Or(map[string]string{"usd": "cost", "seconds": "time"}[l.What], l.What)
		spent := amount(l.What, l.Spent)
		if l.What == "usd" {
			spent = present.USD(x.Used)
		}
		limit, left := "–", any("")
		switch {
		case l.Cap <= 0 && l.Spent == 0 && l.What != "usd":
			continue
		case l.Cap <= 0:
		case decide.Reached(l):
			limit, left = amount(l.What, l.Cap), present.Bad("nothing")
		default:
			rest := amount(l.What, max(0, l.Cap-l.Spent))
			limit, left = amount(l.What, l.Cap), rest
			if l.Spent >= 0.8*l.Cap {
				left = present.Notable(rest)
			}
		}
		rows = append(rows, []any{name, spent, limit, left})
	}
	return rows
}

// amount formats a number in the unit of `what`.
func amount(what string, n float64) string {
	switch what {
	case "usd":
		return fmt.Sprintf("$%.2f", n)
	case "seconds":
		return present.Lasting(time.Duration(n * float64(time.Second)))
	case "tokens":
		return thousands(int64(n))
	}
	return strconv.FormatFloat(n, 'f', 0, 64)
}

// thousands groups the digits of a number: 1,234,567.
func thousands(n int64) string {
	text := strconv.FormatInt(n, 10)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// sayPhases prints the usage of each phase, summed over all laps.
func (a *budgetVerb) sayPhases(s *session.Session) {
	var names []session.PhaseName
	sums := map[session.PhaseName]cost.Usage{}
	for _, p := range s.UsageByPhase() {
		if _, known := sums[p.Phase]; !known {
			names = append(names, p.Phase)
		}
		sums[p.Phase] = sums[p.Phase].Plus(p.Usage)
	}
	if len(names) == 0 {
		return
	}
	a.out("by phase:")
	var rows [][]any
	for _, name := range names {
		u := sums[name]
		row := []any{"  " + string(name), present.USD(u)}
		if s.Used.Tokens.Sum() > 0 {
			row = append(row, thousands(u.Tokens.Sum())+" tokens")
		}
		rows = append(rows, append(row, fmt.Sprintf("%d %s", u.Attempts, plural(int(u.Attempts), "attempt", "attempts")),
			present.Lasting(time.Duration(u.Millis)*time.Millisecond)))
	}
	a.env.WholeTable(rows)
}

// costOf returns a session's cost with the caps on the whole session, such as "$1.20 of $5.00". It returns "" if the
// cost is zero.
func costOf(ctx context.Context, w *workspace.Workspace, v *history.View) string {
	s := &v.Session
	if s.Used.USD == 0 && s.Used.Tokens.Sum() == 0 {
		return ""
	}
	var caps workflows.Cap
	if plan, err := w.PinnedPlan(ctx, *v); err == nil { // without the plan, print the cost without caps
		caps = decide.BudgetOf(s, plan).Session
	}
	var parts []string
	add := func(there bool, used, most string) {
		if !there {
			return
		}
		if most != "" {
			used += " of " + most
		}
		parts = append(parts, used)
	}
	usd, tokens := "", ""
	if caps.USD > 0 {
		usd = fmt.Sprintf("$%.2f", caps.USD)
	}
	if caps.Tokens > 0 {
		tokens = present.Count(caps.Tokens)
	}
	n := s.Used.Tokens.Sum()
	add(s.Used.USD > 0 || usd != "", present.USD(s.Used), usd)
	if tokens == "" {
		add(n > 0, present.Tokens(s.Used.Tokens), "")
	} else {
		add(n > 0, present.Count(n)+" tokens", tokens)
	}
	return strings.Join(parts, ", ")
}

// Left reconstructs the usage of a run from its logs, after the run was cut off.
func (w *works) Left(id session.ID, runID string) session.Remains {
	dir, err := w.app.Clone.Session(id).RunDir(runID)
	if err != nil {
		return session.Remains{}
	}
	return agent.Left(dir)
}

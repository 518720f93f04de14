package decide

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/session/cost"
	"github.com/wfs-dev/wfs/workflows"
)

var today = Day{From: noon.Unix() - 12*3600, To: noon.Unix() + 12*3600}

// decide returns the next decision, as of today.
func (l *life) decide(others Elsewhere) Decision {
	return Decide(&l.s, l.plan, Facts{Now: l.now, Tree: "t0", RunID: "r", Day: today, Elsewhere: others})
}

// spend adds a judged attempt with costs.
func (l *life) spend(r session.RunResult) {
	l.t.Helper()
	l.add(session.AttemptStarted{Number: l.s.Runs + 1, Phase: l.s.Phase, Lap: l.s.Lap, Attempt: 1, RunID: "r", Tree: "t0", Runner: "agent"})
	l.add(session.RunEnded{RunResult: r, Tree: "t1"})
	l.add(session.Judged{Judgement: session.Judgement{Tree: "t1", Verdict: session.Pass, Class: session.ClassGreen}})
	l.add(session.Decided{Verdict: session.Pass, Next: l.s.Phase, NextLap: l.s.Lap, Progress: true})
	l.add(session.Checkpointed{Number: l.s.NextNumber(), Trigger: session.TriggerAttempt, Code: "c", Tree: "t1", Phase: l.s.Phase, Lap: l.s.Lap, Verdict: session.Pass})
	l.s.Conclude = false
	l.s.Visit = session.Visit{}
}

func TestBudgets(t *testing.T) {
	t.Parallel()
	run := session.RunResult{Outcome: session.OutcomeOK, CostUSD: 1, Tokens: cost.Tokens{Input: 400, CacheRead: 600}, Turns: 10, Millis: 60_000}
	for name, c := range map[string]struct {
		budget   workflows.Budget
		others   cost.Usage
		evidence string
		hint     string
	}{
		"money":    {workflows.Budget{Session: workflows.Cap{USD: 3}}, cost.Usage{}, "session: used $3.00 of $3.00", "wfs edit --budget-usd 6 && wfs run"},
		"tokens":   {workflows.Budget{Session: workflows.Cap{Tokens: 2500}}, cost.Usage{}, "session: used 3000 tokens of 2500 tokens", "wfs edit --budget-tokens 5000 && wfs run"},
		"turns":    {workflows.Budget{Phase: workflows.Cap{Turns: 30}}, cost.Usage{}, "phase RED, lap 1: used 30 turns of 30 turns", "wfs edit --budget-phase-turns 60 && wfs run"},
		"attempts": {workflows.Budget{Day: workflows.Cap{Attempts: 3}}, cost.Usage{}, "day: used 3 attempts of 3 attempts", "wfs edit --budget-day-attempts 6 && wfs run"},
		"time":     {workflows.Budget{Session: workflows.Cap{Seconds: 100}}, cost.Usage{}, "session: used 3m0s of 1m40s", "wfs edit --budget-time 6m40s && wfs run"},
		"the day, also by others": {workflows.Budget{Day: workflows.Cap{USD: 10}}, cost.Usage{USD: cost.Dollars(7.25)},
			"day: used $10.25 of $10.00", "wfs edit --budget-day-usd 20 && wfs run"},
		"others do not count for a session": {workflows.Budget{Session: workflows.Cap{USD: 10}}, cost.Usage{USD: cost.Dollars(70)}, "", ""},
		"none":                              {workflows.Budget{}, cost.Usage{USD: cost.Dollars(1000)}, "", ""},
	} {
		l := newLife(t)
		l.plan.Budget = c.budget
		for range 3 {
			l.spend(run)
		}
		d := l.decide(Elsewhere{Used: c.others})
		if c.evidence == "" {
			if d.Effect != EffectRun {
				t.Errorf("%s: %+v", name, d)
			}
			continue
		}
		b, ok := d.Events[0].(session.BlockedBy)
		if d.Effect != EffectStop || !ok || b.Reason != session.BlockBudget || !slices.Contains(b.Evidence, c.evidence) || b.Hint != c.hint {
			t.Errorf("%s: %+v", name, d)
			continue
		}
		// The hint's command raises the cap, even while the session is blocked.
		l.add(b)
		more := workflows.Budget{Session: workflows.Cap{USD: 6, Tokens: 5000, Seconds: 400}, Phase: workflows.Cap{Turns: 60}, Day: workflows.Cap{USD: 20, Attempts: 6}}
		l.add(session.BudgetSet{Budget: more})
		if l.s.Status != session.StatusPaused {
			t.Errorf("%s: still %s", name, l.s.Status)
		}
		l.add(session.Driving{})
		if d := l.decide(Elsewhere{Used: c.others}); d.Effect != EffectRun {
			t.Errorf("%s, raised: %+v", name, d)
		}
	}
}

func TestBudgetIsWarnedOfOnce(t *testing.T) {
	t.Parallel()
	l := newLife(t)
	l.plan.Budget.Session.USD = 10
	warned := func() (n int) {
		for _, b := range l.decide(Elsewhere{}).Events {
			if _, is := b.(session.BudgetWarned); is {
				n++
				l.add(b)
			}
		}
		return n
	}
	l.spend(session.RunResult{CostUSD: 7.9})
	before := warned()
	l.spend(session.RunResult{CostUSD: 0.1})
	at, again := warned(), warned()
	l.add(session.BudgetSet{Budget: workflows.Budget{Session: workflows.Cap{USD: 9.5}}})
	if anew := warned(); before != 0 || at != 1 || again != 0 || anew != 1 {
		t.Errorf("warned %d, then %d, then %d, of another cap %d", before, at, again, anew)
	}
}

func TestTheCapIsNotRaisedByGoingBack(t *testing.T) {
	t.Parallel()
	l := newLife(t)
	l.plan.Budget = workflows.Budget{Session: workflows.Cap{USD: 2}, Phase: workflows.Cap{Turns: 5}}
	l.spend(session.RunResult{CostUSD: 2, Turns: 5})
	m := session.MoveStarted{How: session.MoveResume, To: 0}
	l.add(m)
	l.add(session.Moved{MoveStarted: m})
	if d := l.decide(Elsewhere{}); d.Effect != EffectStop || len(d.Events[0].(session.BlockedBy).Evidence) != 2 {
		t.Errorf("%+v", d)
	}
}

// TestNothingBeginsBeyondABudget spends random amounts in this session and in others. An attempt may begin only while
// every cap has something left, and its limit is the smallest rest.
func TestNothingBeginsBeyondABudget(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		l := newLife(t)
		usd := rapid.Float64Range(0.02, 5)
		l.plan.Budget = workflows.Budget{Session: workflows.Cap{USD: usd.Draw(rt, "session")}, Day: workflows.Cap{USD: usd.Draw(rt, "day")},
			Phase: workflows.Cap{Turns: int64(rapid.IntRange(0, 30).Draw(rt, "turns"))}}
		others := Elsewhere{}
		var spent, all float64
		var turns int64
		for range 20 {
			d := l.decide(others)
			over := spent+0.005 >= l.plan.Budget.Session.USD || all+0.005 >= l.plan.Budget.Day.USD || l.plan.Budget.Phase.Turns > 0 && turns >= l.plan.Budget.Phase.Turns
			if over != (d.Effect == EffectStop) && !nearly(spent, l.plan.Budget.Session.USD) && !nearly(all, l.plan.Budget.Day.USD) {
				rt.Fatalf("spent %v, in all %v, %d turns, of %+v: %+v", spent, all, turns, l.plan.Budget, d)
			}
			if d.Effect == EffectStop {
				return
			}
			var req session.RunRequest
			Leave(&req, Scopes(&l.s, BudgetOf(&l.s, l.plan), today, others.Used))
			if req.LeftUSD <= 0 || req.LeftUSD > min(l.plan.Budget.Session.USD-spent, l.plan.Budget.Day.USD-all)+0.002 {
				rt.Fatalf("left %v of %+v, with %v and %v spent", req.LeftUSD, l.plan.Budget, spent, all)
			}
			if most := l.plan.Budget.Phase.Turns; most > 0 && int64(req.LeftTurns) != most-turns {
				rt.Fatalf("%d turns left of %d, with %d taken", req.LeftTurns, most, turns)
			}
			r := session.RunResult{CostUSD: rapid.Float64Range(0, 1).Draw(rt, "cost"), Turns: rapid.IntRange(0, 9).Draw(rt, "took")}
			l.spend(r)
			spent, all, turns = spent+r.CostUSD, all+r.CostUSD, turns+int64(r.Turns)
			if rapid.Bool().Draw(rt, "others") {
				more := rapid.Float64Range(0, 0.5).Draw(rt, "more")
				others.Used.USD += cost.Dollars(more)
				all += more
			}
		}
	})
}

// nearly reports whether a is so close to b that rounding or the half-cent minimum decides.
func nearly(a, b float64) bool { return a > b-0.006 && a < b+0.001 }

func TestCallsPerHour(t *testing.T) {
	t.Parallel()
	l := newLife(t)
	l.plan.Budget.CallsPerHour = 3
	l.plan.Agent.Command = workflows.Command{Shell: "agent"}
	ago := func(minutes ...int) (list []int64) {
		for _, m := range minutes {
			list = append(list, l.now.Unix()-int64(m)*60)
		}
		return list
	}
	for name, c := range map[string]struct {
		calls []int64
		wait  int // minutes
	}{
		"few":                               {ago(1, 2), 0},
		"old ones":                          {ago(60, 70, 80, 1), 0},
		"as many as may be":                 {ago(50, 2, 1), 10},
		"more than may be":                  {ago(50, 40, 30, 20), 20},
		"of a clock that is years ahead":    {append(ago(1, 2), l.now.AddDate(10, 0, 0).Unix()), 0},
		"of a clock that is a little ahead": {ago(-1, -2, 5), 55},
	} {
		d := l.decide(Elsewhere{Calls: c.calls})
		w, waits := d.Events[len(d.Events)-1].(session.Waiting)
		switch {
		case c.wait == 0:
			if d.Effect != EffectRun {
				t.Errorf("%s: %+v", name, d)
			}
		case !waits || d.Effect != EffectAgain || w.Cause != session.CauseCalls || w.Until != l.now.Unix()+int64(c.wait)*60 || w.Longest != int64(c.wait)*60:
			t.Errorf("%s: %+v", name, d)
		}
	}
	l.plan.Budget.CallsPerHour = 0
	if d := l.decide(Elsewhere{Calls: ago(make([]int, 99)...)}); d.Effect != EffectRun {
		t.Errorf("99 calls of the default: %+v", d)
	}
	if d := l.decide(Elsewhere{Calls: ago(make([]int, 100)...)}); d.Effect != EffectAgain {
		t.Errorf("100 calls of the default: %+v", d)
	}
	l.add(session.BudgetSet{Budget: workflows.Budget{CallsPerHour: workflows.NoCap}})
	if d := l.decide(Elsewhere{Calls: ago(make([]int, 100)...)}); d.Effect != EffectRun {
		t.Errorf("without a limit: %+v", d)
	}
}

func TestBreakerSaysWhatWasNotPermitted(t *testing.T) {
	t.Parallel()
	l := newLife(t)
	l.s.LastResult = &session.RunResult{Outcome: session.OutcomeDenied, Denials: 4, Denied: []string{"Bash"}}
	l.s.Visit = session.Visit{Attempts: 3, NoProgress: 3}
	b := l.decide(Elsewhere{}).Events[0].(session.BlockedBy)
	if text := strings.Join(b.Evidence, "\n"); !strings.Contains(text, "4 calls were not permitted: Bash") || !strings.Contains(b.Hint, "wfs edit --reload") {
		t.Errorf("%+v", b)
	}
}

// TestTheDayOfAQuarter checks that usage at any second of a day, in any time zone, counts for that day only.
func TestTheDayOfAQuarter(t *testing.T) {
	t.Parallel()
	for _, minutes := range []int{0, 60, 330, 345, 570, 765, -210, -720, 840} {
		zone := time.FixedZone(fmt.Sprint(minutes), minutes*60)
		from := time.Date(2030, 3, 4, 0, 0, 0, 0, zone)
		for at, in := range map[time.Time]bool{from: true, from.Add(-time.Second): false, from.Add(24*time.Hour - time.Second): true, from.Add(24 * time.Hour): false} {
			l := newLife(t)
			l.now = at
			l.spend(session.RunResult{CostUSD: 1})
			if got := l.s.UsedBetween(from.Unix(), from.AddDate(0, 0, 1).Unix()).USD; (got != 0) != in {
				t.Errorf("%s at %s: %v", zone, at, got)
			}
		}
	}
}

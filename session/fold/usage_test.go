package fold_test

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/session/cost"
	"github.com/wfs-dev/wfs/session/fold"
	"github.com/wfs-dev/wfs/workflows"
)

// spender simulates a session whose runs cost something.
type spender struct {
	t      *rapid.T
	s      session.Session
	at     time.Time
	events []session.Event
}

func newSpender(t *rapid.T) *spender {
	p := &spender{t: t, at: start}
	p.add(session.Created{ID: "x", Goal: "g", Start: "RED", Laps: true})
	p.checkpoint(session.TriggerBirth)
	return p
}

func (p *spender) add(b session.Body) {
	e := session.Event{Seq: p.s.Seq + 1, At: p.at, Body: b}
	s, err := fold.Extend(p.s, []session.Event{e})
	if err != nil {
		p.t.Fatalf("%s: %v", session.Event{Body: b}.Kind(), err)
	}
	p.s, p.events = s, append(p.events, e)
}

func (p *spender) checkpoint(trigger session.Trigger) {
	p.add(session.Checkpointed{Number: p.s.NextNumber(), Trigger: trigger, Code: "c", Tree: "t", Phase: p.s.Phase,
		Lap: p.s.Lap})
}

func (p *spender) attempt() {
	p.add(session.AttemptStarted{Number: p.s.Runs + 1, Phase: p.s.Phase, Lap: p.s.Lap, Attempt: 1,
		RunID: fmt.Sprint("r", p.s.Runs), Tree: "t",
		Runner: rapid.SampledFrom([]string{"agent", "agent", "command", "script"}).Draw(p.t, "runner")})
}

func drawResult(t *rapid.T) session.RunResult {
	usd := rapid.OneOf(rapid.Float64Range(0, 3),
		rapid.SampledFrom([]float64{0, 0.1, 0.25, -4, math.NaN(), math.Inf(1), math.Inf(-1), 1e300})).Draw(t, "usd")
	tokens := rapid.OneOf(rapid.Int64Range(-5, 1<<20), rapid.SampledFrom([]int64{math.MaxInt64, math.MinInt64}))
	return session.RunResult{
		Outcome: rapid.SampledFrom([]session.Outcome{session.OutcomeOK, session.OutcomeFailed, session.OutcomeLimit,
			session.OutcomeInterrupted}).Draw(t, "outcome"),
		CostUSD: usd, Turns: rapid.IntRange(-3, 40).Draw(t, "turns"), Millis: rapid.Int64Range(-5, 1<<30).Draw(t, "millis"),
		Tokens: cost.Tokens{Input: tokens.Draw(t, "input"), Output: tokens.Draw(t, "output"),
			CacheRead: tokens.Draw(t, "read"), CacheWrite: tokens.Draw(t, "write")},
	}
}

// end ends the open attempt in one of the possible ways, and returns its usage.
func (p *spender) end(r session.RunResult) cost.Usage {
	if math.IsNaN(r.CostUSD) || math.IsInf(r.CostUSD, 0) { // no event can hold that
		r.CostUSD = 0
	}
	u, runner := r.Usage(), p.s.Open.Runner
	how := rapid.IntRange(0, 4).Draw(p.t, "end")
	if how == 0 { // the run was cut off; two processes found its usage, and the first was killed right after it
		p.add(session.UsageFound{RunID: p.s.Open.RunID, Usage: u})
		p.add(session.UsageFound{RunID: p.s.Open.RunID, Usage: u})
		p.add(session.Interrupted{Why: "killed"})
		return u
	}
	if runner != "command" && r.Worked() {
		u.Runs = 1
		if u.USD > 0 {
			u.Priced = 1
		}
	}
	p.add(session.RunEnded{RunResult: r, Tree: "u"})
	switch how {
	case 1:
		p.add(session.Voided{Why: "v"})
	case 2:
		p.add(session.Waiting{Reason: session.WaitLimit, Until: p.at.Unix() + 60})
	case 3:
		p.add(session.BlockedBy{Reason: session.BlockRunner})
	default:
		gate := rapid.Int64Range(0, 10000).Draw(p.t, "gate")
		p.add(session.Judged{Judgement: session.Judgement{Tree: "u", Verdict: session.Fail,
			Gates: []session.GateResult{{Millis: gate}}}})
		p.add(session.Decided{Verdict: session.Fail, Next: p.s.Phase, NextLap: p.s.Lap})
		p.checkpoint(session.TriggerAttempt)
		u.Millis, u.Attempts = u.Millis+gate, 1
	}
	return u
}

// TestUsageIsTheSumOfRuns expects that the usage of each run is counted exactly once, in any history.
func TestUsageIsTheSumOfRuns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := newSpender(t)
		var want cost.Usage
		for range rapid.IntRange(0, 30).Draw(t, "steps") {
			p.at = p.at.Add(time.Duration(rapid.IntRange(-100, 3600).Draw(t, "later")) * time.Second)
			switch rapid.IntRange(0, 6).Draw(t, "step") {
			case 0: // back to an earlier checkpoint, which does not reduce the usage
				m := session.MoveStarted{How: session.MoveResume, To: rapid.IntRange(0, p.s.NextNumber()-1).Draw(t, "to")}
				p.add(m)
				p.add(session.Moved{MoveStarted: m})
			case 1:
				p.add(session.Repinned{Workflow: "w", Start: "RED", Laps: true, Phase: p.s.Phase})
			case 2:
				to := rapid.SampledFrom([]session.PhaseName{"RED", "GREEN"}).Draw(t, "phase")
				p.add(session.PhaseMoved{From: p.s.Phase, To: to, Lap: p.s.Lap + 1, NewLap: true})
			default:
				p.attempt()
				want = want.Plus(p.end(drawResult(t)))
			}
		}
		if p.s.Used != want {
			t.Fatalf("used %+v, want %+v", p.s.Used, want)
		}
		if p.s.CostUSD != want.USD.USD() {
			t.Fatalf("cost %v, want %v", p.s.CostUSD, want.USD)
		}
		var phases, recent cost.Usage
		for _, x := range p.s.UsageByPhase() {
			phases = phases.Plus(x.Usage)
		}
		for _, x := range p.s.RecentUsage {
			recent = recent.Plus(x.Usage)
		}
		checkpoints := p.s.Fresh
		for _, c := range p.s.Checkpoints {
			checkpoints = checkpoints.Plus(c.Used)
		}
		if phases != want || recent != want || checkpoints != want {
			t.Fatalf("by phase %+v, by time %+v, by checkpoint %+v, want %+v", phases, recent, checkpoints, want)
		}
		if all := p.s.UsedBetween(0, math.MaxInt64); all != want {
			t.Fatalf("between always and never: %+v", all)
		}
		for _, n := range []int64{int64(want.USD), want.Turns, want.Runs, want.Priced, want.Attempts, want.Millis,
			want.Tokens.Sum()} {
			if n < 0 {
				t.Fatalf("negative: %+v", want)
			}
		}
		data, err := json.Marshal(p.s)
		if err != nil {
			t.Fatal(err)
		}
		var back session.Session
		if err := json.Unmarshal(data, &back); err != nil || back.Used != want || back.Fresh != p.s.Fresh {
			t.Fatalf("%v: through JSON %+v, want %+v", err, back.Used, want)
		}
	})
}

// TestUsageHasNoOrder expects the same sum for the same runs in another order.
func TestUsageHasNoOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var runs []session.RunResult
		for range rapid.IntRange(0, 40).Draw(t, "runs") {
			runs = append(runs, drawResult(t))
		}
		sum := func() (u cost.Usage) {
			for _, r := range runs {
				u = u.Plus(r.Usage())
			}
			return u
		}
		before := sum()
		rand.New(rand.NewPCG(1, uint64(len(runs)))).Shuffle(len(runs), func(i, k int) { runs[i], runs[k] = runs[k], runs[i] })
		if after := sum(); after != before {
			t.Fatalf("%+v, then %+v", before, after)
		}
	})
}

func TestBudgetsThatWereTyped(t *testing.T) {
	t.Parallel()
	fold := func(bodies ...session.Body) session.Session {
		var events []session.Event
		for i, b := range bodies {
			events = append(events, session.Event{Seq: int64(i + 1), At: start, Body: b})
		}
		s, err := fold.Fold(events)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	s := fold(session.Created{ID: "x", Start: "RED", Budget: workflows.Budget{Session: workflows.Cap{USD: 5, Turns: 9}}},
		session.BudgetSet{Budget: workflows.Budget{Session: workflows.Cap{USD: 7},
			Day: workflows.Cap{Tokens: workflows.NoCap}}, Request: "q"},
		session.BudgetWarned{Key: "k"})
	want := workflows.Budget{Session: workflows.Cap{USD: 7, Turns: 9}, Day: workflows.Cap{Tokens: -1}}
	if s.Budget != want || len(s.Heard) != 1 || len(s.Warned) != 1 {
		t.Errorf("%+v, heard %v, warned %v", s.Budget, s.Heard, s.Warned)
	}
	if got := s.Budget.Over(workflows.Budget{Day: workflows.Cap{Tokens: 10, Attempts: 3}}); got.Day.Tokens != -1 ||
		got.Day.Attempts != 3 || got.Session.Turns != 9 {
		t.Errorf("over a plan: %+v", got)
	}
}

func TestCallsOfTheLastHour(t *testing.T) {
	t.Parallel()
	var s session.Session
	add := func(at int64, b session.Body) {
		var err error
		if s, err = fold.Extend(s, []session.Event{{Seq: s.Seq + 1, At: time.Unix(at, 0), Body: b}}); err != nil {
			t.Fatal(err)
		}
	}
	add(0, session.Created{ID: "x", Start: "RED"})
	for _, at := range []int64{1000, 2000, 4500, 400_000_000, 4600} { // a clock that is years ahead for a while
		add(at, session.AttemptStarted{Phase: "RED", Runner: "agent"})
		add(at, session.Voided{})
	}
	if fmt.Sprint(s.Calls) != "[4600]" && fmt.Sprint(s.Calls) != "[4500 4600]" {
		t.Errorf("%v", s.Calls)
	}
	add(4700, session.AttemptStarted{Phase: "RED", Runner: "command"})
	if s.Calls[len(s.Calls)-1] != 4600 {
		t.Errorf("a command is no call: %v", s.Calls)
	}
}

package decide

import (
	"fmt"
	"reflect"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/session/fold"
	"github.com/wfs-dev/wfs/session/items"
	"github.com/wfs-dev/wfs/workflows"
)

func tdd(t interface{ Fatalf(string, ...any) }) *workflows.Plan {
	text, _ := workflows.BuiltinText("tdd")
	w, findings := workflows.ParseWorkflow("tdd.yaml", text)
	if w == nil {
		t.Fatalf("no workflow tdd: %v", findings)
	}
	return &workflows.Plan{Workflow: *w}
}

// world feeds random observations to Decide, as Run feeds real ones.
type world struct {
	t      *rapid.T
	plan   *workflows.Plan
	s      session.Session
	events []session.Event
	trees  int
}

func newWorld(t *rapid.T, items int) *world {
	w := &world{t: t, plan: tdd(t)}
	c := session.Created{ID: "x", Goal: "g", Start: "RED", Laps: true}
	for i := range items {
		c.Items = append(c.Items, fmt.Sprint("item ", i))
	}
	w.add(c)
	w.add(session.Checkpointed{Trigger: session.TriggerBirth, Code: "c0", Tree: w.tree(), Phase: "RED", Lap: 1})
	w.add(session.Driving{})
	return w
}

func (w *world) tree() session.Tree {
	w.trees++
	return session.Tree(fmt.Sprintf("%040x", w.trees))
}

func (w *world) add(b session.Body) {
	e := session.Event{Seq: w.s.Seq + 1, At: time.Unix(int64(w.s.Seq), 0), Body: b}
	s, err := fold.Extend(w.s, []session.Event{e})
	if err != nil {
		w.t.Fatalf("%s: %v", session.Event{Body: b}.Kind(), err)
	}
	w.s, w.events = s, append(w.events, e)
}

func (w *world) observe() {
	o := w.s.Open
	r := session.RunResult{Outcome: rapid.SampledFrom(outcomes).Draw(w.t, "outcome"), Done: rapid.Bool().Draw(w.t, "done"), Ask: "which one?"}
	if rapid.Bool().Draw(w.t, "nothing left") {
		r.NothingLeft = "TestOne"
	}
	if rapid.Bool().Draw(w.t, "until") { // the end is known, and may be past, or years away
		r.WaitUntil = rapid.Int64Range(1, 1<<40).Draw(w.t, "wait until")
	}
	after := o.Tree
	if rapid.Bool().Draw(w.t, "changed") && r.Outcome != session.OutcomeNotStarted {
		after = w.tree()
	}
	w.add(session.RunEnded{RunResult: r, Tree: after})
}

// outcomes has outcomes with a judged attempt more often; otherwise most histories would be short.
var outcomes = []session.Outcome{session.OutcomeOK, session.OutcomeOK, session.OutcomeOK, session.OutcomeOK, session.OutcomeOK, session.OutcomeOK,
	session.OutcomeDenied, session.OutcomeRefused, session.OutcomeCapped, session.OutcomeFailed, session.OutcomeFailed, session.OutcomeNotStarted,
	session.OutcomeIdle, session.OutcomeTimeout, session.OutcomeWait, session.OutcomeWait, session.OutcomeAsk, session.OutcomeInterrupted,
	session.OutcomeLimit, session.OutcomeLimit, session.OutcomeRateLimited, session.OutcomeOverloaded, session.OutcomeOverloaded, session.OutcomeAuth,
	session.OutcomeBilling, session.OutcomeConfig, session.OutcomeTooLong, session.OutcomeHung, session.OutcomeNoResult}

func (w *world) judge() {
	j := session.Judgement{Tree: w.s.Open.After, Verdict: session.Fail, Class: session.ClassTargetFailing, Reason: "r"}
	switch rapid.IntRange(0, 5).Draw(w.t, "judgement") {
	case 0, 1, 2:
		j.Verdict, j.Class = session.Pass, session.ClassGreen
	case 3:
		j.Class = session.ClassNothingAdded
		if rapid.Bool().Draw(w.t, "shown") {
			j.Shown = "TestOne"
		}
	case 4:
		j.Verdict, j.Class = session.Blocked, session.ClassInfraError
	}
	w.add(session.Judged{Judgement: j})
}

// save makes a checkpoint that is not judged.
func (w *world) save() {
	w.add(session.Checkpointed{Number: w.s.NextNumber(), Trigger: session.TriggerInterrupted, Code: session.Commit(fmt.Sprint("c", w.s.NextNumber())),
		Tree: w.tree(), Phase: w.s.Phase, Lap: w.s.Lap})
}

func (w *world) checkpoint() {
	o := w.s.Open
	w.add(session.Checkpointed{Number: w.s.NextNumber(), Trigger: session.TriggerAttempt, Code: session.Commit(fmt.Sprint("c", w.s.NextNumber())),
		Tree: o.Judgement.Tree, Phase: w.s.Phase, Lap: w.s.Lap, Attempt: o.Attempt, Verdict: o.Decided.Verdict, Class: o.Decided.Class})
}

func TestDecideDrivesToAnEnd(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		items := rapid.IntRange(0, 4).Draw(t, "items")
		w := newWorld(t, items)
		auto := rapid.Bool().Draw(t, "auto")
		const most = 200000 // far more than laps × attempts × waits allow
		now := time.Unix(0, 0).AddDate(100, 0, 0)
		for step := 0; ; step++ {
			if step == most {
				t.Fatalf("still running after %d steps, in %s of lap %d", most, w.s.Phase, w.s.Lap)
			}
			now = now.Add(DefaultWait)
			if w.s.Status == session.StatusWaiting && rapid.IntRange(0, 9).Draw(t, "clock") == 0 { // the clock jumps by years
				now = now.AddDate(rapid.SampledFrom([]int{-10, 10}).Draw(t, "years"), 0, 0)
			}
			f := Facts{Now: now, Tree: "t", RunID: fmt.Sprint("r", step), Auto: auto}
			before := w.s
			d := Decide(&w.s, w.plan, f)
			if again := Decide(&before, w.plan, f); !reflect.DeepEqual(d, again) {
				t.Fatalf("two decisions on the same facts: %+v and %+v", d, again)
			}
			for _, b := range d.Events {
				w.add(b)
			}
			switch d.Effect {
			case EffectRun:
				if before.Open == nil && w.s.Open == nil {
					t.Fatal("something runs and no event says so")
				}
				w.observe()
			case EffectJudge:
				w.judge()
			case EffectCheckpoint:
				counted := w.s.Visit.Attempts
				w.checkpoint()
				if w.s.Visit.Attempts > counted+1 {
					t.Fatal("one attempt counted twice")
				}
			case EffectKeep:
				if before.Open.After == before.Open.Tree {
					t.Fatal("a checkpoint of what did not change")
				}
				w.save()
			case EffectSave:
				w.save()
				checkEnd(t, w, items)
				return
			case EffectStop:
				checkEnd(t, w, items)
				return
			}
			if d.Effect != EffectCheckpoint && w.s.Visit.Attempts > before.Visit.Attempts {
				t.Fatalf("%s counted as an attempt", d.Effect)
			}
			checkCount(t, &before, &w.s, d)
		}
	})
}

// checkCount checks that only judged work and failed runs affect the breaker and the count of failed runs.
func checkCount(t *rapid.T, before, after *session.Session, d Decision) {
	if before.Open == nil || before.Open.Run == nil || before.Open.Judgement != nil {
		return
	}
	switch r := before.Open.Run; r.Outcome {
	case session.OutcomeWait, session.OutcomeLimit, session.OutcomeRateLimited, session.OutcomeOverloaded, session.OutcomeAuth, session.OutcomeBilling,
		session.OutcomeConfig, session.OutcomeAsk, session.OutcomeInterrupted:
		if d.Effect == EffectJudge || !reflect.DeepEqual(after.Visit, before.Visit) || after.Failed != before.Failed || after.Tries != before.Tries {
			t.Fatalf("%s led to %s, and counted: %+v, then %+v", r.Outcome, d.Effect, before.Visit, after.Visit)
		}
		if before.Open.After != before.Open.Tree && d.Effect != EffectKeep && d.Effect != EffectSave {
			t.Fatalf("%s led to %s, and nothing keeps what the run had changed", r.Outcome, d.Effect)
		}
	}
	if w := after.Waiting; w != nil && w.Reason == session.WaitLimit && (w.Longest < 0 || w.Longest > int64((maxWait+2*time.Minute)/time.Second)) {
		t.Fatalf("a wait of %d seconds", w.Longest)
	}
}

// checkEnd checks that only the engine's own verdicts complete a session, and that other ends have a reason and a hint.
func checkEnd(t *rapid.T, w *world, want int) {
	switch s := &w.s; s.Status {
	case session.StatusCompleted:
		ended, agreed := 0, 0
		for _, e := range w.events {
			switch b := e.Body.(type) {
			case session.Decided:
				if b.LapEnded {
					ended++
					if b.Verdict != session.Pass {
						t.Fatal("a lap ended without a pass")
					}
				}
			case session.Agreed:
				agreed++
			}
		}
		if want > 0 && ended+agreed != want {
			t.Fatalf("completed after %d laps and %d agreements, with %d items", ended, agreed, want)
		}
		if ended == 0 {
			t.Fatal("completed although no lap was judged and no person was asked")
		}
		for _, item := range items.States(s) {
			if !item.Settled() {
				t.Fatalf("completed with an item that is %s", item.State)
			}
		}
		if want == 0 && agreed == 0 {
			t.Fatal("completed although nobody agreed that nothing is left")
		}
	case session.StatusBlocked:
		if len(s.Blocked.Evidence) == 0 || s.Blocked.Hint == "" {
			t.Fatalf("blocked without evidence or a command to type: %+v", s.Blocked)
		}
	case session.StatusWaiting:
		if s.Waiting.Ask == "" {
			t.Fatalf("waits for a person and Asks nothing: %+v", s.Waiting)
		}
	case session.StatusInterrupted:
	default:
		t.Fatalf("stopped as %s", s.Status)
	}
}

func TestTrip(t *testing.T) {
	l := workflows.Limits{Attempts: 10, NoProgress: 3, SameFailure: 4}
	for _, c := range []struct {
		v    session.Visit
		want BreakerState
	}{
		{session.Visit{}, BreakerClosed},
		{session.Visit{Attempts: 1, NoProgress: 1, SameFailure: 1}, BreakerClosed},
		{session.Visit{Attempts: 2, NoProgress: 2, SameFailure: 2}, BreakerHalfOpen},
		{session.Visit{Attempts: 3, NoProgress: 3, SameFailure: 1}, BreakerOpen},
		{session.Visit{Attempts: 3, NoProgress: 0, SameFailure: 3}, BreakerHalfOpen},
		{session.Visit{Attempts: 4, NoProgress: 0, SameFailure: 4}, BreakerOpen},
		{session.Visit{Attempts: 10, NoProgress: 0, SameFailure: 1}, BreakerOpen},
		{session.Visit{Attempts: 13, Fewer: 4, NoProgress: 0, SameFailure: 1}, BreakerClosed},
		{session.Visit{Attempts: 14, Fewer: 4, NoProgress: 0, SameFailure: 1}, BreakerOpen},
	} {
		if got, _ := Trip(l, c.v); got != c.want {
			t.Errorf("%+v: %s, want %s", c.v, got, c.want)
		}
	}
	// Half-open is reachable even if the second attempt without progress opens the breaker.
	if got, _ := Trip(workflows.Limits{NoProgress: 2}, session.Visit{Attempts: 1, NoProgress: 1, SameFailure: 1}); got != BreakerHalfOpen {
		t.Errorf("threshold 2, one attempt without progress: %s", got)
	}
}

func TestProgress(t *testing.T) {
	s := session.Session{Open: &session.Open{}, Visit: session.Visit{Attempts: 1, Trees: []session.Tree{"seen"}, Seen: []string{"tests:old"}, Best: 1, High: session.Reached{Ran: true}}}
	s.Open.Tree = "start"
	failing := func(tree session.Tree, passing int, fingerprint string) *session.Judgement {
		return &session.Judgement{Tree: tree, Verdict: session.Fail, Class: session.ClassTargetFailing,
			Gates: []session.GateResult{{Gate: "tests", Verdict: session.Fail, Passing: passing, Fingerprint: fingerprint, Counts: session.Counts{Failed: 1}}}}
	}
	for name, c := range map[string]struct {
		j    *session.Judgement
		want bool
	}{
		"passed":                       {&session.Judgement{Tree: "start", Verdict: session.Pass}, true},
		"changed nothing":              {failing("start", 5, "new"), false},
		"went in a circle":             {failing("seen", 5, "new"), false},
		"more tests pass":              {failing("new", 2, "old"), true},
		"fails in the same way":        {failing("new", 1, "old"), false},
		"fails in a way not seen here": {failing("new", 1, "new"), true},
	} {
		if got := stepOf(&s, c.j) != ""; got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

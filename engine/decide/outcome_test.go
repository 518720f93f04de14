package decide

import (
	"strings"
	"testing"
	"time"

	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/session/fold"
	"github.com/wfs-dev/wfs/workflows"
)

var noon = time.Date(2030, 1, 2, 12, 0, 0, 0, time.UTC)

// life is a session whose runs end one after the other. Each wait lasts as long as it was planned.
type life struct {
	t    *testing.T
	s    session.Session
	plan *workflows.Plan
	now  time.Time
}

func newLife(t *testing.T) *life {
	l := &life{t: t, plan: tdd(t), now: noon}
	l.add(session.Created{ID: "x", Goal: "g", Start: "RED", Laps: true})
	l.add(session.Checkpointed{Trigger: session.TriggerBirth, Code: "c0", Tree: "t0", Phase: "RED", Lap: 1})
	l.add(session.Driving{})
	return l
}

func (l *life) add(b session.Body) {
	l.t.Helper()
	s, err := fold.Extend(l.s, []session.Event{{Seq: l.s.Seq + 1, At: l.now, Body: b}})
	if err != nil {
		l.t.Fatal(err)
	}
	l.s = s
}

// run starts an attempt, ends it with r, and returns the decision that follows.
func (l *life) run(r session.RunResult, after session.Tree) Decision {
	l.t.Helper()
	d := Decide(&l.s, l.plan, Facts{Now: l.now, Tree: "t0", RunID: "r"})
	if d.Effect != EffectRun {
		l.t.Fatalf("no attempt begins: %+v", d)
	}
	for _, b := range d.Events {
		l.add(b)
	}
	l.add(session.RunEnded{RunResult: r, Tree: after})
	d = Decide(&l.s, l.plan, Facts{Now: l.now, Tree: after})
	for _, b := range d.Events {
		l.add(b)
	}
	return d
}

func TestOutcomes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		outcome       session.Outcome
		same, changed Effect // with the tree at its start, and with another one
		kind          session.Kind
	}{
		{session.OutcomeOK, EffectJudge, EffectJudge, ""},
		{session.OutcomeCapped, EffectJudge, EffectJudge, ""},
		{session.OutcomeDenied, EffectJudge, EffectJudge, ""},
		{session.OutcomeRefused, EffectJudge, EffectJudge, ""},
		{session.OutcomeFailed, EffectAgain, EffectJudge, session.KindVoided},
		{session.OutcomeTooLong, EffectAgain, EffectJudge, session.KindVoided},
		{session.OutcomeIdle, EffectAgain, EffectJudge, session.KindVoided},
		{session.OutcomeHung, EffectAgain, EffectJudge, session.KindVoided},
		{session.OutcomeTimeout, EffectAgain, EffectJudge, session.KindVoided},
		{session.OutcomeNoResult, EffectAgain, EffectJudge, session.KindVoided},
		{session.OutcomeLimit, EffectAgain, EffectKeep, session.KindWaiting},
		{session.OutcomeRateLimited, EffectAgain, EffectKeep, session.KindWaiting},
		{session.OutcomeOverloaded, EffectAgain, EffectKeep, session.KindWaiting},
		{session.OutcomeWait, EffectAgain, EffectKeep, session.KindWaiting},
		{session.OutcomeAuth, EffectSave, EffectSave, session.KindBlocked},
		{session.OutcomeBilling, EffectSave, EffectSave, session.KindBlocked},
		{session.OutcomeConfig, EffectSave, EffectSave, session.KindBlocked},
	} {
		for after, want := range map[session.Tree]Effect{"t0": c.same, "t1": c.changed} {
			d := newLife(t).run(session.RunResult{Outcome: c.outcome}, after)
			kind := session.Kind("")
			if want != EffectJudge {
				kind = c.kind
			}
			if d.Effect != want || kind != "" && (session.Event{Body: d.Events[0]}).Kind() != kind {
				t.Errorf("%s, tree %s: %+v, want %s %s", c.outcome, after, d, want, c.kind)
			}
		}
	}
}

func TestWhatCannotWorkIsBlockedAtOnce(t *testing.T) {
	t.Parallel()
	l := newLife(t)
	l.plan.Agent.Card = &workflows.Card{Name: "claude", Login: "claude auth login   (or set ANTHROPIC_API_KEY)"}
	l.run(session.RunResult{Outcome: session.OutcomeAuth, Agent: "claude", Message: "Not logged in · Please run /login"}, "t0")
	b := l.s.Blocked
	if b == nil || b.Reason != session.BlockRunner || b.Hint != "claude auth login && wfs run" || !strings.Contains(b.Evidence[0], "Not logged in") || b.Evidence[1] != "log in, or set ANTHROPIC_API_KEY" {
		t.Errorf("%+v", b)
	}
	l.add(session.Driving{})
	if d := Decide(&l.s, l.plan, Facts{Now: l.now, Tree: "t0", RunID: "r"}); d.Effect != EffectRun {
		t.Errorf("wfs run does not go on: %+v", d)
	}
}

// pauses returns the waits after each of n runs, in seconds.
func (l *life) pauses(n int, r session.RunResult) (all []int64) {
	for range n {
		d := l.run(r, "t0")
		if l.s.Status != session.StatusWaiting {
			l.t.Fatalf("after %d runs: %+v", len(all), d)
		}
		left := l.s.Waiting.Until - l.now.Unix()
		all = append(all, left)
		l.now = l.now.Add(time.Duration(left) * time.Second)
	}
	return all
}

func TestTroubleBacksOff(t *testing.T) {
	t.Parallel()
	l := newLife(t)
	for i, pause := range l.pauses(8, session.RunResult{Outcome: session.OutcomeOverloaded}) {
		base := min(int64(30)<<i, 900)
		if pause < base || pause > base+base/4 {
			t.Errorf("pause %d is %d s, want %d and a bit", i, pause, base)
		}
	}
	if l.s.Failed != 0 || l.s.Visit.Attempts != 0 {
		t.Errorf("it counted: %+v", l.s.Visit)
	}
	// A run that changes files resets the count, and so does a judged run.
	l.run(session.RunResult{Outcome: session.OutcomeOverloaded}, "t9")
	if left := l.s.Waiting.Until - l.now.Unix(); left > 38 {
		t.Errorf("after a run that changed files it waits %d s", left)
	}
}

func TestTroubleIsGivenUpAfterHours(t *testing.T) {
	t.Parallel()
	l := newLife(t)
	begun := l.now
	for n := 0; ; n++ {
		l.run(session.RunResult{Outcome: session.OutcomeOverloaded, Message: "529"}, "t0")
		if l.s.Status == session.StatusBlocked {
			break
		}
		if n > 100 {
			t.Fatal("it never gives up")
		}
		l.now = time.Unix(l.s.Waiting.Until, 0)
	}
	if took := l.now.Sub(begun); took < 12*time.Hour || took > 14*time.Hour {
		t.Errorf("given up after %v", took)
	}
	if b := l.s.Blocked; b.Reason != session.BlockRunner || len(b.Evidence) != 2 || !strings.Contains(b.Evidence[0], "529") {
		t.Errorf("%+v", b)
	}
	l.add(session.Driving{}) // a person has looked: it starts again
	if p := l.pauses(1, session.RunResult{Outcome: session.OutcomeOverloaded}); p[0] > 38 {
		t.Errorf("%v", p)
	}
}

func TestLimits(t *testing.T) {
	t.Parallel()
	l := newLife(t)
	until := l.now.Add(3 * time.Hour).Unix()
	if p := l.pauses(1, session.RunResult{Outcome: session.OutcomeLimit, WaitUntil: until}); p[0] < 3*3600 || p[0] > 3*3600+120 {
		t.Errorf("a known limit: %v", p)
	}
	unknown := newLife(t).pauses(6, session.RunResult{Outcome: session.OutcomeLimit})
	for i, base := range []int64{900, 1800, 3600, 7200, 7200, 7200} {
		if unknown[i] < base || unknown[i] > base+120 {
			t.Errorf("an unknown limit: %v", unknown)
		}
	}
	past := newLife(t).pauses(3, session.RunResult{Outcome: session.OutcomeLimit, WaitUntil: noon.Unix() - 5})
	if past[0] != 0 || past[1] < 900 {
		t.Errorf("a limit that is over: %v", past)
	}
	absurd := newLife(t).pauses(1, session.RunResult{Outcome: session.OutcomeLimit, WaitUntil: noon.AddDate(10, 0, 0).Unix()})
	if absurd[0] > 1020 {
		t.Errorf("a limit of ten years: %v", absurd)
	}
}

func TestSessionsDoNotWakeTogether(t *testing.T) {
	t.Parallel()
	seen := map[int64]bool{}
	for _, id := range []session.ID{"a", "b", "c", "d"} {
		l := newLife(t)
		l.s.ID = id
		for _, p := range l.pauses(1, session.RunResult{Outcome: session.OutcomeLimit, WaitUntil: noon.Unix() + 7200}) {
			seen[p] = true
		}
	}
	if len(seen) < 3 {
		t.Errorf("four sessions wake at %d moments", len(seen))
	}
}

func TestWaitsSurviveClocks(t *testing.T) {
	t.Parallel()
	w := &session.Waiting{Reason: session.WaitLimit, Until: noon.Unix(), Longest: 3600}
	for name, c := range map[string]struct {
		now  time.Time
		over bool
	}{
		"in between":             {noon.Add(-time.Minute), false},
		"set back a little":      {noon.Add(-time.Hour - 5*time.Minute), false},
		"the time has come":      {noon, true},
		"ten years ahead":        {noon.AddDate(10, 0, 0), true},
		"ten years back":         {noon.AddDate(-10, 0, 0), true},
		"set back by two hours":  {noon.Add(-3 * time.Hour), true},
		"slept through the time": {noon.Add(9 * time.Hour), true},
	} {
		if got := Waited(w, c.now); got != c.over {
			t.Errorf("%s: %v", name, got)
		}
	}
	if Waited(&session.Waiting{Until: noon.Unix()}, noon.AddDate(-10, 0, 0)) != true {
		t.Error("a wait of an older wfs lasts for ten years")
	}
}

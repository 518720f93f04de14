package decide

import (
	"testing"
	"time"

	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

// starts returns the attempt that the session begins now, nil if it waits.
func (l *life) starts(f Facts) *session.AttemptStarted {
	l.t.Helper()
	f.Now, f.Tree, f.RunID = l.now, "t0", "r"
	for _, b := range Decide(&l.s, l.plan, f).Events {
		if a, ok := b.(session.AttemptStarted); ok {
			return &a
		}
	}
	return nil
}

func withSubstitute(t *testing.T) *life {
	l := newLife(t)
	l.plan.Agent = workflows.Agent{Use: "first", OnLimit: workflows.OnLimit{Agent: "second"}}
	l.plan.Agents = map[string]workflows.Agent{"second": {Use: "second"}}
	return l
}

// TestAnotherAgentWorksDuringALimit checks who works while one agent is limited, then both, and after the limits.
func TestAnotherAgentWorksDuringALimit(t *testing.T) {
	t.Parallel()
	l := withSubstitute(t)
	limit := func(d time.Duration) session.RunResult {
		return session.RunResult{Outcome: session.OutcomeLimit, WaitUntil: l.now.Add(d).Unix()}
	}
	l.run(limit(3*time.Hour), "t0")
	first := l.s.Waiting.Until
	a := l.starts(Facts{})
	if a == nil || a.Agent != "second" || a.Limited == nil || a.Limited.Agent != "first" || a.Limited.Until != first ||
		a.Attempt != 1 || Conversation(&l.s, l.plan, *a) != nil {
		t.Fatalf("no other agent works: %+v", a)
	}
	if a := l.starts(Facts{Woken: true}); a == nil || a.Agent != "" {
		t.Errorf("with --now: %+v", a)
	}
	l.run(limit(5*time.Hour), "t0") // the substitute is limited too, for longer
	if a := l.starts(Facts{}); a != nil || l.s.Waiting.Until != first {
		t.Fatalf("both are limited, and it waits until %d, not %d: %+v", l.s.Waiting.Until, first, a)
	}
	l.now = time.Unix(first, 0)
	if a := l.starts(Facts{}); a == nil || a.Agent != "" || a.Limited != nil {
		t.Errorf("after its limit the first agent does not work: %+v", a)
	}
}

func TestTheSubstitutesLimitEndsFirst(t *testing.T) {
	t.Parallel()
	l := withSubstitute(t)
	l.run(session.RunResult{Outcome: session.OutcomeLimit, WaitUntil: l.now.Add(3 * time.Hour).Unix()}, "t0")
	l.run(session.RunResult{Outcome: session.OutcomeLimit, WaitUntil: l.now.Add(time.Hour).Unix()}, "t0")
	if l.starts(Facts{}) != nil {
		t.Fatal("both are limited, and one works")
	}
	l.now = time.Unix(l.s.Waiting.Until, 0)
	if a := l.starts(Facts{}); a == nil || a.Agent != "second" {
		t.Errorf("%+v", a)
	}
}

func TestAShortLimitIsWaitedFor(t *testing.T) {
	t.Parallel()
	l := withSubstitute(t)
	l.run(session.RunResult{Outcome: session.OutcomeLimit, WaitUntil: l.now.Add(time.Minute).Unix()}, "t0")
	if a := l.starts(Facts{}); a != nil {
		t.Errorf("%+v", a)
	}
}

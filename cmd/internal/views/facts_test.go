package views

import (
	"testing"
	"time"

	"github.com/wfs-dev/wfs/session"
)

func events(bodies ...session.Body) (list []session.Event) {
	for i, b := range bodies {
		list = append(list, session.Event{Seq: int64(i + 1), At: time.Unix(int64(100*i), 0), Body: b})
	}
	return list
}

// TestFacts: a checkpoint that was dropped did not happen, and what led to the next one has its number.
func TestFacts(t *testing.T) {
	s := &session.Session{Checkpoints: []session.Checkpoint{{}, {Number: 1, On: 0}, {Number: 2, On: 0, Next: "GREEN"}},
		Current: 2}
	facts := Facts(s, events(
		session.Created{Start: "RED"},
		session.Checkpointed{Number: 0, Trigger: session.TriggerBirth},
		session.AttemptStarted{Phase: "RED", Lap: 1, Attempt: 1},
		session.Decided{Verdict: session.Fail, Next: "RED", NextLap: 1},
		session.Checkpointed{Number: 1, Trigger: session.TriggerAttempt},
		session.Dropped{Why: "a test"},
		session.Checkpointed{Number: 1, Trigger: session.TriggerAttempt},
		session.AttemptStarted{Phase: "RED", Lap: 1, Attempt: 2},
		session.Decided{Verdict: session.Pass, Next: "GREEN", NextLap: 1},
		session.Checkpointed{Number: 2, Trigger: session.TriggerAttempt},
		session.Waiting{Reason: session.WaitHuman},
		session.Agreed{By: "person"},
	))
	for _, n := range []struct{ number, facts int }{{0, 2}, {1, 4}, {2, 3}, {3, 0}} {
		if got := LeadingTo(facts, n.number); len(got) != n.facts {
			t.Errorf("checkpoint %d has %d facts, and not %d: %+v", n.number, len(got), n.facts, got)
		}
	}
	if a := Attempts(facts); len(a) != 2 || !a[0].Left || a[1].Left || a[1].Attempt != 2 {
		t.Errorf("attempts: %+v", a)
	}
	last := facts[len(facts)-1]
	if last.Phase != "GREEN" || last.Attempt != 0 || last.Checkpoint != nil {
		t.Errorf("the last fact is at %+v", last.Place)
	}
	if w := Measure(facts).Waits; w.PersonMillis != 100_000 || w.LimitMillis != 0 {
		t.Errorf("waits: %+v", w)
	}
}

package session_test

import (
	"testing"
	"time"

	"github.com/wfs-dev/wfs/session"
)

// TestItemStates: what an item is said to be follows the line of checkpoints that the session stands on.
func TestItemStates(t *testing.T) {
	t.Parallel()
	var s session.Session
	add := func(bodies ...session.Body) {
		t.Helper()
		for _, b := range bodies {
			var err error
			if s, err = session.Extend(s, []session.Event{{Seq: s.Seq + 1, At: time.Unix(0, 0), Body: b}}); err != nil {
				t.Fatal(err)
			}
		}
	}
	attempt := func(phase session.PhaseName, d session.Decided) {
		t.Helper()
		add(session.AttemptStarted{Phase: phase, Lap: s.Lap}, session.RunEnded{}, session.Judged{Judgement: session.Judgement{Verdict: d.Verdict}}, d,
			session.Checkpointed{Number: s.NextNumber(), Trigger: session.TriggerAttempt, Phase: phase, Lap: s.Lap, Verdict: d.Verdict})
	}
	want := func(status session.Status, states ...session.ItemState) {
		t.Helper()
		for i, item := range s.ItemStates() {
			if item.State != states[i] {
				t.Errorf("item %d is %s, want %s", item.Number, item.State, states[i])
			}
		}
		if s.Status != status {
			t.Errorf("the session is %s, want %s", s.Status, status)
		}
	}
	add(session.Created{ID: "x", Start: "RED", Laps: true, Items: []string{"one", "two", "three"}},
		session.Checkpointed{Trigger: session.TriggerBirth, Phase: "RED", Lap: 1})
	attempt("RED", session.Decided{Verdict: session.Pass, Next: "GREEN", NextLap: 1})
	attempt("GREEN", session.Decided{Verdict: session.Pass, Next: "RED", NextLap: 2, LapEnded: true})
	want(session.StatusRunning, session.ItemDelivered, session.ItemOpen, session.ItemOpen)

	nothing := func(test session.TestID) {
		t.Helper()
		attempt("RED", session.Decided{Verdict: session.Pass, Next: "RED", NextLap: s.Lap, NothingLeft: true, Shown: test})
	}
	nothing("")
	add(session.Agreed{By: "auto"})
	want(session.StatusPaused, session.ItemDelivered, session.ItemSkipped, session.ItemOpen)
	nothing("TestThree")
	add(session.Agreed{By: "auto"})
	want(session.StatusWaiting, session.ItemDelivered, session.ItemSkipped, session.ItemShown)

	before := s
	add(session.Agreed{By: "person"})
	want(session.StatusCompleted, session.ItemDelivered, session.ItemAgreed, session.ItemShown)

	s = before // a no: the skipped one is worked on, the others are what they were
	add(session.PhaseMoved{From: "done", To: "RED", Lap: 2, NewLap: true})
	want(session.StatusPaused, session.ItemDelivered, session.ItemOpen, session.ItemShown)
	if s.NextItem() != 0 {
		t.Errorf("item %d comes next", s.NextItem())
	}
	attempt("RED", session.Decided{Verdict: session.Pass, Next: "GREEN", NextLap: 2})
	attempt("GREEN", session.Decided{Verdict: session.Pass, Next: "done", NextLap: 2, LapEnded: true})
	want(session.StatusCompleted, session.ItemDelivered, session.ItemDelivered, session.ItemShown)

	add(session.Moved{MoveStarted: session.MoveStarted{To: 2}}) // where the first item was delivered
	want(session.StatusPaused, session.ItemDelivered, session.ItemOpen, session.ItemOpen)
	add(session.Moved{MoveStarted: session.MoveStarted{To: 4}}) // where nothing was agreed to yet
	want(session.StatusPaused, session.ItemDelivered, session.ItemSkipped, session.ItemOpen)
	add(session.Moved{MoveStarted: session.MoveStarted{To: 6}})
	want(session.StatusCompleted, session.ItemDelivered, session.ItemDelivered, session.ItemShown)
}

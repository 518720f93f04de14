package fold_test

import (
	"testing"
	"time"

	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/session/fold"
	"github.com/wfs-dev/wfs/session/items"
)

// TestItemStates expects that the states of items follow the current line of checkpoints.
func TestItemStates(t *testing.T) {
	t.Parallel()
	var s session.Session
	add := func(bodies ...session.Body) {
		t.Helper()
		for _, b := range bodies {
			var err error
			if s, err = fold.Extend(s, []session.Event{{Seq: s.Seq + 1, At: time.Unix(0, 0), Body: b}}); err != nil {
				t.Fatal(err)
			}
		}
	}
	attempt := func(phase session.PhaseName, d session.Decided) {
		t.Helper()
		add(session.AttemptStarted{Phase: phase, Lap: s.Lap}, session.RunEnded{},
			session.Judged{Judgement: session.Judgement{Verdict: d.Verdict}}, d,
			session.Checkpointed{Number: s.NextNumber(), Trigger: session.TriggerAttempt, Phase: phase, Lap: s.Lap,
				Verdict: d.Verdict})
	}
	want := func(status session.Status, states ...session.ItemState) {
		t.Helper()
		for i, item := range items.States(&s) {
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

	s = before // rejected: the skipped item is worked on, the others are unchanged
	add(session.PhaseMoved{From: "done", To: "RED", Lap: 2, NewLap: true})
	want(session.StatusPaused, session.ItemDelivered, session.ItemOpen, session.ItemShown)
	if items.Next(&s) != 0 {
		t.Errorf("item %d comes next", items.Next(&s))
	}
	attempt("RED", session.Decided{Verdict: session.Pass, Next: "GREEN", NextLap: 2})
	attempt("GREEN", session.Decided{Verdict: session.Pass, Next: "done", NextLap: 2, LapEnded: true})
	want(session.StatusCompleted, session.ItemDelivered, session.ItemDelivered, session.ItemShown)

	move := func(to int) {
		t.Helper()
		add(session.MoveStarted{To: to})
		add(session.Moved{MoveStarted: session.MoveStarted{To: to}})
	}
	move(2) // where the first item was delivered
	want(session.StatusPaused, session.ItemDelivered, session.ItemOpen, session.ItemOpen)
	move(4) // where no item was approved yet
	want(session.StatusPaused, session.ItemDelivered, session.ItemSkipped, session.ItemOpen)
	move(6)
	want(session.StatusCompleted, session.ItemDelivered, session.ItemDelivered, session.ItemShown)
}

// TestQuestionsComeBack expects the question at the end of the work again when the session returns there.
func TestQuestionsComeBack(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		items   []string
		approve bool
		ask     string
	}{
		"an item that nothing judged": {items: []string{"one"},
			ask: `1 of 1 items was not judged: "one" (open). Is it done anyway?`},
		"no gate": {approve: true, ask: "no gate judges this work: look at it, then approve or reject it"},
	} {
		s := history(t, session.Edited{Spec: true, Items: c.items, Lap: 1, Phase: "WORK"},
			session.Checkpointed{Trigger: session.TriggerBirth, Phase: "WORK", Lap: 1},
			session.AttemptStarted{Phase: "WORK", Lap: 1}, session.RunEnded{}, session.Judged{},
			session.Decided{Verdict: session.Pass, Next: "done", NextLap: 1, Approve: c.approve},
			session.Checkpointed{Number: 1, Trigger: session.TriggerAttempt, Phase: "WORK", Lap: 1, Verdict: session.Pass})
		then := func(bodies ...session.Body) {
			t.Helper()
			for _, b := range bodies {
				var err error
				if s, err = fold.Extend(s, []session.Event{{Seq: s.Seq + 1, At: time.Unix(0, 0), Body: b}}); err != nil {
					t.Fatal(err)
				}
			}
		}
		for to := range 2 {
			then(session.MoveStarted{To: to}, session.Moved{MoveStarted: session.MoveStarted{To: to}})
		}
		if w := s.Waiting; s.Status != session.StatusWaiting || w == nil || w.Ask != c.ask {
			t.Errorf("%s: %s, %+v", name, s.Status, s.Waiting)
		}
		then(session.Noted{Text: "asked for", Request: "r"}, session.Agreed{By: "person"})
		for to := range 2 {
			then(session.MoveStarted{To: to}, session.Moved{MoveStarted: session.MoveStarted{To: to}})
		}
		if s.Status != session.StatusCompleted || s.Waiting != nil {
			t.Errorf("%s, and a yes: %s, %+v", name, s.Status, s.Waiting)
		}
	}
}

// TestForkOfAgreedWork expects that an approval of the whole work applies to the approved tree, and to no other.
func TestForkOfAgreedWork(t *testing.T) {
	t.Parallel()
	s := history(t, session.Checkpointed{Trigger: session.TriggerBirth, Phase: "WORK", Lap: 1},
		session.AttemptStarted{Phase: "WORK", Lap: 1}, session.RunEnded{}, session.Judged{},
		session.Decided{Verdict: session.Pass, Next: "done", NextLap: 1, Approve: true},
		session.Checkpointed{Number: 1, Trigger: session.TriggerAttempt, Phase: "WORK", Lap: 1, Verdict: session.Pass},
		session.Agreed{By: "person"}, session.Checkpointed{Number: 2, Trigger: session.TriggerManual, Phase: "done", Lap: 1})
	for number, want := range []int{0, 1, 0} {
		f, err := fold.ForkAt(&s, number)
		if err != nil {
			t.Fatal(err)
		}
		if len(f.Settlements) != want {
			t.Errorf("at checkpoint %d: %+v", number, f.Settlements)
		}
	}
	if _, err := fold.Fold([]session.Event{{Seq: 1, Body: session.Created{ID: "x", Fork: &session.Fork{}}}}); err == nil {
		t.Error("a fork of nothing was folded")
	}
}

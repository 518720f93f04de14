package fold_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/session/fold"
)

// history folds bodies, one minute apart.
func history(t *testing.T, bodies ...session.Body) session.Session {
	t.Helper()
	all := []session.Body{session.Created{ID: "x", Start: "WORK"}}
	var events []session.Event
	for i, b := range append(all, bodies...) {
		events = append(events, session.Event{Seq: int64(i) + 1, At: time.Unix(int64(i)*60, 0), Body: b})
	}
	s, err := fold.Fold(events)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestHeard expects that the session remembers the newest requests only, and only requests.
func TestHeard(t *testing.T) {
	t.Parallel()
	bodies := []session.Body{session.Noted{Text: "typed at a run"}}
	for i := range 40 {
		bodies = append(bodies, session.Noted{Text: "n", Request: fmt.Sprint(i)})
	}
	bodies = append(bodies, session.Paused{Why: "stopped", Request: "stop"},
		session.Interrupted{Why: "stopped", Request: "now"})
	s := history(t, bodies...)
	if n := len(s.Heard); n != 16 || s.Heard[15] != "now" || s.Heard[14] != "stop" || s.Heard[13] != "39" {
		t.Errorf("heard %q", s.Heard)
	}
	if len(s.Notes) != 41 {
		t.Errorf("%d notes", len(s.Notes))
	}
}

// TestNoteBetweenCheckpointAndConclusion expects that the conclusion is still drawn.
func TestNoteBetweenCheckpointAndConclusion(t *testing.T) {
	t.Parallel()
	attempt := []session.Body{
		session.AttemptStarted{Number: 1, Phase: "WORK", Lap: 1, Attempt: 1, RunID: "r"},
		session.RunEnded{RunResult: session.RunResult{Outcome: session.OutcomeOK, Millis: 70}},
		session.Judged{Judgement: session.Judgement{Verdict: session.Pass,
			Gates: []session.GateResult{{Millis: 5}, {Millis: 6}}}},
		session.Decided{Verdict: session.Pass, Next: "WORK", NextLap: 1, NothingLeft: true},
		session.Checkpointed{Trigger: session.TriggerAttempt},
	}
	if s := history(t, append(attempt, session.Noted{Text: "n", Request: "r"})...); !s.Conclude {
		t.Error("a note took the conclusion away")
	} else if s.Spent.RunMillis != 70 || s.Spent.GateMillis != 11 {
		t.Errorf("spent %+v", s.Spent)
	}
}

// TestNoteAnswers expects that a note answers a question and ends the wait, except for a question about approval.
func TestNoteAnswers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		w    session.Waiting
		note session.Noted
		want session.Status
	}{
		{session.Waiting{Reason: session.WaitHuman, Ask: "?"}, session.Noted{Text: "n", Request: "r"}, session.StatusPaused},
		// a run that reads the note continues anyway
		{session.Waiting{Reason: session.WaitHuman, Ask: "?"}, session.Noted{Text: "n"}, session.StatusWaiting},
		{session.Waiting{Reason: session.WaitHuman, Agree: true}, session.Noted{Text: "n", Request: "r"},
			session.StatusWaiting},
		{session.Waiting{Reason: session.WaitHuman, Approve: true}, session.Noted{Text: "n", Request: "r"},
			session.StatusWaiting},
		{session.Waiting{Reason: session.WaitLimit, Until: 1}, session.Noted{Text: "n", Request: "r"}, session.StatusWaiting},
	} {
		if s := history(t, c.w, c.note); s.Status != c.want {
			t.Errorf("%+v, then %+v: %s, want %s", c.w, c.note, s.Status, c.want)
		}
	}
}

// TestWaited expects that waits for limits are counted, also in a run that was stopped meanwhile. The time between two
// runs, and after the limit, does not count. The next run continues the wait.
func TestWaited(t *testing.T) {
	t.Parallel()
	limit := session.Waiting{Reason: session.WaitLimit, Until: 600} // written at minute 2
	stop := session.Paused{Why: "stopped"}
	start := session.AttemptStarted{Number: 1, Phase: "WORK", Lap: 1, Attempt: 1, RunID: "r"}
	note := session.Noted{Text: "n"}
	for _, c := range []struct {
		what   string
		bodies []session.Body
		waited int64
		status session.Status
	}{
		{"going on", []session.Body{session.Driving{}, limit, note}, 0, session.StatusWaiting},
		{"over", []session.Body{session.Driving{}, limit, note, note, start}, 180, session.StatusRunning},
		{"longer than the limit", []session.Body{session.Driving{},
			session.Waiting{Reason: session.WaitLimit, Until: 150}, note, note, start}, 30, session.StatusRunning},
		{"stopped", []session.Body{session.Driving{}, limit, stop}, 60, session.StatusPaused},
		{"gone on with", []session.Body{session.Driving{}, limit, stop, note, note, session.Driving{}}, 60,
			session.StatusWaiting},
		{"in two parts", []session.Body{session.Driving{}, limit, stop, note, note, session.Driving{}, note, start}, 180,
			session.StatusRunning},
	} {
		s := history(t, c.bodies...)
		if s.Spent.Waited != c.waited || s.Status != c.status {
			t.Errorf("%s: waited %d s, want %d; %s, want %s", c.what, s.Spent.Waited, c.waited, s.Status, c.status)
		}
	}
}

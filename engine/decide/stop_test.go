package decide

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/wfs-dev/wfs/session"
)

// TestDecideStops requests a stop at a random step, and adds notes at others. The current attempt must end and be
// concluded, no other attempt may begin, and no note may be lost.
func TestDecideStops(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(t, rapid.IntRange(0, 3).Draw(t, "items"))
		at := rapid.IntRange(0, 60).Draw(t, "stop at step")
		noted, told := 0, 0
		for step := 0; ; step++ {
			if rapid.IntRange(0, 9).Draw(t, "note") == 0 {
				noted++
				w.add(session.Noted{Text: fmt.Sprint("note ", noted), Request: fmt.Sprint(noted)})
			}
			f := Facts{Now: time.Unix(int64(step), 0), Tree: "t", RunID: fmt.Sprint("r", step), Auto: true}
			if step >= at {
				f.Stop = "asked"
			}
			if step > at+100 {
				t.Fatalf("it does not stop: %s", w.s.Status)
			}
			before := w.s
			d := Decide(&w.s, w.plan, f)
			for _, b := range d.Events {
				a, starts := b.(session.AttemptStarted)
				if starts && f.Stop != "" && a.Runner != RunnerPerson {
					t.Fatal("an attempt begins after the stop")
				}
				w.add(b)
			}
			if w.s.Open != nil && before.Open == nil {
				told = w.s.Open.Told
				if told != len(before.Notes) {
					t.Fatalf("told %d of %d notes", told, len(before.Notes))
				}
			}
			switch d.Effect {
			case EffectRun:
				w.observe()
			case EffectJudge:
				w.judge()
			case EffectCheckpoint:
				left := len(w.s.Notes) - told
				w.checkpoint()
				if len(w.s.Notes) != left {
					t.Fatalf("%d notes are left of %d that nobody was told", len(w.s.Notes), left)
				}
			case EffectSleep:
				if f.Stop != "" {
					t.Fatal("it waits on after the stop")
				}
				if step+2 < at { // otherwise nothing would happen until then
					at = step + 2
				}
			case EffectKeep:
				w.save()
			case EffectStop, EffectSave:
				if d.Effect == EffectSave {
					w.save()
				}
				checkStopped(t, w, f.Stop)
				return
			}
		}
	})
}

func checkStopped(t *rapid.T, w *world, stop string) {
	s := &w.s
	if s.Open != nil {
		t.Fatal("an attempt is still open")
	}
	switch s.Status {
	case session.StatusPaused:
		if stop == "" || s.Heard[len(s.Heard)-1] != stop {
			t.Fatalf("paused without having been asked: %q", s.Heard)
		}
		for _, e := range slices.Backward(w.events) {
			if d, ok := e.Body.(session.Decided); ok && d.Verdict == session.Blocked {
				t.Fatal("what could not be judged is only paused")
			}
			if k := e.Kind(); k == session.KindDecided || k == session.KindAttemptStarted || k == session.KindBlocked {
				break
			}
		}
	case session.StatusWaiting:
		if s.Waiting.Ask == "" {
			t.Fatalf("stopped, and waits: %+v", s.Waiting)
		}
	case session.StatusBlocked, session.StatusCompleted, session.StatusInterrupted:
	default:
		t.Fatalf("stopped as %s", s.Status)
	}
}

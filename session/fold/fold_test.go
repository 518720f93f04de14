package fold_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/session/codec"
	"github.com/wfs-dev/wfs/session/fold"
	"github.com/wfs-dev/wfs/session/oplog"
	"github.com/wfs-dev/wfs/session/stats"
	"github.com/wfs-dev/wfs/workflows"
)

var start = time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)

// life draws a random history: any events that a driver may append, in an order in which it may append them.
func life(t *rapid.T) []session.Event {
	items := rapid.IntRange(0, 3).Draw(t, "items")
	created := session.Created{ID: "x", Goal: "g", Start: "RED", Laps: true, Workflow: "tdd"}
	for i := range items {
		created.Items = append(created.Items, fmt.Sprint("item ", i))
	}
	var events []session.Event
	var s session.Session
	add := func(b session.Body) {
		e := session.Event{Seq: s.Seq + 1, At: start.Add(time.Duration(s.Seq) * time.Second), Body: b}
		next, err := fold.Extend(s, []session.Event{e})
		if err != nil {
			t.Fatalf("%s: %v", session.Event{Body: b}.Kind(), err)
		}
		s, events = next, append(events, e)
	}
	tree := func() session.Tree {
		return session.Tree(fmt.Sprintf("%040x", rapid.IntRange(0, 5).Draw(t, "tree")))
	}
	save := func(trigger session.Trigger) {
		add(session.Checkpointed{Number: s.NextNumber(), Trigger: trigger,
			Code: session.Commit(fmt.Sprintf("%040x", s.NextNumber()+1)), Tree: tree(), Phase: s.Phase, Lap: s.Lap})
	}
	add(created)
	save(session.TriggerBirth)
	for range rapid.IntRange(0, 25).Draw(t, "steps") {
		if s.Phase == workflows.Done {
			break
		}
		switch rapid.IntRange(0, 13).Draw(t, "step") {
		case 0:
			save(session.TriggerManual)
		case 1:
			add(session.Noted{Text: "n"})
		case 2:
			add(session.BlockedBy{Reason: session.BlockGate, Hint: "wfs run"})
			add(session.Driving{})
		case 3:
			to := rapid.IntRange(0, s.NextNumber()-1).Draw(t, "to")
			m := session.MoveStarted{How: session.MoveResume, To: to}
			add(m)
			add(session.Moved{MoveStarted: m})
		case 4:
			add(session.AttemptStarted{Number: s.Runs + 1, Phase: s.Phase, Lap: s.Lap, Attempt: s.Visit.Attempts + 1,
				RunID: fmt.Sprint("r", s.Runs), Tree: tree()})
			add(session.Interrupted{Why: "killed"})
		case 10:
			add(session.Abandoned{Reason: "r", Summary: "abandon"})
			add(session.Revived{Status: oplog.Alive(&s), Summary: "back"})
		case 11:
			add(session.Renamed{Title: "t"})
		case 12:
			e := session.Edited{Goal: "h", Spec: rapid.Bool().Draw(t, "spec"),
				Items: append(s.Items[:len(s.Items):len(s.Items)], "one more"), Lap: s.Lap, Phase: s.Phase}
			add(e)
		case 13:
			add(session.Repinned{Workflow: "w", Start: "RED", Laps: true, PlanDigest: "d", Agent: "a",
				Phase: rapid.SampledFrom([]session.PhaseName{"RED", "GREEN"}).Draw(t, "phase")})
		default:
			add(session.AttemptStarted{Number: s.Runs + 1, Phase: s.Phase, Lap: s.Lap, Attempt: s.Visit.Attempts + 1,
				RunID: fmt.Sprint("r", s.Runs), Tree: tree()})
			done := rapid.Bool().Draw(t, "done")
			add(session.RunEnded{RunResult: session.RunResult{Outcome: session.OutcomeOK, Done: done}, Tree: tree()})
			j := session.Judgement{Tree: tree(), Verdict: session.Fail, Class: session.ClassTargetFailing}
			if rapid.Bool().Draw(t, "pass") {
				j.Verdict, j.Class = session.Pass, session.ClassGreen
			}
			add(session.Judged{Judgement: j})
			d := session.Decided{Verdict: j.Verdict, Class: j.Class, Next: s.Phase, NextLap: s.Lap,
				Progress: rapid.Bool().Draw(t, "progress")}
			if j.Verdict == session.Pass {
				switch s.Phase {
				case "RED":
					d.Next = "GREEN"
				default:
					d.Next, d.NextLap, d.LapEnded = "RED", s.Lap+1, true
					if len(s.Items) > 0 && s.Lap >= len(s.Items) {
						d.Next, d.NextLap = workflows.Done, s.Lap
					}
				}
			}
			d.Refuted = done && j.Verdict == session.Fail
			add(d)
			add(session.Checkpointed{Number: s.NextNumber(), Trigger: session.TriggerAttempt,
				Code: session.Commit(fmt.Sprintf("%040x", s.NextNumber()+1)), Tree: j.Tree,
				Phase: s.Phase, Lap: s.Lap, Attempt: s.Open.Attempt, Verdict: d.Verdict, Class: d.Class})
		}
	}
	return events
}

func TestFoldInPieces(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		events := life(t)
		whole, err := fold.Fold(events)
		if err != nil {
			t.Fatal(err)
		}
		cut := rapid.IntRange(1, len(events)).Draw(t, "cut")
		part, err := fold.Fold(events[:cut])
		if err != nil {
			t.Fatal(err)
		}
		// The cache goes through JSON, as session.json does.
		data, err := json.Marshal(part)
		if err != nil {
			t.Fatal(err)
		}
		var cached session.Session
		if err := json.Unmarshal(data, &cached); err != nil {
			t.Fatal(err)
		}
		rest, err := fold.Extend(cached, events[cut:])
		if err != nil {
			t.Fatal(err)
		}
		x, _ := json.Marshal(whole)
		y, _ := json.Marshal(rest)
		if string(x) != string(y) {
			t.Fatalf("folded at once:\n%s\nfolded from a cache after %d events:\n%s", x, cut, y)
		}
	})
}

func TestExtendLeavesTheOldSessionAlone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		events := life(t)
		cut := rapid.IntRange(1, len(events)).Draw(t, "cut")
		old, err := fold.Fold(events[:cut])
		if err != nil {
			t.Fatal(err)
		}
		before, _ := json.Marshal(old)
		if _, err := fold.Extend(old, events[cut:]); err != nil {
			t.Fatal(err)
		}
		if after, _ := json.Marshal(old); string(after) != string(before) {
			t.Fatalf("changed from\n%s\nto\n%s", before, after)
		}
	})
}

func TestFoldInvariants(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		events := life(t)
		s, err := fold.Fold(events)
		if err != nil {
			t.Fatal(err)
		}
		var sum stats.Stat
		for _, x := range stats.Of(events) {
			sum = sum.Plus(x)
		}
		if sum.Claims != s.Claims || sum.Claims-sum.True != len(s.Refuted) {
			t.Fatalf("counted %d claims, %d true; the session has %d, %d refuted", sum.Claims, sum.True, s.Claims,
				len(s.Refuted))
		}
		for i, c := range s.Checkpoints {
			if c.Number != i {
				t.Fatalf("checkpoint %d stands at %d", c.Number, i)
			}
			if c.Green && c.Trigger == session.TriggerAttempt && c.Verdict != session.Pass {
				t.Fatalf("checkpoint %d is green without a pass", i)
			}
		}
		if s.At(s.Current) == nil {
			t.Fatalf("the branch stands on checkpoint %d of %d", s.Current, len(s.Checkpoints))
		}
		if (s.Phase == workflows.Done) != (s.Status == session.StatusCompleted) {
			t.Fatalf("phase %s with status %s", s.Phase, s.Status)
		}
		if len(s.Refuted) > s.Claims {
			t.Fatalf("%d refuted of %d claims", len(s.Refuted), s.Claims)
		}
		if s.Open != nil {
			t.Fatal("an attempt is open after its checkpoint")
		}
	})
}

func TestEventLines(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		events := life(t)
		data, err := codec.EncodeLines(events)
		if err != nil {
			t.Fatal(err)
		}
		back, err := codec.DecodeLines(data)
		if err != nil {
			t.Fatal(err)
		}
		for i := range back {
			if !back[i].At.Equal(events[i].At) || !reflect.DeepEqual(back[i].Body, events[i].Body) ||
				back[i].Seq != events[i].Seq {
				t.Fatalf("event %d came back as %+v, was %+v", i, back[i], events[i])
			}
		}
		// One flipped bit anywhere is noticed.
		at := rapid.IntRange(0, len(data)-1).Draw(t, "at")
		bad := append([]byte{}, data...)
		bad[at] ^= 1 << rapid.IntRange(0, 6).Draw(t, "bit")
		if again, err := codec.DecodeLines(bad); err == nil && len(again) == len(events) {
			if enc, _ := codec.EncodeLines(again); string(enc) == string(data) {
				t.Fatal("the flipped bit made no difference")
			}
			t.Fatalf("byte %d was flipped and nobody noticed", at)
		}
	})
}

func TestDroppedTurnNeverHappened(t *testing.T) {
	turn := session.Checkpointed{Number: 1, Trigger: session.TriggerManual, Code: "c", Tree: "t", Phase: "RED", Lap: 1}
	events := []session.Event{
		{Seq: 1, Body: session.Created{ID: "x", Start: "RED"}},
		{Seq: 2, Body: session.Checkpointed{Trigger: session.TriggerBirth, Code: "b", Tree: "b", Phase: "RED", Lap: 1}},
		{Seq: 3, Body: turn},
		{Seq: 4, Body: session.Dropped{Why: "died"}},
		{Seq: 5, Body: turn},
	}
	s, err := fold.Fold(events)
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Checkpoints) != 2 || s.Current != 1 || s.Seq != 5 {
		t.Fatalf("got %d checkpoints, current %d, seq %d", len(s.Checkpoints), s.Current, s.Seq)
	}
}

func TestGapsAreRefused(t *testing.T) {
	events := []session.Event{{Seq: 1, Body: session.Created{ID: "x"}}, {Seq: 3, Body: session.Noted{Text: "n"}}}
	if _, err := fold.Fold(events); err == nil {
		t.Fatal("a gap went unnoticed")
	}
}

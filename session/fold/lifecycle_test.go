package fold_test

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/session/fold"
)

// TestLifecycleOfStories expects that the life cycle allows all events that sessions had in the stories of package cmd.
// Each line has a state, an event and the state that followed.
func TestLifecycleOfStories(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/steps.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		step := strings.Fields(line)
		if !fold.Leads(step[0], session.Kind(step[1]), step[2]) {
			t.Errorf("the life cycle does not have: %s", line)
		}
	}
}

// TestLifecycleOfHistories expects that the fold reaches a state that the life cycle allows.
func TestLifecycleOfHistories(t *testing.T) {
	t.Parallel()
	check := func(t interface{ Fatalf(string, ...any) }, events []session.Event) {
		var s session.Session
		for _, e := range events {
			from := fold.State(&s)
			next, err := fold.Extend(s, []session.Event{e})
			if err != nil {
				t.Fatalf("%v", err)
			}
			if s = next; !fold.Leads(from, e.Kind(), fold.State(&s)) {
				t.Fatalf("the life cycle does not have: %s %s %s", from, e.Kind(), fold.State(&s))
			}
		}
	}
	check(t, longLife(t, 40))
	rapid.Check(t, func(t *rapid.T) { check(t, life(t)) })
}

// TestLifecycleRefuses expects errors for impossible events, with their names.
func TestLifecycleRefuses(t *testing.T) {
	t.Parallel()
	begin := []session.Body{session.Created{ID: "x", Goal: "g", Start: "WORK"},
		session.Checkpointed{Trigger: session.TriggerBirth, Tree: "t", Phase: "WORK", Lap: 1}}
	attempt := []session.Body{session.Driving{}, session.AttemptStarted{Phase: "WORK", Lap: 1}}
	ran := append(attempt, session.RunEnded{})
	finished := []session.Body{session.FinishStarted{}, session.Finished{}}
	for _, c := range []struct {
		events []session.Body
		next   session.Body
		want   string
	}{
		{nil, session.Created{}, "event 3: created is not possible while the session is created"},
		{nil, session.Judged{}, "event 3: judged is not possible while the session is created"},
		{nil, session.RunEnded{}, "event 3: run_ended is not possible while the session is created"},
		{nil, session.Moved{}, "event 3: moved is not possible while the session is created"},
		{nil, session.Finished{}, "event 3: finished is not possible while the session is created"},
		{nil, session.Revived{}, "event 3: revived is not possible while the session is created"},
		{attempt, session.Judged{}, "event 5: judged is not possible while the session is running (attempt started)"},
		{attempt, session.AttemptStarted{},
			"event 5: attempt_started is not possible while the session is running (attempt started)"},
		{ran, session.Decided{}, "event 6: decided is not possible while the session is running (attempt ran)"},
		{ran, session.RunEnded{}, "event 6: run_ended is not possible while the session is running (attempt ran)"},
		{[]session.Body{session.MoveStarted{}}, session.Driving{},
			"event 4: driving is not possible while the session is moving"},
		{[]session.Body{session.DeleteStarted{}}, session.Edited{},
			"event 4: edited is not possible while the session is deleting"},
		{finished, session.Driving{}, "event 5: driving is not possible while the session is finished"},
		{finished, session.AttemptStarted{}, "event 5: attempt_started is not possible while the session is finished"},
		{finished, session.Judged{}, "event 5: judged is not possible while the session is finished"},
		{finished, session.PhaseMoved{}, "event 5: phase_moved is not possible while the session is finished"},
		{[]session.Body{session.Abandoned{}}, session.Agreed{},
			"event 4: agreed is not possible while the session is abandoned"},
	} {
		var events []session.Event
		for _, b := range append(append(append([]session.Body{}, begin...), c.events...), c.next) {
			events = append(events, session.Event{Seq: int64(len(events) + 1), At: time.Unix(0, 0), Body: b})
		}
		if _, err := fold.Fold(events[:len(events)-1]); err != nil {
			t.Errorf("%s: %v", c.want, err)
		}
		if _, err := fold.Fold(events); err == nil || err.Error() != c.want {
			t.Errorf("%v, want: %s", err, c.want)
		}
	}
	_, err := fold.Fold([]session.Event{{Seq: 1, Body: session.Judged{}}})
	if want := "event 1: judged is not possible before the session is created"; err == nil || err.Error() != want {
		t.Errorf("%v, want: %s", err, want)
	}
}

// TestLifecycleDiagram expects that docs/formats.md has the diagram that is generated from the table.
func TestLifecycleDiagram(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/formats.md")
	if err != nil {
		t.Fatal(err)
	}
	diagram := "```mermaid\n" + fold.DrawLifecycle() + "```\n"
	if !strings.Contains(strings.ReplaceAll(string(text), "\r\n", "\n"), diagram) {
		t.Errorf("docs/formats.md lacks the diagram of the life cycle:\n%s", diagram)
	}
}

func BenchmarkMayFollow(b *testing.B) {
	s, err := fold.Fold(longLife(b, 1))
	if err != nil {
		b.Fatal(err)
	}
	for range b.N {
		_ = fold.MayFollow(&s, session.KindNoted)
	}
}

// TestLifecycleNamesKinds expects that the life cycle has all kinds of events, and no others.
func TestLifecycleNamesKinds(t *testing.T) {
	t.Parallel()
	var kinds []string
	for _, k := range session.Kinds() {
		kinds = append(kinds, string(k))
	}
	named := fold.NamedKinds()
	slices.Sort(named)
	if named = slices.Compact(named); !slices.Equal(named, kinds) {
		t.Errorf("named %q, kinds %q", named, kinds)
	}
}

package views

import (
	"fmt"
	"strings"
	"testing"

	"github.com/wfs-dev/wfs/session"
)

// TestTimeline: one line for each attempt, with its verdict; a person's words stand between them, and every stay in a
// phase is a group of its own.
func TestTimeline(t *testing.T) {
	attempt := func(phase session.PhaseName, n int, verdict session.Verdict, next session.PhaseName) []session.Body {
		return []session.Body{session.AttemptStarted{Phase: phase, Lap: 1, Attempt: n, Agent: "claude"},
			session.RunEnded{},
			session.Judged{}, session.Decided{Verdict: verdict, Next: next, NextLap: 1},
			session.Checkpointed{Trigger: session.TriggerAttempt}}
	}
	all := []session.Body{session.Created{Start: "RED", Workflow: "tdd", Goal: "slugs"}}
	for _, some := range [][]session.Body{attempt("RED", 1, session.Pass, "GREEN"),
		attempt("GREEN", 1, session.Fail, "GREEN"), {session.Noted{Text: "mind the umlauts"}},
		attempt("GREEN", 2, session.Pass, "REFACTOR")} {
		all = append(all, some...)
	}
	visits := Timeline(Facts(&session.Session{}, events(all...)))
	var got []string
	for _, v := range visits {
		for _, e := range v.Entries {
			text := string(v.Phase) + " "
			if e.Attempt != nil {
				text += string(e.Attempt.Verdict)
			} else {
				text += e.Decision.By + " " + e.Decision.What
			}
			got = append(got, text)
		}
	}
	want := []string{"RED person new session, workflow tdd", "RED pass", "GREEN fail", "GREEN person note",
		"GREEN pass"}
	if len(visits) != 2 || len(got) != len(want) {
		t.Fatalf("got %d visits, %q", len(visits), got)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("entry %d: got %q, want %q", i, got[i], want[i])
		}
	}
}

// TestMatrix: a test that passed from when it appeared says nothing; the others stand in the order in which they
// appeared. An attempt without tests says nothing, either.
func TestMatrix(t *testing.T) {
	of := func(tests session.Tests) session.Evidence {
		return session.Evidence{Gates: map[string]session.Tests{"tests": tests}}
	}
	m := MatrixOf([]Column{{Evidence: of(session.Tests{"old": "pass", "gone": "pass", "a": "fail"})}, {},
		{Evidence: session.Evidence{Gates: map[string]session.Tests{"lint": {"l": "pass"}}}},
		{Evidence: of(session.Tests{"old": "pass", "a": "pass", "b": "pass", "c": "fail"})}}, 10)
	if len(m.Rows) != 3 || m.Rows[0].Test != "a" || m.Rows[1].Test != "gone" || m.Rows[2].Test != "c" || m.Same != 3 {
		t.Fatalf("got %+v", m)
	}
	if r := m.Rows[0].Results; len(r) != 3 || r[0] != "fail" || r[1] != "" || r[2] != "pass" {
		t.Errorf("a: got %q", r)
	}
	for i, want := range [][2]int{{2, 3}, {1, 1}, {3, 4}} {
		if c := m.Columns[i]; c.Passed != want[0] || c.All != want[1] {
			t.Errorf("column %d: %d of %d passed, want %d of %d", i, c.Passed, c.All, want[0], want[1])
		}
	}
}

// TestNewest: old entries go one by one, and visits without any go as well.
func TestNewest(t *testing.T) {
	for most, want := range []string{" 6", "c1 5", "c2 4", "b1 c2 3",
		"b2 c2 2", "b3 c2 1", "a1 b3 c2 0", "a1 b3 c2 0"} {
		visits, older := Newest([]Visit{{Phase: "a", Entries: make([]Entry, 1)},
			{Phase: "b", Entries: make([]Entry, 3)},
			{Phase: "c", Entries: make([]Entry, 2)}}, most)
		got := ""
		for _, v := range visits {
			got += fmt.Sprint(string(v.Phase), len(v.Entries), " ")
		}
		if got += fmt.Sprint(older); strings.TrimSpace(got) != strings.TrimSpace(want) {
			t.Errorf("the newest %d: %q, want %q", most, got, want)
		}
	}
}

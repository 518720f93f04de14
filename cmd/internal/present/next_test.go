package present

import (
	"slices"
	"testing"

	"github.com/wfs-dev/wfs/session"
)

// TestNextOfConflict blocks a session by moving HEAD away in a run, and moves HEAD back: resume must no longer be
// suggested.
func TestNextOfConflict(t *testing.T) {
	t.Parallel()
	s := session.Session{Created: session.Created{ID: "auth"}, Status: session.StatusBlocked, Blocked: &session.BlockedBy{Reason: session.BlockConflict, Hint: "wfs resume auth"}}
	if next := NextCommands(&s, nil, "wfs resume auth"); !slices.Equal(next, []string{"wfs resume auth"}) {
		t.Errorf("elsewhere: %q", next)
	}
	if next := NextCommands(&s, nil, ""); !slices.Equal(next, []string{"wfs run", "wfs show"}) {
		t.Errorf("current: %q", next)
	}
	s.Blocked.Hint = "wfs reject --to RED"
	if next := NextCommands(&s, nil, ""); next[0] != s.Blocked.Hint {
		t.Errorf("another block: %q", next)
	}
}

// TestNextOfSurvivors suggests killing the processes that are alive now, not those from when the session was blocked.
func TestNextOfSurvivors(t *testing.T) {
	t.Parallel()
	s := session.Session{Created: session.Created{ID: "auth"}, Status: session.StatusBlocked, Blocked: &session.BlockedBy{Reason: session.BlockSurvivors, Hint: "kill 7 8; wfs run"}}
	for _, c := range []struct {
		alive []session.Process
		ended bool // by wfs, but they survived it
		want  string
	}{
		{nil, false, "wfs run"},
		{nil, true, "wfs run"},
		{[]session.Process{{PID: 8}}, false, "kill 8; wfs run"},
		{[]session.Process{{PID: 8}, {PID: 9}}, true, "kill -9 8 9; wfs run"},
		{[]session.Process{{}}, false, "stop it, then wfs run"},
	} {
		if s.Open = nil; c.ended {
			s.Open = &session.Open{Run: &session.RunResult{Survivors: []int{8}}}
		}
		if next := NextCommands(&s, c.alive, ""); next[0] != c.want {
			t.Errorf("%+v: %q", c, next)
		}
	}
}

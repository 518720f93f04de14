package cmd

import (
	"slices"
	"testing"

	"github.com/wfs-dev/wfs/session"
)

// TestNextOfConflict takes HEAD away in a run, which blocks the session, and back again: resume is not to be typed for ever.
func TestNextOfConflict(t *testing.T) {
	t.Parallel()
	s := session.Session{Created: session.Created{ID: "auth"}, Status: session.StatusBlocked, Blocked: &session.BlockedBy{Reason: session.BlockConflict, Hint: "wfs resume auth"}}
	if next := nextCommands(&s, false); !slices.Equal(next, []string{"wfs resume auth"}) {
		t.Errorf("elsewhere: %q", next)
	}
	if next := nextCommands(&s, true); !slices.Equal(next, []string{"wfs run", "wfs show"}) {
		t.Errorf("current: %q", next)
	}
	s.Blocked.Hint = "wfs phase back RED"
	if next := nextCommands(&s, true); next[0] != s.Blocked.Hint {
		t.Errorf("another block: %q", next)
	}
}

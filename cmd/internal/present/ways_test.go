package present

import (
	"testing"

	"github.com/wfs-dev/wfs/session"
)

// TestWayToWrongTests: after a lap's test was edited by hand, you can still go back to where it was written.
func TestWayToWrongTests(t *testing.T) {
	s := &session.Session{Phase: "GREEN", Lap: 2, Checkpoints: []session.Checkpoint{
		{Number: 0, Phase: "RED", Lap: 1, Next: "RED", NextLap: 1},
		{Number: 1, Phase: "RED", Lap: 1, Verdict: session.Pass, Next: "GREEN", NextLap: 1},
		{Number: 2, Phase: "GREEN", Lap: 1, Verdict: session.Pass, Next: "RED", NextLap: 2},
		{Number: 3, Phase: "RED", Lap: 2, Tree: "red", Verdict: session.Pass, Next: "GREEN", NextLap: 2},
		{Number: 4, Phase: "GREEN", Lap: 2, Tree: "by hand", Trigger: session.TriggerManual, Next: "GREEN", NextLap: 2},
	}}
	s.Frozen = "by hand"
	if at := testsFrom(s); at == nil || at.Number != 3 {
		t.Errorf("the tests are from %+v, want checkpoint 3", at)
	}
	if s.Frozen = ""; testsFrom(s) != nil {
		t.Error("tests that are not frozen are from somewhere")
	}
}

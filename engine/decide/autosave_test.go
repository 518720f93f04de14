package decide

import (
	"slices"
	"testing"

	"github.com/wfs-dev/wfs/session"
)

// TestSurvivorsAreNoCheckpoint decides about a run of which processes are alive: what they may still write to is saved,
// and does not become a checkpoint.
func TestSurvivorsAreNoCheckpoint(t *testing.T) {
	t.Parallel()
	s := session.Session{Open: &session.Open{Run: &session.RunResult{Outcome: session.OutcomeOK, Survivors: []int{4711}}}}
	d := Decide(&s, tdd(t), Facts{})
	if d.Effect != EffectBlock || len(d.Events) != 0 || d.Block.Reason != session.BlockSurvivors ||
		!slices.Equal(d.Block.Evidence, []string{"the agent left processes running: 4711"}) {
		t.Errorf("%+v", d)
	}
}

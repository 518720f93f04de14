package decide

import (
	"slices"
	"testing"

	"github.com/wfs-dev/wfs/session"
)

// TestSurvivorsAreNoCheckpoint checks that files are saved but do not become a checkpoint while processes of the run
// may still write to them.
func TestSurvivorsAreNoCheckpoint(t *testing.T) {
	t.Parallel()
	s := session.Session{Open: &session.Open{Run: &session.RunResult{Outcome: session.OutcomeOK, Survivors: []int{4711}}}}
	d := Decide(&s, tdd(t), Facts{})
	if d.Effect != EffectBlock || len(d.Events) != 0 || d.Block.Reason != session.BlockSurvivors ||
		!slices.Equal(d.Block.Evidence, []string{"the agent left processes running: 4711"}) {
		t.Errorf("%+v", d)
	}
}

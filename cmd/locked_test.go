package cmd

import (
	"testing"
	"time"

	"github.com/wfs-dev/wfs/workspace"
)

// TestOneName gives a process the same name in all of its locks, whenever it takes them: a stop is addressed to it.
func TestOneName(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_800_000_000, 0)
	a := newApp(Env{Env: workspace.Env{PID: 7, Now: func() time.Time { now = now.Add(time.Minute); return now }}}, nil)
	if first, second := a.Holder("wfs run"), a.Holder("wfs run"); first.Name() != second.Name() {
		t.Errorf("%s and %s", first.Name(), second.Name())
	}
}

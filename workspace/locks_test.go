package workspace

import (
	"testing"
	"time"

	"github.com/wfs-dev/wfs/workspace/system"
)

// TestOneName expects that a process has the same name in all of its locks, whenever it takes them: a stop request is
// addressed to it.
func TestOneName(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_800_000_000, 0)
	w := New(&system.Env{PID: 7, Now: func() time.Time { now = now.Add(time.Minute); return now }}, Front{})
	if first, second := w.Holder("wfs run"), w.Holder("wfs run"); first.Name() != second.Name() {
		t.Errorf("%s and %s", first.Name(), second.Name())
	}
}

package proc

import (
	"os/exec"
	"testing"
	"time"
)

// TestWatchdogBackground: when the last process in the background ends, the program has as much time again to go on.
func TestWatchdogBackground(t *testing.T) {
	t.Parallel()
	const beat, marker = time.Second, "WFS_TEST_BACKGROUND=1"
	other := exec.Command("sleep", "600")
	other.Env = []string{marker}
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	signs := &Signs{Settle: 3 * beat}
	signs.Said(true)
	w, nobody := &watchdog{signs: signs, beat: beat}, &leader{pid: 1 << 30}
	count := func() Ended { return w.count(beat, 0, nobody, marker) }
	for n := range 10 {
		if got := count(); got != "" {
			t.Errorf("after %d s with a process in the background: %q", n+1, got)
		}
	}
	_ = other.Process.Kill()
	_ = other.Wait()
	if got := [...]Ended{count(), count(), count()}; got != [...]Ended{"", "", Settled} {
		t.Errorf("after it has ended: %q", got)
	}
}

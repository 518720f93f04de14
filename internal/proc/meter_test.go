package proc

import (
	"testing"
	"time"
)

// TestMeter counts only time in which the run could work.
func TestMeter(t *testing.T) {
	t.Parallel()
	const idle, timeout = 10 * time.Minute, time.Hour
	beats := func(m *meter, n int, talks bool) (ended Ended) {
		for i := 0; i < n && ended == ""; i++ {
			sign := m.last
			if talks {
				sign++
			}
			ended = m.count(time.Second, sign)
		}
		return ended
	}
	m := newMeter(idle, timeout)
	if e := beats(m, 599, false); e != "" {
		t.Fatalf("%s too early", e)
	}
	if e := m.count(8*time.Hour, m.last+1); e != "" { // the laptop slept, and the run prints again
		t.Fatalf("%s after a night's sleep", e)
	}
	if e := beats(m, 590, false); e != "" {
		t.Fatalf("%s too early", e)
	}
	if e := m.count(8*time.Hour, m.last); e != "" { // not yet: it may print now that the machine is awake
		t.Fatalf("%s right after a night's sleep", e)
	}
	if e := m.count(-time.Hour, m.last); e != "" {
		t.Fatalf("%s when the clock was set back", e)
	}
	if e := beats(m, 20, false); e != Idle {
		t.Fatalf("%q in spite of ten minutes' silence", e)
	}
	m = newMeter(idle, timeout)
	if e := beats(m, 3598, true); e != "" {
		t.Fatalf("%s too early", e)
	}
	if e := beats(m, 2, true); e != Timeout {
		t.Fatalf("%q after an hour", e)
	}
	m = newMeter(0, 0)
	if e := beats(m, 100000, false); e != "" {
		t.Fatalf("%s without a limit", e)
	}
}

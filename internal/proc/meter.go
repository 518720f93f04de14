package proc

import "time"

// meter measures for how long a run could work. It adds up beats, which happen only while this process is awake; a late
// beat counts as at most two. A timer would be wrong: if a laptop sleeps, a process is stopped with Ctrl-Z or a
// container is frozen, the run cannot work, but would count as idle for hours.
type meter struct {
	beat          time.Duration
	idle, timeout time.Duration // 0: no limit
	all, quiet    time.Duration
	last          int64
}

const longestBeat = time.Second

func newMeter(idle, timeout time.Duration) *meter {
	m := &meter{beat: longestBeat, idle: idle, timeout: timeout}
	for _, d := range []time.Duration{idle, timeout} {
		if d > 0 {
			m.beat = min(m.beat, max(d/20, poll))
		}
	}
	return m
}

// count adds the time since the last beat, and returns the reason to stop the run, or "". `sign` is a number that
// changes with every sign of life.
func (m *meter) count(since time.Duration, sign int64) Ended {
	since = max(0, min(since, 2*m.beat))
	m.all += since
	if m.quiet += since; sign != m.last {
		m.quiet, m.last = 0, sign
	}
	switch {
	case m.timeout > 0 && m.all >= m.timeout:
		return Timeout
	case m.idle > 0 && m.quiet >= m.idle:
		return Idle
	}
	return ""
}

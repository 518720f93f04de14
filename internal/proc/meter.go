package proc

import "time"

// meter counts the time that a run had, by beats in which this process was awake. It cannot be a timer: a laptop may
// sleep, a process may be stopped with Ctrl-Z, a container may be frozen, and then a run that could do nothing would
// have been idle for hours. A beat that comes late counts as two.
type meter struct {
	beat          time.Duration
	idle, timeout time.Duration // 0 is never
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

// count adds the time since the last beat, and says what has run out, "" for nothing. sign changes with every sign of
// life.
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

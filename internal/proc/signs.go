package proc

import (
	"sync/atomic"
	"time"
)

// Signs collects the signs of life that the reader finds in a run's output. Its methods may be called from any
// goroutine.
type Signs struct {
	work   atomic.Int64
	ended  atomic.Bool
	enough atomic.Bool
	// Settle is how long the run may stay silent after Said(true); 0: ten seconds.
	Settle time.Duration
	// Moved is called now and then during a run that shows no work. Its result changes when the run makes progress,
	// such as changing files. May be nil.
	Moved func() string
}

// Work records that the run does something. Output without it only shows that the run is alive.
func (s *Signs) Work() { s.work.Add(1) }

// Said records whether the program has reported its end. It may still continue afterwards.
func (s *Signs) Said(last bool) { s.ended.Store(last) }

// Enough requests that the run be stopped, because it cannot succeed.
func (s *Signs) Enough() { s.enough.Store(true) }

func (s *Signs) settle() time.Duration {
	if s.Settle > 0 {
		return s.Settle
	}
	return defaultSettle
}

const (
	// Some programs never exit after they report their end.
	defaultSettle = 10 * time.Second
	// background is the same time while processes that the program left running still work.
	background = time.Minute
	// busyShare is the share of one processor above which a run counts as working, not waiting.
	busyShare = 0.05
	// looks is the number of looks at a silent run during the time of Idle.
	looks = 4
)

// watchdog decides from the signs when to stop a run. It measures time like the meter: hours of sleep do not count.
type watchdog struct {
	signs   *Signs
	idle    time.Duration
	beat    time.Duration
	silent  time.Duration // since the last output
	waiting time.Duration // since the last work
	since   time.Duration // since the last look
	work    int64
	output  int64
	seen    glance
}

// glance is a snapshot of a run's processes and files.
type glance struct {
	at      time.Time // zero: no snapshot
	efforts map[int]effort
	moved   string
}

// effort is a process's use of the processors since it began: the time it ran, and the time it waited for one. ready
// means that it runs now, or waits for a processor; that wait is counted only when it gets one.
type effort struct {
	used, queued time.Duration
	ready        bool
}

// count adds the time since the last beat, and returns the reason to stop, or "". output changes with every output.
func (w *watchdog) count(since time.Duration, output int64, l *leader, marker string) Ended {
	since = max(0, min(since, 2*w.beat))
	w.silent += since
	w.waiting += since
	w.since += since
	if output != w.output {
		w.silent, w.output = 0, output
	}
	if n := w.signs.work.Load(); n != w.work {
		w.waiting, w.since, w.work, w.seen = 0, 0, n, glance{}
	}
	switch {
	case w.signs.enough.Load():
		return Stopped
	case w.signs.ended.Load() && w.silent >= w.signs.settle() && (w.silent >= background || !hasBackground(l, marker)):
		if w.silent >= background {
			return Left
		}
		return Settled
	case w.idle <= 0:
		return ""
	}
	if w.since >= w.idle/looks {
		w.look(l, marker)
	}
	if w.waiting < w.idle {
		return ""
	}
	if w.silent >= w.idle/2 { // not since the start: every program prints a greeting before it hangs
		return Idle
	}
	return Hung
}

// look asks the system whether a run that shows no signs works nevertheless, such as a test suite that prints nothing
// for an hour.
func (w *watchdog) look(l *leader, marker string) {
	now := glance{at: time.Now(), efforts: effortsOf(l, marker)}
	if w.signs.Moved != nil {
		now.moved = w.signs.Moved()
	}
	if before := w.seen; !before.at.IsZero() {
		if busy(before.efforts, now.efforts, now.at.Sub(before.at)) || now.moved != before.moved {
			w.waiting, w.silent = 0, 0
		}
	}
	w.seen, w.since = now, 0
}

// busy reports whether processes worked between two looks. On a crowded machine processes wait for a processor, so the
// share is taken of the time in which they could have worked.
func busy(before, now map[int]effort, between time.Duration) bool {
	var used, queued time.Duration
	for pid, e := range now {
		if e.ready && e == before[pid] {
			return true // it wanted to run, but got no processor
		}
		used += max(0, e.used-before[pid].used)
		queued = max(queued, e.queued-before[pid].queued)
	}
	return used > time.Duration(busyShare*float64(max(0, between-queued)))
}

package proc

import (
	"sync/atomic"
	"time"
)

// Signs is what whoever reads a run's output understands of it. Its methods may be called from any goroutine.
type Signs struct {
	work   atomic.Int64
	ended  atomic.Bool
	enough atomic.Bool
	// Settle is how long the run may be silent after its last word; 0: ten seconds.
	Settle time.Duration
	// Moved is asked now and then of a run that shows no work: its answer changes when the run has changed files, say.
	// May be nil.
	Moved func() string
}

// Work says that the run does something. Output without it is a sign of life and nothing else.
func (s *Signs) Work() { s.work.Add(1) }

// Said tells whether the program has said its last word, as far as anybody knows: it may end now, or speak again.
func (s *Signs) Said(last bool) { s.ended.Store(last) }

// Enough says that there is no use in letting the run go on.
func (s *Signs) Enough() { s.enough.Store(true) }

func (s *Signs) settle() time.Duration {
	if s.Settle > 0 {
		return s.Settle
	}
	return defaultSettle
}

const (
	// Some programs hang for ever after their last word.
	defaultSettle = 10 * time.Second
	// background is the same while processes work on that the program has set to work and left alone.
	background = time.Minute
	// busyShare is the part of one processor that tells a run that works from one that waits.
	busyShare = 0.05
	// looks is how often in the time of Idle a silent run is looked at.
	looks = 4
)

// watchdog decides by signs when a run has to be stopped. Times are those of the meter: hours in which the
// machine slept do not count.
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

// glance is what was seen of a run's processes and files.
type glance struct {
	at      time.Time // zero: nothing was seen
	efforts map[int]effort
	moved   string
}

// effort is what a process has had of the processors since it began: the time that it used, and the time that
// it was kept waiting for one. ready says that it runs now, or waits for a processor, which is counted when it
// gets one.
type effort struct {
	used, queued time.Duration
	ready        bool
}

// count adds the time since the last beat, and says what has to end, "" for nothing. output changes with every output.
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
	if w.silent >= w.idle/2 { // not since the first word: every program says who it is before it hangs
		return Idle
	}
	return Hung
}

// look asks the system whether a run that shows no work works all the same: a test suite that says nothing for an hour
// does.
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

// busy reports whether processes worked in a time between two looks. A crowded machine makes whoever works wait for a
// processor, so that what counts is the share of the time in which they could have worked.
func busy(before, now map[int]effort, between time.Duration) bool {
	var used, queued time.Duration
	for pid, e := range now {
		if e.ready && e == before[pid] {
			return true // it was not let
		}
		used += max(0, e.used-before[pid].used)
		queued = max(queued, e.queued-before[pid].queued)
	}
	return used > time.Duration(busyShare*float64(max(0, between-queued)))
}

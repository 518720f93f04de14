package proc

import (
	"sync/atomic"
	"time"
)

// Signs tells Run what a run's output means. The reader of the output calls its methods, from any goroutine.
type Signs struct {
	work   atomic.Int64
	ended  atomic.Bool
	enough atomic.Bool
	// Settle is how long the program may stay silent after Said(true), before the run is stopped; 0: ten seconds.
	Settle time.Duration
	// Moved returns a fingerprint of the files that the program may change. It is called now and then while the output
	// shows no work. If the result differs from the last one, the run counts as working. It may be nil.
	Moved func() string
}

// Work records that the output shows work. Other output shows only that the program is alive.
func (s *Signs) Work() { s.work.Add(1) }

// Said records whether the program has reported that its work is done. The program may continue after that.
func (s *Signs) Said(last bool) { s.ended.Store(last) }

// Enough asks Run to stop the run, because the program cannot succeed.
func (s *Signs) Enough() { s.enough.Store(true) }

func (s *Signs) settle() time.Duration {
	if s.Settle > 0 {
		return s.Settle
	}
	return defaultSettle
}

const (
	// defaultSettle is the default of Signs.Settle. Some programs never exit after they have reported that their work
	// is done.
	defaultSettle = 10 * time.Second
	// background replaces it while processes that the program started in the background still run.
	background = time.Minute
	// busyShare is the share of one processor; a run that uses more counts as working.
	busyShare = 0.05
	// looks is how often the system is asked about a silent run, during the time of Idle.
	looks = 4
)

// watchdog decides from the signs when to stop a run. Like meter, it does not count time in which the machine sleeps.
type watchdog struct {
	signs  *Signs
	idle   time.Duration
	beat   time.Duration
	silent time.Duration // time since the last output
	// the part of silent until processes in the background were seen last: when they end, the program may go on
	lingered time.Duration
	waiting  time.Duration // time since the last sign of work
	since    time.Duration // time since the last call of look
	work     int64
	output   int64
	seen     glance
}

// glance is the state of a run's processes and files at one moment.
type glance struct {
	at      time.Time // zero if the state is not known
	efforts map[int]effort
	moved   string
}

// effort says how much processor time a process has used since it began, and how long it waited for a processor.
// `ready` means that the process runs or waits at this moment; the current wait is counted only when it ends.
type effort struct {
	used, queued time.Duration
	ready        bool
}

// count adds the time since the last beat, and returns the reason to stop the run, or "". `output` is a number that
// changes with every output.
func (w *watchdog) count(since time.Duration, output int64, l *leader, marker string) Ended {
	since = max(0, min(since, 2*w.beat))
	w.silent += since
	w.waiting += since
	w.since += since
	if output != w.output {
		w.silent, w.lingered, w.output = 0, 0, output
	}
	if n := w.signs.work.Load(); n != w.work {
		w.waiting, w.since, w.work, w.seen = 0, 0, n, glance{}
	}
	if w.signs.enough.Load() {
		return Stopped
	}
	if w.signs.ended.Load() && w.silent >= w.signs.settle() {
		switch working := hasBackground(l, marker); {
		case working && w.silent >= background:
			return Left
		case working:
			w.lingered = w.silent
		case w.silent-w.lingered >= w.signs.settle():
			return Settled
		}
	}
	if w.idle <= 0 {
		return ""
	}
	if w.since >= w.idle/looks {
		w.look(l, marker)
	}
	if w.waiting < w.idle {
		return ""
	}
	if w.silent >= w.idle/2 { // half, because programs print a greeting first
		return Idle
	}
	return Hung
}

// look asks the system whether a run works although its output shows no work, such as a test suite that prints nothing
// for an hour. If the run works, look resets the times of the watchdog.
func (w *watchdog) look(l *leader, marker string) {
	now := glance{at: time.Now(), efforts: effortsOf(l, marker)}
	if w.signs.Moved != nil {
		now.moved = w.signs.Moved()
	}
	if before := w.seen; !before.at.IsZero() {
		if busy(before.efforts, now.efforts, now.at.Sub(before.at)) || now.moved != before.moved {
			w.waiting, w.silent, w.lingered = 0, 0, 0
		}
	}
	w.seen, w.since = now, 0
}

// busy reports whether the run's processes worked between two looks. It compares the processor time that they used with
// the time in which they could have worked, which is less than `between` if they had to wait for a processor.
func busy(before, now map[int]effort, between time.Duration) bool {
	var used, queued time.Duration
	for pid, e := range now {
		if e.ready && e == before[pid] {
			return true // ready, but it got no processor in all that time
		}
		used += max(0, e.used-before[pid].used)
		queued = max(queued, e.queued-before[pid].queued)
	}
	return used > time.Duration(busyShare*float64(max(0, between-queued)))
}

package proc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync/atomic"
	"time"
)

// Spec describes one run of an untrusted program.
type Spec struct {
	Argv  []string // Argv[0] is looked up in the PATH of Env
	Dir   string
	Env   []string // the whole environment; nothing is inherited
	Stdin []byte
	// Stdout and Stderr get the output as it arrives, in pieces of at most 64 KB. They may be called from two
	// goroutines at once, unless they are the same. nil drops the output. After a write error the rest is read and
	// dropped.
	Stdout, Stderr io.Writer
	// Idle ends the run after this time without output, Timeout after this time in total; 0: never. Time in which the
	// machine slept or this process was stopped does not count, and neither do jumps of the clock.
	Idle, Timeout time.Duration
	// Grace is the time between the request to end and the kill; 0: DefaultGrace.
	Grace time.Duration
	// Hurry, when closed, ends every grace early. May be nil.
	Hurry <-chan struct{}
	// Marker is an entry of Env that no other process has ("WFS_RUN_ID=…"). It identifies processes that left the run's
	// group. "": no search for such processes.
	Marker     string
	ExtraFiles []*os.File // descriptors 3 and up
	// Signs, if set, carries the meaning of the output. Then Idle counts from the last sign of work instead of the last
	// output, and a run whose processes use a processor or change files is not idle. May be nil.
	Signs *Signs
	// Interrupt means that the program ends cleanly on SIGINT. It is sent first, and the program gets half of the grace
	// for it.
	Interrupt bool
}

// Ended is the reason why a run ended.
type Ended string

const (
	Exited     Ended = "exited" // on its own, or by a signal that was not ours
	NotStarted Ended = "not_started"
	Idle       Ended = "idle"
	Timeout    Ended = "timeout"
	Cancelled  Ended = "cancelled"
	Hung       Ended = "hung"    // no sign of work for the time of Idle, but output in its second half
	Settled    Ended = "settled" // it reported its end, but did not exit
	Left       Ended = "left"    // the same, and processes that it started in the background did not exit either
	Stopped    Ended = "stopped" // Signs.Enough
)

// Result is the result of a run.
type Result struct {
	Ended      Ended
	Exit       int    // as in a shell: 128 plus the number of a signal; -1 if it never ended or never began
	Signal     string // name of the signal that ended it; "": none
	Millis     int64
	Survivors  []int  // pids of the run that are still alive
	StartError string // with NotStarted
}

const (
	// Killed processes end within microseconds; one that is still alive after this hangs in the kernel.
	lastWait = 2 * time.Second
	// How long to wait for output after the run if an unknown process holds it open.
	drainWait = 3 * time.Second
	poll      = 5 * time.Millisecond
)

// Run starts a program, watches it, and tries to leave none of its processes behind: when the program has ended, it
// asks the rest of its process group to end, then kills it, and kills processes that escaped from the group. A program
// that cannot be started is a Result; an error means that the run could not be watched.
//
// On macOS escaped processes are found only by the marker, which the system's own programs hide.
func Run(ctx context.Context, s Spec) (Result, error) {
	began := time.Now()
	if ctx.Err() != nil {
		return Result{Ended: Cancelled, Exit: -1}, nil
	}
	path, err := resolve(s.Argv, s.Dir, s.Env)
	if err != nil {
		return Result{Ended: NotStarted, Exit: -1, StartError: err.Error()}, nil
	}
	cmd := &exec.Cmd{Path: path, Args: s.Argv, Dir: s.Dir, Env: explicit(s.Env), ExtraFiles: s.ExtraFiles}
	ownSession(cmd)

	p, err := newPipes(cmd, s, began)
	if err != nil {
		return Result{}, err
	}
	family := enterFamily()
	defer family.leave()
	if err := startChild(cmd); err != nil {
		p.abandon()
		return Result{Ended: NotStarted, Exit: -1, StartError: startError(cmd, err).Error()}, nil
	}
	p.begin(s.Stdin)

	leader := newLeader(cmd)
	r := Result{Exit: -1}
	r.Ended = watch(ctx, s, leader, &p.last)
	stop(s, leader, r.Ended)
	clean := family.sweep(leader, s.Marker)

	select {
	case <-leader.ended:
		if err := leader.reap(); err != nil {
			p.finish()
			return Result{}, fmt.Errorf("%s: %w", s.Argv[0], err)
		}
		r.Exit, r.Signal = exitOf(cmd.ProcessState)
	default: // it hangs in the kernel; Survivors lists it
	}
	if !clean {
		r.Survivors = family.survivors(leader, s.Marker)
	}
	p.finish()
	r.Millis = time.Since(began).Milliseconds()
	return r, nil
}

// leader is the run's first process. It is reaped as late as possible: while it is a zombie, no other process group can
// get its pid, so signals to the group cannot hit an unrelated process.
type leader struct {
	cmd   *exec.Cmd
	pid   int
	began uint64        // in the clock of Moment; 0: unknown
	ended chan struct{} // closed when it is a zombie, or reaped if the system cannot wait without reaping
	reap  func() error  // calls cmd.Wait once
}

func newLeader(cmd *exec.Cmd) *leader {
	l := &leader{cmd: cmd, pid: cmd.Process.Pid, began: beganOf(cmd.Process.Pid), ended: make(chan struct{}),
		reap: reaper(cmd)}
	go func() {
		awaitExit(l)
		close(l.ended)
	}()
	return l
}

// watch returns why the run has ended or must be stopped.
func watch(ctx context.Context, s Spec, l *leader, last *atomic.Int64) Ended {
	m := newMeter(s.Idle, s.Timeout)
	var dog *watchdog
	if s.Signs != nil {
		m.idle, m.beat = 0, min(m.beat, max(s.Signs.settle()/20, poll))
		dog = &watchdog{signs: s.Signs, idle: s.Idle, beat: m.beat, output: last.Load()}
	}
	beat := time.NewTicker(m.beat)
	defer beat.Stop()
	before := time.Now()
	for {
		select {
		case <-l.ended:
			return Exited
		case <-ctx.Done():
			return Cancelled
		case <-beat.C:
			now := time.Now()
			if ended := m.count(now.Sub(before), last.Load()); ended != "" {
				return ended
			}
			if dog != nil {
				if ended := dog.count(now.Sub(before), last.Load(), l, s.Marker); ended != "" {
					return ended
				}
			}
			before = now
		}
	}
}

// stop ends the leader and the rest of its group. A leader that exited on its own may have left processes.
func stop(s Spec, l *leader, ended Ended) {
	if ended == Exited && !groupAlive(l) {
		return
	}
	grace := s.Grace
	if grace <= 0 {
		grace = DefaultGrace
	}
	if s.Interrupt && (ended == Cancelled || ended == Timeout) {
		signalRun(l, interrupt)
		if gone(l, grace/2, s.Hurry) {
			return
		}
		grace -= grace / 2
	}
	signalRun(l, terminate)
	if gone(l, grace, s.Hurry) {
		return
	}
	signalRun(l, kill)
	gone(l, lastWait, nil)
}

// gone waits until the leader has ended and its group is empty.
func gone(l *leader, atMost time.Duration, hurry <-chan struct{}) bool {
	limit := time.NewTimer(atMost)
	defer limit.Stop()
	tick := time.NewTicker(poll)
	defer tick.Stop()
	ended := l.ended
	for {
		if ended == nil && !groupAlive(l) {
			return true
		}
		select {
		case <-ended:
			ended = nil
		case <-tick.C:
		case <-hurry:
			return false
		case <-limit.C:
			return ended == nil && !groupAlive(l)
		}
	}
}

// onlyTrouble drops the errors of cmd.Wait that only report the program's exit.
func onlyTrouble(err error) error {
	var ended *exec.ExitError
	if err == nil || errors.As(err, &ended) {
		return nil
	}
	return err
}

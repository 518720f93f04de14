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

// Spec is one run of a program that is not trusted.
type Spec struct {
	Argv  []string // Argv[0] is looked up in the PATH of Env
	Dir   string
	Env   []string // the whole environment; nothing is inherited
	Stdin []byte
	// Stdout and Stderr get the output as it comes, in pieces of at most 64 KB. They may be called from two goroutines
	// at once, unless they are the same. nil drops the output. What a writer refuses is dropped and read on.
	Stdout, Stderr io.Writer
	// Idle ends the run when nothing was written for so long, Timeout when it lasted so long in all; 0 is never. Time
	// in which the machine slept, or this process was stopped, does not count, and neither do jumps of the clock.
	Idle, Timeout time.Duration
	// Grace is how long the run has between being asked to end and being killed; 0 is DefaultGrace.
	Grace time.Duration
	// Hurry, when it is closed, cuts every grace short. May be nil.
	Hurry <-chan struct{}
	// Marker is an entry of Env that no other process has ("WFS_RUN_ID=…"). By it processes are found that left the
	// run's group. "" looks for none.
	Marker     string
	ExtraFiles []*os.File // descriptors 3 and up
	// Signs, when it is given, tells what the output means. Idle then counts from the last sign of work instead of the
	// last output, and a run whose processes use a processor or move files is not idle. May be nil.
	Signs *Signs
	// Interrupt says that the program ends in good order when it is interrupted (SIGINT): it is asked so first, and has
	// half of the grace for it.
	Interrupt bool
}

// Ended says what ended a run.
type Ended string

const (
	Exited     Ended = "exited" // by itself, or by a signal that was not ours
	NotStarted Ended = "not_started"
	Idle       Ended = "idle"
	Timeout    Ended = "timeout"
	Cancelled  Ended = "cancelled"
	Hung       Ended = "hung"    // no sign of work for the time of Idle, but output in the later half of it
	Settled    Ended = "settled" // it had said its last word, and did not end
	Left       Ended = "left"    // the same, and something that it had started in the background did not end either
	Stopped    Ended = "stopped" // Signs.Enough
)

// Result is what was seen of a run.
type Result struct {
	Ended      Ended
	Exit       int    // as a shell has it: 128 plus the number of a signal; -1 when it never ended or never began
	Signal     string // name of the signal that ended it, "" for none
	Millis     int64
	Survivors  []int  // pids of the run that are still alive
	StartError string // with NotStarted
}

const (
	// Processes that were killed are gone within microseconds; one that is not after this hangs in the kernel.
	lastWait = 2 * time.Second
	// How long output is waited for that somebody unknown holds open after the run.
	drainWait = 3 * time.Second
	poll      = 5 * time.Millisecond
)

// Run starts a program, watches it, and leaves nothing of it behind if it can: when the program has ended, what is left
// of its process group is asked to end, then killed, and so is what escaped from the group. An error means
// that the run could not be watched; a program that cannot be started is a Result.
//
// On macOS what escaped is found by its marker alone, which programs of the system itself do not show.
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
	default: // it hangs in the kernel; the survivors name it
	}
	if !clean {
		r.Survivors = family.survivors(leader, s.Marker)
	}
	p.finish()
	r.Millis = time.Since(began).Milliseconds()
	return r, nil
}

// leader is the run's first process. It is reaped as late as possible: while it is a zombie, its number cannot be given
// to another process group, and signals to the group cannot hit a stranger.
type leader struct {
	cmd   *exec.Cmd
	pid   int
	began uint64        // in ticks since the system began; 0 when that is not told
	ended chan struct{} // closed when it is a zombie, or reaped where one cannot look without reaping
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

// watch returns why the run is over, or has to be.
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

// stop ends the leader and what is left of its group. One that exited by itself may have left processes.
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

// onlyTrouble drops the errors of cmd.Wait that tell of the program, not of us.
func onlyTrouble(err error) error {
	var ended *exec.ExitError
	if err == nil || errors.As(err, &ended) {
		return nil
	}
	return err
}

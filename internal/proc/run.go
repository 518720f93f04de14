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
	Argv []string // Argv[0] is searched in the PATH of Env
	Dir  string
	Env  []string // the whole environment; nothing is inherited
	// Stdin is copied to the program's standard input, which then ends; nil: it has no input. A Read may block: the run
	// does not wait for it.
	Stdin io.Reader
	// Stdout and Stderr receive the output as it arrives, in pieces of at most 64 KB. Unless they are the same, they
	// may be called at the same time from two goroutines. If a writer is nil or returns an error, the rest of its
	// output is read and dropped.
	Stdout, Stderr io.Writer
	// Idle ends the run after so much time without output; Timeout ends it after so much time in total; 0: never. Time
	// in which the machine sleeps or this process is stopped does not count, and changes of the clock do not matter.
	Idle, Timeout time.Duration
	// Grace is how long the program may take to end after it was asked to, before it is killed; 0: DefaultGrace.
	Grace time.Duration
	// If Hurry is closed, the run does not wait for the rest of the grace. It may be nil.
	Hurry <-chan struct{}
	// Marker is an entry of Env that is unique to this run ("WFS_RUN_ID=…"). By it the run finds its processes that
	// left its process group. "": it does not search for them.
	Marker     string
	ExtraFiles []*os.File // the program's descriptors from 3 on
	// Signs says what the output means. If it is set, Idle counts the time without a sign of work and not the time
	// without output. A run also counts as working if its processes use a processor or change files. It may be nil.
	Signs *Signs
	// Interrupt means that the program ends in good order on SIGINT. Then a run that is stopped gets SIGINT first, and
	// half of the grace to end; after that it gets SIGTERM.
	Interrupt bool
}

// Ended says why a run ended.
type Ended string

const (
	Exited     Ended = "exited" // it exited, or was ended by a signal that wfs did not send
	NotStarted Ended = "not_started"
	Idle       Ended = "idle"
	Timeout    Ended = "timeout"
	Cancelled  Ended = "cancelled"
	Hung       Ended = "hung"    // no sign of work for the time of Idle, but still some output
	Settled    Ended = "settled" // it reported that its work is done, but did not exit
	Left       Ended = "left"    // as Settled, and it still had processes in the background
	Stopped    Ended = "stopped" // Signs.Enough was called
)

// Result says how a run ended.
type Result struct {
	Ended      Ended
	Exit       int    // as in a shell: 128 plus the number of a signal; -1: not started, or not ended
	Signal     string // name of the signal that ended it; "": none
	Millis     int64
	Survivors  []int  // pids of processes of the run that are still alive
	StartError string // the reason, if Ended is NotStarted
}

const (
	// lastWait is how long to wait for killed processes. They end within microseconds; one that takes longer hangs in
	// the kernel.
	lastWait = 2 * time.Second
	// drainWait is how long to wait for output after the run, if a process that was not found still holds the output
	// open.
	drainWait = 3 * time.Second
	poll      = 5 * time.Millisecond
)

// Run starts a program, watches it until it ends, and tries to leave none of its processes behind. When the program has
// ended, Run asks the rest of its process group to end, and then kills it; it also kills processes that left the group.
// If the program cannot be started, the Result says so. An error means that the run could not be watched.
//
// On macOS, processes that left the group are found only by the marker, and the system's own programs hide theirs.
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
	default: // the leader hangs in the kernel; it is in Survivors
	}
	if !clean {
		r.Survivors = family.survivors(leader, s.Marker)
	}
	p.finish()
	r.Millis = time.Since(began).Milliseconds()
	return r, nil
}

// leader is the run's first process. It is reaped as late as possible: as long as it is a zombie, no other process
// group can get its number, so a signal to the group cannot reach an unrelated process.
type leader struct {
	cmd   *exec.Cmd
	pid   int
	began uint64        // when it began, in the clock of Moment; 0: unknown
	ended chan struct{} // closed when the leader has ended; on macOS, when it is reaped
	reap  func() error  // reaps the leader: calls cmd.Wait, but only once
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

// watch waits until the run has ended or must be stopped, and returns the reason.
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

// stop ends the leader and the rest of its session. It is also called for a leader that has exited, because processes
// of it may remain.
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

// gone waits until the leader has ended and no process of its group or session is alive. It returns false if that takes
// longer than `atMost`, or if `hurry` is closed.
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

// onlyTrouble returns nil for the errors of cmd.Wait that only report an exit code or signal, and else err.
func onlyTrouble(err error) error {
	var ended *exec.ExitError
	if err == nil || errors.As(err, &ended) {
		return nil
	}
	return err
}

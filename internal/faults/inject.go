//go:build linux && amd64

package faults

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Mode says what fault is injected.
type Mode string

const (
	Run       Mode = "run"        // no fault: only record the calls
	KillAll   Mode = "kill-all"   // before the call, kill every process
	KillFirst Mode = "kill-first" // before the call, kill only the command; its children continue
	Fail      Mode = "fail"       // the call fails with Errno
	FailOn    Mode = "fail-on"    // so do all later calls; with ENOSPC only if they need space
	Tear      Mode = "tear"       // half of a write happens (any other call completes), then every process is killed
)

// Command is the command to trace.
type Command struct {
	Argv []string // Argv[0] is a path
	Dir  string
	Env  []string
	Root string // a path without symbolic links; calls that change something below it are counted
}

// Fault is one fault to inject.
type Fault struct {
	Mode  Mode
	At    int // number of the call at which it happens, from 1
	Errno syscall.Errno
	Of    string // count only calls on paths that end in Of; "": all calls
}

// Outcome is the result of a traced command.
type Outcome struct {
	Calls  []Call // successful calls, with Mode Run; else only the first that the fault hit, without Data
	Points int    // number of counted calls, including failed ones
	States []int  // numbers of the calls before which the files have a new state: the first, and each after a change
	Writes []int  // numbers of the calls that write more than a byte, so that Tear can halve them
	Hit    bool   // the fault was injected
	Exit   int    // exit code; -1: a signal ended the command
	Output string // standard output and standard error
}

var errRefused = errors.New("ptrace is refused")

// Request asks Serve for one run of a command.
type Request struct {
	Command Command
	Fault   Fault
}

// Answer is the result of a Request. Refused means that this system does not allow a process to trace another.
type Answer struct {
	Outcome Outcome
	Refused bool
	Error   string
}

// Stage is an environment variable. Serve sets it when it starts its own binary again, with the same argv[0]. The new
// process must call Serve too, which then turns the process into the command.
const Stage = "FAULTS_STAGE"

// Serve reads requests as JSON from `in` and writes the answers to `out`, until the input ends. The process must have
// no other children, because Serve waits for every child.
func Serve(in io.Reader, out io.Writer) error {
	if os.Getenv(Stage) != "" {
		if err := os.Unsetenv(Stage); err != nil {
			return err
		}
		return become(os.Args[1:], os.Environ())
	}
	requests, answers := json.NewDecoder(in), json.NewEncoder(out)
	for {
		var r Request
		if err := requests.Decode(&r); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		var a Answer
		var err error
		if a.Outcome, err = inject(r.Command, r.Fault); err != nil {
			a.Error, a.Refused = err.Error(), errors.Is(err, errRefused)
		}
		if err := answers.Encode(a); err != nil {
			return err
		}
	}
}

// inject runs a command and injects at most one fault. It returns when all processes of the command have ended.
func inject(c Command, f Fault) (Outcome, error) {
	runtime.LockOSThread() // ptrace works for one thread only
	defer runtime.UnlockOSThread()
	t := &tracer{cmd: c, fault: f, threads: map[int]*thread{}, changed: true}
	return t.run()
}

type thread struct {
	begun   bool
	pending *Call // the call in which the thread is, if its result is needed
	dying   bool  // kill all processes when the current call has ended
}

type tracer struct {
	cmd     Command
	fault   Fault
	threads map[int]*thread
	first   int
	n       int
	out     Outcome
	changed bool // the files have changed since the last counted call
	killing bool
	became  bool // the first process has executed the command
}

// syscallInfo is the part that we use of struct ptrace_syscall_info in linux/ptrace.h.
type syscallInfo struct {
	op   uint8
	_    [3]uint8
	arch uint32
	ip   uint64
	sp   uint64
	nr   uint64
	args [6]uint64
	_    uint64
}

const (
	getSyscallInfo = 0x420e
	options        = unix.PTRACE_O_TRACESYSGOOD | unix.PTRACE_O_TRACECLONE | unix.PTRACE_O_TRACEFORK | unix.PTRACE_O_TRACEVFORK |
		unix.PTRACE_O_TRACEEXEC | unix.PTRACE_O_TRACESECCOMP | unix.PTRACE_O_EXITKILL
	stopOfSyscall = syscall.SIGTRAP | 0x80
)

func (t *tracer) run() (Outcome, error) {
	root, err := filepath.EvalSymlinks(t.cmd.Root)
	if err != nil {
		return t.out, err
	}
	t.cmd.Root = root
	log, err := os.CreateTemp("", "faults-")
	if err != nil {
		return t.out, err
	}
	defer os.Remove(log.Name())
	defer log.Close()
	null, err := os.Open(os.DevNull)
	if err != nil {
		return t.out, err
	}
	defer null.Close()
	self, err := os.Executable()
	if err != nil {
		return t.out, err
	}
	p, err := os.StartProcess(self, append([]string{os.Args[0]}, t.cmd.Argv...), &os.ProcAttr{Dir: t.cmd.Dir, Env: append(t.cmd.Env, Stage+"=1"),
		Files: []*os.File{null, log, log}, Sys: &syscall.SysProcAttr{Ptrace: true, Setpgid: true}})
	if err != nil {
		return t.out, fmt.Errorf("%w: %v", errRefused, err)
	}
	t.first = p.Pid
	var ws unix.WaitStatus
	if _, err := unix.Wait4(t.first, &ws, unix.WALL, nil); err != nil {
		return t.out, err
	}
	if err := unix.PtraceSetOptions(t.first, options); err != nil {
		_ = p.Kill()
		return t.out, fmt.Errorf("%w: %v", errRefused, err)
	}
	t.threads[t.first] = &thread{begun: true}
	_ = unix.PtraceCont(t.first, 0)
	if err := t.loop(); err != nil {
		return t.out, err
	}
	data, err := os.ReadFile(log.Name())
	t.out.Output, t.out.Points = string(data), t.n
	if err == nil && !t.became {
		err = fmt.Errorf("%w: %s", errRefused, data)
	}
	return t.out, err
}

// loop lets all threads run from stop to stop, until no thread is left.
func (t *tracer) loop() error {
	for {
		var ws unix.WaitStatus
		pid, err := unix.Wait4(-1, &ws, unix.WALL, nil)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case errors.Is(err, unix.ECHILD):
			return nil
		case err != nil:
			return err
		}
		if ws.Exited() || ws.Signaled() {
			if pid == t.first {
				t.out.Exit = -1
				if ws.Exited() {
					t.out.Exit = ws.ExitStatus()
				}
			}
			delete(t.threads, pid)
			continue
		}
		if !ws.Stopped() {
			continue
		}
		if err := t.stopped(pid, ws); err != nil {
			return err
		}
	}
}

func (t *tracer) stopped(pid int, ws unix.WaitStatus) error {
	th, known := t.threads[pid]
	if !known {
		th = &thread{}
		t.threads[pid] = th
	}
	if t.killing {
		_ = unix.Kill(pid, unix.SIGKILL)
	}
	deliver, resume := 0, unix.PtraceCont
	switch sig := ws.StopSignal(); {
	case sig == syscall.SIGTRAP && ws.TrapCause() == unix.PTRACE_EVENT_SECCOMP:
		if e := t.entry(pid); e != nil && !t.killing {
			if c := e.call(t.cmd.Root); c != nil && c.on(t.fault.Of) && t.begins(pid, th, c) {
				resume = unix.PtraceSyscall // stop again when the call ends
			}
		}
	case sig == stopOfSyscall:
		t.ends(pid, th)
	case sig == syscall.SIGTRAP && ws.TrapCause() == unix.PTRACE_EVENT_EXEC: // after exec, any thread is the first
		t.became = t.became || pid == t.first
		if former, err := unix.PtraceGetEventMsg(pid); err == nil && int(former) != pid {
			delete(t.threads, int(former))
		}
	case sig == syscall.SIGTRAP: // it started a process or a thread
	case sig == syscall.SIGSTOP && !th.begun: // the first stop of a new thread
	default:
		deliver = int(sig)
	}
	th.begun = true
	_ = resume(pid, deliver) // fails if the thread is dead
	return nil
}

// entry returns the system call at which a thread has stopped, or nil if the thread was killed.
func (t *tracer) entry(pid int) *entry {
	var info syscallInfo
	_, _, errno := unix.Syscall6(unix.SYS_PTRACE, getSyscallInfo, uintptr(pid), unsafe.Sizeof(info), uintptr(unsafe.Pointer(&info)), 0, 0)
	if errno != 0 {
		return nil
	}
	return &entry{pid, info.nr, info.args}
}

// begins handles a counted call before it runs: it injects the fault, if this is the call. It reports whether the
// thread must stop again when the call ends.
func (t *tracer) begins(pid int, th *thread, c *Call) bool {
	t.n++
	if t.changed || t.fault.Of != "" { // with Of, the files may also change in calls that are not counted
		t.out.States, t.changed = append(t.out.States, t.n), false
	}
	if c.Kind == Write && len(c.Data) > 1 {
		t.out.Writes = append(t.out.Writes, t.n)
	}
	hit := t.fault.Mode != Run && t.n == t.fault.At
	switch {
	case hit && t.fault.Mode == KillAll:
		t.hit(c)
		t.killAll()
	case hit && t.fault.Mode == KillFirst:
		t.hit(c)
		_ = unix.Kill(t.first, unix.SIGKILL)
	case hit && t.fault.Mode == Tear:
		half := len(c.Data) / 2
		t.hit(c)
		th.dying = true
		if c.Kind == Write && half > 0 {
			var regs unix.PtraceRegs
			if unix.PtraceGetRegs(pid, &regs) == nil {
				regs.Rdx = uint64(half)
				_ = unix.PtraceSetRegs(pid, &regs)
			}
		}
		return true
	case hit && (t.fault.Mode == Fail || t.fault.Mode == FailOn),
		t.out.Hit && t.fault.Mode == FailOn && (t.readOnly() || c.Kind != Remove && c.Kind != Sync && c.Kind != WriteOut):
		t.hit(c)
		var regs unix.PtraceRegs
		if unix.PtraceGetRegs(pid, &regs) == nil {
			regs.Orig_rax = ^uint64(0) // an invalid number, so that the kernel skips the call
			regs.Rax = uint64(-int64(t.fault.Errno))
			_ = unix.PtraceSetRegs(pid, &regs)
		}
	case t.fault.Mode == Run:
		th.pending = c
		return true
	}
	return false
}

// readOnly reports whether after FailOn every call fails, and not only those that need space.
func (t *tracer) readOnly() bool {
	return t.fault.Errno != syscall.ENOSPC && t.fault.Errno != syscall.EDQUOT
}

// hit records the call at which the fault is injected; after FailOn, only the first one.
func (t *tracer) hit(c *Call) {
	if !t.out.Hit {
		t.out.Hit = true
		c.Data = nil
		t.out.Calls = append(t.out.Calls, *c)
	}
}

func (t *tracer) ends(pid int, th *thread) {
	if th.dying {
		t.killAll()
		return
	}
	c := th.pending
	th.pending = nil
	var regs unix.PtraceRegs
	if c == nil || unix.PtraceGetRegs(pid, &regs) != nil || int64(regs.Rax) < 0 {
		return
	}
	if c.Kind == Write && int(regs.Rax) < len(c.Data) {
		c.Data = c.Data[:regs.Rax]
	}
	t.out.Calls = append(t.out.Calls, *c)
	t.changed = t.changed || c.Kind != Sync && c.Kind != WriteOut
}

func (t *tracer) killAll() {
	t.killing = true
	for pid := range t.threads {
		_ = unix.Kill(pid, unix.SIGKILL)
	}
}

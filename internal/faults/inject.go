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

// Mode is what happens at a point.
type Mode string

const (
	Run       Mode = "run"        // nothing: calls are recorded
	KillAll   Mode = "kill-all"   // every process is killed before the call
	KillFirst Mode = "kill-first" // the command alone is killed before the call; its children go on
	Fail      Mode = "fail"       // the call fails with Errno
	FailOn    Mode = "fail-on"    // it and every later one that needs space or permission fails
	Tear      Mode = "tear"       // half of a write, then every process is killed; other calls are made whole
)

// Command is what is run.
type Command struct {
	Argv []string // the first is a path
	Dir  string
	Env  []string
	Root string // calls that change something below count; without symbolic links
}

// Fault is where and what.
type Fault struct {
	Mode  Mode
	At    int // number of the call, from 1
	Errno syscall.Errno
}

// Outcome is what came of a command.
type Outcome struct {
	Calls  []Call // that were made below the root; with Data only when nothing was injected
	Hit    bool   // the point was reached
	Exit   int    // -1: killed
	Output string // both streams
}

var errRefused = errors.New("ptrace is refused")

// Request is one run for Serve.
type Request struct {
	Command Command
	Fault   Fault
}

// Answer is what came of it. Refused says that this system does not let one process trace another.
type Answer struct {
	Outcome Outcome
	Refused bool
	Error   string
}

// Serve carries out one request, in JSON. It waits for every child, and so must be alone in its process.
func Serve(in io.Reader, out io.Writer) error {
	var r Request
	if err := json.NewDecoder(in).Decode(&r); err != nil {
		return err
	}
	var a Answer
	var err error
	if a.Outcome, err = inject(r.Command, r.Fault); err != nil {
		a.Error, a.Refused = err.Error(), errors.Is(err, errRefused)
	}
	return json.NewEncoder(out).Encode(a)
}

// inject runs a command with at most one fault and waits until all of its processes are gone.
func inject(c Command, f Fault) (Outcome, error) {
	runtime.LockOSThread() // a tracer is a thread
	defer runtime.UnlockOSThread()
	t := &tracer{cmd: c, fault: f, threads: map[int]*thread{}}
	return t.run()
}

type thread struct {
	begun   bool
	pending *Call         // between the beginning and the end of a call
	errno   syscall.Errno // what the call is to end with
	dying   bool          // all are killed when the call has ended
}

type tracer struct {
	cmd     Command
	fault   Fault
	threads map[int]*thread
	first   int
	n       int
	out     Outcome
	killing bool
}

// syscallInfo is struct ptrace_syscall_info of linux/ptrace.h, as far as it is used.
type syscallInfo struct {
	op   uint8
	_    [3]uint8
	arch uint32
	ip   uint64
	sp   uint64
	nr   uint64 // at the end of a call: its result
	args [6]uint64
}

const (
	getSyscallInfo = 0x420e
	atEntry        = 1
	atExit         = 2
	options        = unix.PTRACE_O_TRACESYSGOOD | unix.PTRACE_O_TRACECLONE | unix.PTRACE_O_TRACEFORK | unix.PTRACE_O_TRACEVFORK |
		unix.PTRACE_O_TRACEEXEC | unix.PTRACE_O_EXITKILL
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
	p, err := os.StartProcess(t.cmd.Argv[0], t.cmd.Argv, &os.ProcAttr{Dir: t.cmd.Dir, Env: t.cmd.Env,
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
	_ = unix.PtraceSyscall(t.first, 0)
	if err := t.loop(); err != nil {
		return t.out, err
	}
	data, err := os.ReadFile(log.Name())
	t.out.Output = string(data)
	return t.out, err
}

// loop lets all threads go on from stop to stop until none is left.
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
	deliver := 0
	switch sig := ws.StopSignal(); {
	case sig == stopOfSyscall:
		if err := t.atSyscall(pid, th); err != nil {
			return err
		}
	case sig == syscall.SIGTRAP: // a new process or thread, or an exec
	case sig == syscall.SIGSTOP && !th.begun: // how a new thread begins
	default:
		deliver = int(sig)
	}
	th.begun = true
	_ = unix.PtraceSyscall(pid, deliver) // it may be dead by now
	return nil
}

func (t *tracer) atSyscall(pid int, th *thread) error {
	var info syscallInfo
	_, _, errno := unix.Syscall6(unix.SYS_PTRACE, getSyscallInfo, uintptr(pid), unsafe.Sizeof(info), uintptr(unsafe.Pointer(&info)), 0, 0)
	if errno != 0 {
		return nil // killed meanwhile
	}
	switch info.op {
	case atEntry:
		e := &entry{pid, info.nr, info.args}
		if c := e.call(t.cmd.Root); c != nil && !t.killing {
			t.begins(pid, th, c)
		}
	case atExit:
		t.ends(pid, th, int64(info.nr))
	}
	return nil
}

func (t *tracer) begins(pid int, th *thread, c *Call) {
	t.n++
	hit := t.fault.Mode != Run && t.n == t.fault.At
	th.pending = c
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
	case hit && (t.fault.Mode == Fail || t.fault.Mode == FailOn),
		t.out.Hit && t.fault.Mode == FailOn && c.Kind != Remove && c.Kind != Sync && c.Kind != WriteOut:
		t.hit(c)
		var regs unix.PtraceRegs
		if unix.PtraceGetRegs(pid, &regs) == nil {
			regs.Orig_rax = ^uint64(0)
			_ = unix.PtraceSetRegs(pid, &regs)
			th.errno = t.fault.Errno
		}
	}
}

// hit notes the first call that a fault met.
func (t *tracer) hit(c *Call) {
	if !t.out.Hit {
		t.out.Hit = true
		c.Data = nil
		t.out.Calls = append(t.out.Calls, *c)
	}
}

func (t *tracer) ends(pid int, th *thread, result int64) {
	c := th.pending
	th.pending = nil
	if th.errno != 0 {
		var regs unix.PtraceRegs
		if unix.PtraceGetRegs(pid, &regs) == nil {
			regs.Rax = uint64(-int64(th.errno))
			_ = unix.PtraceSetRegs(pid, &regs)
		}
		th.errno = 0
		return
	}
	if th.dying {
		t.killAll()
		return
	}
	if c == nil || t.fault.Mode != Run || result < 0 {
		return
	}
	if c.Kind == Write && int(result) < len(c.Data) {
		c.Data = c.Data[:result]
	}
	t.out.Calls = append(t.out.Calls, *c)
}

func (t *tracer) killAll() {
	t.killing = true
	for pid := range t.threads {
		_ = unix.Kill(pid, unix.SIGKILL)
	}
}

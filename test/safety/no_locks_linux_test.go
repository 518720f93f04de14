package safety

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"unsafe"

	sys "golang.org/x/sys/unix"

	"github.com/wfs-dev/wfs/internal/testkit"
)

// noLocksMain runs a command as on a file system without locks: a filter makes every flock fail with the same error.
func noLocksMain() int {
	runtime.LockOSThread() // the filter belongs to this thread, and the program that it executes inherits it
	program, err := exec.LookPath(os.Args[1])
	if err == nil {
		err = sys.Prctl(sys.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
	}
	if err == nil {
		const nr = 0 // offset in struct seccomp_data
		p := []sys.SockFilter{
			{Code: sys.BPF_LD | sys.BPF_W | sys.BPF_ABS, K: nr},
			{Code: sys.BPF_JMP | sys.BPF_JEQ | sys.BPF_K, K: sys.SYS_FLOCK, Jf: 1},
			{Code: sys.BPF_RET | sys.BPF_K, K: sys.SECCOMP_RET_ERRNO | uint32(sys.ENOLCK)},
			{Code: sys.BPF_RET | sys.BPF_K, K: sys.SECCOMP_RET_ALLOW},
		}
		filter := sys.SockFprog{Len: uint16(len(p)), Filter: &p[0]}
		if _, _, errno := sys.Syscall(sys.SYS_SECCOMP, sys.SECCOMP_SET_MODE_FILTER, 0, uintptr(unsafe.Pointer(&filter))); errno != 0 {
			err = os.NewSyscallError("seccomp", errno)
		}
	}
	if err == nil {
		err = sys.Exec(program, os.Args[1:], os.Environ())
	}
	fmt.Fprintln(os.Stderr, err)
	return noFilter
}

const noFilter = 99 // exit code

// TestDoctorWithoutLocks checks that without file locks sessions can be read but not driven, and that every command
// says so.
func TestDoctorWithoutLocks(t *testing.T) {
	t.Parallel()
	f := plainTemplate.fixture(t)
	f.dirty()
	without := func(args ...string) (string, int) {
		return f.try(nil, append([]string{"wfs-without-locks", "wfs"}, args...)...)
	}
	if out, exit := without("version"); exit == noFilter {
		notHere(t, out)
	}
	before := f.repository()
	out, exit := without("doctor")
	if exit != exitBlocked {
		t.Errorf("exit %d", exit)
	}
	testkit.Holds(t, out, "blocks: ", ": this file system has no locks (flock); sessions can be read here, but not run. Type: git clone . A-LOCAL-DISK")
	for _, args := range []string{"checkpoint", "run", "switch two", "resume @1", "new three --workflow plain --agent true", "undo", "delete two --force"} {
		out, exit := without(strings.Fields(args)...)
		if exit != exitError || !strings.Contains(out, "hint: clone the repository onto a local disk") {
			t.Errorf("wfs %s: exit %d: %s", args, exit, out)
		}
	}
	for _, args := range []string{"status", "list", "log", "show 1", "log --events", "diff"} {
		if out, exit := without(strings.Fields(args)...); exit != exitOK {
			t.Errorf("wfs %s: exit %d: %s", args, exit, out)
		}
	}
	if now := f.repository(); now != before {
		t.Errorf("changed\n%s\nto\n%s", before, now)
	}
	f.ok("wfs", "checkpoint")
}

//go:build linux && amd64

package faults

import (
	"os"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// watched lists the system calls that may change files. Other calls run without stopping for the tracer, which makes a
// traced command several times faster.
var watched = []uint32{
	unix.SYS_WRITE, unix.SYS_PWRITE64, unix.SYS_WRITEV, unix.SYS_PWRITEV, unix.SYS_PWRITEV2, unix.SYS_SENDFILE, unix.SYS_COPY_FILE_RANGE,
	unix.SYS_CREAT, unix.SYS_RENAME, unix.SYS_RENAMEAT, unix.SYS_RENAMEAT2, unix.SYS_LINK, unix.SYS_LINKAT, unix.SYS_SYMLINK, unix.SYS_SYMLINKAT,
	unix.SYS_UNLINK, unix.SYS_RMDIR, unix.SYS_UNLINKAT, unix.SYS_MKDIR, unix.SYS_MKDIRAT, unix.SYS_TRUNCATE, unix.SYS_FTRUNCATE,
	unix.SYS_CHMOD, unix.SYS_FCHMOD, unix.SYS_FCHMODAT, unix.SYS_FCHMODAT2, unix.SYS_FSYNC, unix.SYS_FDATASYNC, unix.SYS_SYNC_FILE_RANGE,
}

// filter returns the seccomp program that the kernel runs at each system call. It makes the watched calls stop for the
// tracer, and also calls that open a file if they create or truncate it.
func filter() []unix.SockFilter {
	const (
		load  = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS
		equal = unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K
		set   = unix.BPF_JMP | unix.BPF_JSET | unix.BPF_K
		ret   = unix.BPF_RET | unix.BPF_K
		nr    = 0 // the constants are offsets in struct seccomp_data
		args  = 16
		make_ = unix.O_CREAT | unix.O_TRUNC
	)
	pass := unix.SockFilter{Code: ret, K: unix.SECCOMP_RET_ALLOW}
	stop := unix.SockFilter{Code: ret, K: unix.SECCOMP_RET_TRACE}
	p := []unix.SockFilter{{Code: load, K: nr}}
	for _, n := range watched {
		p = append(p, unix.SockFilter{Code: equal, Jf: 1, K: n}, stop)
	}
	for _, open := range []struct{ nr, flags uint32 }{{unix.SYS_OPEN, 1}, {unix.SYS_OPENAT, 2}} {
		p = append(p, unix.SockFilter{Code: equal, Jf: 4, K: open.nr},
			unix.SockFilter{Code: load, K: args + 8*open.flags}, unix.SockFilter{Code: set, K: make_, Jf: 1}, stop, pass)
	}
	return append(p, pass)
}

// become installs the filter and replaces this process by the command. If it returns, it has failed.
func become(argv, env []string) error {
	runtime.LockOSThread() // the filter belongs to the thread, which must be the one that executes the command
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return os.NewSyscallError("prctl", err)
	}
	p := filter()
	program := unix.SockFprog{Len: uint16(len(p)), Filter: &p[0]}
	if _, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, uintptr(unsafe.Pointer(&program))); errno != 0 {
		return os.NewSyscallError("seccomp", errno)
	}
	return &os.PathError{Op: "exec", Path: argv[0], Err: unix.Exec(argv[0], argv, env)}
}

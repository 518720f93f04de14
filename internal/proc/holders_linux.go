package proc

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Holding lists the other processes that have the file at `path` open for writing. Only root sees the processes of
// other users. If the path cannot be resolved, `known` is false.
func Holding(path string) (list []Process, known bool) {
	real, err := filepath.EvalSymlinks(filepath.Dir(path))
	if err != nil {
		return nil, false
	}
	path = filepath.Join(real, filepath.Base(path))
	self := os.Getpid()
	for _, pid := range pids() {
		if pid != self && hasOpen(pid, path) {
			list = append(list, Named(pid))
		}
	}
	return list, true
}

func hasOpen(pid int, path string) bool {
	dir := fmt.Sprintf("/proc/%d/fd", pid)
	d, err := os.Open(dir)
	if err != nil {
		return false // it belongs to another user, or has ended
	}
	defer func() { _ = d.Close() }()
	names, _ := d.Readdirnames(-1)
	for _, name := range names {
		if to, err := os.Readlink(dir + "/" + name); err == nil && to == path && writes(pid, name) {
			return true
		}
	}
	return false
}

// writes reports whether a process has opened a descriptor for writing. The flags are in /proc/PID/fdinfo, in octal
// (see proc(5)).
func writes(pid int, fd string) bool {
	info, err := os.ReadFile(fmt.Sprintf("/proc/%d/fdinfo/%s", pid, fd))
	if err != nil {
		return false
	}
	_, flags, _ := strings.Cut(string(info), "flags:")
	n, err := strconv.ParseInt(strings.TrimSpace(firstLine(flags)), 8, 64)
	return err != nil || n&(unix.O_WRONLY|unix.O_RDWR) != 0
}

func firstLine(s string) string {
	s, _, _ = strings.Cut(s, "\n")
	return s
}

// Named returns the process with this pid, with its command.
func Named(pid int) Process {
	line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	command := strings.TrimSpace(strings.ReplaceAll(string(line), "\x00", " "))
	if command == "" { // it is a kernel thread, or is ending
		name, _ := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
		command = strings.TrimSpace(string(name))
	}
	return Process{PID: pid, Command: shortened(command)}
}

// Working lists the living processes of programs called `name` whose working directory is in one of `dirs`, or is one
// of them. It includes processes whose working directory is not readable, because they may be in there. On Linux
// `known` is always true.
func Working(name string, dirs ...string) (list []Process, known bool) {
	self := os.Getpid()
	for _, pid := range pids() {
		comm, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
		if err != nil || strings.TrimSpace(string(comm)) != name {
			continue
		}
		st, ok := readStat(pid)
		if !ok || st.dead {
			continue
		}
		cwd, err := os.Readlink(fmt.Sprintf("/proc/%d/cwd", pid))
		if errors.Is(err, fs.ErrNotExist) { // the process has ended
			continue
		}
		if err != nil || below(cwd, dirs) {
			p := Named(pid)
			p.Child = st.parent == self
			list = append(list, p)
		}
	}
	return list, true
}

func below(path string, dirs []string) bool {
	for _, dir := range dirs {
		if path == dir || strings.HasPrefix(path, dir+"/") {
			return true
		}
	}
	return false
}

package proc

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"
)

// stat is the system's information about one process.
type stat struct {
	pid, parent, group, session int
	// ready: running, or waiting for a processor; dead: ended, but not reaped
	ready, dead bool
	cpu         time.Duration // including children that have ended; Linux only
	began       uint64        // in the clock of Moment; 0: unknown
	kernel      bool          // a kernel thread
}

// sweep kills the remaining processes until two looks in a row find none. It reports whether that succeeded.
func (f family) sweep(l *leader, marker string) bool {
	clean := 0
	for limit := time.Now().Add(lastWait); ; {
		found, blank := f.look(l, marker)
		for _, pid := range found {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
		clean++
		if len(found) > 0 {
			clean = 0
		}
		if clean == 2 || !time.Now().Before(limit) {
			return clean == 2
		}
		if len(found)+blank > 0 {
			time.Sleep(poll)
		}
	}
}

// survivors returns all processes of the run that are still alive: members of the group, and escaped ones.
func (f family) survivors(l *leader, marker string) []int {
	all, _ := f.look(l, marker)
	return all
}

// look finds the survivors. A process with the marker inherited it from the leader, and cannot be older. blank counts
// the processes that could have the marker but show no environment: a process shows none for a moment during exec.
func (f family) look(l *leader, marker string) (all []int, blank int) {
	all = orphans()
	self := os.Getpid()
	for _, st := range table() {
		if st.dead {
			continue
		}
		within := st.group == l.pid || st.session == l.pid
		older := st.began < l.began
		has, shown := false, true
		if !within && marker != "" && st.pid != self && !older && !st.kernel {
			has, shown = carries(st.pid, marker)
		}
		if within || has {
			all = append(all, st.pid)
		}
		if !shown {
			blank++
		}
	}
	slices.Sort(all)
	return slices.Compact(all), blank
}

// signalRun signals the whole session: the group at once, and jobs with groups of their own one by one.
func signalRun(l *leader, sig syscall.Signal) {
	_ = signalGroup(l.pid, sig)
	for _, st := range members(l.pid) {
		if st.group != l.pid {
			_ = syscall.Kill(st.pid, sig)
		}
	}
}

// beganOf returns when a process began, or 0 if unknown.
func beganOf(pid int) uint64 {
	st, _ := readStat(pid)
	return st.began
}

func groupAlive(l *leader) bool { return len(members(l.pid)) > 0 }

// members returns the living processes of a group or session. A shell with job control gives its jobs groups of their
// own, but leaves them in its session.
func members(leader int) []stat {
	return slices.DeleteFunc(table(), func(st stat) bool {
		return st.dead || st.group != leader && st.session != leader
	})
}

// hasVariable reports whether a process has entry in its environment, or an entry with one of the prefixes. shown is
// false if the environment cannot be read.
func hasVariable(pid int, entry string, prefixes []string) (has, shown bool) {
	env, err := environOf(pid)
	if env == nil && err != nil {
		return false, errors.Is(err, fs.ErrNotExist) // shown: the process has ended
	}
	for line := range bytes.SplitSeq(env, []byte{0}) {
		if string(line) == entry || slices.ContainsFunc(prefixes,
			func(p string) bool { return strings.HasPrefix(string(line), p) }) {
			return true, true
		}
	}
	return false, err == nil && len(bytes.Trim(env, "\x00")) > 0
}

// hasBackground reports whether processes of a run have sessions of their own. Agents start the commands of their tools
// so, while helper processes of the agent itself stay in its session.
func hasBackground(l *leader, marker string) bool {
	if marker == "" {
		return false
	}
	for _, pid := range Marked(marker) {
		if st, ok := readStat(pid); ok && !st.dead && st.session != l.pid {
			return true
		}
	}
	return false
}

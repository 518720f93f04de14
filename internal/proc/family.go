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

// stat is what the system reports about one process.
type stat struct {
	pid, parent, group, session int
	// ready: it is running, or waits for a processor. dead: it has ended, but is not reaped.
	ready, dead bool
	cpu         time.Duration // time on processors, with that of children that have ended; only on Linux
	began       uint64        // when the process began, in the clock of Moment; 0: unknown
	kernel      bool          // it is a kernel thread
}

// sweep kills the remaining processes of the run, until it finds none twice in a row. It reports whether it got so far.
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

// survivors returns the pids of all processes of the run that are alive, including those that left its group.
func (f family) survivors(l *leader, marker string) []int {
	all, _ := f.look(l, marker)
	return all
}

// look returns the pids of all living processes of the run. A process outside the run's group and session belongs to
// the run if it has the marker; it must have inherited the marker from the leader, so it cannot be older than the
// leader. `blank` is the number of processes that may have the marker, but do not show their environment at the moment.
// A process does not show it for a moment during exec.
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

// signalRun sends a signal to all processes in the run's session: to the leader's group at once, and to processes in
// other groups one by one.
func signalRun(l *leader, sig syscall.Signal) {
	_ = signalGroup(l.pid, sig)
	for _, st := range members(l.pid) {
		if st.group != l.pid {
			_ = syscall.Kill(st.pid, sig)
		}
	}
}

// beganOf returns when a process began, in the clock of Moment, or 0 if unknown.
func beganOf(pid int) uint64 {
	st, _ := readStat(pid)
	return st.began
}

func groupAlive(l *leader) bool { return len(members(l.pid)) > 0 }

// members returns the living processes in the group or session of a leader. The session matters, because a shell with
// job control gives its jobs groups of their own, but leaves them in its session.
func members(leader int) []stat {
	return slices.DeleteFunc(table(), func(st stat) bool {
		return st.dead || st.group != leader && st.session != leader
	})
}

// hasVariable reports whether the environment of a process has `entry`, or an entry that begins with one of `prefixes`.
// If the environment cannot be read, `shown` is false. If the process has ended, `has` is false and `shown` is true.
func hasVariable(pid int, entry string, prefixes []string) (has, shown bool) {
	env, err := environOf(pid)
	if env == nil && err != nil {
		return false, errors.Is(err, fs.ErrNotExist) // there is no environment if the process has ended
	}
	for line := range bytes.SplitSeq(env, []byte{0}) {
		if string(line) == entry || slices.ContainsFunc(prefixes,
			func(p string) bool { return strings.HasPrefix(string(line), p) }) {
			return true, true
		}
	}
	return false, err == nil && len(bytes.Trim(env, "\x00")) > 0
}

// hasBackground reports whether a run has processes outside its session. Agents start the commands of their tools in
// such sessions, while the agent's own helper processes stay in the agent's session.
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

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

// stat is what the system says of one process.
type stat struct {
	pid, parent, group, session int
	// ready: it runs, or waits for a processor; dead: it has ended and waits to be reaped
	ready, dead bool
	cpu         time.Duration // with that of children that have ended; Linux only
	began       uint64        // in the clock of Moment, 0 when that is not told
	kernel      bool          // a thread of the kernel's
}

// sweep kills what is left, until two looks in a row find nothing. It reports whether that is so.
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

// survivors are all that are still alive: members of the group, and what escaped from it.
func (f family) survivors(l *leader, marker string) []int {
	all, _ := f.look(l, marker)
	return all
}

// look finds the survivors. Whoever has the marker has it from the leader, and began no earlier. blank is how
// many of those that could have it show no environment: a process that is just about to execute another program
// shows none for a moment.
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

// signalRun reaches the whole session: the group at once, jobs with groups of their own one by one.
func signalRun(l *leader, sig syscall.Signal) {
	_ = signalGroup(l.pid, sig)
	for _, st := range members(l.pid) {
		if st.group != l.pid {
			_ = syscall.Kill(st.pid, sig)
		}
	}
}

// beganOf is when a process began, 0 when that cannot be told.
func beganOf(pid int) uint64 {
	st, _ := readStat(pid)
	return st.began
}

func groupAlive(l *leader) bool { return len(members(l.pid)) > 0 }

// members are the living processes of a group or session. A shell with job control puts its jobs into groups of their
// own, but leaves them in its session.
func members(leader int) []stat {
	return slices.DeleteFunc(table(), func(st stat) bool {
		return st.dead || st.group != leader && st.session != leader
	})
}

// hasVariable reports whether a process has an entry in its environment, or one that begins in one of these ways, and
// whether its environment is shown.
func hasVariable(pid int, entry string, prefixes []string) (has, shown bool) {
	env, err := environOf(pid)
	if env == nil && err != nil {
		return false, errors.Is(err, fs.ErrNotExist) // gone; or somebody else's, or nobody knows
	}
	for line := range bytes.SplitSeq(env, []byte{0}) {
		if string(line) == entry || slices.ContainsFunc(prefixes,
			func(p string) bool { return strings.HasPrefix(string(line), p) }) {
			return true, true
		}
	}
	return false, err == nil && len(bytes.Trim(env, "\x00")) > 0
}

// hasBackground reports whether processes of a run live in sessions of their own: agents start the commands of their
// tools so, and what serves the agent itself stays with it.
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

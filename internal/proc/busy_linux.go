package proc

import (
	"fmt"
	"strconv"
	"time"
)

// effortsOf returns how much processor time each living process of a run has used so far, by pid.
func effortsOf(l *leader, marker string) map[int]effort {
	efforts := map[int]effort{}
	for _, pid := range processes(l, marker) {
		if st, ok := readStat(pid); ok && !st.dead {
			efforts[pid] = effort{used: st.cpu, queued: queued(pid), ready: st.ready}
		}
	}
	return efforts
}

// queued returns how long a process's first thread was ready but had to wait for a processor, or 0 if the kernel does
// not count it.
func queued(pid int) time.Duration {
	var buf [64]byte
	line := buf[:readOnce("/proc/"+strconv.Itoa(pid)+"/schedstat", buf[:])]
	var ran, waited int64 // both in nanoseconds
	_, _ = fmt.Sscan(string(line), &ran, &waited)
	return time.Duration(waited)
}

// processes returns the pids of the processes in a run's session, and of those that have the run's marker. It may
// return a pid twice.
func processes(l *leader, marker string) []int {
	var all []int
	for _, st := range members(l.pid) {
		all = append(all, st.pid)
	}
	if marker != "" {
		all = append(all, Marked(marker)...)
	}
	return all
}

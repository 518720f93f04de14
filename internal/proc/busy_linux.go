package proc

import (
	"fmt"
	"strconv"
	"time"
)

// effortsOf are the efforts of the living processes of a run so far, by pid.
func effortsOf(l *leader, marker string) map[int]effort {
	efforts := map[int]effort{}
	for _, pid := range processes(l, marker) {
		if st, ok := readStat(pid); ok && !st.dead {
			efforts[pid] = effort{used: st.cpu, queued: queued(pid), ready: st.ready}
		}
	}
	return efforts
}

// queued is how long a process's first thread was ready to run and had to wait; 0 where the kernel does not count that.
func queued(pid int) time.Duration {
	var buf [64]byte
	line := buf[:readOnce("/proc/"+strconv.Itoa(pid)+"/schedstat", buf[:])]
	var ran, waited int64 // nanoseconds
	_, _ = fmt.Sscan(string(line), &ran, &waited)
	return time.Duration(waited)
}

// processes are the members of a run's session and those that carry its marker. Some may be named twice.
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

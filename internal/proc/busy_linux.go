package proc

import (
	"fmt"
	"strconv"
	"time"
)

// effortsOf returns the efforts so far of a run's living processes, by pid.
func effortsOf(l *leader, marker string) map[int]effort {
	efforts := map[int]effort{}
	for _, pid := range processes(l, marker) {
		if st, ok := readStat(pid); ok && !st.dead {
			efforts[pid] = effort{used: st.cpu, queued: queued(pid), ready: st.ready}
		}
	}
	return efforts
}

// queued returns how long a process's first thread was ready but waited for a processor; 0 if the kernel does not count
// it.
func queued(pid int) time.Duration {
	var buf [64]byte
	line := buf[:readOnce("/proc/"+strconv.Itoa(pid)+"/schedstat", buf[:])]
	var ran, waited int64 // nanoseconds
	_, _ = fmt.Sscan(string(line), &ran, &waited)
	return time.Duration(waited)
}

// processes returns the members of a run's session and the processes with its marker. It may list some twice.
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

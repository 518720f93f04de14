package proc

import "time"

// cpuOf is how much time of processors the living processes of a run have used up so far, by pid.
func cpuOf(l *leader, marker string) map[int]time.Duration {
	used := map[int]time.Duration{}
	for _, pid := range processes(l, marker) {
		if st, ok := readStat(pid); ok && !st.dead() {
			used[pid] = st.cpu
		}
	}
	return used
}

// hasBackground reports whether processes of a run live in sessions of their own: agents start the commands of their
// tools so, and what serves the agent itself stays with it.
func hasBackground(l *leader, marker string) bool {
	for _, pid := range processes(l, marker) {
		if st, ok := readStat(pid); ok && !st.dead() && st.session != l.pid {
			return true
		}
	}
	return false
}

// processes are the members of a run's session and those that carry its marker. Some may be named twice.
func processes(l *leader, marker string) []int {
	all := members(l.pid)
	if marker != "" {
		all = append(all, Marked(marker)...)
	}
	return all
}

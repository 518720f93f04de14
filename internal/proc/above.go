package proc

import "os"

// Above lists the ancestors of this process, its parent first. Processes that a run leaves behind are descendants of
// the process that started the run, as long as that process lives: see children.
func Above() []int {
	var list []int
	for pid := os.Getppid(); pid > 1 && len(list) < 1000; {
		list = append(list, pid)
		s, ok := readStat(pid)
		if !ok {
			break
		}
		pid = s.parent
	}
	return list
}

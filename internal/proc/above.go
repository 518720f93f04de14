package proc

import "os"

// Above lists the processes that this one descends from, its parent first. What a run leaves behind descends from
// whoever started the run as long as that lives: see children.
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

package proc

import "os"

// Above lists the ancestors of this process, its parent first. The process that started a run is among them if this
// process belongs to the run. On Linux that is true even if the run has left this process behind, because orphans of a
// run become children of the process that started the run, as long as it lives; see children.
func Above() []int { return AboveOf(os.Getppid()) }

// AboveOf lists a process and its ancestors, as Above does.
func AboveOf(pid int) []int {
	var list []int
	for pid > 1 && len(list) < 1000 {
		list = append(list, pid)
		s, ok := readStat(pid)
		if !ok {
			break
		}
		pid = s.parent
	}
	return list
}

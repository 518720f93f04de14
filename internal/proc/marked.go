package proc

import (
	"os"
	"slices"
)

// Marked lists the other living processes whose environment has `entry`, or an entry that begins with one of
// `prefixes`. On macOS it does not find the system's own programs (/bin, /usr/bin), which hide their environment.
func Marked(entry string, prefixes ...string) []int {
	self := os.Getpid()
	var found []int
	for _, pid := range pids() {
		if has, _ := hasVariable(pid, entry, prefixes); has && pid != self {
			found = append(found, pid)
		}
	}
	slices.Sort(found)
	return found
}

func carries(pid int, marker string) (has, shown bool) { return hasVariable(pid, marker, nil) }

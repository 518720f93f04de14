package proc

import (
	"os"
	"slices"
)

// Marked lists the other living processes that have entry in their environment, or an entry with one of the prefixes.
// On macOS the system's own programs (/bin, /usr/bin) hide their environment.
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

package proc

import (
	"os"
	"slices"
)

// Marked lists living processes that have an entry in their environment, or one that begins in one of these ways, this
// process excepted. On macOS the system's own programs (/bin, /usr/bin) do not show theirs.
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

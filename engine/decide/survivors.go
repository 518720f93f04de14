package decide

import (
	"fmt"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/session"
)

// Survivors returns the block of a session because of processes that are still alive. The reason names only their IDs,
// since command lines may contain secrets. The command that it recommends does not contain the IDs, because they may
// belong to other processes by the time it is typed; Ending returns it for the processes of that moment.
func Survivors(alive []session.Process) session.BlockedBy {
	what := "processes of the last run are still running:" + Numbers(Known(alive))
	if len(Known(alive)) == 0 {
		what = "a process of the last run is still running; this system does not name it"
	}
	return Blocked(session.BlockSurvivors, "wfs run", what)
}

// Ending returns the command to type for a session that is blocked because of processes of its last run. `alive` are
// the processes that are still alive.
func Ending(s *session.Session, alive []session.Process) string {
	// `wfs run` ends these itself
	alive = slices.DeleteFunc(slices.Clone(alive), func(p session.Process) bool { return p.Own })
	ids := Numbers(Known(alive))
	switch {
	case len(alive) == 0:
		return "wfs run"
	case ids == "":
		return "stop it, then wfs run"
	case s.Open != nil && s.Open.Run != nil && len(s.Open.Run.Survivors) > 0: // wfs could not end them after the run
		ids = " -9" + ids
	}
	return "kill" + ids + "; wfs run" // not &&: kill fails if one has ended on its own
}

// Named lists processes for people.
func Named(list []session.Process) string {
	var all []string
	for _, p := range list {
		switch {
		case p.PID == 0:
			all = append(all, "one that this system does not name")
		case p.Command == "":
			all = append(all, fmt.Sprint(p.PID))
		default:
			all = append(all, fmt.Sprintf("%d `%s`", p.PID, p.Command))
		}
	}
	return strings.Join(all, ", ")
}

// Known returns the IDs of the processes that have one.
func Known(list []session.Process) []int {
	var ids []int
	for _, p := range list {
		if p.PID > 0 {
			ids = append(ids, p.PID)
		}
	}
	return ids
}

// Numbers formats process IDs as arguments of a command, each after a space.
func Numbers(list []int) string {
	s := ""
	for _, n := range list {
		s += fmt.Sprintf(" %d", n)
	}
	return s
}

package decide

import (
	"fmt"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/session"
)

// Survivors blocks the session because of them. The event says their numbers; what their command lines say may be
// secret. What is to be typed has none: it is read when they may be somebody else's (see Ending).
func Survivors(alive []session.Process) session.BlockedBy {
	what := "processes of the last run are still running:" + Numbers(Known(alive))
	if len(Known(alive)) == 0 {
		what = "a process of the last run is still running; this system does not name it"
	}
	return Blocked(session.BlockSurvivors, "wfs run", what)
}

// Ending is what to type in a session that survivors block, of which these are alive now.
func Ending(s *session.Session, alive []session.Process) string {
	// the run ends them itself
	alive = slices.DeleteFunc(slices.Clone(alive), func(p session.Process) bool { return p.Own })
	ids := Numbers(Known(alive))
	switch {
	case len(alive) == 0:
		return "wfs run"
	case ids == "":
		return "stop it, then wfs run"
	case s.Open != nil && s.Open.Run != nil && len(s.Open.Run.Survivors) > 0: // of what ended the run as well
		ids = " -9" + ids
	}
	return "kill" + ids + "; wfs run" // not &&: some end by themselves
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

// Known are the numbers of those that have one.
func Known(list []session.Process) []int {
	var ids []int
	for _, p := range list {
		if p.PID > 0 {
			ids = append(ids, p.PID)
		}
	}
	return ids
}

// Numbers are numbers of processes as arguments of a command, each after a space.
func Numbers(list []int) string {
	s := ""
	for _, n := range list {
		s += fmt.Sprintf(" %d", n)
	}
	return s
}

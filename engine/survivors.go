package engine

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/session"
)

// Processes of a run that live on when its wfs is dead may write to the work tree. Nobody is set to work there, and
// nothing is moved there, as long as they do, unless a person says that they are harmless: build daemons. The next run
// ends those that are proven to be its predecessor's own; all others are only named.

// alive are the processes of the newest run that still live.
func (h *Hand) alive() []session.Process {
	if h.S.Started == "" {
		return nil
	}
	return h.e.Works.Alive(h.ID, h.S.Started)
}

// endOwn ends what is proven to be the last run's own, and returns who is still alive and whom it ended. What they have
// written so far is saved before.
func (h *Hand) endOwn(ctx context.Context, alive []session.Process) (left []session.Process, ended []int) {
	if !slices.ContainsFunc(alive, func(p session.Process) bool { return p.Own }) {
		return alive, nil
	}
	h.keepAside(ctx, "before processes of the last run are stopped")
	ended = h.e.Works.End(h.ID, h.S.Started)
	return h.alive(), ended
}

// survivors blocks the session because of them. The event says their numbers; what their command lines say may be
// secret. What is to be typed has none: it is read when they may be somebody else's (see Ending).
func survivors(alive []session.Process) session.BlockedBy {
	what := "processes of the last run are still running:" + numbers(known(alive))
	if len(known(alive)) == 0 {
		what = "a process of the last run is still running; this system does not name it"
	}
	return blocked(session.BlockSurvivors, "wfs run", what)
}

// Ending is what to type in a session that survivors block, of which these are alive now.
func Ending(s *session.Session, alive []session.Process) string {
	// the run ends them itself
	alive = slices.DeleteFunc(slices.Clone(alive), func(p session.Process) bool { return p.Own })
	ids := numbers(known(alive))
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

// NoSurvivors refuses to move files that processes of the last run may be writing.
func (h *Hand) NoSurvivors() error {
	alive := h.alive()
	if len(alive) == 0 {
		return nil
	}
	ids := numbers(known(alive))
	r := session.Refuse(session.RefuseSurvivors, "kill"+ids+", then run it again",
		"processes of the last run of %s are still running, and may write to the files here: %s", h.ID, Named(alive))
	if ids == "" {
		r.Hint = "stop it, then run it again"
	}
	return r
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

// known are the numbers of those that have one.
func known(list []session.Process) []int {
	var ids []int
	for _, p := range list {
		if p.PID > 0 {
			ids = append(ids, p.PID)
		}
	}
	return ids
}

func numbers(list []int) string {
	s := ""
	for _, n := range list {
		s += fmt.Sprintf(" %d", n)
	}
	return s
}

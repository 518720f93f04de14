package hand

import (
	"github.com/wfs-dev/wfs/engine/decide"
	"github.com/wfs-dev/wfs/session"
)

// Processes of a run can outlive its wfs, and may write to the work tree. While they live, no agent is started and no
// file is moved there, unless a person declares them harmless, such as build daemons. The next run ends those that
// provably belong to the run before it; it only lists the others.

// Alive returns the processes of the newest run that are still alive.
func (h *Hand) Alive() []session.Process {
	if h.S.Started == "" {
		return nil
	}
	return h.base.RunAlive(h.ID, h.S.Started)
}

// NoSurvivors refuses to move files while processes of the last run may write to them.
func (h *Hand) NoSurvivors() error {
	alive := h.Alive()
	if len(alive) == 0 {
		return nil
	}
	ids := decide.Numbers(decide.Known(alive))
	r := session.Refuse(session.RefuseSurvivors, "kill"+ids+", then run it again",
		"processes of the last run of %s are still running, and may write to the files here: %s", h.ID, decide.Named(alive))
	if ids == "" {
		r.Hint = "stop it, then run it again"
	}
	return r
}

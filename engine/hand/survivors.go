package hand

import (
	"github.com/wfs-dev/wfs/engine/decide"
	"github.com/wfs-dev/wfs/session"
)

// Processes of a run can outlive the wfs process that started it, and may write to the work tree. While they live, wfs
// starts no agent and moves no file there, unless a person declares them harmless, as with build daemons. The next run
// ends processes that provably belong to the run before it, and only lists the others.

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

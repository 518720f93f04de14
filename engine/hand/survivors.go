package hand

import (
	"github.com/wfs-dev/wfs/engine/decide"
	"github.com/wfs-dev/wfs/session"
)

// Processes of a run that live on when its wfs is dead may write to the work tree. Nobody is set to work there, and
// nothing is moved there, as long as they do, unless a person says that they are harmless: build daemons. The next run
// ends those that are proven to be its predecessor's own; all others are only named.

// Alive are the processes of the newest run that still live.
func (h *Hand) Alive() []session.Process {
	if h.S.Started == "" {
		return nil
	}
	return h.base.RunAlive(h.ID, h.S.Started)
}

// NoSurvivors refuses to move files that processes of the last run may be writing.
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

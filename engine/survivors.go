package engine

import (
	"context"
	"slices"

	"github.com/wfs-dev/wfs/session"
)

// endOwn ends what is proven to be the last run's own, and returns who is still alive and whom it ended. What they have
// written so far is saved before.
func (h *Drive) endOwn(ctx context.Context, alive []session.Process) (left []session.Process, ended []int) {
	if !slices.ContainsFunc(alive, func(p session.Process) bool { return p.Own }) {
		return alive, nil
	}
	h.keepAside(ctx, "before processes of the last run are stopped")
	ended = h.Works.End(h.ID, h.S.Started)
	return h.Alive(), ended
}

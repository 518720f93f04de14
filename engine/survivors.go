package engine

import (
	"context"
	"slices"

	"github.com/wfs-dev/wfs/session"
)

// endOwn ends processes that provably belong to the last run. It saves their files first. It returns the processes that
// are still alive, and the IDs of those that it ended.
func (h *Drive) endOwn(ctx context.Context, alive []session.Process) (left []session.Process, ended []int) {
	if !slices.ContainsFunc(alive, func(p session.Process) bool { return p.Own }) {
		return alive, nil
	}
	h.keepAside(ctx, "before processes of the last run are stopped")
	ended = h.Works.End(h.ID, h.S.Started)
	return h.Alive(), ended
}

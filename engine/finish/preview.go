package finish

import (
	"context"

	"github.com/wfs-dev/wfs/engine/transition"
	"github.com/wfs-dev/wfs/internal/safetext"
)

// Preview returns the effect of Finish on the files of this work tree. `exclude` is the path of the session's exclude
// file, which lists the paths that snapshots leave out; "" if it has none.
func (h *Finisher) Preview(ctx context.Context, exclude string, o Options) (transition.Preview, error) {
	p := transition.Preview{What: "finish " + string(h.ID) + " on " + safetext.ShortRef(o.Branch), Head: o.Branch}
	if err := h.place.MayDrive(ctx); err != nil {
		return p, err
	}
	snap, err := h.Git.Snapshot(ctx, exclude)
	if err != nil {
		return p, err
	}
	work, err := h.handing(ctx, o, snap)
	if err != nil {
		return p, err
	}
	p.At, p.Tree = work.checkpoint.Number, work.files
	p.Move, err = h.Git.PlanMove(ctx, snap, work.files, "")
	return p, err
}

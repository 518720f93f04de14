package backup

import (
	"cmp"
	"context"
	"slices"

	"github.com/wfs-dev/wfs/gitstate/handover"
)

// Lacks reports whether a branch, or "" for the one that a rescue was left on, has not by now what the rescue keeps of
// uncommitted work: neither the same files nor a commit that made the same change.
func (r *Backups) Lacks(ctx context.Context, branch, ref string) bool {
	rescue, err := r.Refs.Ref(ctx, ref)
	if err != nil || rescue == "" {
		return false // what cannot be read is named by wfs doctor
	}
	state, err := r.State(ctx, rescue)
	if err != nil {
		return false
	}
	parts, err := r.RescuedWork(ctx, rescue, state)
	if err != nil {
		return true
	}
	return slices.ContainsFunc(parts, func(p Rescued) bool {
		if p.bytes() {
			return false
		}
		how, err := r.Handover.HasChanges(ctx, p.Commit, cmp.Or(branch, state.Head.Ref))
		return err != nil || how == handover.FateNowhere
	})
}

package gitstate

import (
	"cmp"
	"context"
	"slices"

	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/session/oplog"
)

// maxParked is how many of the operations that are too old for a log which begins anew are taken along, because what
// they left behind on a branch has not come back.
const maxParked = keptOps / 2

// takenAlong are the entries of a log that has grown which the new one begins with, newest first, as indexes:
// the newest, and those of before by which uncommitted changes come back.
func takenAlong(ops []session.Op) []int {
	n := min(len(ops), keptOps)
	var list []int
	for i := range n {
		list = append(list, i)
	}
	for _, op := range oplog.ParkedAnywhere(ops) {
		i := slices.IndexFunc(ops, func(o session.Op) bool { return o.Number == op.Number })
		if i >= n && len(list) < n+maxParked {
			list = append(list, i)
		}
	}
	return list
}

// Lacks reports whether a branch, or "" for the one that a rescue was left on, has not by now what the rescue keeps of
// uncommitted work: neither the same files nor a commit that made the same change.
func (r *Repo) Lacks(ctx context.Context, branch, ref string) bool {
	rescue, err := r.Ref(ctx, ref)
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
		how, err := r.hasChanges(ctx, p.Commit, cmp.Or(branch, state.Head.Ref))
		return err != nil || how == FateNowhere
	})
}

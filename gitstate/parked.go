package gitstate

import (
	"cmp"
	"context"
	"slices"

	"github.com/wfs-dev/wfs/session"
)

// maxParked is how many of the operations that are too old for a log which begins anew are taken along, because what
// they left behind on a branch has not come back.
const maxParked = keptOps / 2

// takenAlong are the entries of a log that has grown which the new one begins with, newest first, as indexes: the newest, and
// those of before by which uncommitted changes come back.
func takenAlong(ops []session.Op) []int {
	n := min(len(ops), keptOps)
	var list []int
	for i := range n {
		list = append(list, i)
	}
	for _, op := range session.ParkedAnywhere(ops) {
		i := slices.IndexFunc(ops, func(o session.Op) bool { return o.Number == op.Number })
		if i >= n && len(list) < n+maxParked {
			list = append(list, i)
		}
	}
	return list
}

// Stranded are the operations of work trees that are gone which left uncommitted changes behind on a branch: nothing
// brings these back any more. Those whose changes the branch has by now, or whose rescue is gone, are left out.
func (r *Repo) Stranded(ctx context.Context, branch string) ([]session.Op, error) {
	logs, err := r.OpLogs(ctx)
	if err != nil || branch == "" {
		return nil, err
	}
	trees, err := r.Worktrees(ctx)
	if err != nil {
		return nil, err
	}
	logs = slices.DeleteFunc(logs, func(id string) bool {
		return id == r.worktree || id == "main" || slices.ContainsFunc(trees, func(t Worktree) bool { return t.ID == id && !t.Gone })
	})
	var parked []session.Op
	for _, id := range logs {
		ops, _, err := r.OpLog(ctx, id)
		if err != nil {
			return nil, err
		}
		parked = append(parked, session.Parked(ops, branch)...)
	}
	return slices.DeleteFunc(parked, func(op session.Op) bool { return !r.leftOn(ctx, op.Turn.Rescue, branch) }), nil
}

// leftOn reports whether a rescue keeps what was uncommitted on a branch, and is not in it by now.
func (r *Repo) leftOn(ctx context.Context, ref, branch string) bool {
	rescue, err := r.Ref(ctx, ref)
	if err != nil || rescue == "" {
		return false
	}
	state, err := r.State(ctx, rescue)
	return err == nil && state.Head.Ref == branch && r.Lacks(ctx, "", ref)
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

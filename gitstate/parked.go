package gitstate

import (
	"context"
	"maps"
	"slices"
	"strings"

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
	if len(logs) == 0 {
		return nil, nil
	}
	left, err := r.leftOn(ctx, branch)
	if err != nil || len(left) == 0 {
		return nil, err
	}
	var stranded []session.Op
	for _, id := range logs {
		ops, _, err := r.OpLog(ctx, id)
		if err != nil {
			return nil, err
		}
		for _, op := range session.Parked(ops, branch) {
			if left[op.Turn.Rescue] {
				stranded = append(stranded, op)
			}
		}
	}
	return stranded, nil
}

// leftOn are the rescues of what was uncommitted on a branch, and is not in it by now.
func (r *Repo) leftOn(ctx context.Context, branch string) (map[string]bool, error) {
	rescues, err := r.refs(ctx, strings.TrimSuffix(refsPrefix, "/"), func(name string) bool { return strings.Contains(name, "/rescue/") })
	if err != nil {
		return nil, err
	}
	left := map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(rescues)) {
		state, err := r.State(ctx, rescues[name])
		if err != nil || state.Head.Ref != branch {
			continue // what cannot be read is named by wfs doctor
		}
		parts, err := r.RescuedWork(ctx, rescues[name], state)
		left[name] = err != nil
		for _, p := range parts {
			if p.Commit == rescues[name] { // no branch ever has these bytes
				continue
			}
			how, err := r.hasChanges(ctx, p.Commit, branch)
			left[name] = left[name] || err != nil || how == FateNowhere
		}
	}
	return left, nil
}

package session

import (
	"slices"
	"strings"
)

// Parked returns the operations of one work tree, given newest first, that left uncommitted changes behind on a
// branch and whose changes have not come back, newest first. Whoever leaves the branch again leaves those of
// before behind as well.
func Parked(ops []Op, branch string) []Op {
	var parked []Op
	var since []Turn // that came to the branch, or are in the list
	for _, op := range ops {
		t := op.Turn
		same := func(o Turn) bool { return o.Tree == t.TreeOld && o.Index == t.IndexOld }
		switch branch {
		case t.HeadNew:
			if op.Undoes == 0 { // what was left there came back then, or was named
				return parked
			}
			since = append(since, t)
		case t.HeadOld:
			if t.Rescue != "" && !slices.ContainsFunc(since, same) {
				parked = append(parked, op)
				since = append(since, Turn{Tree: t.TreeOld, Index: t.IndexOld})
			}
		}
	}
	return parked
}

// ParkedAnywhere is Parked for all branches that are not of sessions, newest first.
func ParkedAnywhere(ops []Op) []Op {
	var branches []string
	var parked []Op
	for _, op := range ops {
		if on := op.Turn.HeadOld; op.Turn.Rescue != "" && strings.HasPrefix(on, "refs/heads/") &&
			!strings.HasPrefix(on, BranchPrefix) && !slices.Contains(branches, on) {
			branches = append(branches, on)
			parked = append(parked, Parked(ops, on)...)
		}
	}
	slices.SortFunc(parked, func(x, y Op) int { return int(y.Number - x.Number) })
	return parked
}

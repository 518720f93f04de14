// Package oplog finds the operations that can be undone and redone. It also computes the values of a session that an
// undo restores in addition to files and refs.
package oplog

import (
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/session"
)

// Standing returns the operations that can be undone, and the undos that can be redone. In both lists the last entry is
// the next one. In `ops` the newest operation comes first. After an undo, a new operation makes redoing impossible. An
// undo whose operation is no longer in the log is in neither list.
func Standing(ops []session.Op) (undo, redo []session.Op) {
	for _, op := range slices.Backward(ops) {
		if op.Undoes == 0 {
			undo, redo = append(undo, op), nil
			continue
		}
		is := func(o session.Op) bool { return o.Number == op.Undoes }
		if i := slices.IndexFunc(undo, is); i >= 0 {
			undo, redo = slices.Delete(undo, i, i+1), append(redo, op)
		} else if i := slices.IndexFunc(redo, is); i >= 0 {
			undo, redo = append(undo, op), slices.Delete(redo, i, i+1)
		}
	}
	return undo, redo
}

// Together returns the last operation of a list from Standing, followed by the earlier operations of the same command,
// which are undone with it.
func Together(standing []session.Op) []session.Op {
	n := len(standing)
	if n == 0 {
		return nil
	}
	next := []session.Op{standing[n-1]}
	for i := n - 2; i >= 0 && next[len(next)-1].With == standing[i].Number && standing[i].Number > 0; i-- {
		next = append(next, standing[i])
	}
	return next
}

// Parked returns the operations that left uncommitted changes behind on a branch, if those changes have not come back
// since. `ops` are the operations of one work tree. Both lists begin with the newest. An operation that leaves the
// branch again also leaves the earlier changes behind.
func Parked(ops []session.Op, branch string) []session.Op {
	var parked []session.Op
	var since []session.Turn // later turns that came to the branch, or that are listed already
	for _, op := range ops {
		t := op.Turn
		same := func(o session.Turn) bool { return o.Tree == t.TreeOld && o.Index == t.IndexOld }
		switch branch {
		case t.HeadNew:
			// an operation came to the branch: changes left there earlier came back, or were listed when it left
			if op.Undoes == 0 {
				return parked
			}
			since = append(since, t)
		case t.HeadOld:
			if t.Rescue != "" && !slices.ContainsFunc(since, same) {
				parked = append(parked, op)
				since = append(since, session.Turn{Tree: t.TreeOld, Index: t.IndexOld})
			}
		}
	}
	return parked
}

// ParkedAnywhere returns the operations that Parked returns for any branch that is not a session's, the newest first.
func ParkedAnywhere(ops []session.Op) []session.Op {
	var branches []string
	var parked []session.Op
	for _, op := range ops {
		if on := op.Turn.HeadOld; op.Turn.Rescue != "" && strings.HasPrefix(on, "refs/heads/") &&
			!strings.HasPrefix(on, session.BranchPrefix) && !slices.Contains(branches, on) {
			branches = append(branches, on)
			parked = append(parked, Parked(ops, on)...)
		}
	}
	slices.SortFunc(parked, func(x, y session.Op) int { return int(y.Number - x.Number) })
	return parked
}

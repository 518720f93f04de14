package engine

import (
	"context"
	"slices"

	"github.com/wfs-dev/wfs/session"
)

// Parked returns the operations that left uncommitted changes behind on a branch in this work tree and whose changes have
// not come back, newest first. Whoever leaves the branch again leaves those of before behind as well.
func (e *Engine) Parked(ctx context.Context, branch string) ([]session.Op, error) {
	ops, err := e.Store.Ops(ctx)
	if err != nil {
		return nil, err
	}
	var parked []session.Op
	var since []session.Turn // that came to the branch, or are in the list
	for _, op := range ops {
		t := op.Turn
		same := func(o session.Turn) bool { return o.Tree == t.TreeOld && o.Index == t.IndexOld }
		switch branch {
		case t.HeadNew:
			if op.Undoes == 0 { // what was left there came back then, or was named
				return parked, nil
			}
			since = append(since, t)
		case t.HeadOld:
			if t.Rescue != "" && !slices.ContainsFunc(since, same) {
				parked = append(parked, op)
				since = append(since, session.Turn{Tree: t.TreeOld, Index: t.IndexOld})
			}
		}
	}
	return parked, nil
}

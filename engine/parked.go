package engine

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/session/oplog"
)

// Parked returns the operations that left uncommitted changes behind on a branch in this work tree and whose
// changes have not come back, newest first.
func (e *Engine) Parked(ctx context.Context, branch string) ([]session.Op, error) {
	ops, err := e.Store.Ops(ctx)
	return oplog.Parked(ops, branch), err
}

// comesBack says what becomes of uncommitted changes that were left behind on a branch, newest first, when HEAD
// comes to it at a commit: what was left at that commit comes back, which is returned as well, nil for nothing;
// the rest is named.
func (e *Engine) comesBack(ctx context.Context, parked []session.Op, branch string,
	tip session.Commit) (back *session.Turn, note string) {
	var lines []string
	i := slices.IndexFunc(parked, func(op session.Op) bool { return op.Turn.HeadOldCommit == tip })
	if i >= 0 {
		back = &parked[i].Turn
		lines = append(lines, "your uncommitted changes are back")
	}
	for n, op := range parked {
		if n == i {
			continue
		}
		why := "you have other uncommitted changes there"
		if op.Turn.HeadOldCommit != tip {
			why = fmt.Sprintf("%s has moved since you left uncommitted changes there", short(branch))
		}
		lines = append(lines, e.Store.WaysBack(ctx, op.Turn.Rescue, why+"; they are saved")...)
	}
	return back, strings.Join(lines, "\n")
}

// noteOf is what comesBack said of a move to a branch of the user's, by what the log held before the operation
// that came of it. The process that began the move is dead and has told nobody, and from now on the log takes
// what was left there for named.
func (e *Engine) noteOf(ctx context.Context, how session.MoveKind, t session.Turn, number int64) string {
	if how != session.MoveLeave {
		return ""
	}
	ops, err := e.Store.Ops(ctx)
	if err != nil { // the move is made all the same, and is to be told of
		return ""
	}
	ops = slices.DeleteFunc(ops, func(op session.Op) bool { return op.Number >= number })
	_, note := e.comesBack(ctx, oplog.Parked(ops, t.HeadNew), t.HeadNew, t.HeadNewCommit)
	return note
}

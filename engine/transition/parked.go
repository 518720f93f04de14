package transition

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/session/oplog"
)

// Parked returns the operations that left uncommitted changes on a branch in this work tree, if these were not restored
// since, newest first.
func (e *Kit) Parked(ctx context.Context, branch string) ([]session.Op, error) {
	ops, err := e.Git.Ops(ctx)
	return oplog.Parked(ops, branch), err
}

// comesBack decides about uncommitted changes that were left on a branch, newest first, when HEAD moves to its tip. It
// returns the turn whose changes were left at this commit, to be restored, nil for none. note lists the others.
func (e *Kit) comesBack(ctx context.Context, parked []session.Op, branch string,
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
			why = fmt.Sprintf("%s has moved since you left uncommitted changes there", session.ShortRef(branch))
		}
		lines = append(lines, e.Git.WaysBack(ctx, op.Turn.Rescue, why+"; they are saved")...)
	}
	return back, strings.Join(lines, "\n")
}

// noteOf returns the note of comesBack for a recovered move to a branch of the user, as of the log before the move's
// own operation. The process that began the move died without printing it, and from now on the log counts those changes
// as reported.
func (e *Kit) noteOf(ctx context.Context, how session.MoveKind, t session.Turn, number int64) string {
	if how != session.MoveLeave {
		return ""
	}
	ops, err := e.Git.Ops(ctx)
	if err != nil { // the move was made nevertheless, and must be reported
		return ""
	}
	ops = slices.DeleteFunc(ops, func(op session.Op) bool { return op.Number >= number })
	_, note := e.comesBack(ctx, oplog.Parked(ops, t.HeadNew), t.HeadNew, t.HeadNewCommit)
	return note
}

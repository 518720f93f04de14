package transition

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/internal/safetext"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/session/oplog"
)

// Parked returns the operations that left uncommitted changes on a branch in this work tree, newest first. It leaves
// out operations whose changes have been restored since.
func (e *Kit) Parked(ctx context.Context, branch string) ([]session.Op, error) {
	ops, err := e.Git.Ops(ctx)
	return oplog.Parked(ops, branch), err
}

// comesBack chooses the uncommitted changes to restore when HEAD moves to the tip of a branch. `parked` are the
// operations that left changes on the branch, newest first. `back` is the turn of the newest one that left its changes
// at this same commit, nil if there is none. `note` tells the user about these changes and about all others.
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
			why = fmt.Sprintf("%s has moved since you left uncommitted changes there", safetext.ShortRef(branch))
		}
		lines = append(lines, e.Git.WaysBack(ctx, op.Turn.Rescue, why+"; they are saved")...)
	}
	return back, strings.Join(lines, "\n")
}

// noteOf returns the note of comesBack for a recovered move to a branch of the user, "" for other moves. `number` is
// the move's operation; noteOf reads the log as it was before this operation. The process that began the move died
// without printing the note, and from now on the log counts those changes as reported.
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

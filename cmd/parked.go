package cmd

import (
	"context"
	"fmt"
	"strings"

	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/session/oplog"
)

// sayParked reminds of uncommitted changes that were left behind on a branch.
func (a *app) sayParked(ctx context.Context, branch string) error {
	parked, err := a.Engine.Parked(ctx, branch)
	for _, op := range parked {
		lines := a.Repo.WaysBack(ctx, op.Turn.Rescue, "to have them back on top of what is here")
		if len(lines) > 0 {
			a.out("uncommitted changes of yours from here are kept in %s (%s)", op.Turn.Rescue, op.Summary)
		}
		for _, line := range lines {
			a.out("  %s", line)
		}
	}
	return err
}

// strandedWith are the rescues of what was left behind on branches in a work tree that was removed just now.
func (a *app) strandedWith(ctx context.Context, worktree string) []string {
	ops, _, _ := a.Repo.OpLog(ctx, worktree) // what can be read of it
	var refs []string
	for _, op := range oplog.ParkedAnywhere(ops) {
		if a.Repo.Lacks(ctx, "", op.Turn.Rescue) {
			refs = append(refs, op.Turn.Rescue)
		}
	}
	return refs
}

// parkedLines say how to have changes back that were left behind in a work tree that is gone.
func (a *app) parkedLines(ctx context.Context, rescue string) []string {
	from := "a branch"
	if tip, err := a.Repo.Ref(ctx, rescue); err == nil {
		if state, err := a.Repo.State(ctx, tip); err == nil {
			from = strings.TrimPrefix(state.Head.Ref, "refs/heads/")
		}
	}
	return a.Repo.WaysBack(ctx, rescue,
		fmt.Sprintf("uncommitted changes of yours from %s, left behind in a work tree that is gone, are kept; on %s",
			from, from))
}

// staysLines say how to have back what was uncommitted on branches of the user's when a session began or was
// gone to: those rescues stay when the session is deleted.
func (a *app) staysLines(ctx context.Context, id session.ID) ([]string, error) {
	rescues, err := a.Repo.Rescues(ctx, id)
	var lines []string
	for _, ref := range sortedKeys(rescues) {
		from := strings.TrimPrefix(rescues[ref].Head.Ref, "refs/heads/")
		lines = append(lines, a.Repo.WaysBack(ctx, ref,
			fmt.Sprintf("your uncommitted changes of %s stay in %s; on %s", from, ref, from))...)
	}
	return lines, err
}

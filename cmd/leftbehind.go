package cmd

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/gitstate"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/session/oplog"
	"github.com/wfs-dev/wfs/workspace"
)

// sayLeftBehind reminds the user of uncommitted changes that were left on a branch when a session was created or
// checked out, and says how to get them back.
func sayLeftBehind(ctx context.Context, w *workspace.Workspace, branch string, say func(string, ...any)) error {
	parked, err := w.Engine.Parked(ctx, branch)
	for _, op := range parked {
		lines := w.Repo.WaysBack(ctx, op.Turn.Rescue, "to have them back on top of what is here")
		if len(lines) > 0 {
			say("uncommitted changes of yours from here are kept in %s (%s)", op.Turn.Rescue, op.Summary)
		}
		for _, line := range lines {
			say("  %s", line)
		}
	}
	return err
}

// leftBehind reports whether uncommitted changes were left on a branch that neither the branch `in` nor the work tree
// has now.
func leftBehind(ctx context.Context, w *workspace.Workspace, on, in string) bool {
	parked, err := w.Engine.Parked(ctx, on)
	return err == nil && slices.ContainsFunc(parked,
		func(op session.Op) bool { return w.Repo.Lacks(ctx, in, op.Turn.Rescue) })
}

// leftIn is called after a work tree was removed. It returns the refs that hold uncommitted changes which had been left
// on branches in that work tree. Such refs are called rescues.
func leftIn(ctx context.Context, repo *gitstate.Repo, worktree string) []string {
	ops, _, _ := repo.OpLog(ctx, worktree) // entries that cannot be read are missing
	var refs []string
	for _, op := range oplog.ParkedAnywhere(ops) {
		if repo.Lacks(ctx, "", op.Turn.Rescue) {
			refs = append(refs, op.Turn.Rescue)
		}
	}
	return refs
}

// waysBackTo says how to restore uncommitted changes that were left in a work tree that no longer exists. `rescue` is
// the ref that holds them.
func waysBackTo(ctx context.Context, repo *gitstate.Repo, rescue string) []string {
	from := "a branch"
	if tip, err := repo.Ref(ctx, rescue); err == nil {
		if state, err := repo.State(ctx, tip); err == nil {
			from = strings.TrimPrefix(state.Head.Ref, "refs/heads/")
		}
	}
	return repo.WaysBack(ctx, rescue,
		fmt.Sprintf("uncommitted changes of yours from %s, left behind in a work tree that is gone, are kept; on %s",
			from, from))
}

// stayBehind says how to restore the changes that were uncommitted on the user's branches when a session was created or
// checked out. It is for sessions that are being deleted: the refs that hold the changes remain.
func stayBehind(ctx context.Context, repo *gitstate.Repo, id session.ID) ([]string, error) {
	rescues, err := repo.Rescues(ctx, id)
	var lines []string
	for _, ref := range sortedKeys(rescues) {
		from := strings.TrimPrefix(rescues[ref].Head.Ref, "refs/heads/")
		lines = append(lines, repo.WaysBack(ctx, ref,
			fmt.Sprintf("your uncommitted changes of %s stay in %s; on %s", from, ref, from))...)
	}
	return lines, err
}

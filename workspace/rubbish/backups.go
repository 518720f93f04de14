package rubbish

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/session/oplog"
	"github.com/wfs-dev/wfs/workspace/check"
)

// rescues finds old rescues (saved files that were in no commit), including those of deleted sessions. A rescue is
// removed only if all its content also exists elsewhere for as long as the session exists: its files in a checkpoint,
// its staged content, the commits that HEAD was on, and bytes that git converts. A rescue that an undo or redo may need
// is kept.
func (g *Search) rescues(ctx context.Context) error {
	refs, err := g.Repo.RefsBelow(ctx, strings.TrimSuffix(session.RefPrefix, "/"))
	if err != nil {
		return err
	}
	named, err := g.namedRescues(ctx)
	if err != nil {
		return err
	}
	trees := map[session.ID]map[session.Tree]bool{}
	for _, name := range slices.Sorted(maps.Keys(refs)) {
		id, tip := check.SessionOf(name), refs[name]
		if id == "" || !strings.Contains(name, "/rescue/") {
			continue
		}
		state, err := g.Repo.State(ctx, tip)
		if err != nil {
			return err
		}
		info, err := g.Repo.CommitInfo(ctx, tip)
		if err != nil {
			return err
		}
		if g.young(info.At) {
			continue
		}
		r := Item{Refs: []string{name}, Kept: named[name]}
		on := state.Head.Ref
		switch {
		case on != "" && !strings.HasPrefix(on, session.BranchPrefix):
			r.Kept = "uncommitted changes of yours from " + strings.TrimPrefix(on, "refs/heads/") +
				"; to remove it: git update-ref -d " + name
		case r.Kept != "":
		case refs[session.LedgerOf(id)] == "":
			r.Kept = "its session's history is gone: wfs doctor"
		default:
			if trees[id] == nil {
				if trees[id], err = g.Repo.LedgerTrees(ctx, id); err != nil {
					return err
				}
			}
			if r.Kept, err = g.Repo.OnlyIn(ctx, tip, state, trees[id]); err != nil {
				return err
			}
		}
		g.add(r, id, "rescue", fmt.Sprintf("backup %s (%s)", name, state.Why))
	}
	return nil
}

// namedRescues returns the rescues that undoing or redoing an operation would need, in any work tree. The value is the
// reason to keep the rescue.
func (g *Search) namedRescues(ctx context.Context) (map[string]string, error) {
	trees, err := g.Repo.OpLogs(ctx)
	named := map[string]string{}
	for _, tree := range trees {
		ops, _, err := g.Repo.OpLog(ctx, tree)
		if err != nil {
			return nil, err
		}
		undo, redo := oplog.Standing(ops)
		for _, op := range append(undo, redo...) {
			for _, ref := range op.Turn.Rescues() {
				named[ref] = fmt.Sprintf("operation %d of work tree %s can be undone to it", op.Number, tree)
			}
		}
	}
	return named, err
}

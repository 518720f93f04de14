package cmd

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/wfs-dev/wfs/session"
)

// oldRescues are the rescues of before a time. One goes only if everything that it says is said elsewhere, for as long as
// the session is there: its files in a checkpoint, what was staged, the commits that HEAD was on, bytes that git converts;
// and if no operation that can be taken back or done again names it.
func (a *app) oldRescues(ctx context.Context, before time.Time) ([]rubbish, error) {
	refs, err := a.repo.RefsBelow(ctx, strings.TrimSuffix(session.RefPrefix, "/"))
	if err != nil {
		return nil, err
	}
	var ids []session.ID // also of sessions that were deleted: rescues of the user's own changes stay
	for _, name := range sortedKeys(refs) {
		if id := sessionOf(name); id != "" && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	named, err := a.namedRescues(ctx)
	if err != nil {
		return nil, err
	}
	var list []rubbish
	for _, id := range ids {
		rescues, err := a.repo.Rescues(ctx, id)
		if err != nil {
			return nil, err
		}
		var trees map[session.Tree]bool // once they are asked for
		for _, name := range sortedKeys(rescues) {
			state := rescues[name]
			tip, err := a.repo.Ref(ctx, name)
			if err != nil {
				return nil, err
			}
			info, err := a.repo.CommitInfo(ctx, tip)
			if err != nil {
				return nil, err
			}
			if !unix(info.At).Before(before) {
				continue
			}
			r := rubbish{Kind: "rescue", Session: id, Refs: []string{name}, What: fmt.Sprintf("backup %s (%s)", name, state.Why)}
			on := state.Head.Ref
			switch {
			case on != "" && !strings.HasPrefix(on, session.BranchPrefix):
				r.Kept = "uncommitted changes of yours from " + strings.TrimPrefix(on, "refs/heads/") + "; to remove it: git update-ref -d " + name
			case named[name] != "":
				r.Kept = named[name]
			case refs[session.LedgerOf(id)] == "":
				r.Kept = "its session's history is gone: wfs doctor"
			default:
				if trees == nil {
					if trees, err = a.repo.LedgerTrees(ctx, id); err != nil {
						return nil, err
					}
				}
				if r.Kept, err = a.repo.OnlyIn(ctx, tip, state, trees); err != nil {
					return nil, err
				}
			}
			list = append(list, r)
		}
	}
	return list, nil
}

// namedRescues are the rescues that operations name which can be taken back or done again, in any work tree, with what is
// to say about each.
func (a *app) namedRescues(ctx context.Context) (map[string]string, error) {
	trees, err := a.repo.OpLogs(ctx)
	if err != nil {
		return nil, err
	}
	named := map[string]string{}
	for _, tree := range trees {
		ops, _, err := a.repo.OpLog(ctx, tree)
		if err != nil {
			return nil, err
		}
		undo, redo := session.Standing(ops)
		for _, op := range append(undo, redo...) {
			for _, ref := range op.Turn.Rescues() {
				named[ref] = fmt.Sprintf("operation %d of work tree %s can be undone to it", op.Number, tree)
			}
		}
	}
	return named, nil
}

package turn

import (
	"context"

	"github.com/wfs-dev/wfs/gitstate/refs"
	"github.com/wfs-dev/wfs/session"
)

// AwaitLocks waits until no other process holds a lock that the turn needs, so that problems with locks are found
// before anything is moved. If a lock cannot be created because of its directory, the error is an *UnusableError.
func (r *Turns) AwaitLocks(ctx context.Context, id session.ID, t session.Turn) error {
	if err := r.Git.Locks.AwaitRefLocks(ctx, r.turnRefs(id, t)...); err != nil || t.Index == "" {
		return err
	}
	return r.Git.Locks.AwaitIndexLock(ctx)
}

// turnRefs returns the refs that a turn moves and the given branch. If the turn deletes refs, it adds packed-refs.
func (r *Turns) turnRefs(id session.ID, t session.Turn, branch ...string) []string {
	refs := append([]string{refs.LedgerRef(id), r.Refs.OpsRef()}, branch...)
	for _, m := range t.Refs {
		refs = append(refs, m.Ref)
		if m.New == "" && m.Old != "" {
			refs = append(refs, "packed-refs")
		}
	}
	return refs
}

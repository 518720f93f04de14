package turn

import (
	"context"

	"github.com/wfs-dev/wfs/gitstate/refs"
	"github.com/wfs-dev/wfs/session"
)

// AwaitLocks waits until no other process holds a lock that a turn will need, so that problems with locks are found
// before anything is moved. If locks cannot be created in a directory, the error is an *UnusableError.
func (r *Turns) AwaitLocks(ctx context.Context, id session.ID, t session.Turn) error {
	if err := r.Git.Locks.AwaitRefLocks(ctx, r.turnRefs(id, t)...); err != nil || t.Index == "" {
		return err
	}
	return r.Git.Locks.AwaitIndexLock(ctx)
}

// turnRefs returns the refs that a turn moves, also the given branch, and packed-refs if refs are deleted.
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

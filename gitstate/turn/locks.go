package turn

import (
	"context"

	"github.com/wfs-dev/wfs/gitstate/refs"
	"github.com/wfs-dev/wfs/session"
)

// AwaitLocks waits until nobody else holds what a turn will lock, so that this is found out before anything is moved. A
// directory in which no lock can be made is an *UnusableError.
func (r *Turns) AwaitLocks(ctx context.Context, id session.ID, t session.Turn) error {
	if err := r.Git.Locks.AwaitRefLocks(ctx, r.turnRefs(id, t)...); err != nil || t.Index == "" {
		return err
	}
	return r.Git.Locks.AwaitIndexLock(ctx)
}

// turnRefs are the refs that a turn moves, branch among them if it is given, and where they are kept if some
// are deleted.
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

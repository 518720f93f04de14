package gitstate

import (
	"context"
)

// Git locks a ref with a file beside it, and HEAD as well when it is on that ref. A git that is killed leaves these
// files, and nobody can move those refs any more. So before a git of ours is started that moves refs, notes say which;
// they are removed when that git has ended. Whoever takes the work tree next and finds notes knows which locks are
// nobody's.

// HealLocks removes what a killed process of ours left, the locks of refs above all. The caller holds the work
// tree's lock.
func (r *Repo) HealLocks(ctx context.Context) error {
	r.tidy()
	return r.Git.Locks.HealRefLocks(ctx)
}

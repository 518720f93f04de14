package gitstate

import (
	"context"

	"github.com/wfs-dev/wfs/session"
)

// What a killed process of ours left of git's locks in another work tree keeps that one's HEAD and index from being
// moved, and refs from being moved anywhere. Nobody may come to that work tree for days, or it may be gone.

// HealOthers removes what killed processes of ours left of git's locks in other work trees, and returns the ids
// of the work trees. take takes the lock of one, by its id, and returns what gives it back; nil when somebody
// is at work there.
func (r *Repo) HealOthers(ctx context.Context, take func(worktree string) (giveBack func(), err error)) ([]string,
	error) {
	var healed []string
	for _, git := range r.Git.Locks.Others() {
		o := repoOf(git)
		if !o.Git.Locks.LeftLocked() {
			continue
		}
		giveBack, err := take(o.Git.Worktree)
		if err != nil {
			return healed, err
		}
		if giveBack == nil {
			continue
		}
		if o.Git.Worktree == "main" { // where gits are looked for that may be at work
			if path, err := r.Git.MainWorktree(ctx); err == nil && path != "" {
				o.Git.Root = path
			}
		}
		err = o.HealLocks(ctx)
		giveBack()
		if err != nil {
			return healed, err
		}
		healed = append(healed, o.Git.Worktree)
	}
	return healed, nil
}

// Locks are git's locks that are there now: of the repository, of refs, and of this work tree's HEAD and index.
func (r *Repo) Locks() []session.GitLock { return r.Git.Locks.Found() }

// SetLocksAside moves locks into a directory if they stay, and it is certain that no living process holds them.
func (r *Repo) SetLocksAside(ctx context.Context, locks []session.GitLock, dir string) ([]string, error) {
	return r.Git.Locks.SetAside(ctx, locks, dir)
}

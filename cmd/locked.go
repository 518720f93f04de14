package cmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/wfs-dev/wfs/cmd/internal/present"
	"github.com/wfs-dev/wfs/gitstate"
	"github.com/wfs-dev/wfs/registry"
)

// nightPatience is for how long a run that drives waits for one lock of git's that somebody else holds: a person may have
// an editor open for a commit, and a night's work must not end with that. Other commands, and the beginning of a run,
// have a person before them, who is told after gitstate.LockPatience.
const nightPatience = 10 * time.Minute

// waitOn lets a run that drives wait for locks, until it is interrupted. say tells why nothing happens, once for each
// lock.
func (a *app) waitOn(ctx context.Context, say func(string)) {
	told := ""
	a.repo.WaitOn(func(waited time.Duration, e *gitstate.LockedError) bool {
		if waited >= gitstate.LockPatience && told != e.Path {
			told = e.Path
			say(fmt.Sprintf("waiting, for %s at most: %v", present.Lasting(nightPatience), e))
		}
		return waited < nightPatience && ctx.Err() == nil
	})
}

// healLocks removes what killed processes of ours left of git's locks: here, where the caller has the work tree's lock, and
// in the other work trees in which nobody is at work.
func (a *app) healLocks(ctx context.Context, who registry.Holder) error {
	if err := a.repo.HealLocks(ctx); err != nil {
		return err
	}
	_, err := a.repo.HealOthers(ctx, func(worktree string) (func(), error) {
		if _, held, err := a.clone.WorktreeHolder(worktree); held || err != nil {
			return nil, nil //nolint:nilerr // what is wrong there is said there
		}
		l, err := a.clone.LockWorktree(worktree, who)
		if err != nil {
			return nil, nil //nolint:nilerr // the same, or somebody was faster
		}
		return func() { l.Release() }, nil
	})
	return err
}

// setDeadLocksAside lets the session that HEAD is on here recover, when a command cannot begin because of a lock of git's
// that nobody holds: its run may have been killed together with wfs, and its agent's git have left the lock. It reports
// whether a lock went by that.
func (a *app) setDeadLocksAside(ctx context.Context, command string, err error) (bool, error) {
	var locked *gitstate.LockedError
	if !errors.As(err, &locked) || !locked.Deserted() {
		return false, nil
	}
	id, e := a.current(ctx)
	if e != nil || id == "" {
		return false, nil //nolint:nilerr // the lock is what is said
	}
	v, e := a.view(ctx, id)
	if e != nil || v.Session.Open == nil {
		return false, nil //nolint:nilerr // the same
	}
	if err := a.hold(command); err != nil {
		return false, err
	}
	if a.claimed != id { // else it was recovered just now
		who := a.holder(command)
		who.Session = string(id)
		l, err := a.clone.LockSession(id, who)
		if err != nil {
			return false, err
		}
		a.locks, a.recovered = append(a.locks, l), id
		if _, err := a.eng.Open(ctx, id); err != nil {
			return false, err
		}
	}
	if _, err := os.Lstat(locked.Path); err == nil {
		return false, nil
	}
	a.note("git's lock %s had been left behind by a process that is dead, and was set aside", locked.Path)
	return true, nil
}

// lockedHint is what to type about a lock of git's that somebody else made.
func lockedHint(e *gitstate.LockedError, again string) string {
	remove := fmt.Sprintf("rm %s && %s", shellWord(e.Path), again)
	switch {
	case e.Deserted():
		return remove
	case !e.Known:
		return "if no git is running here: " + remove
	}
	return "when it has ended: " + again
}

// again is this command as it was typed, with more flags.
func (a *app) again(more ...string) string {
	words := []string{"wfs"}
	for _, arg := range append(slices.Clone(a.env.Args), more...) {
		if rest := strings.TrimLeft(arg, "-"); rest == "" || shellWord(rest) != rest {
			arg = shellWord(arg)
		}
		words = append(words, arg)
	}
	return a.typed(strings.Join(words, " "))
}

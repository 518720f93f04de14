package workspace

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/wfs-dev/wfs/gitstate"
	"github.com/wfs-dev/wfs/gitstate/gitcmd"
	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/registry"
	"github.com/wfs-dev/wfs/session"
)

// Locks has the locks that this command holds: first the lock of its work tree, then those of sessions. The system
// releases them when the process ends.
type Locks struct {
	w     *Workspace
	held  []*durable.Lock
	since int64 // when the first lock was requested (Unix time)
	// Sessions that Begin has already locked: Claimed, to complete an unfinished move of that session in this work
	// tree; recovered, because git locks that its killed run left prevented other git commands.
	Claimed, recovered session.ID
}

// Holder returns the description of this command that its locks contain. All locks of a process contain the same one.
func (l *Locks) Holder(command string) registry.Holder {
	if l.since == 0 {
		l.since = l.w.Env.Now().Unix()
	}
	return registry.Holder{PID: l.w.Env.PID, Command: command, Since: l.since}
}

// KeepLock adds a lock to the locks that are released when the command ends.
func (l *Locks) KeepLock(lock *durable.Lock) { l.held = append(l.held, lock) }

// release releases the locks after the first n, the newest first.
func (l *Locks) release(n int) {
	for _, lock := range slices.Backward(l.held[min(n, len(l.held)):]) {
		lock.Release()
	}
	l.held = l.held[:min(n, len(l.held))]
}

// Begin opens the repository for a command that changes the work tree, and takes the work tree's lock. It completes a
// move that a killed command left unfinished, so commands must not read HEAD or files before. `detached` says that HEAD
// may be on no branch.
func (l *Locks) Begin(ctx context.Context, command string, detached bool) error {
	w := l.w
	if err := w.OpenWriter(ctx); err != nil {
		return err
	}
	if err := l.free(command); err != nil {
		return err
	}
	err := w.inOrder(ctx, detached)
	if aside, e := l.setDeadLocksAside(ctx, command, err); e != nil {
		return e
	} else if aside {
		err = w.inOrder(ctx, detached)
	}
	if err != nil {
		return err
	}
	if !w.Repo.Used() { // if git is in use already, it may still be starting; it is checked when a session is locked
		if err := w.Repo.Able(ctx); err != nil {
			return err
		}
	}
	w.Front.Tidy(ctx, command)
	return l.Hold(command)
}

// BeginOr calls BeginDry for a dry run, and Begin otherwise.
func (l *Locks) BeginOr(ctx context.Context, dry bool, command string, detached bool) error {
	if dry {
		return l.BeginDry(ctx, command, detached)
	}
	return l.Begin(ctx, command, detached)
}

// BeginDry is like Begin, for a dry run. It repairs nothing, and refuses a work tree with an unfinished move. It takes
// only the lock of the work tree, because examining the files needs an index that no other command uses.
func (l *Locks) BeginDry(ctx context.Context, command string, detached bool) error {
	if err := l.w.Ready(ctx, detached); err != nil {
		return err
	}
	if what, _ := l.w.HalfMoved(ctx); what != "" {
		return session.Refuse(session.RefuseWorktree, command+", which completes it first",
			"a command was interrupted: %s; what comes after it cannot be said before it is completed", what)
	}
	lock, err := l.w.Clone.Worktree(l.w.Repo.Worktree()).Lock(l.Holder(command))
	if err == nil {
		l.KeepLock(lock)
	}
	return err
}

// free refuses the command while another command is running in this work tree. Begin calls it first: in that case git's
// locks belong to the other command or its agent, so waiting for them is useless.
func (l *Locks) free(command string) error {
	tree := l.w.Repo.Worktree()
	if _, held, err := l.w.Clone.Worktree(tree).Holder(); err != nil || !held {
		return err
	}
	lock, err := l.w.Clone.Worktree(tree).Lock(l.Holder(command)) // waits for a moment
	if err == nil {
		err = lock.Release()
	}
	return err
}

// Hold takes the lock of this work tree and then the locks of sessions, in a fixed order so that two commands cannot
// wait for each other.
func (l *Locks) Hold(command string, ids ...session.ID) error {
	w, ctx := l.w, context.Background()
	if err := w.notWithin(w.Verb); err != nil {
		return err
	}
	w.Engine.Driver = l.Holder(command).Name()
	if len(l.held) == 0 {
		if err := l.HoldTree(ctx, command); err != nil {
			return err
		}
		if err := l.completeClaim(ctx, command); err != nil {
			return err
		}
	}
	if len(ids) == 0 {
		return nil
	}
	slices.Sort(ids)
	for _, id := range slices.Compact(ids) {
		if id == l.Claimed || id == l.recovered {
			continue
		}
		if err := l.HoldSession(command, id); err != nil {
			return err
		}
	}
	return w.Repo.Able(ctx)
}

// HoldTree takes the lock of this work tree, if the command does not have it yet, and removes git's locks that killed
// wfs commands left.
func (l *Locks) HoldTree(ctx context.Context, command string) error {
	if len(l.held) > 0 {
		return nil
	}
	who := l.Holder(command)
	lock, err := l.w.Clone.Worktree(l.w.Repo.Worktree()).Lock(who)
	if err != nil {
		return err
	}
	l.KeepLock(lock)
	return l.heal(ctx, who)
}

// HoldSession takes the lock of a session. It does not take the lock of a work tree.
func (l *Locks) HoldSession(command string, id session.ID) error {
	who := l.Holder(command)
	who.Session = string(id)
	l.w.Engine.Driver = who.Name()
	lock, err := l.w.Clone.Session(id).Lock(who)
	if err == nil {
		l.KeepLock(lock)
	}
	return err
}

// LockTree takes the lock of a work tree other than the one where the command was typed.
func (l *Locks) LockTree(ctx context.Context, tree *gitstate.Repo, who registry.Holder) (*durable.Lock, error) {
	lock, err := l.w.Clone.Worktree(tree.Worktree()).Lock(who)
	if err != nil {
		return nil, err
	}
	if err := tree.HealLocks(ctx); err != nil {
		lock.Release()
		return nil, err
	}
	return lock, nil
}

// completeClaim completes an unfinished move of this work tree, before anything reads its files. It opens the session
// that claims the work tree, which recovers the move.
func (l *Locks) completeClaim(ctx context.Context, command string) error {
	w := l.w
	id, err := w.Clone.Worktree(w.Repo.Worktree()).Claimed()
	if err != nil || id == "" {
		return err
	}
	if err := l.HoldSession(command, id); err != nil {
		return err
	}
	l.Claimed = id
	tip, err := w.Repo.Ref(ctx, session.LedgerOf(id))
	if err != nil {
		return err
	}
	if tip != "" {
		_, err := w.Engine.Open(ctx, id)
		// the session does not exist any more if the unfinished operation was its deletion
		if refused, is := errors.AsType[*session.Refusal](err); err != nil &&
			!(is && refused.Code == session.RefuseNoSession) {
			return err
		}
	}
	return w.Clone.Worktree(w.Repo.Worktree()).Unclaim()
}

// heal removes git's locks that killed wfs commands left: in this work tree, whose lock the caller has, and in other
// work trees where no command is running.
func (l *Locks) heal(ctx context.Context, who registry.Holder) error {
	w := l.w
	if err := w.Repo.HealLocks(ctx); err != nil {
		return err
	}
	_, err := w.Repo.HealOthers(ctx, func(worktree string) (func(), error) {
		if _, held, err := w.Clone.Worktree(worktree).Holder(); held || err != nil {
			return nil, nil //nolint:nilerr // a command that runs there reports it
		}
		lock, err := w.Clone.Worktree(worktree).Lock(who)
		if err != nil {
			return nil, nil //nolint:nilerr // the same, or another command was faster
		}
		return func() { lock.Release() }, nil
	})
	return err
}

// setDeadLocksAside handles a command that cannot begin because of a git lock that no process holds. Probably a run of
// the current session was killed together with wfs while its agent used git. Recovering that session removes such a
// lock. setDeadLocksAside reports whether the lock is gone.
func (l *Locks) setDeadLocksAside(ctx context.Context, command string, err error) (bool, error) {
	w := l.w
	locked, is := errors.AsType[*gitcmd.LockedError](err)
	if !is || !locked.Deserted() {
		return false, nil
	}
	id, e := w.Current(ctx)
	if e != nil || id == "" {
		return false, nil //nolint:nilerr // the lock is reported
	}
	if v, e := w.View(ctx, id); e != nil || v.Session.Open == nil {
		return false, nil //nolint:nilerr // the same
	}
	if err := l.Hold(command); err != nil {
		return false, err
	}
	if l.Claimed != id { // if this session is claimed, Hold has already recovered it
		if err := l.HoldSession(command, id); err != nil {
			return false, err
		}
		l.recovered = id
		if _, err := w.Engine.Open(ctx, id); err != nil {
			return false, err
		}
	}
	if _, err := os.Lstat(locked.Path); err == nil {
		return false, nil
	}
	w.Front.Note("a dead process left git's lock %s; it was set aside", locked.Path)
	return true, nil
}

// LongPatience is how long a run waits for one git lock that another process holds. The user may have an editor open
// for a commit message, which must not end a run at night. Other commands, and the start of a run, are watched by a
// person, so they report the lock after gitcmd.LockPatience already.
const LongPatience = 10 * time.Minute

// WaitLong makes a run wait up to LongPatience for each git lock, or until ctx ends. It calls `say` once for each lock.
func (l *Locks) WaitLong(ctx context.Context, say func(string)) {
	told := ""
	l.w.Repo.Git.Locks.WaitOn(func(waited time.Duration, e *gitcmd.LockedError) bool {
		if waited >= gitcmd.LockPatience && told != e.Path {
			told = e.Path
			say(fmt.Sprintf("waiting, for 10 min at most: %v", e))
		}
		return waited < LongPatience && ctx.Err() == nil
	})
}

package cmd

import (
	"context"
	"errors"

	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/registry"
	"github.com/wfs-dev/wfs/session"
)

// maxRounds is how often the repair looks again: what is mended lets more be looked at.
const maxRounds = 5

// repairAll mends what can be mended, and says what it did and what it had to leave alone. What nobody can have open
// comes first: it may be in the way of the locks that the rest needs.
func (a *app) repairAll(ctx context.Context) (said []finding, err error) {
	ctx = context.WithoutCancel(ctx) // once begun it is ended
	for range maxRounds {
		e := &examination{a: a, ctx: ctx, since: a.env.Now()}
		if err := e.all(); err != nil && len(e.found) == 0 {
			return said, err
		}
		progress := false
		var left []finding
		for _, f := range e.found {
			if f.mend == nil {
				continue
			}
			why, err := a.lockFor(ctx, f)
			if err != nil {
				return said, err
			}
			if why != "" {
				f.Kept = why
				left = append(left, f)
				continue
			}
			if f.Done, f.Undo, err = f.mend(ctx); err != nil {
				return said, err
			}
			if f.Done == "" { // it is as it was
				continue
			}
			progress = true
			said = append(said, f)
		}
		if !progress {
			return append(said, left...), nil
		}
	}
	return said, nil
}

// lockFor takes the locks that mending something needs. It returns why that cannot be, "" when they are held.
func (a *app) lockFor(ctx context.Context, f finding) (why string, err error) {
	if f.free {
		return "", nil
	}
	who := a.holder(repairCommand)
	if len(a.locks) == 0 {
		l, err := a.clone.LockWorktree(a.repo.Worktree(), who)
		if why, err := cannotLock(err); why != "" || err != nil {
			return why, err
		}
		a.locks = append(a.locks, l)
		if err := a.healLocks(ctx, who); err != nil {
			return "", err
		}
	}
	if f.lock == "" || a.holds(f.lock) {
		return "", nil
	}
	who.Session = string(f.lock)
	l, err := a.clone.LockSession(f.lock, who)
	if why, err := cannotLock(err); why != "" || err != nil {
		return why, err
	}
	a.locks = append(a.locks, l)
	if a.mending == nil {
		a.mending = map[session.ID]bool{}
	}
	a.mending[f.lock] = true
	return "", nil
}

func cannotLock(err error) (why string, _ error) {
	var held *registry.HeldError
	switch {
	case errors.As(err, &held):
		return held.Error(), nil
	case errors.Is(err, durable.ErrNotRegular), errors.Is(err, durable.ErrNotPrivate):
		return err.Error(), nil // the next round may find that mended
	}
	return "", err
}

// holds reports whether the repair has a session's lock.
func (a *app) holds(id session.ID) bool { return a.mending[id] }

// driven reports whether somebody else may be writing to a session.
func (a *app) driven(id session.ID) bool {
	_, held, err := a.clone.Driver(id)
	return err != nil || held
}

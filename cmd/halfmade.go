package cmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/wfs-dev/wfs/engine"
	"github.com/wfs-dev/wfs/gitstate"
	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/registry"
	"github.com/wfs-dev/wfs/session"
)

// holder is what a lock says about this command: the same in every lock, so that the process has one name.
func (a *app) holder(command string) registry.Holder {
	if a.since == 0 {
		a.since = a.env.Now().Unix()
	}
	return registry.Holder{PID: a.env.PID, Command: command, Since: a.since}
}

// holdSession takes a session's lock and no work tree's.
func (a *app) holdSession(command string, id session.ID) error {
	who := a.holder(command)
	who.Session = string(id)
	a.eng.Driver = who.Name()
	l, err := a.clone.LockSession(id, who)
	if err != nil {
		return err
	}
	a.locks = append(a.locks, l)
	return nil
}

// lockTree takes the lock of a work tree that is not the one where the command was typed.
func (a *app) lockTree(ctx context.Context, tree *gitstate.Repo, who registry.Holder) (*durable.Lock, error) {
	l, err := a.clone.LockWorktree(tree.Worktree(), who)
	if err != nil {
		return nil, err
	}
	if err := tree.HealLocks(ctx); err != nil {
		l.Release()
		return nil, err
	}
	return l, nil
}

// sweep deals with work trees that a dead process was making or removing: one whose session has begun is completed, what
// is left of the others is removed. It is no reason for the command itself to fail.
func (a *app) sweep(ctx context.Context, command string) {
	list, err := a.clone.HalfMade()
	if err != nil {
		a.note("work trees that were being made cannot be looked at: %v", err)
	}
	for _, m := range list {
		who := a.holder(command)
		who.Session = string(m.Session)
		l, err := a.clone.LockSession(m.Session, who)
		var held *registry.HeldError
		if errors.As(err, &held) {
			continue // somebody is at it
		}
		if err == nil {
			err = a.settleHalfMade(context.WithoutCancel(ctx), m, who)
			l.Release()
		}
		if err != nil {
			a.note("%s was being made or removed when wfs was killed, and could not be dealt with: %v", m.Dir, err)
		}
	}
}

func (a *app) settleHalfMade(ctx context.Context, m registry.HalfMade, who registry.Holder) error {
	tip, err := a.repo.Ref(ctx, session.LedgerOf(m.Session))
	if err != nil {
		return err
	}
	if tip != "" && m.Trash == "" {
		return a.completeBirth(ctx, m, who)
	}
	if m.Trash == "" {
		if alive := a.eng.Works.Alive(m.Session, m.RunID); len(alive) > 0 {
			return fmt.Errorf("processes of its set-up are still alive: %s (kill them, or wait)", engine.Named(alive))
		}
		if err := a.rescueHalfMade(ctx, m, who); err != nil {
			return err
		}
	}
	if err := a.removeHalfMade(ctx, m); err != nil {
		return err
	}
	a.note("removed what was left of a work tree when wfs was killed: %s", m.Dir)
	return nil
}

// completeBirth lets a session that has begun in a work tree of its own come to stand there.
func (a *app) completeBirth(ctx context.Context, m registry.HalfMade, who registry.Holder) error {
	repo, err := a.repo.OpenLinked(ctx, m.Dir)
	if err != nil {
		return err
	}
	if repo != nil {
		l, err := a.lockTree(ctx, repo, who)
		if err != nil {
			return err
		}
		defer l.Release()
		here := a.repo
		a.repo, a.eng.Store = repo, repo
		_, err = a.eng.Open(ctx, m.Session)
		a.repo, a.eng.Store = here, here
		if err != nil {
			return err
		}
	}
	return a.clone.ForgetHalfMade(m.Session)
}

// rescueHalfMade keeps edits that somebody made in a work tree before its session had begun.
func (a *app) rescueHalfMade(ctx context.Context, m registry.HalfMade, who registry.Holder) error {
	repo, err := a.repo.OpenLinked(ctx, m.Dir)
	if err != nil || repo == nil {
		return err
	}
	l, err := a.lockTree(ctx, repo, who)
	if err != nil {
		return err
	}
	defer l.Release()
	if _, err := os.Lstat(filepath.Join(repo.GitDir(), "index")); errors.Is(err, os.ErrNotExist) {
		return nil // git had not come to the end with its files
	}
	exclude := a.clone.ExcludeFile(m.Session)
	if exclude == "" {
		if exclude, err = a.guardFile(guardText(nil)); err != nil {
			return err
		}
	}
	snap, err := repo.Snapshot(ctx, exclude)
	if err != nil {
		return err
	}
	if snap.Raw, err = repo.RawFiles(ctx, snap); err != nil {
		return err
	}
	if kept, err := repo.Kept(ctx, snap); err != nil || kept {
		return err
	}
	ref, err := repo.Rescue(ctx, m.Session, "removing a work tree that was being made", snap, a.env.Now().Unix())
	if err == nil {
		a.note("what had been changed in %s is kept in %s", m.Dir, ref)
	}
	return err
}

func placeOfHalfMade(m registry.HalfMade) gitstate.NewWorktree {
	return gitstate.NewWorktree{Path: m.Dir, Above: m.Above, Name: m.Name}
}

// removeHalfMade removes a work tree, for good and until it is done: what is in it is kept, or can be done without.
func (a *app) removeHalfMade(ctx context.Context, m registry.HalfMade) error {
	if m.Trash == "" {
		m.Trash = filepath.Join(filepath.Dir(m.Dir), "."+filepath.Base(m.Dir)+".wfs-removed-"+a.env.newID(4))
		if err := a.clone.KeepHalfMade(m); err != nil {
			return err
		}
		durable.Hit(durable.WorktreeDoomed)
	}
	if err := a.repo.RemoveWorktree(ctx, placeOfHalfMade(m), m.Trash); err != nil {
		return err
	}
	return a.clone.ForgetHalfMade(m.Session)
}

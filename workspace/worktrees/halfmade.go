package worktrees

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/engine/decide"
	"github.com/wfs-dev/wfs/gitstate"
	"github.com/wfs-dev/wfs/gitstate/worktree"
	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/internal/safetext"
	"github.com/wfs-dev/wfs/registry"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workspace"
)

// Sweep handles work trees that a killed process was making or removing. If the session of such a work tree has begun
// already, Sweep completes it; otherwise it removes the work tree's remains. Errors are reported, but the command
// continues.
func (t *Trees) Sweep(ctx context.Context, command string) {
	list, err := t.Clone.HalfMade()
	if err != nil {
		t.Front.Note("work trees that were being made cannot be looked at: %v", err)
	}
	for _, m := range list {
		who := t.Holder(command)
		who.Session = string(m.Session)
		l, err := t.Clone.Session(m.Session).Lock(who)
		var held *registry.HeldError
		if errors.As(err, &held) {
			continue // another process is making or removing it
		}
		if err == nil {
			err = t.settle(context.WithoutCancel(ctx), m.Session, who)
			l.Release()
		}
		if err != nil {
			t.Front.Note("a work tree was being made or removed in %s, and that could not be brought to its end: %v", m.Dir, err)
		}
	}
}

func (t *Trees) settle(ctx context.Context, id session.ID, who registry.Holder) error {
	list, err := t.Clone.HalfMade()
	i := slices.IndexFunc(list, func(m registry.HalfMade) bool { return m.Session == id })
	if err != nil || i < 0 { // the process that was making it has finished, and wants to lock the session again
		return err
	}
	m := list[i]
	if err := t.Repo.AwaitFilled(ctx, m.Name); err != nil {
		return err
	}
	m, untouched, err := t.settleTrash(m)
	switch {
	case err != nil || untouched:
		return err
	case m.Moved:
		return t.settleMoved(ctx, m)
	}
	tip, err := t.Repo.Ref(ctx, session.LedgerOf(m.Session))
	if err != nil {
		return err
	}
	if tip != "" {
		return t.completeBirth(ctx, m, who)
	}
	if alive := t.Engine.Works.Alive(m.Session, m.RunID); len(alive) > 0 {
		return fmt.Errorf("processes of its set-up are still alive: %s (kill them, or wait)", decide.Named(alive))
	}
	return t.settleUnborn(ctx, m, who)
}

// settleTrash handles a work tree that a process was about to rename to its trash name (a hidden name, under which it
// is then deleted) when it was killed. `untouched` says that nothing had been changed, so the work tree stays.
func (t *Trees) settleTrash(m registry.HalfMade) (_ registry.HalfMade, untouched bool, err error) {
	if m.Trash == "" || m.Moved {
		return m, false, nil
	}
	moved, err := t.judgeTrash(m) // the process may have been killed right after the rename
	if err != nil || moved.Moved {
		return moved, false, err
	}
	if m.RunID == "" {
		t.Front.Note("%s was to be removed, and nothing in it was touched: %s %s", m.Dir, removeCommand, m.Session)
		return m, true, t.Clone.Session(m.Session).ForgetHalfMade()
	}
	m.Trash = "" // another process may have used the work tree since, so it is examined again
	return m, false, nil
}

// settleMoved removes the remains of a work tree that a killed process has renamed already.
func (t *Trees) settleMoved(ctx context.Context, m registry.HalfMade) error {
	_, gone := os.Lstat(m.Trash)
	if err := t.endRemoval(ctx, m); err != nil {
		return err
	}
	if gone == nil && m.IsTrash() {
		t.Front.Note("removed what was left of a work tree in %s", m.Trash)
	}
	return nil
}

// settleUnborn removes a work tree whose session has not begun. It keeps a work tree in which the user has checked out
// a branch since.
func (t *Trees) settleUnborn(ctx context.Context, m registry.HalfMade, who registry.Holder) error {
	repo, err := t.Repo.OpenLinked(ctx, m.Dir)
	if err != nil {
		return err
	}
	if repo != nil {
		l, err := t.LockTree(ctx, repo, who)
		if err != nil {
			return err
		}
		defer l.Release()
		head, err := repo.Head(ctx)
		if err != nil {
			return err
		}
		if head.Ref != "" { // wfs makes the work tree without a branch, so this one was checked out later
			t.Front.Note("%s stays as it is: it has %s checked out", m.Dir, strings.TrimPrefix(head.Ref, "refs/heads/"))
			return t.Clone.Session(m.Session).ForgetHalfMade()
		}
	}
	kept, err := t.clear(ctx, m)
	if _, stays := os.Lstat(m.Dir); err == nil && kept == "" && stays != nil {
		t.Front.Note("removed what was left of a work tree when wfs was killed: %s", m.Dir)
	}
	return err
}

// completeBirth completes the creation of a session in a new work tree, after the process that made it was killed.
func (t *Trees) completeBirth(ctx context.Context, m registry.HalfMade, who registry.Holder) error {
	repo, err := t.Repo.OpenLinked(ctx, m.Dir)
	if err != nil {
		return err
	}
	if repo != nil {
		l, err := t.LockTree(ctx, repo, who)
		if err != nil {
			return err
		}
		defer l.Release()
		here := t.Repo
		t.Act(repo)
		_, err = t.Engine.Open(ctx, m.Session)
		t.Act(here)
		if err != nil {
			return err
		}
	}
	return t.Clone.Session(m.Session).ForgetHalfMade()
}

func placeOfHalfMade(m registry.HalfMade) worktree.NewWorktree {
	return worktree.NewWorktree{Path: m.Dir, Above: m.Above, Name: m.Name, Making: m.Trash}
}

// clear removes a work tree whose session has not begun. Edits that were made there are kept in a rescue, a commit
// under a ref of wfs. If the work tree has files that git does not see, it is renamed instead of removed, and clear
// returns its new path.
func (t *Trees) clear(ctx context.Context, m registry.HalfMade) (kept string, err error) {
	salt := t.Env.NewID(4)
	if m.Trash == "" { // the work tree was complete and had its final name
		m.Trash = registry.TrashOf(m.Dir, salt)
	}
	repo, err := t.Repo.OpenLinked(ctx, m.Dir)
	if err != nil {
		return "", err
	}
	if repo == nil {
		return "", t.endRemoval(ctx, m)
	}
	ref, only, err := t.keep(ctx, repo, t.Repo, &m, "removing a work tree that was being made")
	if err != nil {
		return "", err
	}
	if ref != "" {
		t.Front.Note("what had been changed in %s is kept in %s", m.Dir, ref)
		workspace.SayRescue(ctx, repo, ref, t.Front.Note)
	}
	if !only.provided { // packages of an unfinished set-up are not worth keeping
		only.Ignored = slices.DeleteFunc(only.Ignored, repo.Packages)
	}
	if m.Trash = registry.TrashOf(m.Dir, salt); len(only.all()) > 0 {
		m.Trash = registry.AsideOf(m.Dir, salt)
	}
	return t.remove(ctx, m)
}

// keep prepares the removal of a linked work tree `tree`. It records the state of its files in `m`, saves content that
// is in no commit as a rescue, and returns that ref and the files that no rescue can hold. `here` is another work tree
// of the repository.
func (t *Trees) keep(ctx context.Context, tree, here *gitstate.Repo, m *registry.HalfMade,
	why string) (ref string, only lost, err error) {
	if m.Seen, err = worktree.TreeStamp(m.Dir); err != nil {
		return "", only, err
	}
	exclude := t.Clone.Session(m.Session).ExcludeFile()
	if exclude == "" {
		if exclude, err = t.GuardFile(nil); err != nil {
			return "", only, err
		}
	}
	snap, err := tree.Snapshot(ctx, exclude)
	if err != nil {
		return "", only, err
	}
	if snap.Raw, err = tree.RawFiles(ctx, snap); err != nil {
		return "", only, err
	}
	kept, err := tree.Kept(ctx, snap)
	if err == nil && !kept {
		ref, err = tree.Rescue(ctx, m.Session, why, snap, t.Env.Now().Unix())
	}
	if err == nil {
		only, err = t.lostWith(ctx, tree, here, m.Session, m.Dir, exclude, snap)
	}
	return ref, only, err
}

// remove removes a work tree that keep has just examined. It first renames the work tree to its trash name, and then
// deletes only what has that name: a new directory at the old place is safe, whatever fails. If another process has
// changed files since keep, the renamed work tree is kept, and its path is returned.
func (t *Trees) remove(ctx context.Context, m registry.HalfMade) (kept string, err error) {
	if err := t.Clone.KeepHalfMade(m); err != nil {
		return "", err
	}
	durable.Hit(durable.WorktreeDoomed)
	err = t.Repo.MoveWorktree(ctx, placeOfHalfMade(m), m.Trash)
	if err == nil {
		durable.Hit(durable.WorktreeMoved)
		if m, err = t.judgeTrash(m); err != nil {
			return "", err
		}
		if !m.IsTrash() {
			kept = m.Trash
		}
		return kept, t.endRemoval(ctx, m)
	}
	if _, there := os.Lstat(m.Trash); there == nil {
		return "", err // the work tree was renamed, so the next command continues its removal
	}
	err = fmt.Errorf("%s stays as it is: %w", m.Dir, err)
	if m.RunID != "" {
		m.Trash = ""
		return "", errors.Join(err, t.Clone.KeepHalfMade(m))
	}
	return "", errors.Join(err, t.Clone.Session(m.Session).ForgetHalfMade())
}

// judgeTrash decides about a renamed work tree, and records the decision in its note. If all its files are as they were
// when keep examined it, it will be deleted; otherwise it gets another name and is kept. In the result, Moved is false
// if there is no renamed work tree.
func (t *Trees) judgeTrash(m registry.HalfMade) (registry.HalfMade, error) {
	_, err := os.Lstat(m.Trash)
	if errors.Is(err, fs.ErrNotExist) && m.IsTrash() {
		// a process was killed right after it had renamed the work tree in order to keep it
		if _, aside := os.Lstat(m.Aside()); aside == nil {
			m.Trash, err = m.Aside(), nil
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		return m, nil
	}
	// without a recorded state it was never at its final path, so it was not edited there
	if err == nil && m.IsTrash() && m.Seen != "" {
		var now string
		if now, err = worktree.TreeStamp(m.Trash); err == nil && now != m.Seen {
			t.Front.Note("%s was changed while it was removed", m.Dir)
			err = os.Rename(m.Trash, m.Aside())
			m.Trash = m.Aside()
		}
	}
	if err != nil {
		return m, err
	}
	if err := durable.SyncDir(filepath.Dir(m.Trash)); err != nil {
		return m, err
	}
	m.Moved = true
	return m, t.Clone.KeepHalfMade(m)
}

// endRemoval deletes a renamed work tree and git's entry for it. If judgeTrash has decided to keep the work tree,
// endRemoval only reports where it is.
func (t *Trees) endRemoval(ctx context.Context, m registry.HalfMade) error {
	if !m.IsTrash() {
		stays, err := t.Repo.KeepWorktree(ctx, placeOfHalfMade(m), m.Trash)
		if err != nil {
			return err
		}
		remove := "rm -r "
		if stays {
			remove = "git worktree remove --force "
		}
		t.Front.Note("what may be nowhere else was in %s, and all of it is kept in %s (when you have looked: %s%s)", m.Dir,
			m.Trash, remove, safetext.ShellWord(m.Trash))
		return t.Clone.Session(m.Session).ForgetHalfMade()
	}
	if err := t.Repo.RemoveWorktree(ctx, placeOfHalfMade(m), m.Trash); err != nil {
		if _, gone := os.Lstat(m.Trash); gone != nil {
			return err
		}
		hint := "sudo rm -rf " + safetext.ShellWord(m.Trash)
		if mounted := (*worktree.MountedError)(nil); errors.As(err, &mounted) {
			hint = "umount " + mounted.Path + ": the next command that changes something removes the rest"
		}
		return session.Refuse(session.RefuseInTheWay, hint,
			"%s is no work tree any more, but what is left of it, in %s, cannot be removed: %v", m.Dir, m.Trash, err)
	}
	return t.Clone.Session(m.Session).ForgetHalfMade()
}

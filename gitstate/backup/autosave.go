package backup

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/wfs-dev/wfs/gitstate/gitcmd"
	"github.com/wfs-dev/wfs/gitstate/object"
	"github.com/wfs-dev/wfs/gitstate/refs"
	"github.com/wfs-dev/wfs/gitstate/settings"
	"github.com/wfs-dev/wfs/gitstate/snapshot"
	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/session"
)

// While an agent or the user works in a session's work tree, wfs saves the files at intervals: an auto-save is a state
// commit at refs/wfs/<id>/auto, and the next one replaces it. wfs makes it with private files, so that nothing else
// changes, and adds it to the repository as one pack. Objects that only the previous auto-save had remain until git
// collects garbage.

// AutoSaves makes the auto-saves during one attempt.
type AutoSaves struct {
	Git     *gitcmd.Git
	Objects *object.Store // not shared with a turn, which may be prepared at the same time
	Refs    *refs.Refs
	Files   *snapshot.Files
	Backups *Backups

	mu     sync.Mutex
	ledger session.Commit  // ledger commit on which the auto-saves build
	side   *snapshot.Files // reads the work tree with private files; nil before the first auto-save
}

// AutoSave durably saves the present work tree as the session's newest auto-save. It changes nothing else, and waits
// for no locks. It saves nothing if the files have not changed since the present checkpoint or since the newest
// auto-save. While HEAD is not on the session's branch, it also saves nothing, because the files belong to other work,
// unless the draft's Anywhere is true.
//
// If the agent deletes its work, the next auto-save would no longer have that work. So if most changes in the newest
// auto-save have disappeared from the files and there are no new changes, that auto-save stays the newest. If there are
// new changes, or if the draft's Last is true, AutoSave keeps it as a rescue, and saves the files.
func (r *AutoSaves) AutoSave(ctx context.Context, d session.AutoDraft) (session.AutoSaved, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var done session.AutoSaved
	ident, err := r.Git.Answers.Identity(ctx)
	if err != nil {
		return done, err
	}
	s, ours, err := r.taken(ctx, d)
	if err != nil || !ours {
		return done, err
	}
	tip, before, err := r.newest(ctx, d)
	if err != nil {
		return done, err
	}
	if before != nil {
		done.Commit, done.Changes = before.Commit, before.Changes
		if before.Tree == s.Tree && before.Head == s.Head && before.Index == s.Index {
			return done, nil
		}
	}
	changes, err := r.autoChanges(ctx, d.Tree, s)
	if err != nil || len(changes) == 0 && before == nil {
		return session.AutoSaved{}, err
	}
	var had []object.TreeChange
	if before != nil {
		if had, err = r.Objects.DiffTrees(ctx, d.Tree, before.Tree); err != nil {
			return done, err
		}
	}
	if d.AtLeast > 0 && differing(had, changes) < d.AtLeast {
		return done, nil
	}
	if before != nil {
		if stays, err := r.keepLost(ctx, d, before.Commit, had, changes, &done); err != nil || stays {
			return done, err
		}
	}
	done.Commit, err = r.autoCommit(ctx, d, s, changes, tip, ident)
	done.New, done.Changes = err == nil, len(changes)
	return done, err
}

// newest returns the commit of the session's newest auto-save, and its content. The content is nil if the auto-save
// belongs to an earlier ledger commit or cannot be read; then it is replaced.
func (r *AutoSaves) newest(ctx context.Context, d session.AutoDraft) (session.Commit, *session.AutoSave, error) {
	tip, err := r.Refs.Ref(ctx, refs.AutoRef(d.Session))
	if err != nil {
		return "", nil, err
	}
	before, err := r.Backups.Auto(ctx, d.Session)
	if err != nil || before != nil && (before.Ledger != d.Ledger || before.Commit != tip) {
		before = nil
	}
	return tip, before, nil
}

// taken returns the snapshot in a draft; if there is none, it takes one. ours is false if HEAD is not on the session's
// branch.
func (r *AutoSaves) taken(ctx context.Context, d session.AutoDraft) (s snapshot.Taken, ours bool, err error) {
	if d.Snapshot != nil {
		s.Snapshot = *d.Snapshot
		return s, true, nil
	}
	return r.autoSnapshot(ctx, d)
}

// keepLost keeps the newest auto-save as a rescue if most of its changes have disappeared from the files. If there are
// no new changes either, it keeps nothing and returns true: then that auto-save stays the newest.
func (r *AutoSaves) keepLost(ctx context.Context, d session.AutoDraft, before session.Commit,
	had, changes []object.TreeChange, done *session.AutoSaved) (stays bool, err error) {
	gone, more := lost(had, changes)
	if done.Lost = gone; gone == 0 {
		return false, nil
	}
	if !more && !d.Last {
		return true, nil
	}
	done.Kept, err = r.Backups.keepAuto(ctx, d.Session, before)
	return false, err
}

// autoChanges lists the differences between a tree and the files that an auto-save will have.
func (r *AutoSaves) autoChanges(ctx context.Context, from session.Tree, s snapshot.Taken) ([]object.TreeChange, error) {
	if s.Now == nil {
		return r.Objects.DiffTrees(ctx, from, s.Tree)
	}
	before := s.Before
	if s.Index != from {
		var err error
		if before, err = r.Files.IndexOfTree(ctx, from); err != nil {
			return nil, err
		}
	}
	return slices.DeleteFunc(r.Objects.IndexChanges(before, s.Now),
		func(c object.TreeChange) bool { return strings.HasPrefix(c.Path, object.UserDir+"/") }), nil
}

// autoCommit writes the state commit of an auto-save, and moves the session's ref for auto-saves to it.
func (r *AutoSaves) autoCommit(ctx context.Context, d session.AutoDraft, s snapshot.Taken, changes []object.TreeChange,
	tip session.Commit, ident string) (session.Commit, error) {
	own, err := r.Backups.refsOf(ctx, d.Session)
	if err != nil {
		return "", err
	}
	state := StateOf(d.Why, s.Snapshot, own)
	state.Trigger = d.Trigger
	state.Changes, state.Changed = len(changes), object.PlainChanges(changes[:min(len(changes), session.MaxAutoChanges)])
	objects, err := r.Backups.StateCommit(state, s.Snapshot, d.Ledger, "at a backup", d.Files, ident, d.At)
	if err != nil {
		return "", err
	}
	if err := r.Objects.WriteObjects(ctx, append(s.Objects, objects...)...); err != nil {
		return "", err
	}
	durable.Hit(durable.AutoPacked)
	made := session.Commit(objects[len(objects)-1].ID)
	err = r.moveAuto(ctx, session.RefMove{Ref: refs.AutoRef(d.Session), Old: tip, New: made})
	r.Objects.LetGo(err == nil)
	if err != nil {
		return "", err
	}
	durable.Hit(durable.AutoMoved)
	r.Objects.RepackMany(ctx)
	return made, nil
}

// moveAuto durably moves the ref for auto-saves. It writes no reflog, so that git can remove the objects of old
// auto-saves.
func (r *AutoSaves) moveAuto(ctx context.Context, m session.RefMove) error {
	line := "delete " + m.Ref
	if m.New != "" {
		line = "update " + m.Ref + " " + string(m.New)
	}
	old := string(m.Old)
	if old == "" {
		old = r.Objects.Zero()
	}
	o := gitcmd.Opts{Write: true, Stdin: []byte(line + " " + old + "\n"), Refs: []string{m.Ref}}
	if _, err := r.Git.Run(ctx, o, "-c", "core.logAllRefUpdates=false", "update-ref", "--stdin"); err != nil {
		return err
	}
	return r.Refs.SyncRef(m.Ref, m.Old == "" || m.New == "")
}

// differing counts the paths in which two lists of changes, relative to the same tree, differ.
func differing(had, now []object.TreeChange) int {
	n, then := 0, map[string]object.TreeChange{}
	for _, c := range had {
		then[c.Path] = c
	}
	for _, c := range now {
		if t, ok := then[c.Path]; !ok || t.NewMode != c.NewMode || t.NewID != c.NewID {
			n++
		}
		delete(then, c.Path)
	}
	return n + len(then)
}

// lost compares the changes in the newest auto-save (had) with the present ones; both are relative to the same tree. It
// returns how many files that the auto-save changed are deleted or as in that tree now, or 0 if that is at most half of
// them. more is true if there are present changes that the auto-save does not have.
func lost(had, now []object.TreeChange) (gone int, more bool) {
	present := map[string]string{}
	for _, c := range now {
		if c.NewMode != object.ModeNone {
			present[c.Path] = c.NewID
		}
	}
	all := 0
	for _, c := range had {
		if c.NewMode == object.ModeNone {
			continue
		}
		all++
		id, ok := present[c.Path]
		if !ok {
			gone++
		}
		if id == c.NewID {
			delete(present, c.Path)
		}
	}
	if 2*gone <= all {
		return 0, false
	}
	return gone, len(present) > 0
}

// autoSnapshot takes a snapshot for an auto-save. ours is false if HEAD is not on the session's branch; then it takes
// none.
func (r *AutoSaves) autoSnapshot(ctx context.Context, d session.AutoDraft) (s snapshot.Taken, ours bool, err error) {
	on, err := r.Refs.BranchOf(ctx) // during a rebase, the branch that is rebased
	if err != nil || on != refs.BranchRef(d.Session) && !d.Anywhere {
		return s, false, err
	}
	if r.side == nil || r.ledger != d.Ledger {
		if err := r.beginAuto(); err != nil {
			return s, false, err
		}
		r.side = filesOf(gitcmd.New(gitcmd.Place{Root: r.Git.Root, GitDir: r.Git.GitDir, CommonDir: r.Git.CommonDir,
			Worktree: r.Git.Worktree, Format: r.Git.Format,
			Env: r.Git.Env, UserEnv: r.Git.UserEnv, Scratch: r.autoDir(), Idle: true}))
		r.ledger = d.Ledger
	}
	s, err = r.side.Take(ctx, d.Exclude, true)
	return s, err == nil, err
}

// filesOf returns the files of a work tree, read by git processes and caches of their own.
func filesOf(git *gitcmd.Git) *snapshot.Files {
	objects := object.New(git)
	return snapshot.New(git, objects, refs.New(git, objects), settings.New(git, objects))
}

// autoDir returns the directory for the private files of auto-saves. Other commands, which use PrivateDir, may run at
// the same time.
func (r *AutoSaves) autoDir() string { return filepath.Join(r.Git.PrivateDir(), "auto") }

// beginAuto creates an empty directory for auto-saves.
func (r *AutoSaves) beginAuto() error {
	return errors.Join(os.RemoveAll(r.autoDir()), durable.MkdirAll(r.autoDir()))
}

// EndAutoSaves removes the private files of auto-saves, including those that a killed process left. The newest
// auto-save stays. The caller holds the work tree's lock.
func (r *AutoSaves) EndAutoSaves() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.side = nil
	return os.RemoveAll(r.autoDir())
}

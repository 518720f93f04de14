package gitstate

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/wfs-dev/wfs/gitstate/gitcmd"
	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/session"
)

// While somebody works in a session's work tree, what is there is saved every now and then under
// refs/wfs/<id>/auto: one state commit, which the next one replaces. It is made beside everything else, with
// private files of its own, and comes to the repository as one pack.

// autoSaves is what is known of the auto-saves of one attempt.
type autoSaves struct {
	mu     sync.Mutex
	ledger session.Commit // that they build on
	side   *Repo          // with files of its own, nil before the first
	packs  []autoPack     // of auto-saves, the oldest first; the last one holds the newest
}

// AutoSave saves the work tree, as it is now, as the session's newest auto-save, durable. Nothing else is touched, and
// nobody is waited for. It makes none when nothing differs from the present checkpoint or from the newest backup, and
// none while HEAD is on another branch than the session's, unless Anywhere: then the files are another line's.
//
// An auto-save holds what is there, so it would forget with the agent what the agent has thrown away. When most of what
// the newest one has is gone and nothing new has come, that one stays; when something new has come, or with Last, it is
// kept as a rescue.
func (r *Repo) AutoSave(ctx context.Context, d session.AutoDraft) (session.AutoSaved, error) {
	r.auto.mu.Lock()
	defer r.auto.mu.Unlock()
	var done session.AutoSaved
	ident, err := r.Git.Identity(ctx)
	if err != nil {
		return done, err
	}
	var s newSnapshot
	if d.Snapshot != nil {
		s.Snapshot = *d.Snapshot
	} else {
		var ours bool
		if s, ours, err = r.autoSnapshot(ctx, d); err != nil {
			r.auto.packs = nil // somebody may have come to need what is in them: they stay
			return done, err
		} else if !ours {
			return done, nil
		}
	}
	tip, err := r.Ref(ctx, AutoRef(d.Session))
	if err != nil {
		return done, err
	}
	before, err := r.Auto(ctx, d.Session)
	if err != nil || before != nil && (before.Ledger != d.Ledger || before.Commit != tip) {
		before = nil // stale, or not to be read: it is replaced, and says nothing
	}
	if before != nil {
		done.Commit, done.Changes = before.Commit, before.Changes
		if before.Tree == s.Tree && before.Head == s.Head && before.Index == s.Index {
			return done, nil
		}
	}
	changes, err := r.autoChanges(ctx, d.Tree, s)
	if err != nil {
		return done, err
	}
	if before != nil {
		lost, more, err := r.lost(ctx, d.Tree, *before, changes)
		if err != nil {
			return done, err
		}
		if done.Lost = lost; lost > 0 {
			if !more && !d.Last {
				return done, nil
			}
			if done.Kept, err = r.keepAuto(ctx, d.Session, before.Commit); err != nil {
				return done, err
			}
		}
	}
	if len(changes) == 0 && before == nil {
		return session.AutoSaved{}, nil
	}
	done.Commit, err = r.autoCommit(ctx, d, s, changes, tip, ident)
	done.New, done.Changes = err == nil, len(changes)
	return done, err
}

// autoChanges lists how the files of an auto-save differ from a tree.
func (r *Repo) autoChanges(ctx context.Context, from session.Tree, s newSnapshot) ([]treeChange, error) {
	if s.now == nil {
		return r.diffTrees(ctx, from, s.Tree)
	}
	before := s.before
	if s.Index != from {
		var err error
		if before, err = r.indexOfTree(ctx, from); err != nil {
			return nil, err
		}
	}
	return slices.DeleteFunc(r.indexChanges(before, s.now),
		func(c treeChange) bool { return strings.HasPrefix(c.Path, userDir+"/") }), nil
}

// autoCommit makes the state commit of an auto-save and moves the ref to it.
func (r *Repo) autoCommit(ctx context.Context, d session.AutoDraft, s newSnapshot, changes []treeChange,
	tip session.Commit, ident string) (session.Commit, error) {
	refs, err := r.refsOf(ctx, d.Session)
	if err != nil {
		return "", err
	}
	state := stateOf(d.Why, s.Snapshot, refs)
	state.Changes, state.Changed = len(changes), plainChanges(changes[:min(len(changes), session.MaxAutoChanges)])
	objects, err := r.stateCommit(state, s.Snapshot, d.Ledger, "at a backup", d.Files, ident, d.At)
	if err != nil {
		return "", err
	}
	var pack *autoPack
	if d.Snapshot == nil {
		pack, err = r.makeAutoPack(ctx, append(s.objects, objects...))
	}
	if pack == nil && err == nil {
		err = r.writeObjects(ctx, append(s.objects, objects...)...)
	}
	if err != nil {
		return "", err
	}
	durable.Hit(durable.AutoPacked)
	made := session.Commit(objects[len(objects)-1].id)
	err = r.moveAuto(ctx, session.RefMove{Ref: AutoRef(d.Session), Old: tip, New: made})
	if pack != nil {
		pack.kept.letGo()
	} else {
		r.letGo(err == nil)
	}
	if err != nil {
		return "", err
	}
	durable.Hit(durable.AutoMoved)
	if pack != nil {
		r.auto.packs = append(r.auto.packs, *pack)
	}
	r.dropOldPacks(ctx)
	r.repackMany(ctx) // those that had to stay
	return made, nil
}

// moveAuto moves the ref of an auto-save, durably. It never has a reflog: what was saved before is let go of.
func (r *Repo) moveAuto(ctx context.Context, m session.RefMove) error {
	line := "delete " + m.Ref
	if m.New != "" {
		line = "update " + m.Ref + " " + string(m.New)
	}
	old := string(m.Old)
	if old == "" {
		old = r.zero()
	}
	o := gitcmd.Opts{Write: true, Stdin: []byte(line + " " + old + "\n"), Refs: []string{m.Ref}}
	if _, err := r.Git.Run(ctx, o, "-c", "core.logAllRefUpdates=false", "update-ref", "--stdin"); err != nil {
		return err
	}
	return r.syncRef(m.Ref, m.Old == "" || m.New == "")
}

// Auto returns a session's newest auto-save, nil when there is none. Whether it is stale is for the caller to see.
func (r *Repo) Auto(ctx context.Context, id session.ID) (*session.AutoSave, error) {
	return r.Backup(ctx, AutoRef(id))
}

// Backup returns the state commit of a ref, an auto-save or a rescue, nil when there is none.
func (r *Repo) Backup(ctx context.Context, ref string) (*session.AutoSave, error) {
	tip, err := r.Ref(ctx, ref)
	if err != nil || tip == "" {
		return nil, err
	}
	info, err := r.CommitInfo(ctx, tip)
	if err != nil {
		return nil, err
	}
	state, err := r.State(ctx, tip)
	if err != nil {
		return nil, err
	}
	a := &session.AutoSave{Commit: tip, Tree: state.Tree, Index: state.Index, Raw: state.Raw, Head: state.Head,
		At: info.At, Why: state.Why,
		Changes: state.Changes, Changed: state.Changed, HeldOut: state.HeldOut, Skipped: state.Skipped}
	if len(info.Parents) > 1 {
		a.Ledger, a.Code = info.Parents[0], info.Parents[1]
	}
	return a, nil
}

// keepAuto gives an auto-save a name of its own among the rescues.
func (r *Repo) keepAuto(ctx context.Context, id session.ID, auto session.Commit) (string, error) {
	for {
		refs, err := r.refsOf(ctx, id)
		if err != nil {
			return "", err
		}
		for name, c := range refs {
			if c == auto && strings.HasPrefix(name, RescuePrefix(id)) {
				return name, nil
			}
		}
		ref := RescuePrefix(id) + strconv.Itoa(nextRescue(refs, RescuePrefix(id)))
		err = r.moveRef(ctx, session.RefMove{Ref: ref, New: auto}, "wfs: backup of a running attempt")
		if errors.Is(err, ErrMoved) {
			continue
		}
		return ref, err
	}
}

// lost compares what an auto-save holds beyond a tree with the changes of now, and returns how many of its
// paths are gone or as before, 0 unless that is more than half of them. more says that there is something now
// that it does not have.
func (r *Repo) lost(ctx context.Context, from session.Tree, before session.AutoSave, now []treeChange) (gone int,
	more bool, err error) {
	had, err := r.diffTrees(ctx, from, before.Tree)
	if err != nil {
		return 0, false, err
	}
	present := map[string]string{}
	for _, c := range now {
		if c.newMode != modeNone {
			present[c.Path] = c.newID
		}
	}
	all := 0
	for _, c := range had {
		if c.newMode == modeNone {
			continue
		}
		all++
		id, ok := present[c.Path]
		if !ok {
			gone++
		}
		if id == c.newID {
			delete(present, c.Path)
		}
	}
	if 2*gone <= all {
		return 0, false, nil
	}
	return gone, len(present) > 0, nil
}

// autoSnapshot is Snapshot for an auto-save. ours is false when HEAD is not on the session's branch.
func (r *Repo) autoSnapshot(ctx context.Context, d session.AutoDraft) (s newSnapshot, ours bool, err error) {
	on, err := r.BranchOf(ctx) // a rebase of the branch counts
	if err != nil || on != BranchRef(d.Session) && !d.Anywhere {
		return s, false, err
	}
	a := &r.auto
	if a.side == nil || a.ledger != d.Ledger {
		if err := r.beginAuto(); err != nil {
			return s, false, err
		}
		a.side = &Repo{Git: &gitcmd.Git{Root: r.Git.Root, GitDir: r.Git.GitDir, CommonDir: r.Git.CommonDir, Worktree: r.Git.Worktree, Format: r.Git.Format,
			Env: r.Git.Env, UserEnv: r.Git.UserEnv, Scratch: r.autoDir(), Idle: true}}
		if a.ledger != d.Ledger {
			a.packs = nil
		}
		a.ledger = d.Ledger
	}
	s, err = a.side.take(ctx, d.Exclude, true)
	return s, err == nil, err
}

// autoDir holds the private files of auto-saves: other commands may be at work.
func (r *Repo) autoDir() string { return filepath.Join(r.Git.PrivateDir(), "auto") }

// droppedDir is where packs are that are being removed.
func (r *Repo) droppedDir() string { return filepath.Join(r.autoDir(), "dropped") }

// beginAuto makes an empty directory for auto-saves.
func (r *Repo) beginAuto() error {
	if err := r.endAuto(); err != nil {
		return err
	}
	return durable.MkdirAll(r.droppedDir())
}

func (r *Repo) endAuto() error {
	if err := r.putBack(); err != nil {
		return err
	}
	return os.RemoveAll(r.autoDir())
}

// indexSum is a sum of what an index holds, without the files' stat data.
func (r *Repo) indexSum(path string) (string, error) {
	data, err := os.ReadFile(path)
	if gitcmd.Absent(err) {
		return "none", nil
	}
	if err != nil {
		return "", err
	}
	h := r.newHash()
	if x := r.parsed(data); x != nil {
		for _, e := range x.entries {
			fmt.Fprintf(h, "%o %x %d %s\x00", e.mode, e.id, e.stage, e.name)
		}
	} else {
		h.Write(data)
	}
	return fmt.Sprintf("%x", h.Sum(nil)), nil
}

// EndAutoSaves removes the private files of auto-saves, and what those of a killed process left. The caller holds
// the work tree's lock. The newest auto-save stays.
func (r *Repo) EndAutoSaves() error {
	r.auto.mu.Lock()
	defer r.auto.mu.Unlock()
	r.auto.side = nil
	return r.endAuto()
}

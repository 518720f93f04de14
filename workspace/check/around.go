package check

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/wfs-dev/wfs/engine/history"
	"github.com/wfs-dev/wfs/gitstate/gitcmd"
	"github.com/wfs-dev/wfs/gitstate/settings"
	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/internal/safetext"
	"github.com/wfs-dev/wfs/registry"
	"github.com/wfs-dev/wfs/session"
)

// Below these limits of free bytes and files, disk space is reported as low. A checkpoint with its files still fits
// then, unless it is large.
const (
	littleBytes = 200 << 20
	littleFiles = 2000
)

// longHeld is the age from which a git lock is reported. Normally git holds a lock only for moments.
const longHeld = 10 * time.Second

func (r *Report) settings() error {
	keys, err := r.Repo.Prunes(r.ctx)
	for _, key := range keys {
		var next []string
		for _, spec := range settings.Kept {
			next = append(next, "git config --add "+safetext.ShellWord(key)+" '"+spec+"'")
		}
		r.add(Warns, "config", "", key, "fetches all refs", "git fetch --prune deletes sessions",
			strings.Join(next, " && "))
	}
	return err
}

func (r *Report) disk() error {
	const follows = "a checkpoint may fail, without losing anything"
	dir := r.Repo.CommonDir()
	s, known := durable.SpaceAt(dir)
	if known && s.Bytes < littleBytes {
		r.add(Warns, "disk", "", dir, Bytes(int64(s.Bytes))+" are left on this file system", follows, "wfs gc")
	}
	if known && s.Count && s.Files < littleFiles {
		r.add(Warns, "disk", "", dir, fmt.Sprintf("%d more files can be made on this file system", s.Files), follows,
			"git gc")
	}
	if errors.Is(durable.HasLocks(filepath.Join(dir, "HEAD")), durable.ErrNoLocks) {
		r.add(Blocks, "disk", "", dir, "this file system has no locks (flock)", "sessions can be read here, but not run",
			"git clone . A-LOCAL-DISK")
	}
	return nil // other errors are reported when that file is used
}

// clone checks whether this clone is a copy.
func (r *Report) clone() error {
	place, was, _, err := r.Files.Whence()
	if place == registry.Copied {
		r.add(Warns, "clone", "", r.Repo.CommonDir(), "this is a copy of "+was.Path,
			"sessions of the original stay there; the next command that changes something separates the two clones", "")
	}
	if errors.Is(err, session.ErrNewer) {
		return nil
	}
	return err
}

// workTrees checks the work trees in which sessions are checked out.
func (r *Report) workTrees() error {
	trees, err := r.Repo.Worktrees(r.ctx)
	if err != nil {
		return err
	}
	on := map[session.ID]string{}
	for _, t := range trees {
		id := SessionOf(t.Branch)
		switch {
		case r.tips[id] == "":
		case t.Gone && !t.Locked:
			r.add(Warns, "work tree", id, t.Path, "no longer exists",
				fmt.Sprintf("git believes that session %s is checked out there", id), GoneHint(id))
		case on[id] != "":
			r.add(Blocks, "work tree", id, t.Path, "the session is checked out here and in "+on[id],
				"a checkpoint in one would undo the other's", "git -C "+word(t.Path)+" switch --detach")
		default:
			on[id] = t.Path
		}
	}
	root := r.Repo.Root()
	if original, err := r.Repo.CopyOf(); err == nil && original != "" {
		r.add(Blocks, "work tree", "", root, "this directory is a copy of the work tree "+original,
			"git treats both as one, with one index: wfs writes nothing from here", CopyHint(root))
	}
	return r.claim()
}

// GoneHint returns advice for a session whose work tree is missing.
func GoneHint(id session.ID) string {
	return fmt.Sprintf("wfs resume %s, to continue here; if it was moved: git worktree repair NEW-PATH", id)
}

// CopyHint returns advice for a directory that is a copy of a linked work tree.
func CopyHint(dir string) string {
	return fmt.Sprintf("rm %s/.git; or git worktree repair %s   (if the other one is not wanted)", word(dir), word(dir))
}

// claim checks whether a command was killed while it moved this work tree to another state.
func (r *Report) claim() error {
	tree := r.Repo.Worktree()
	id, err := r.Files.Worktree(tree).Claimed()
	if err != nil || id == "" {
		return nil //nolint:nilerr // reported among the files
	}
	if _, held, err := r.Files.Worktree(tree).Holder(); err != nil || held {
		return nil //nolint:nilerr // reported among the locks
	}
	v, err := r.Engine.Load(r.ctx, id, r.tips[id])
	if err == nil && r.ended(&v) {
		return nil // the next command that writes removes the claim
	}
	f := r.add(Tells, "work tree", id, r.Repo.Root(), "a command was interrupted",
		"the next command that changes something completes it, or undoes it if that fails", "")
	if m := v.Session.Moving; err == nil && m != nil {
		f.What += ": " + m.Summary
		if m.Stuck != "" {
			f.Level, f.What = Blocks, fmt.Sprintf(
				"a command stopped half-way: %s: it could be neither completed nor undone: %s", m.Summary, m.Stuck)
			f.Follows = "every command that changes something tries again, and fails until the reason is fixed"
			f.Next = session.GiveUp + " (it changes no file, and the next command gives it up)"
		}
	}
	return nil
}

// ended reports whether a session has no unfinished operation on a work tree or on refs. If there is no journal for the
// ledger's tip, the refs of the last turn may still have to be moved, so it reports false.
func (r *Report) ended(v *history.View) bool {
	s := &v.Session
	return s.Moving == nil && s.Finishing == nil && s.Deleting == nil && v.Pending == nil &&
		r.Files.Session(s.ID).Begun(v.Tip)
}

// locks reports git locks that no process seems to hold.
func (r *Report) locks() error {
	list, err := r.Repo.Git.Locks.Files(r.ctx)
	for _, l := range list {
		if l.Ours {
			r.lockOfOurs(l)
			continue
		}
		if l.Age < longHeld && !l.Stays() {
			continue
		}
		level, next := Warns, "rm "+word(l.Path)
		if l.Needed {
			level = Blocks
		}
		switch {
		case l.Deserted():
		case len(l.Holders)+len(l.AtWork) > 0:
			level, next = Warns, "wait for it, or stop it"
		default:
			next += " once no git command is running"
		}
		r.add(level, "lock", "", l.Path, strings.TrimPrefix(l.Error(), "git's lock "+l.Path+" "),
			"neither wfs nor git can change what it locks", next)
	}
	return err
}

// lockOfOurs reports a lock file of wfs, unless a running command uses it. It needs no repair of its own: taking the
// work tree's lock for the repair removes the file.
func (r *Report) lockOfOurs(l gitcmd.LockFile) {
	if who, held, err := r.Files.Worktree(l.Worktree).Holder(); err == nil && held && who.PID != r.PID {
		return
	}
	r.add(Tells, "lock", "", l.Path, "a lock of wfs, left by a command that was killed",
		"the next command that changes something removes it", "").
		by(func(context.Context) (done, _ string, _ error) {
			if !l.There() {
				done = "removed"
			}
			return done, "", nil
		})
}

// Bytes returns a number of bytes as text, in a suitable unit.
func Bytes(n int64) string {
	switch {
	case n < 1000:
		return fmt.Sprintf("%d bytes", n)
	case n < 1_000_000:
		return fmt.Sprintf("%.1f kB", float64(n)/1e3)
	case n < 1_000_000_000:
		return fmt.Sprintf("%.1f MB", float64(n)/1e6)
	}
	return fmt.Sprintf("%.1f GB", float64(n)/1e9)
}

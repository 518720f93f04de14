package gitcmd

import (
	"context"
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/wfs-dev/wfs/internal/durable"
)

// Locks are the locks of git's that processes of ours take, and that others hold.
type Locks struct {
	git *Git

	noting sync.Mutex
	noted  int           // git processes that move refs now
	moving *durable.Lock // while there are some, see movingRefs
	waited atomic.Int64  // nanoseconds, for locks of somebody else
	longer func(waited time.Duration, e *LockedError) bool
}

// leftPatience is for how long noted locks may go on being held: a git whose wfs was killed may still be at
// its work, but nobody tells it anything any more.
const (
	leftPatience = 500 * time.Millisecond
	LeftPoll     = 50 * time.Millisecond
)

// lockNotes is the directory of the notes. Each is an empty file whose name says which ref: after a power cut a name is
// there when one that was made later is, and what a file holds need not be.
func (r *Locks) lockNotes() string { return filepath.Join(r.git.PrivateDir(), "ref-locks") }

// movingRefs is a file in the directory of a work tree, whose lock processes of ours share as long as a git of
// theirs moves refs: some do so without the work tree's lock. Whoever gets it alone knows that all who noted
// locks are dead.
func movingRefs(dir string) string { return filepath.Join(dir, "moving-refs") }

// NoteLocks notes that refs are going to be locked, and returns what takes the notes of all git processes of ours back
// once none of them runs any more. It is told the lock that git did not get, "" for none: that one is somebody else's,
// and so is a lock that is there before it is noted.
func (r *Locks) NoteLocks(refs []string) (done func(theirs string), err error) {
	r.noting.Lock()
	defer r.noting.Unlock()
	if err := durable.MkdirAll(r.lockNotes()); err != nil {
		return nil, err
	}
	if r.noted == 0 {
		l, err := durable.Share(movingRefs(r.git.PrivateDir()))
		if err != nil && !errors.Is(err, durable.ErrNoLocks) { // where there are none nobody drives, and nobody heals
			return nil, err
		}
		r.moving = l
	}
	r.noted++
	before := r.NotedRefs()
	for _, ref := range refs {
		if len(r.leftLocks([]string{ref})) > 0 {
			continue
		}
		if err := os.WriteFile(r.lockNote(ref), nil, 0o600); err != nil {
			r.EndMoving()
			return nil, err
		}
	}
	return func(theirs string) {
		r.noting.Lock()
		defer r.noting.Unlock()
		noted := r.NotedRefs()
		if theirs != "" && r.noted == 1 { // else another git of ours may hold it
			r.dropNotes(slices.DeleteFunc(slices.Clone(noted), func(ref string) bool {
				return slices.Contains(before, ref) || !IsFile(r.LockOf(ref), theirs) // an earlier git of ours left it
			}))
			noted = r.NotedRefs()
		}
		if r.noted > 1 {
			r.noted--
			return
		}
		if len(r.leftLocks(noted)) == 0 { // git may have failed to remove one, and not said so
			r.dropNotes(noted)
		}
		r.EndMoving()
	}, nil
}

func (r *Locks) EndMoving() {
	if r.noted--; r.noted == 0 && r.moving != nil {
		_ = r.moving.Release()
		r.moving = nil
	}
}

func (r *Locks) lockNote(ref string) string { return filepath.Join(r.lockNotes(), url.PathEscape(ref)) }

// dropNotes removes notes, or whoever comes next finds nothing to remove.
func (r *Locks) dropNotes(refs []string) {
	for _, ref := range refs {
		_ = os.Remove(r.lockNote(ref))
	}
}

func (r *Locks) NotedRefs() []string {
	files, err := os.ReadDir(r.lockNotes())
	if err != nil {
		return nil
	}
	var refs []string
	for _, f := range files {
		if ref, err := url.PathUnescape(f.Name()); err == nil {
			refs = append(refs, ref)
		}
	}
	return refs
}

// refsIn returns the refs that a git command is told to move, by its arguments or its input; nil when it moves none.
func refsIn(args []string, stdin []byte) []string {
	if len(args) == 0 || args[0] != "update-ref" && args[0] != "symbolic-ref" {
		return nil
	}
	refs := []string{"HEAD"}
	for _, word := range append(strings.Fields(string(stdin)), args...) {
		if strings.HasPrefix(word, "refs/") {
			refs = append(refs, word)
		}
	}
	if strings.Contains(string(stdin), "delete ") {
		refs = append(refs, "packed-refs")
	}
	return refs
}

// leftByUs reports whether a lock is one that a git of ours had noted, and has not removed.
func (r *Locks) leftByUs(lock string) bool {
	return slices.ContainsFunc(r.NotedRefs(), func(ref string) bool { return IsFile(r.LockOf(ref), lock) })
}

// HealRefLocks removes the locks of refs that gits of ours left which have ended.
func (r *Locks) HealRefLocks(ctx context.Context) error {
	noted := r.NotedRefs()
	if len(noted) == 0 {
		return nil
	}
	for waited := time.Duration(0); len(r.leftLocks(noted)) > 0; waited += LeftPoll {
		if waited < leftPatience {
			if err := Pause(ctx, LeftPoll); err != nil {
				return err
			}
			continue
		}
		alone, err := durable.TryLock(movingRefs(r.git.PrivateDir()), nil)
		if errors.Is(err, durable.ErrLocked) {
			break // they may be those of somebody who lives
		}
		if err != nil {
			return err
		}
		defer alone.Release() // after the notes: a new one must not go with them
		if err := r.removeLeft(ctx, r.leftLocks(noted)); err != nil {
			return err
		}
		break
	}
	r.dropNotes(slices.DeleteFunc(noted, func(ref string) bool { return len(r.leftLocks([]string{ref})) > 0 }))
	return nil
}

const packedLock = "packed-refs.lock"

// removeLeft removes locks of refs that a git of ours left which has ended. Whoever packs refs holds that lock for as
// long as there are refs, and two at once would lose some: it is removed only when no git is at work here for certain.
func (r *Locks) removeLeft(ctx context.Context, locks []string) error {
	for _, path := range locks {
		if filepath.Base(path) == packedLock {
			if gits, known := r.git.gits(ctx); !known || len(gits) > 0 {
				continue
			}
			// Git writes it under this lock, and never over one that is there: nobody could delete a ref any more.
			if err := IgnoreAbsent(os.Remove(filepath.Join(r.git.CommonDir, "packed-refs.new"))); err != nil {
				return err
			}
		}
		if err := IgnoreAbsent(os.Remove(path)); err != nil {
			return err
		}
	}
	return nil
}

// leftLocks returns the lock files of refs that are there.
func (r *Locks) leftLocks(refs []string) []string {
	var left []string
	for _, ref := range refs {
		path := r.LockOf(ref)
		if st, err := os.Lstat(path); path != "" && err == nil && st.Mode().IsRegular() {
			left = append(left, path)
		}
	}
	return left
}

// LockOf is the path of a ref's lock, "" for what is no ref. HEADs of other work trees are named as git does.
func (r *Locks) LockOf(ref string) string {
	dir := r.git.CommonDir
	switch {
	case ref == "HEAD":
		dir = r.git.GitDir
	case ref == mainHead:
		ref = "HEAD"
	case strings.Contains(ref, ".."), ref != "packed-refs" && !strings.HasPrefix(ref, "refs/") && !isLinkedHead(ref):
		return ""
	}
	return filepath.Join(dir, filepath.FromSlash(ref)+".lock")
}

// IsFile reports whether two paths are of the same file.
func IsFile(a, b string) bool {
	x, err := os.Lstat(a)
	y, err2 := os.Lstat(b)
	return a == b || err == nil && err2 == nil && os.SameFile(x, y)
}

// mainHead is git's name, in a linked work tree, for the HEAD of the main one; that of another linked one is
// worktrees/NAME/HEAD (gitrevisions(7), gitrepository-layout(5)).
const mainHead = "main-worktree/HEAD"

func isLinkedHead(ref string) bool {
	name, linked := strings.CutPrefix(ref, "worktrees/")
	name, head := strings.CutSuffix(name, "/HEAD")
	return linked && head && name != "" && !strings.Contains(name, "/")
}

// headOfDir names the HEAD of a git directory, "" for a private one of ours, whose locks are tidied up with it.
func headOfDir(r Place, dir string) string {
	switch {
	case dir == r.GitDir:
		return "HEAD"
	case dir == r.CommonDir:
		return mainHead
	case filepath.Dir(dir) == filepath.Join(r.CommonDir, "worktrees"):
		return "worktrees/" + filepath.Base(dir) + "/HEAD"
	}
	return ""
}

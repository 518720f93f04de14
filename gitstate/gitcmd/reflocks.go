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

// Locks handles git's locks, those of wfs and of other processes.
type Locks struct {
	git *Git

	noting sync.Mutex
	noted  int           // running git processes of this wfs that move refs
	moving *durable.Lock // while noted > 0, see movingRefs
	waited atomic.Int64  // nanoseconds spent waiting for locks of other processes
	longer func(waited time.Duration, e *LockedError) bool
}

// leftPatience is how long HealRefLocks waits for noted locks: a git whose wfs was killed may still be running, but
// gets no more input.
const (
	leftPatience = 500 * time.Millisecond
	LeftPoll     = 50 * time.Millisecond
)

// lockNotes returns the directory of the notes. Each note is an empty file named after a ref: after a power cut, a file
// name exists if a later one does, but the content of a file may be missing.
func (r *Locks) lockNotes() string { return filepath.Join(r.git.PrivateDir(), "ref-locks") }

// movingRefs returns a file in a work tree's directory. wfs processes share its lock while a git process of theirs
// moves refs, some of them without the work tree's lock. A process that gets the lock exclusively knows that all
// processes that noted locks have ended.
func movingRefs(dir string) string { return filepath.Join(dir, "moving-refs") }

// NoteLocks notes that refs are going to be locked. It returns a function to call after git has ended, which removes
// the notes once no git process of this wfs is running. Its argument is the lock that git failed to take, "" for none:
// that lock belongs to another process, as does a lock that exists before it is noted.
func (r *Locks) NoteLocks(refs []string) (done func(theirs string), err error) {
	r.noting.Lock()
	defer r.noting.Unlock()
	if err := durable.MkdirAll(r.lockNotes()); err != nil {
		return nil, err
	}
	if r.noted == 0 {
		l, err := durable.Share(movingRefs(r.git.PrivateDir()))
		// without file locks, wfs neither runs sessions nor repairs locks
		if err != nil && !errors.Is(err, durable.ErrNoLocks) {
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
		if theirs != "" && r.noted == 1 { // otherwise another git of ours may hold it
			r.dropNotes(slices.DeleteFunc(slices.Clone(noted), func(ref string) bool {
				return slices.Contains(before, ref) || !IsFile(r.LockOf(ref), theirs) // left by an earlier git of ours
			}))
			noted = r.NotedRefs()
		}
		if r.noted > 1 {
			r.noted--
			return
		}
		if len(r.leftLocks(noted)) == 0 { // git may silently have failed to remove one
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

// dropNotes removes notes. Errors are ignored: at worst, the next command finds a note without a lock.
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

// refsIn returns the refs that a git command moves, from its arguments and its input; nil if it moves none.
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

// leftByUs reports whether a lock was noted by a wfs process and still exists.
func (r *Locks) leftByUs(lock string) bool {
	return slices.ContainsFunc(r.NotedRefs(), func(ref string) bool { return IsFile(r.LockOf(ref), lock) })
}

// HealRefLocks removes the ref locks that ended git processes of wfs left.
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
			break // their process may still be running
		}
		if err != nil {
			return err
		}
		defer alone.Release() // after the notes, so that no new one is removed with them
		if err := r.removeLeft(ctx, r.leftLocks(noted)); err != nil {
			return err
		}
		break
	}
	r.dropNotes(slices.DeleteFunc(noted, func(ref string) bool { return len(r.leftLocks([]string{ref})) > 0 }))
	return nil
}

const packedLock = "packed-refs.lock"

// removeLeft removes ref locks of ended git processes. A git that packs many refs holds packed-refs.lock for long, and
// two at once would lose some refs: so this lock is removed only if certainly no git is running here.
func (r *Locks) removeLeft(ctx context.Context, locks []string) error {
	for _, path := range locks {
		if filepath.Base(path) == packedLock {
			if gits, known := r.git.gits(ctx); !known || len(gits) > 0 {
				continue
			}
			// Git writes this file while it has the lock, and never overwrites it: with it, no ref could be deleted any
			// more.
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

// leftLocks returns the existing lock files of refs.
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

// LockOf returns the path of a ref's lock, "" if it is not a ref. HEADs of other work trees have git's names.
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

// IsFile reports whether two paths are the same file.
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

// headOfDir returns the name of the HEAD of a git directory, "" for a private directory of wfs, whose locks are removed
// with it.
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

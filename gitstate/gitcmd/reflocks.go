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

// Locks handles git's lock files, both those of wfs and those of other processes.
type Locks struct {
	git *Git

	noting sync.Mutex
	noted  int           // number of running git processes of this wfs that move refs
	moving *durable.Lock // lock of movingRefs, held while noted > 0
	waited atomic.Int64  // nanoseconds spent waiting for locks of other processes
	longer func(waited time.Duration, e *LockedError) bool
}

// leftPatience is how long HealRefLocks waits until noted locks disappear: if a wfs was killed, its git may still be
// running for a moment, although it gets no more input.
const (
	leftPatience = 500 * time.Millisecond
	LeftPoll     = 50 * time.Millisecond
)

// lockNotes returns the directory of the notes about refs that git is going to lock. Each note is an empty file with
// the name of a ref, since after a power cut a file may exist without its content, while file names appear in the order
// of their creation.
func (r *Locks) lockNotes() string { return filepath.Join(r.git.PrivateDir(), "ref-locks") }

// movingRefs returns the path of a lock file in a work tree's directory. While git processes of wfs move refs, their
// wfs processes share this lock; some of these do not hold the work tree's lock. A process that gets the lock
// exclusively knows that all processes that noted locks have ended.
func movingRefs(dir string) string { return filepath.Join(dir, "moving-refs") }

// NoteLocks notes which refs git is going to lock. The caller calls done when git has ended; done removes the notes
// once no git process of this wfs is running. The argument of done is the path of the lock that git failed to take
// because another process has it, "" if git failed to take none. A lock that exists before it is noted belongs to
// another process, too.
func (r *Locks) NoteLocks(refs []string) (done func(theirs string), err error) {
	r.noting.Lock()
	defer r.noting.Unlock()
	if err := durable.MkdirAll(r.lockNotes()); err != nil {
		return nil, err
	}
	if r.noted == 0 {
		l, err := durable.Share(movingRefs(r.git.PrivateDir()))
		// Without file locks (ErrNoLocks), wfs neither runs sessions nor repairs locks, so it needs no shared lock.
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
		if theirs != "" && r.noted == 1 { // if more are running, another git of this wfs may hold that lock
			r.dropNotes(slices.DeleteFunc(slices.Clone(noted), func(ref string) bool {
				return slices.Contains(before, ref) || !IsFile(r.LockOf(ref), theirs) // noted by an earlier git of ours
			}))
			noted = r.NotedRefs()
		}
		if r.noted > 1 {
			r.noted--
			return
		}
		if len(r.leftLocks(noted)) == 0 { // if locks exist, git may silently have failed to remove them
			r.dropNotes(noted)
		}
		r.EndMoving()
	}, nil
}

// EndMoving releases the lock of movingRefs if no other git process of this wfs moves refs.
func (r *Locks) EndMoving() {
	if r.noted--; r.noted == 0 && r.moving != nil {
		_ = r.moving.Release()
		r.moving = nil
	}
}

func (r *Locks) lockNote(ref string) string { return filepath.Join(r.lockNotes(), url.PathEscape(ref)) }

// dropNotes removes notes. It ignores errors: at worst, the next command finds a note to which no lock belongs.
func (r *Locks) dropNotes(refs []string) {
	for _, ref := range refs {
		_ = os.Remove(r.lockNote(ref))
	}
}

// NotedRefs returns the refs that wfs processes have noted in this work tree.
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

// refsIn returns the refs that a git command moves, according to its arguments and its input. It returns nil if the
// command moves none.
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

// leftByUs reports whether a lock exists that a wfs process has noted.
func (r *Locks) leftByUs(lock string) bool {
	return slices.ContainsFunc(r.NotedRefs(), func(ref string) bool { return IsFile(r.LockOf(ref), lock) })
}

// HealRefLocks removes the locks of refs that git processes of wfs left, if these processes have ended.
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
			break // the process that noted them may still be running
		}
		if err != nil {
			return err
		}
		defer alone.Release() // released after the notes are removed, so that no new note is removed with them
		if err := r.removeLeft(ctx, r.leftLocks(noted)); err != nil {
			return err
		}
		break
	}
	r.dropNotes(slices.DeleteFunc(noted, func(ref string) bool { return len(r.leftLocks([]string{ref})) > 0 }))
	return nil
}

const packedLock = "packed-refs.lock"

// removeLeft removes locks of refs that git processes left. The lock packed-refs.lock is special: a git that packs many
// refs holds it for long, and two such processes at once would lose refs. So it is removed only if certainly no git is
// running in this repository.
func (r *Locks) removeLeft(ctx context.Context, locks []string) error {
	for _, path := range locks {
		if filepath.Base(path) == packedLock {
			if gits, known := r.git.gits(ctx); !known || len(gits) > 0 {
				continue
			}
			// Git writes packed-refs.new while it has the lock, and never overwrites that file. If the file stayed, no
			// ref could be deleted any more.
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

// leftLocks returns the paths of the lock files of refs that exist.
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

// LockOf returns the path of a ref's lock file, "" if the name is not that of a ref. For HEADs of other work trees,
// git's names are used, such as mainHead.
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

// IsFile reports whether two paths name the same file.
func IsFile(a, b string) bool {
	x, err := os.Lstat(a)
	y, err2 := os.Lstat(b)
	return a == b || err == nil && err2 == nil && os.SameFile(x, y)
}

// mainHead is the name that git uses in a linked work tree for the HEAD of the main work tree. The HEAD of another
// linked work tree is worktrees/NAME/HEAD (gitrevisions(7), gitrepository-layout(5)).
const mainHead = "main-worktree/HEAD"

func isLinkedHead(ref string) bool {
	name, linked := strings.CutPrefix(ref, "worktrees/")
	name, head := strings.CutSuffix(name, "/HEAD")
	return linked && head && name != "" && !strings.Contains(name, "/")
}

// headOfDir returns the name of a git directory's HEAD. It returns "" for a private git directory of wfs: locks in it
// are removed together with it.
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

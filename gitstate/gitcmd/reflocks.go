package gitcmd

import (
	"context"
	"errors"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/wfs-dev/wfs/internal/durable"
)

// leftPatience is for how long noted locks may go on being held: a git whose wfs was killed may still be at
// its work, but nobody tells it anything any more.
const (
	leftPatience = 500 * time.Millisecond
	LeftPoll     = 50 * time.Millisecond
)

// lockNotes is the directory of the notes. Each is an empty file whose name says which ref: after a power cut a name is
// there when one that was made later is, and what a file holds need not be.
func (r *Git) lockNotes() string { return filepath.Join(r.PrivateDir(), "ref-locks") }

// movingRefs is a file whose lock processes of ours share as long as a git of theirs moves refs: some do so without the
// work tree's lock. Whoever gets it alone knows that all who noted locks are dead.
func (r *Git) movingRefs() string { return filepath.Join(r.PrivateDir(), "moving-refs") }

// NoteLocks notes that refs are going to be locked, and returns what takes the notes of all git processes of ours back
// once none of them runs any more. It is told the lock that git did not get, "" for none: that one is somebody else's,
// and so is a lock that is there before it is noted.
func (r *Git) NoteLocks(refs []string) (done func(theirs string), err error) {
	r.noting.Lock()
	defer r.noting.Unlock()
	if err := durable.MkdirAll(r.lockNotes()); err != nil {
		return nil, err
	}
	if r.noted == 0 {
		l, err := durable.Share(r.movingRefs())
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

func (r *Git) EndMoving() {
	if r.noted--; r.noted == 0 && r.moving != nil {
		_ = r.moving.Release()
		r.moving = nil
	}
}

func (r *Git) lockNote(ref string) string { return filepath.Join(r.lockNotes(), url.PathEscape(ref)) }

// dropNotes removes notes, or whoever comes next finds nothing to remove.
func (r *Git) dropNotes(refs []string) {
	for _, ref := range refs {
		_ = os.Remove(r.lockNote(ref))
	}
}

func (r *Git) NotedRefs() []string {
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

// RefsIn returns the refs that a git command is told to move, by its arguments or its input; nil when it moves none.
func RefsIn(args []string, stdin []byte) []string {
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
func (r *Git) leftByUs(lock string) bool {
	return slices.ContainsFunc(r.NotedRefs(), func(ref string) bool { return IsFile(r.LockOf(ref), lock) })
}

// HealRefLocks removes the locks of refs that gits of ours left which have ended.
func (r *Git) HealRefLocks(ctx context.Context) error {
	noted := r.NotedRefs()
	if len(noted) == 0 {
		return nil
	}
	for waited := time.Duration(0); ; waited += LeftPoll {
		left := r.leftLocks(noted)
		if len(left) == 0 {
			break
		}
		if waited >= leftPatience {
			alone, err := durable.TryLock(r.movingRefs(), nil)
			if errors.Is(err, durable.ErrLocked) {
				break // they may be those of somebody who lives
			}
			if err != nil {
				return err
			}
			defer alone.Release()
			for _, path := range left {
				if filepath.Base(path) == packedLock {
					if !r.nobodyPacks(ctx) {
						continue
					}
					// Git writes it under this lock, and never over one that is there: nobody could delete a ref any more.
					if err := IgnoreAbsent(os.Remove(filepath.Join(r.CommonDir, "packed-refs.new"))); err != nil {
						return err
					}
				}
				if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
					return err
				}
			}
			break
		}
		if err := Pause(ctx, LeftPoll); err != nil {
			return err
		}
	}
	r.dropNotes(slices.DeleteFunc(noted, func(ref string) bool { return len(r.leftLocks([]string{ref})) > 0 }))
	return nil
}

const packedLock = "packed-refs.lock"

// nobodyPacks reports whether no git is at work in this repository. Whoever packs refs holds that lock for as long as
// there are refs, and two at once would lose some: only when that is sure it is removed.
func (r *Git) nobodyPacks(ctx context.Context) bool {
	list, known := r.gits(ctx)
	return known && len(list) == 0
}

// leftLocks returns the lock files of refs that are there.
func (r *Git) leftLocks(refs []string) []string {
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
func (r *Git) LockOf(ref string) string {
	dir := r.CommonDir
	switch {
	case ref == "HEAD":
		dir = r.GitDir
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

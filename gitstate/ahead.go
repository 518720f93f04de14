package gitstate

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"time"
)

// Most of what a checkpoint takes of its own is the comparison of every file with the index, and until that can begin there
// is a wait: for git to say where the repository is, for the session, for locks. A command that takes the work tree as it
// is therefore begins to compare at once, where a repository is likely to be. What it found is used if the repository
// turns out to be that one, the index is still the same to the byte, and the look proper comes so soon after it that it
// might as well have begun then.

// aheadHolds is how long what was found counts: nobody waits so long for a checkpoint to begin.
const aheadHolds = 100 * time.Millisecond

// ahead is what was found.
type ahead struct {
	root, gitDir string
	format       string // of the index
	data         []byte // the index
	written      time.Time
	index        *index
	holds        time.Duration // for so long it might as well have been found now
}

// lookAhead begins to compare the work tree around a directory with its index.
func (r *Repo) lookAhead(dir string) {
	found := make(chan *ahead, 1)
	r.begun.Go(func() { found <- aheadOf(dir) })
	wait := func() *ahead { return <-found }
	r.ahead.Store(&wait)
}

// aheadOf compares. It returns nil when nothing can be told so early: in linked work trees, and before wfs has worked there.
func aheadOf(dir string) *ahead {
	root, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return nil
	}
	for {
		info, err := os.Lstat(filepath.Join(root, ".git"))
		if err == nil && info.IsDir() {
			break
		}
		up := filepath.Dir(root)
		if !errors.Is(err, fs.ErrNotExist) || up == root {
			return nil
		}
		root = up
	}
	a := &ahead{root: root, gitDir: filepath.Join(root, ".git"), format: "sha1", holds: aheadHolds}
	r := &Repo{root: a.root, gitDir: a.gitDir, commonDir: a.gitDir, worktree: worktreeID(a.gitDir, a.gitDir), format: a.format}
	if info, err := os.Lstat(r.worktreeDir()); err != nil || !info.IsDir() {
		return nil
	}
	if info, err := os.Lstat(r.indexPath()); err != nil || !info.Mode().IsRegular() {
		return nil // opening it might never end
	}
	since := r.treeTime()
	data, st, err := readWhole(r.indexPath())
	if err != nil || st == nil || since == 0 {
		return nil
	}
	a.data, a.written = data, st.ModTime()
	if a.index = r.parsedOf(a.data, a.written); a.index == nil || !a.index.comparable() {
		return nil
	}
	l := r.newLooker(a.index)
	l.scans = map[string]scanned{}
	l.walk(max(runtime.NumCPU()-1, 1), l.scanAhead) // there are git processes that others wait for
	a.index.scans, a.index.scanned = l.scans, since
	return a
}

// parsing returns what parses an index, with what was found ahead. since is when the files begin to be looked at, and
// becomes when they began to be.
func (r *Repo) parsing(data []byte, written time.Time, since *uint64) func() *index {
	return func() *index {
		x := r.foundAhead(data, written, *since)
		if x == nil {
			return r.parsedOf(data, written)
		}
		*since = x.scanned
		return x
	}
}

// foundAhead is an index with what was found ahead, nil when that does not hold here. now is when the look proper begins,
// by the file system's clock.
func (r *Repo) foundAhead(data []byte, written time.Time, now uint64) *index {
	found := r.ahead.Swap(nil)
	if found == nil {
		return nil
	}
	a := (*found)()
	if a == nil || a.root != r.root || a.gitDir != r.gitDir || a.gitDir != r.commonDir || a.format != r.format ||
		!bytes.Equal(a.data, data) || !a.written.Equal(written) || now < a.index.scanned || now-a.index.scanned > uint64(a.holds) {
		return nil
	}
	return a.index
}

// scanAhead is dir as far as it needs no rules.
func (l *looker) scanAhead(d trackedDir) []trackedDir {
	s := l.scan(d)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.scans[d.prefix] = s
	return s.tracked
}

package gitstate

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/wfs-dev/wfs/internal/durable"
)

// Git locks a ref with a file beside it, and HEAD as well when it is on that ref. A git that is killed leaves these
// files, and nobody can move those refs any more. So before a git of ours is started that moves refs, a note says which;
// it is removed when that git has ended. Whoever takes the work tree next and finds a note knows which locks are nobody's.

// leftPatience is for how long locks that a note names may go on being held: a git whose wfs was killed may still be at
// its work, but nobody tells it anything any more.
const leftPatience = 500 * time.Millisecond

func (r *Repo) lockNote() string { return filepath.Join(r.worktreeDir(), "ref-locks") }

// noteLocks says which refs are going to be locked, one line each, and returns what takes the note back. Notes of
// several git processes at once are one note. It need not be synced: after a power cut it is there when a lock is that
// was made later.
func (r *Repo) noteLocks(refs []string) (done func(), err error) {
	r.noting.Lock()
	defer r.noting.Unlock()
	if r.noted == 0 {
		if err := durable.MkdirAll(r.worktreeDir()); err != nil {
			return nil, err
		}
	}
	f, err := os.OpenFile(r.lockNote(), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	_, err = f.WriteString(strings.Join(refs, "\n") + "\n")
	if err := errors.Join(err, f.Close()); err != nil {
		return nil, err
	}
	r.noted++
	return func() {
		r.noting.Lock()
		defer r.noting.Unlock()
		if r.noted--; r.noted > 0 {
			return
		}
		note, err := os.ReadFile(r.lockNote())
		if err == nil && len(r.leftLocks(string(note))) == 0 { // git may have failed to remove one, and not said so
			_ = os.Remove(r.lockNote()) // or whoever comes next finds nothing to remove
		}
	}, nil
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

// HealLocks removes the locks of refs that a killed process of ours left. The caller holds the work tree's lock.
func (r *Repo) HealLocks(ctx context.Context) error {
	note, err := os.ReadFile(r.lockNote())
	if err != nil {
		return ignoreAbsent(err)
	}
	for waited := time.Duration(0); ; waited += lockPoll {
		left := r.leftLocks(string(note))
		if len(left) == 0 {
			break
		}
		if waited >= leftPatience {
			for _, path := range left {
				if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
					return err
				}
			}
			break
		}
		if err := pause(ctx, lockPoll); err != nil {
			return err
		}
	}
	return ignoreAbsent(os.Remove(r.lockNote()))
}

func (r *Repo) leftLocks(note string) []string {
	seen := map[string]bool{}
	var left []string
	for _, ref := range strings.Fields(note + " HEAD") {
		dir := r.commonDir
		if ref == "HEAD" {
			dir = r.gitDir
		}
		path := filepath.Join(dir, filepath.FromSlash(ref)+".lock")
		known := ref == "HEAD" || ref == "packed-refs" || strings.HasPrefix(ref, "refs/") && !strings.Contains(ref, "..")
		if st, err := os.Lstat(path); known && !seen[path] && err == nil && st.Mode().IsRegular() {
			left = append(left, path)
		}
		seen[path] = true
	}
	return left
}

package gitstate

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/wfs-dev/wfs/session"
)

// Locks that a note names are removed, and no others.
func TestHealLocks(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	ctx := context.Background()
	mine, others := LedgerRef("one"), "refs/heads/main"
	r.diesMoving(mine, "HEAD")
	for _, ref := range []string{mine, others, "HEAD"} {
		r.put(filepath.Join(r.commonDir, filepath.FromSlash(ref)+".lock"), "")
	}
	if err := r.HealLocks(ctx); err != nil {
		t.Fatal(err)
	}
	for ref, there := range map[string]bool{mine: false, "HEAD": false, others: true} {
		if _, err := os.Stat(filepath.Join(r.commonDir, filepath.FromSlash(ref)+".lock")); absent(err) == there {
			t.Errorf("the lock of %s: %v", ref, err)
		}
	}
	if left := r.notedRefs(); len(left) > 0 {
		t.Errorf("notes: %v", left)
	}
	// Without a note a lock is somebody else's.
	r.put(filepath.Join(r.commonDir, "HEAD.lock"), "")
	if err := r.HealLocks(ctx); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(r.commonDir, "HEAD.lock")); err != nil {
		t.Error(err)
	}
}

// diesMoving notes refs as a process does that is killed right after it.
func (r *testRepo) diesMoving(refs ...string) {
	r.t.Helper()
	_, err := r.noteLocks(refs)
	r.must(err)
	r.endMoving()
}

// A lock that somebody living has noted is left alone, however long it stays: not everybody who moves refs has the work
// tree's lock.
func TestHealNobodysLocksAlone(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	refs := []string{LedgerRef("one")}
	lock := filepath.Join(r.commonDir, filepath.FromSlash(refs[0])+".lock")
	other := &Repo{root: r.root, gitDir: r.gitDir, commonDir: r.commonDir, worktree: r.worktree, format: r.format}
	done, err := other.noteLocks(refs)
	r.must(err)
	r.put(lock, "")
	r.must(r.HealLocks(context.Background()))
	if !isThere(lock) || len(r.notedRefs()) != 1 {
		t.Fatalf("the lock of one that lives is there: %v; notes: %v", isThere(lock), r.notedRefs())
	}
	done("")
	r.must(r.HealLocks(context.Background()))
	if isThere(lock) || len(r.notedRefs()) > 0 {
		t.Errorf("the lock of one that is dead is there: %v; notes: %v", isThere(lock), r.notedRefs())
	}
}

// A lock that a git of ours could not remove stays noted when the next git of ours does not get it.
func TestHealLeftByOurselves(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	refs := []string{LedgerRef("one")}
	lock := filepath.Join(r.commonDir, filepath.FromSlash(refs[0])+".lock")
	done, err := r.noteLocks(refs)
	r.must(err)
	r.put(lock, "")
	done("")
	done, err = r.noteLocks(refs)
	r.must(err)
	done(lock)
	r.must(r.HealLocks(context.Background()))
	if _, err := os.Stat(lock); !absent(err) {
		t.Errorf("the lock stays: %v", err)
	}
}

// What a git of ours could not remove holds up nothing that the same command does next.
func TestHealWhatTheLastGitLeft(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	r.WaitOn(func(time.Duration, *LockedError) bool { return false })
	head := r.head()
	for _, ref := range []string{"HEAD", "refs/heads/new"} {
		done, err := r.noteLocks([]string{ref})
		r.must(err)
		lock := filepath.Join(r.commonDir, filepath.FromSlash(ref)+".lock")
		r.put(lock, "")
		done("")
		_, err = r.git(context.Background(), gitOpts{write: true}, "update-ref", "refs/heads/new", string(head))
		r.must(err)
		if ref == "HEAD" {
			_, err = r.git(context.Background(), gitOpts{write: true}, "symbolic-ref", "HEAD", "refs/heads/new")
			r.must(err)
		}
		if isThere(lock) {
			t.Errorf("%s is there", lock)
		}
	}
}

// Two gits that pack refs at once would lose some, so that lock stays while one is at work here.
func TestHealPackedRefs(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("who is at work can be found out on Linux only")
	}
	r := newRepo(t)
	lock, half := filepath.Join(r.commonDir, "packed-refs.lock"), filepath.Join(r.commonDir, "packed-refs.new")
	for _, busy := range []bool{true, false} {
		r.diesMoving("packed-refs")
		r.put(lock, "")
		r.put(half, "# pack-refs with")
		var git *exec.Cmd
		if busy {
			git = exec.Command("git", "-C", r.root, "cat-file", "--batch")
			git.Env = r.env
			in, err := git.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			out, err := git.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := git.Start(); err != nil {
				t.Fatal(err)
			}
			fmt.Fprintln(in, "HEAD")
			if _, err := out.Read(make([]byte, 1)); err != nil { // it is at work
				t.Fatal(err)
			}
			if err := r.HealLocks(context.Background()); err != nil {
				t.Fatal(err)
			}
			in.Close()
			_ = git.Wait()
		} else if err := r.HealLocks(context.Background()); err != nil {
			t.Fatal(err)
		}
		for _, path := range []string{lock, half} {
			if _, err := os.Stat(path); absent(err) == busy {
				t.Errorf("with a git at work: %v: %v", busy, err)
			}
		}
	}
}

// A note is there while git moves refs, and gone afterwards.
func TestNoteOfMoves(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	hook := filepath.Join(r.commonDir, "hooks", "reference-transaction") // hooks are off: it must not be asked
	r.put(hook, "#!/bin/sh\nexit 1\n")
	if err := os.Chmod(hook, 0o700); err != nil {
		t.Fatal(err)
	}
	move := session.RefMove{Ref: LedgerRef("one"), New: r.head()}
	if err := r.moveRef(context.Background(), move, "test"); err != nil {
		t.Fatal(err)
	}
	if left := r.notedRefs(); len(left) > 0 {
		t.Errorf("notes stay: %v", left)
	}
	refs := refsIn([]string{"update-ref", "-m", "x", "--stdin"}, []byte("update refs/heads/a 1 2\ndelete refs/wfs/b/index 3\n"))
	want := []string{"HEAD", "refs/heads/a", "refs/wfs/b/index", "packed-refs"}
	if len(refs) != len(want) {
		t.Errorf("%v", refs)
	}
	for i := range want {
		if refs[i] != want[i] {
			t.Errorf("%v", refs)
		}
	}
}

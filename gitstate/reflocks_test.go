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

	"github.com/wfs-dev/wfs/gitstate/gitcmd"
	"github.com/wfs-dev/wfs/gitstate/refs"
)

// TestHealLocks removes the locks that a note names, and no others.
func TestHealLocks(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	ctx := context.Background()
	mine, others := refs.LedgerRef("one"), "refs/heads/main"
	r.diesMoving(mine, "HEAD")
	for _, ref := range []string{mine, others, "HEAD"} {
		r.put(filepath.Join(r.Git.CommonDir, filepath.FromSlash(ref)+".lock"), "")
	}
	if err := r.HealLocks(ctx); err != nil {
		t.Fatal(err)
	}
	for ref, there := range map[string]bool{mine: false, "HEAD": false, others: true} {
		if _, err := os.Stat(filepath.Join(r.Git.CommonDir, filepath.FromSlash(ref)+".lock")); gitcmd.Absent(err) == there {
			t.Errorf("the lock of %s: %v", ref, err)
		}
	}
	if left := r.Git.Locks.NotedRefs(); len(left) > 0 {
		t.Errorf("notes: %v", left)
	}
	// Without a note, a lock belongs to another program.
	r.put(filepath.Join(r.Git.CommonDir, "HEAD.lock"), "")
	if err := r.HealLocks(ctx); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(r.Git.CommonDir, "HEAD.lock")); err != nil {
		t.Error(err)
	}
}

// diesMoving notes refs like a process that is killed right afterwards.
func (r *testRepo) diesMoving(refs ...string) {
	r.t.Helper()
	_, err := r.Git.Locks.NoteLocks(refs)
	r.must(err)
	r.Git.Locks.EndMoving()
}

// TestHealNobodysLocksAlone keeps a lock that a running process has noted, however long it stays: some processes move
// refs without the work tree's lock.
func TestHealNobodysLocksAlone(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	refs := []string{refs.LedgerRef("one")}
	lock := filepath.Join(r.Git.CommonDir, filepath.FromSlash(refs[0])+".lock")
	other := repoOf(gitcmd.New(gitcmd.Place{Root: r.Git.Root, GitDir: r.Git.GitDir, CommonDir: r.Git.CommonDir,
		Worktree: r.Git.Worktree, Format: r.Git.Format}))
	done, err := other.Git.Locks.NoteLocks(refs)
	r.must(err)
	r.put(lock, "")
	r.must(r.HealLocks(context.Background()))
	if !gitcmd.IsThere(lock) || len(r.Git.Locks.NotedRefs()) != 1 {
		t.Fatalf("the lock of one that lives is there: %v; notes: %v", gitcmd.IsThere(lock), r.Git.Locks.NotedRefs())
	}
	done("")
	r.must(r.HealLocks(context.Background()))
	if gitcmd.IsThere(lock) || len(r.Git.Locks.NotedRefs()) > 0 {
		t.Errorf("the lock of one that is dead is there: %v; notes: %v", gitcmd.IsThere(lock), r.Git.Locks.NotedRefs())
	}
}

// TestHealLeftByOurselves: a lock that a git of ours could not remove stays noted if our next git fails because of it.
func TestHealLeftByOurselves(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	refs := []string{refs.LedgerRef("one")}
	lock := filepath.Join(r.Git.CommonDir, filepath.FromSlash(refs[0])+".lock")
	done, err := r.Git.Locks.NoteLocks(refs)
	r.must(err)
	r.put(lock, "")
	done("")
	done, err = r.Git.Locks.NoteLocks(refs)
	r.must(err)
	done(lock)
	r.must(r.HealLocks(context.Background()))
	if _, err := os.Stat(lock); !gitcmd.Absent(err) {
		t.Errorf("the lock stays: %v", err)
	}
}

// TestHealWhatTheLastGitLeft: a lock that a git of ours could not remove does not block later steps of the same
// command.
func TestHealWhatTheLastGitLeft(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	r.Git.Locks.WaitOn(func(time.Duration, *gitcmd.LockedError) bool { return false })
	head := r.head()
	for _, ref := range []string{"HEAD", "refs/heads/new"} {
		done, err := r.Git.Locks.NoteLocks([]string{ref})
		r.must(err)
		lock := filepath.Join(r.Git.CommonDir, filepath.FromSlash(ref)+".lock")
		r.put(lock, "")
		done("")
		_, err = r.Git.Run(context.Background(), gitcmd.Opts{Write: true}, "update-ref", "refs/heads/new", string(head))
		r.must(err)
		if ref == "HEAD" {
			_, err = r.Git.Run(context.Background(), gitcmd.Opts{Write: true}, "symbolic-ref", "HEAD", "refs/heads/new")
			r.must(err)
		}
		if gitcmd.IsThere(lock) {
			t.Errorf("%s is there", lock)
		}
	}
}

// TestHealPackedRefs: two gits that pack refs at once would lose some, so that lock stays while a git is running here.
func TestHealPackedRefs(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("who is at work can be found out on Linux only")
	}
	r := newRepo(t)
	lock, half := filepath.Join(r.Git.CommonDir, "packed-refs.lock"), filepath.Join(r.Git.CommonDir, "packed-refs.new")
	for _, busy := range []bool{true, false} {
		r.diesMoving("packed-refs")
		r.put(lock, "")
		r.put(half, "# pack-refs with")
		var git *exec.Cmd
		if busy {
			git = exec.Command("git", "-C", r.Git.Root, "cat-file", "--batch")
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
			if _, err := out.Read(make([]byte, 1)); err != nil { // it is running
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
			if _, err := os.Stat(path); gitcmd.Absent(err) == busy {
				t.Errorf("with a git at work: %v: %v", busy, err)
			}
		}
	}
}

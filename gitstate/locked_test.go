package gitstate

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/wfs-dev/wfs/gitstate/gitcmd"
	"github.com/wfs-dev/wfs/session"
)

// turnThatLocks has, for each lock of git, a turn of session s that takes it.
var turnThatLocks = map[string]func(r *testRepo, d session.Draft) error{
	"index.lock":             publish,
	"HEAD.lock":              publish,
	"refs/heads/wfs/s.lock":  publish,
	"refs/wfs/s/ledger.lock": publish,
	"refs/wfs/s/index.lock":  publish,
	"refs/wfs-ops/main.lock": func(r *testRepo, _ session.Draft) error {
		_, err := r.Refs.LogOp(context.Background(), session.Op{Kind: "x", Session: testID})
		return err
	},
	"refs/heads/handed.lock": func(r *testRepo, _ session.Draft) error {
		return r.Handover.CreateBranch(context.Background(), "refs/heads/handed", r.head())
	},
	"refs/wfs/s/rescue/1.lock": rescue,
	"packed-refs.lock": func(r *testRepo, _ session.Draft) error {
		return r.Refs.Move(context.Background(), session.RefMove{Ref: "refs/heads/packed", Old: r.head()}, "")
	},
}

func publish(r *testRepo, d session.Draft) error {
	ctx := context.Background()
	p, err := r.Prepare(ctx, d, documents)
	if err == nil {
		_, err = r.Publish(ctx, p)
	}
	return err
}

func rescue(r *testRepo, _ session.Draft) error {
	ctx := context.Background()
	snap, err := r.Files.Snapshot(ctx, "")
	if err == nil {
		_, err = r.Rescue(ctx, testID, "test", snap, at)
	}
	return err
}

// lockable returns a session with a change in the work tree and one only in the index, which is anchored by a ref.
func lockable(t *testing.T) (*testRepo, session.Draft) {
	t.Helper()
	r, d := newSession(t)
	r.write("b.txt", "in the index alone\n")
	r.run("add", "b.txt")
	r.write("b.txt", "b\n")
	return r, d
}

// TestBar10ForeignLocks: if another process holds a git lock that a turn needs, the turn waits two seconds in all, then
// fails with the name of the lock. Neither it nor a later command removes the lock. Once the lock is gone, the same
// turn succeeds.
func TestBar10ForeignLocks(t *testing.T) {
	t.Parallel()
	for name, do := range turnThatLocks {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, d := lockable(t)
			lock := filepath.Join(r.Git.CommonDir, filepath.FromSlash(name))
			if name == "packed-refs.lock" { // needed for packing, too
				r.run("branch", "packed")
				r.run("pack-refs", "--all")
			}
			r.put(lock, "")
			err := do(r, d)
			var locked *gitcmd.LockedError
			if !errors.As(err, &locked) || !gitcmd.IsFile(locked.Path, lock) {
				t.Fatalf("not refused for %s: %v", lock, err)
			}
			if waited := r.Git.Locks.Waited(); waited < gitcmd.LockPatience || waited > gitcmd.LockPatience+gitcmd.LastPause {
				t.Errorf("waited for %s", waited)
			}
			if runtime.GOOS == "linux" && !locked.Deserted() || !strings.Contains(err.Error(), locked.Path) {
				t.Errorf("%v: %+v", err, locked)
			}
			r.Quiet()
			for range 2 { // its notes must not claim this lock
				if err := r.HealLocks(context.Background()); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := os.Stat(lock); err != nil {
				t.Fatalf("somebody else's lock was removed: %v", err)
			}
			if err := os.Remove(lock); err != nil {
				t.Fatal(err)
			}
			d.Turn.Refs = nil
			if err := do(r, d); err != nil {
				t.Errorf("without the lock: %v", err)
			}
		})
	}
	t.Logf("%d locks", len(turnThatLocks))
}

// TestBar10BriefLock: a lock that disappears in time has no effect.
func TestBar10BriefLock(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"index.lock", "HEAD.lock", "refs/wfs/s/ledger.lock"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, d := lockable(t)
			lock := filepath.Join(r.Git.CommonDir, filepath.FromSlash(name))
			r.put(lock, "")
			gone := make(chan error, 1)
			go func() {
				for r.Git.Locks.Waited() == 0 { // the turn is waiting for it
					time.Sleep(time.Millisecond)
				}
				gone <- os.Remove(lock)
			}()
			if err := publish(r, d); err != nil {
				t.Error(err)
			}
			if err := <-gone; err != nil {
				t.Error(err)
			}
			r.wantClean()
		})
	}
}

// TestLongerPatience: a command may choose to wait longer than others, without a limit.
func TestLongerPatience(t *testing.T) {
	t.Parallel()
	r, d := lockable(t)
	lock := filepath.Join(r.Git.CommonDir, "index.lock")
	r.put(lock, "")
	asked := 0
	r.Git.Locks.WaitOn(func(_ time.Duration, e *gitcmd.LockedError) bool {
		if asked++; asked == 3 {
			if err := os.Remove(e.Path); err != nil {
				t.Error(err)
			}
		}
		return true
	})
	if err := publish(r, d); err != nil || asked < 3 {
		t.Errorf("asked %d times: %v", asked, err)
	}
	r.put(lock, "")
	r.Git.Locks.WaitOn(func(time.Duration, *gitcmd.LockedError) bool { return false })
	var locked *gitcmd.LockedError
	if err := publish(r, r.draft("")); !errors.As(err, &locked) {
		t.Error(err)
	}
}

// TestBar10Holder names the process that holds a lock: one that has it open, or a git that waits for an editor.
func TestBar10Holder(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("who holds a file can be found out on Linux only")
	}
	r := newRepo(t)
	ctx := context.Background()
	lock := filepath.Join(r.Git.CommonDir, "index.lock")
	open := exec.Command("sh", "-c", `exec 9>"$1"; echo ready; read line`, "sh", lock)
	holdsOpen := r.begin(open)
	e := r.Git.Locks.LockedBy(ctx, lock)
	if len(e.Holders) != 1 || e.Holders[0].PID != open.Process.Pid || e.Deserted() ||
		!strings.Contains(e.Error(), "and held by `sh -c") {
		t.Errorf("%v: %+v", e, e)
	}
	holdsOpen()
	if e := r.Git.Locks.LockedBy(ctx, lock); !e.Deserted() || !strings.Contains(e.Error(), "no process holds it") {
		t.Errorf("%v: %+v", e, e)
	}
	if err := os.Remove(lock); err != nil {
		t.Fatal(err)
	}
	// As a user does, from a shell: git is not our child.
	r.write("a.txt", "edited\n")
	commit := exec.Command("sh", "-c", `GIT_EDITOR='echo ready; read line; false' git commit -q -a; :`)
	ends := r.begin(commit)
	e = r.Git.Locks.LockedBy(ctx, lock)
	if e == nil || len(e.AtWork) != 1 || e.Deserted() || !strings.Contains(e.Error(), "`git commit -q -a`") {
		t.Errorf("%v: %+v", e, e)
	}
	ends()
	if e := r.Git.Locks.LockedBy(ctx, lock); e != nil {
		t.Errorf("%v", e)
	}
}

// begin starts a command in the repository that prints ready, and returns a function that lets it end.
func (r *testRepo) begin(c *exec.Cmd) (end func()) {
	r.t.Helper()
	c.Dir, c.Env = r.Git.Root, r.env
	in, err := c.StdinPipe()
	if err != nil {
		r.t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		r.t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		r.t.Fatal(err)
	}
	if _, err := out.Read(make([]byte, 5)); err != nil {
		r.t.Fatal(err)
	}
	return func() {
		in.Close()
		_ = c.Wait()
	}
}

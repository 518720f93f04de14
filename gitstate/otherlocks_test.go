package gitstate

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/wfs-dev/wfs/gitstate/gitcmd"
	"github.com/wfs-dev/wfs/gitstate/refs"
)

// TestLeaveGoneKilled kills the git that detaches the HEAD of a missing work tree: the lock that it leaves is that
// HEAD's, not ours.
func TestLeaveGoneKilled(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	r := newRepo(t)
	tree := filepath.Join(r.home, "tree")
	r.run("worktree", "add", "-q", "-b", "one", tree)
	r.must(os.RemoveAll(tree))
	lock := filepath.Join(r.Git.CommonDir, "worktrees", "tree", "HEAD.lock")
	r.brokenGit("update-ref", lock)
	if _, err := r.LeaveGone(ctx, "refs/heads/one"); err == nil {
		t.Fatal("a killed git is no error")
	}
	r.Repo.Git.Env = gitcmd.QuietEnv(r.env)
	own := filepath.Join(r.Git.GitDir, "HEAD.lock")
	r.put(own, "somebody else's") // created later
	r.must(r.HealLocks(ctx))
	if gitcmd.IsThere(lock) || !gitcmd.IsThere(own) {
		t.Errorf("of what is gone: %v, of here: %v", gitcmd.IsThere(lock), gitcmd.IsThere(own))
	}
	r.must(os.Remove(own))
	if left, err := r.LeaveGone(ctx, "refs/heads/one"); err != nil || len(left) != 1 {
		t.Errorf("again: %q, %v", left, err)
	}
	r.fsck()
}

// brokenGit makes every git with the given argument create a lock and then fail, as if it was killed.
func (r *testRepo) brokenGit(word, lock string) {
	r.t.Helper()
	r.beforeGit("for a; do test \"$a\" != " + word + " || { : > '" + lock + "'; exit 137; }; done")
}

// beforeGit makes each git of the repository run a line of shell first, with the same arguments.
func (r *testRepo) beforeGit(line string) {
	r.t.Helper()
	bin := filepath.Join(r.home, "bin")
	r.put(filepath.Join(bin, "git"), "#!/bin/sh\n"+line+"\nPATH=${PATH#*:}\nexec git \"$@\"\n")
	r.must(os.Chmod(filepath.Join(bin, "git"), 0o700))
	for i, kv := range r.Repo.Git.Env {
		if len(kv) > 5 && kv[:5] == "PATH=" {
			r.Repo.Git.Env[i] = "PATH=" + bin + string(os.PathListSeparator) + kv[5:]
		}
	}
}

// TestHealOthers removes locks that our processes left in other work trees, if those are not in use, and recognises the
// locks as ours.
func TestHealOthers(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	r := newRepo(t)
	var locks []string
	for _, name := range []string{"idle", "busy", "gone"} {
		tree := filepath.Join(r.home, name)
		r.run("worktree", "add", "-q", "-b", name, tree)
		r.open(tree)
		mine := refs.LedgerRef("of-" + "x")
		if name != "idle" {
			mine = "refs/heads/" + name
		}
		r.diesMoving("HEAD", mine)
		index := r.Git.IndexPath() + ".lock"
		for path, text := range map[string]string{r.Git.Locks.LockOf("HEAD"): "", r.Git.Locks.LockOf(mine): "",
			index: string(gitcmd.LockMark)} {
			r.put(path, text)
			locks = append(locks, path)
		}
	}
	r.must(os.RemoveAll(filepath.Join(r.home, "gone")))
	r.open(filepath.Join(r.home, "repo"))
	theirs := r.Git.Locks.LockOf("refs/heads/main")
	r.put(theirs, "")
	list, err := r.Git.Locks.Files(ctx)
	r.must(err)
	if len(list) != len(locks)+1 {
		t.Errorf("%d locks of %d", len(list), len(locks)+1)
	}
	for _, l := range list {
		if l.Ours == (l.Path == theirs) {
			t.Errorf("%s: ours: %v", l.Path, l.Ours)
		}
	}
	healed, err := r.HealOthers(ctx, func(id string) (func(), error) {
		if id == "busy" {
			return nil, nil
		}
		return func() {}, nil
	})
	if err != nil || len(healed) != 2 {
		t.Errorf("%q, %v", healed, err)
	}
	for i, path := range locks {
		if busy := i/3 == 1; gitcmd.IsThere(path) != busy {
			t.Errorf("%s is there: %v", path, !busy)
		}
	}
	if !gitcmd.IsThere(theirs) {
		t.Error("somebody else's lock was removed")
	}
}

// TestHealOthersPackedRefs: a git running in the main work tree protects the lock of packed refs from a command in a
// linked work tree, too.
func TestHealOthersPackedRefs(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("who is at work can be found out on Linux only")
	}
	ctx := context.Background()
	r := newRepo(t)
	r.diesMoving("packed-refs")
	lock := filepath.Join(r.Git.CommonDir, "packed-refs.lock")
	r.put(lock, "")
	end := r.begin(exec.Command("git", "-c", "alias.wait=!echo ready; cat", "wait"))
	linked := filepath.Join(r.home, "linked")
	r.run("worktree", "add", "-q", "-b", "side", linked)
	r.open(linked)
	anybody := func(string) (func(), error) { return func() {}, nil }
	if _, err := r.HealOthers(ctx, anybody); err != nil || !gitcmd.IsThere(lock) {
		t.Errorf("with a git at work there: %v, the lock is there: %v", err, gitcmd.IsThere(lock))
	}
	end()
	if _, err := r.HealOthers(ctx, anybody); err != nil || gitcmd.IsThere(lock) {
		t.Errorf("with none: %v, the lock is there: %v", err, gitcmd.IsThere(lock))
	}
}

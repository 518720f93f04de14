package cmd

import (
	"context"
	"crypto/rand"
	"errors"
	"testing"

	"github.com/wfs-dev/wfs/engine"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

// A work tree that somebody makes where one was just planned is his: whoever comes too late takes nothing back.
func TestDirectoryOfANewTreeIsTakenMeanwhile(t *testing.T) {
	t.Parallel()
	f := plainTemplate.fixture(t)
	a, ctx := f.app(), context.Background()
	a.env.Rand = rand.Reader
	defer a.close()
	if err := a.holdSession("test", "late"); err != nil {
		t.Fatal(err)
	}
	from := a.repo
	m, err := a.planTree(ctx, "../taken", "late", workflows.Worktree{}, from)
	if err != nil {
		t.Fatal(err)
	}
	f.ok("git", "worktree", "add", "-q", "--detach", "../taken")
	f.write("../taken/precious.txt", "hours of work\n")
	head, err := from.Head(ctx)
	if err != nil {
		t.Fatal(err)
	}
	_, _, _, err = a.makeTree(ctx, m, &engine.Birth{At: head.Commit}, &workflows.Config{}, from)
	err = a.takeBackTree(ctx, from, m, err)
	var refused *session.Refusal
	if !errors.As(err, &refused) || refused.Code != session.RefuseWorktree {
		t.Errorf("the error is %v", err)
	}
	if !f.exists("../taken/precious.txt") || !f.exists("../taken/.git") {
		t.Error("somebody else's work tree is gone")
	}
	if list, err := a.clone.HalfMade(); len(list) > 0 || err != nil {
		t.Errorf("notes are left: %v, %v", list, err)
	}
}

// After a kill before the first step, a work tree that somebody made there is no leftover: he is on a branch.
func TestDirectoryOfADeadNewTreeIsTaken(t *testing.T) {
	t.Parallel()
	f := plainTemplate.fixture(t)
	a, ctx := f.app(), context.Background()
	defer a.close()
	a.env.Rand = rand.Reader
	if _, err := a.planTree(ctx, "../taken", "dead", workflows.Worktree{}, a.repo); err != nil {
		t.Fatal(err)
	}
	f.ok("git", "worktree", "add", "-q", "-b", "mine", "../taken")
	f.write("../taken/precious.txt", "hours of work\n")
	a.sweep(ctx, "test")
	if !f.exists("../taken/precious.txt") || !f.exists("../taken/.git") {
		t.Error("somebody else's work tree is gone")
	}
	if list, err := a.clone.HalfMade(); len(list) > 0 || err != nil {
		t.Errorf("notes are left: %v, %v", list, err)
	}
}

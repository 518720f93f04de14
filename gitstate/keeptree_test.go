package gitstate

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestKeepWorktree: a work tree that is moved aside keeps everything: its staged changes, its reflog, and the commits
// in submodules, whose repositories are in its git directory. Its branch becomes free.
func TestKeepWorktree(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	r := newRepo(t)
	lib := newRepo(t)
	lib.submodule("deep")
	r.run("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", lib.Git.Root, "sub")
	r.commit()
	n := r.planned(filepath.Join(r.home, "new"))
	made := r.added(n.Path)
	at := func(dir string, args ...string) string { return r.run(append([]string{"-C", dir}, args...)...) }
	at(n.Path, "switch", "-q", "-c", "feature")
	at(n.Path, "-c", "protocol.file.allow=always", "submodule", "--quiet", "update", "--init", "--recursive")
	commits := map[string]string{}
	for _, sub := range []string{"sub", "sub/deep"} {
		at(filepath.Join(n.Path, sub), "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m",
			"mine")
		commits[sub] = at(filepath.Join(n.Path, sub), "rev-parse", "HEAD")
	}
	if err := os.WriteFile(filepath.Join(n.Path, "staged.txt"), []byte("x\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	at(n.Path, "add", "staged.txt")
	before := at(n.Path, "status", "--porcelain")
	kept := filepath.Join(r.home, "new.kept")
	if err := r.MoveWorktree(ctx, n, kept); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if stays, err := r.KeepWorktree(ctx, n, kept); !stays || err != nil {
			t.Fatalf("it stays: %t, %v", stays, err)
		}
	}
	r.run("worktree", "prune", "--expire=now")
	if now := at(kept, "status", "--porcelain"); now != before || !strings.Contains(now, "staged.txt") {
		t.Errorf("status was\n%s\nand is\n%s", before, now)
	}
	for sub, commit := range commits {
		dir := filepath.Join(kept, sub)
		if at(dir, "rev-parse", "HEAD") != commit || at(dir, "rev-parse", "--show-toplevel") != dir ||
			at(dir, "status", "--porcelain", "--ignore-submodules=all") != "" {
			t.Errorf("%s is not as it was", sub)
		}
	}
	r.run("switch", "-q", "feature")
	if _, err := made.Refs.Head(ctx); err != nil {
		t.Error(err)
	}
	r.run("worktree", "remove", "--force", kept)
	r.wantTold("main feature repo")
}

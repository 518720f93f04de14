package gitstate

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wfs-dev/wfs/gitstate/worktree"
)

// told describes work trees in one line each: id, branch or commit, and problems.
func (r *testRepo) told() string {
	r.t.Helper()
	trees, err := r.Worktrees(context.Background())
	if err != nil {
		r.t.Fatal(err)
	}
	var lines []string
	for _, w := range trees {
		line := w.ID + " " + strings.TrimPrefix(w.Branch, "refs/heads/")
		if w.Commit != "" {
			line += "detached"
		}
		if w.Gone {
			line += " gone"
		}
		if w.Locked {
			line += " locked(" + w.Why + ")"
		}
		lines = append(lines, line+" "+strings.TrimPrefix(w.Path, r.home+"/"))
	}
	return strings.Join(lines, "\n")
}

func (r *testRepo) wantTold(want string) {
	r.t.Helper()
	if got := r.told(); got != want {
		r.t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestWorktrees(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	r.wantTold("main main repo")
	a, b := filepath.Join(r.home, "a"), filepath.Join(r.home, "b")
	r.run("worktree", "add", "-q", "-b", "one", a)
	r.run("worktree", "add", "-q", "--detach", b)
	r.run("worktree", "add", "-q", "-b", "two", filepath.Join(r.home, "sub", "main"))
	all := "main main repo\na one a\nb detached b\nmain@linked two sub/main"
	r.wantTold(all)
	if path, err := r.WorktreePath(context.Background(), "main@linked"); err != nil ||
		path != filepath.Join(r.home, "sub", "main") {
		t.Errorf("%q, %v", path, err)
	}
	r.open(a)
	r.wantTold(all)
	r.open(filepath.Join(r.home, "repo"))

	r.run("worktree", "move", a, filepath.Join(r.home, "moved"))
	r.run("worktree", "lock", "--reason", "on a stick", b)
	r.wantTold("main main repo\na one moved\nb detached locked(on a stick) b\nmain@linked two sub/main")
	for _, dir := range []string{filepath.Join(r.home, "moved"), b} {
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
	}
	// Another repository in the place of a missing one, and one that was moved without git.
	other := filepath.Join(r.home, "sub", "main")
	if err := os.Rename(other, filepath.Join(r.home, "sub", "by-hand")); err != nil {
		t.Fatal(err)
	}
	r.run("init", "-q", other)
	r.wantTold("main main repo\na one gone moved\nb detached gone locked(on a stick) b\nmain@linked two gone sub/main")
	if path, err := r.ElsewhereOn(context.Background(), "refs/heads/one"); err != nil || path != "" {
		t.Errorf("one is checked out in %q, %v", path, err)
	}
	if path, err := r.WorktreePath(context.Background(), "a"); err != nil || path != "" {
		t.Errorf("a is in %q, %v", path, err)
	}
	r.run("worktree", "repair", filepath.Join(r.home, "sub", "by-hand"))
	r.wantTold("main main repo\na one gone moved\nb detached gone locked(on a stick) b\nmain@linked two sub/by-hand")
}

func TestWorktreesOfARebase(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	linked := filepath.Join(r.home, "linked")
	r.run("worktree", "add", "-q", "-b", "side", linked)
	r.write("a.txt", "main\n")
	r.run("commit", "-q", "-am", "main")
	r.open(linked)
	r.write("a.txt", "side\n")
	r.run("commit", "-q", "-am", "side")
	if out, err := r.try("rebase", "main"); err == nil {
		t.Fatalf("the rebase went through: %s", out)
	}
	r.open(filepath.Join(r.home, "repo"))
	r.wantTold("main main repo\nlinked sidedetached linked")
}

func TestWorktreesOfABareRepository(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	bare := filepath.Join(r.home, "bare.git")
	r.run("clone", "-q", "--bare", r.Git.Root, bare)
	linked := filepath.Join(r.home, "linked")
	r.run("-C", bare, "worktree", "add", "-q", linked, "main")
	r.open(linked)
	r.wantTold("linked main linked")
	if path, err := r.WorktreePath(context.Background(), "main"); err != nil || path != "" {
		t.Errorf("the main work tree is in %q, %v", path, err)
	}
	// The git directory is outside of the work tree.
	apart := filepath.Join(r.home, "apart")
	r.run("clone", "-q", "--separate-git-dir", filepath.Join(r.home, "apart.git"), bare, apart)
	r.run("-C", apart, "worktree", "add", "-q", "-b", "side", filepath.Join(r.home, "beside"))
	r.open(filepath.Join(r.home, "beside"))
	r.wantTold("main main apart.git\nbeside side beside")
}

func TestLeaveGone(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	r := newRepo(t)
	gone, locked := filepath.Join(r.home, "gone"), filepath.Join(r.home, "locked")
	r.run("worktree", "add", "-q", "-b", "one", gone)
	r.run("worktree", "add", "-q", "-b", "two", locked)
	r.run("worktree", "lock", locked)
	if err := os.WriteFile(filepath.Join(gone, "staged.txt"), []byte("staged there\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	r.run("-C", gone, "add", "staged.txt")
	if left, err := r.LeaveGone(ctx, "refs/heads/one"); err != nil || left != nil {
		t.Errorf("one that is there: %q, %v", left, err)
	}
	away := filepath.Join(r.home, "away")
	for _, dir := range []string{gone, locked} {
		if err := os.Rename(dir, away+filepath.Base(dir)); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := r.try("switch", "one"); err == nil {
		t.Fatalf("git lets one go by itself: %s", out)
	}
	if left, err := r.LeaveGone(ctx, "refs/heads/one"); err != nil || len(left) != 1 || left[0] != gone {
		t.Errorf("%q, %v", left, err)
	}
	r.run("switch", "-q", "one")
	if left, err := r.LeaveGone(ctx, "refs/heads/two"); err != nil || left != nil {
		t.Errorf("a locked one: %q, %v", left, err)
	}
	// The work tree comes back: everything except for the branch is as before.
	if err := os.Rename(away+"gone", gone); err != nil {
		t.Fatal(err)
	}
	if got := r.run("-C", gone, "status", "--porcelain"); got != "A  staged.txt" {
		t.Errorf("what came back: %q", got)
	}
	r.fsck()
}

func (r *testRepo) planned(dir string) worktree.NewWorktree {
	r.t.Helper()
	n, err := r.PlanWorktree(context.Background(), dir)
	if err != nil {
		r.t.Fatal(err)
	}
	n.Making = filepath.Join(filepath.Dir(n.Path), ".making")
	return n
}

func (r *testRepo) added(dir string) *Repo {
	r.t.Helper()
	made, err := r.AddWorktree(context.Background(), r.planned(dir), r.head(), "")
	if err != nil {
		r.t.Fatal(err)
	}
	return made
}

func TestPlanWorktree(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	r := newRepo(t)
	r.write(".gitignore", "trees/\n")
	if err := os.Symlink(r.home, filepath.Join(r.home, "link")); err != nil {
		t.Fatal(err)
	}
	r.run("worktree", "add", "-q", "-b", "gone", filepath.Join(r.home, "gone"))
	if err := os.RemoveAll(filepath.Join(r.home, "gone")); err != nil {
		t.Fatal(err)
	}
	for _, good := range []struct{ dir, path, above string }{
		{filepath.Join(r.home, "new"), filepath.Join(r.home, "new"), r.home},
		{filepath.Join(r.home, "link", "x", "new"), filepath.Join(r.home, "x", "new"), r.home},
		{r.path("trees/new"), r.path("trees/new"), r.Git.Root},
	} {
		if n, err := r.PlanWorktree(ctx, good.dir); err != nil || n.Path != good.path || n.Above != good.above ||
			n.Name != "new" {
			t.Errorf("%s: %+v, %v", good.dir, n, err)
		}
	}
	for dir, want := range map[string]string{
		r.Git.Root:                    "already exists",
		r.path("a.txt"):               "already exists",
		r.path("a.txt/x"):             "not a directory",
		r.path(".git/x"):              "git's own directory",
		r.path("new"):                 "is not ignored there",
		filepath.Join(r.home, "gone"): "which is gone",
	} {
		if _, err := r.PlanWorktree(ctx, dir); !errors.Is(err, worktree.ErrDirTaken) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", dir, err, want)
		}
	}
}

func TestRemoveWorktree(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	r := newRepo(t)
	dir, outside := filepath.Join(r.home, "x", "y", "new"), filepath.Join(r.home, "outside")
	trash := filepath.Join(r.home, "x", "y", ".trash")
	n := r.planned(dir)
	made := r.added(dir)
	if err := os.MkdirAll(filepath.Join(outside, "deep"), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(dir, "way-out")); err != nil {
		t.Fatal(err)
	}
	if err := made.MoveWorktree(ctx, n, trash); err == nil {
		t.Error("it removes the ground under its feet")
	}
	if err := r.RemoveWorktree(ctx, n, trash); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(filepath.Join(dir, "a.txt")); err != nil {
		t.Errorf("what was not renamed was removed: %v", err)
	}
	if err := errors.Join(r.MoveWorktree(ctx, n, trash), r.RemoveWorktree(ctx, n, trash)); err != nil {
		t.Fatal(err)
	}
	r.wantTold("main main repo")
	if _, err := os.Lstat(filepath.Join(r.home, "x")); err == nil {
		t.Error("empty directories are left")
	}
	if _, err := os.Lstat(filepath.Join(outside, "deep")); err != nil {
		t.Errorf("a link was followed: %v", err)
	}
	// Files that others put there are not touched, whether the first try came to the rename or not.
	r.added(dir)
	if err := os.Rename(dir, trash); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := os.MkdirAll(dir, 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "mine"), nil, 0o666); err != nil {
			t.Fatal(err)
		}
		if err := r.RemoveWorktree(ctx, n, trash); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Lstat(trash); err == nil {
			t.Error("the trash is left")
		}
		if _, err := os.Lstat(filepath.Join(dir, "mine")); err != nil {
			t.Errorf("somebody else's directory: %v", err)
		}
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if err := r.RemoveWorktree(ctx, n, trash); err != nil {
		t.Fatal(err)
	}
	r.wantTold("main main repo")
}

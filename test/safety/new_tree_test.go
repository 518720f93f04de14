package safety

import (
	"path/filepath"
	"strings"
	"testing"
)

// theirTree checks that the other user's work tree is there, and that wfs has no note of a half-made one.
func (f *fixture) theirTree() {
	f.t.Helper()
	if !f.exists("../taken/precious.txt") || !f.exists("../taken/.git") {
		f.t.Error("somebody else's work tree is gone")
	}
	if notes, _ := filepath.Glob(filepath.Join(f.dir, ".git/wfs/half-made/[a-z]*")); len(notes) > 0 {
		f.t.Errorf("notes are left: %v", notes)
	}
}

const newInTaken = "new late --workflow plain --agent true --worktree --dir ../taken"

// A work tree that another program makes at the planned path is not wfs's: the command that comes too late removes
// nothing.
func TestDirectoryOfANewTreeIsTakenMeanwhile(t *testing.T) {
	t.Parallel()
	f := plainTemplate.fixture(t)
	makes := `git worktree add -q --detach ../taken && echo "hours of work" > ../taken/precious.txt`
	out, exit := f.try(during("worktree/noted#1", makes), append([]string{"wfs"}, strings.Fields(newInTaken)...)...)
	if exit != exitError || !strings.Contains(out, "error: ") || !strings.Contains(out, "taken") {
		t.Errorf("exit %d: %s", exit, out)
	}
	f.theirTree()
}

// After a kill before the first step, a work tree that a person made there is no leftover: it is on a branch.
func TestDirectoryOfADeadNewTreeIsTaken(t *testing.T) {
	t.Parallel()
	f := plainTemplate.fixture(t)
	if out, exit := f.try([]string{"WFS_FAILPOINT=worktree/noted"}, append([]string{"wfs"}, strings.Fields(newInTaken)...)...); exit != -1 {
		t.Fatalf("not killed, but exit %d: %s", exit, out)
	}
	f.ok("git", "worktree", "add", "-q", "-b", "mine", "../taken")
	f.write("../taken/precious.txt", "hours of work\n")
	f.ok("wfs", "checkpoint")
	f.theirTree()
}

// Two work trees that are made at the same time have their own entries in git, even if their directories have the
// same name.
func TestTwoTreesOfOneName(t *testing.T) {
	t.Parallel()
	f := plainTemplate.fixture(t)
	second := "wfs new second --workflow plain --agent true --worktree --dir ../trees/b/feat > ../said 2>&1 && echo made > ../made" // waits for the first
	f.okWhile("worktree/noted#1", "("+second+") &", "new", "first", "--workflow", "plain", "--agent", "true", "--worktree", "--dir", "../trees/a/feat")
	f.until("the second", func() bool { return f.exists("../made") })
	for dir, branch := range map[string]string{"../trees/a/feat": "refs/heads/wfs/first", "../trees/b/feat": "refs/heads/wfs/second"} {
		if on := f.ok("git", "-C", dir, "symbolic-ref", "HEAD"); on != branch {
			t.Errorf("HEAD of %s is on %s", dir, on)
		}
	}
	f.sound()
}

package safety

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The next command must not continue a killed removal on newer files: if it was killed before the rename, the work
// tree stays; if after, the files that are now at its old path stay.
func TestKilledRemovalIsNotCarriedOutLater(t *testing.T) {
	t.Parallel()
	for _, at := range []string{"worktree/doomed", "worktree/moved", "worktree/emptied"} {
		t.Run(at, func(t *testing.T) {
			t.Parallel()
			f := deed{}.fixture(t)
			f.ok(append([]string{"wfs"}, strings.Fields(newInTree)...)...)
			if out, exit := f.try([]string{"WFS_FAILPOINT=" + at + "#1"}, "wfs", "delete", "--worktree", "three"); exit != -1 {
				t.Fatalf("not killed, but exit %d: %s", exit, out)
			}
			if at != "worktree/doomed" {
				f.ok("git", "worktree", "prune")
				f.ok("git", "worktree", "add", "-q", "../repo-three", "wfs/three")
			}
			f.write("../repo-three/mine.txt", "an afternoon\n")
			f.write("edit.txt", "x\n")
			out := f.ok("wfs", "checkpoint")
			if text, err := os.ReadFile(filepath.Join(f.dir, "../repo-three/mine.txt")); err != nil || string(text) != "an afternoon\n" {
				t.Errorf("%q, %v; the command said %s", text, err, out)
			}
			for _, pattern := range []string{"../.*wfs-removed*", ".git/wfs/half-made/[a-z]*"} {
				if left, _ := filepath.Glob(filepath.Join(f.dir, pattern)); len(left) > 0 {
					t.Errorf("left behind: %v", left)
				}
			}
		})
	}
}

// A removal that was killed right after the rename is completed if no file was saved there after the last check.
func TestKilledRemovalLooksOnceMore(t *testing.T) {
	t.Parallel()
	f := deed{}.fixture(t)
	f.ok(append([]string{"wfs"}, strings.Fields(newInTree)...)...)
	if out, exit := f.try([]string{"WFS_FAILPOINT=worktree/moved#1"}, "wfs", "delete", "--worktree", "three"); exit != -1 {
		t.Fatalf("not killed, but exit %d: %s", exit, out)
	}
	trash, _ := filepath.Glob(filepath.Join(f.dir, "../.*wfs-removed*"))
	if len(trash) != 1 {
		t.Fatalf("%v", trash)
	}
	late := filepath.Join(trash[0], "late.txt")
	if err := os.WriteFile(late, []byte("an afternoon\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	f.write("edit.txt", "x\n")
	out := f.ok("wfs", "checkpoint")
	kept, _ := filepath.Glob(filepath.Join(f.dir, "../repo-three.wfs-kept-*/late.txt"))
	if left, _ := filepath.Glob(filepath.Join(f.dir, "../.*wfs-removed*")); len(kept) != 1 || len(left) > 0 || !strings.Contains(out, filepath.Dir(kept[0])) {
		t.Errorf("kept is %v, left is %v; the command said %s", kept, left, out)
	}
}

// A work tree whose creation was killed is not at its path yet: files that other programs write there are left alone.
func TestKilledMakingKeepsWhatCame(t *testing.T) {
	t.Parallel()
	f := deed{}.fixture(t)
	if out, exit := f.try([]string{"WFS_FAILPOINT=worktree/added#1"}, append([]string{"wfs"}, strings.Fields(newInTree)...)...); exit != -1 {
		t.Fatalf("not killed, but exit %d: %s", exit, out)
	}
	f.write("../repo-three/mine.txt", "an afternoon\n")
	f.write("edit.txt", "x\n")
	out := f.ok("wfs", "checkpoint")
	if left, _ := filepath.Glob(filepath.Join(f.dir, "../.*wfs-removed*")); len(left) > 0 || !f.exists("../repo-three/mine.txt") {
		t.Errorf("left is %v, mine is there: %t; the command said %s", left, f.exists("../repo-three/mine.txt"), out)
	}
}

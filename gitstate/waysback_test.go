package gitstate

import (
	"context"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestWaysBack leaves uncommitted changes on a branch that gets new commits, and runs the printed commands.
func TestWaysBack(t *testing.T) {
	t.Parallel()
	const at2, at3 = "refs/wfs/x/rescue/1^2", "refs/wfs/x/rescue/1^3"
	for _, c := range []struct {
		name string
		do   func(r *testRepo)
		says string
		have map[string]string // afterwards, in the index
	}{
		{"files alone", func(r *testRepo) {
			r.write("a.txt", "mine\n")
			r.write("new.txt", "mine\n")
		}, "kept: git cherry-pick -n " + at2, map[string]string{"a.txt": "mine", "new.txt": "mine"}},
		{"staged, and the file is as it was", func(r *testRepo) {
			r.write("a.txt", "mine\n")
			r.run("add", "a.txt")
			r.write("a.txt", "base\n")
		}, "kept: git cherry-pick -n " + at3, map[string]string{"a.txt": "mine"}},
		{"staged anew, and the file is gone", func(r *testRepo) {
			r.write("new.txt", "mine\n")
			r.run("add", "new.txt")
			r.remove(filepath.Join(r.Git.Root, "new.txt"))
		}, "kept: git cherry-pick -n " + at3, map[string]string{"new.txt": "mine"}},
		{"one file staged alone, another one edited", func(r *testRepo) {
			r.write("a.txt", "mine\n")
			r.run("add", "a.txt")
			r.write("a.txt", "base\n")
			r.write("b.txt", "mine\n")
		}, "kept: git cherry-pick -n " + at2 + "\nand what was staged: git cherry-pick -n " +
			at3, map[string]string{"a.txt": "mine", "b.txt": "mine"}},
		{"staged in part", func(r *testRepo) {
			r.write("b.txt", "mine\n"+long+"base\n")
			r.run("add", "b.txt")
			r.write("b.txt", "mine\n"+long+"mine\n")
		}, "kept: git cherry-pick -n " + at2 + "\nand what was staged: git show " + at3 + ", or one file: git show " +
			at3 + ":FILE", map[string]string{"b.txt": "mine\n" + long + "mine"}},
		{"staged, and edited since", func(r *testRepo) {
			r.write("a.txt", "mine\n")
			r.run("add", "a.txt")
			r.write("a.txt", "mine again\n")
		}, "kept: git cherry-pick -n " + at2 + "\nand what was staged: git show " + at3 + ", or one file: git show " +
			at3 + ":FILE", map[string]string{"a.txt": "mine again"}},
		{"what a filter takes out", func(r *testRepo) { r.write("x.nb", "in\nout\n") },
			"kept: git show refs/wfs/x/rescue/1:raw/FILE", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			ctx := context.Background()
			r := newStripping(t)
			r.write(".gitattributes", "*.nb filter=strip\n")
			r.write("a.txt", "base\n")
			r.write("b.txt", "base\n"+long+"base\n")
			r.write("x.nb", "in\n")
			r.run("add", "-A")
			r.run("commit", "-q", "-m", "base")
			r.run("update-ref", "refs/wfs/x/ledger", "HEAD")
			c.do(r)
			snap := r.snapshot()
			var err error
			if snap.Raw, err = r.RawBytes.RawFiles(ctx, snap); err != nil {
				t.Fatal(err)
			}
			ref, err := r.Rescue(ctx, "x", "a test", snap, at)
			if err != nil {
				t.Fatal(err)
			}
			r.run("reset", "-q", "--hard")
			r.run("clean", "-q", "-f")
			r.write("since.txt", "since\n")
			r.run("add", "-A")
			r.run("commit", "-q", "-m", "since")
			lines := r.WaysBack(ctx, ref, "kept")
			if got := strings.Join(lines, "\n"); got != c.says {
				t.Fatalf("%s\nwant\n%s", got, c.says)
			}
			for _, line := range lines {
				_, command, _ := strings.Cut(line, ": ")
				command, _, _ = strings.Cut(command, ", or")
				cmd := exec.Command("sh", "-c", strings.Replace(command, "FILE", "x.nb", 1))
				cmd.Dir, cmd.Env = r.Git.Root, r.env
				if out, err := cmd.CombinedOutput(); err != nil || strings.Contains(command, "show") && len(out) == 0 {
					t.Errorf("%s: %v\n%s", command, err, out)
				}
			}
			again := slices.DeleteFunc(lines, func(line string) bool { return !strings.Contains(line, ": git show") })
			if got := r.WaysBack(ctx, ref, "kept"); len(got) != len(again) {
				t.Errorf("all is back, and it says %s", got)
			}
			for name, want := range c.have {
				if got := r.run("show", ":"+name); got != want {
					t.Errorf("%s is %q, want %q", name, got, want)
				}
			}
			if got := r.run("show", "HEAD:since.txt", ":since.txt"); got != "since\nsince" {
				t.Errorf("what was committed since is %q", got)
			}
		})
	}
}

// long has enough lines for two separate edits.
const long = "1\n2\n3\n4\n5\n6\n7\n8\n"

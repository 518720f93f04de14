package safety

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestKillRestoreThenGC kills the restore of a deleted session before it removes the copies. They stay for the same
// command; gc cannot know whether they are still needed, so it keeps them and prints that command.
func TestKillRestoreThenGC(t *testing.T) {
	t.Parallel()
	for _, more := range []bool{false, true} {
		f := plainTemplate.fixture(t)
		f.ok("wfs", "delete", "two", "--force")
		before := f.blobs()
		if out, exit := f.try([]string{"WFS_FAILPOINT=delete/restored#1"}, "wfs", "delete", "--restore", "two"); exit != -1 {
			t.Fatalf("not killed: exit %d: %s", exit, out)
		}
		copies := strings.Fields(f.ok("git", "for-each-ref", "--format=%(refname)", "refs/wfs-deleted"))
		if len(copies) < 2 {
			t.Fatalf("copies are %v", copies)
		}
		only := ""
		if more { // as a second deleted session of that name would leave
			only = f.ok("git", "commit-tree", "-m", "only there", "HEAD^{tree}")
			f.ok("git", "update-ref", copies[0], only)
		}
		empty := filepath.Join(f.dir, ".git/refs/wfs-deleted/two/1/left")
		if err := os.MkdirAll(empty, 0o777); err != nil {
			t.Fatal(err)
		}
		out := f.ok("wfs", "gc", "--force", "--days", "0")
		holdsText(t, out, "wfs delete --restore two")
		if f.exists(".git/refs/wfs-deleted/two/1") {
			t.Error("an empty directory is left")
		}
		if left := f.ok("git", "for-each-ref", "refs/wfs-deleted"); len(strings.Split(strings.TrimSpace(left), "\n")) != len(copies) {
			t.Errorf("copies are gone: %s", left)
		}
		if more {
			continue
		}
		f.ok("wfs", "delete", "--restore", "two")
		if left := f.ok("git", "for-each-ref", "refs/wfs-deleted"); left != "" {
			t.Errorf("copies are left:\n%s", left)
		}
		f.branchHolds("wfs/two", "of-two.txt")
		f.ok("wfs", "status", "two")
		if out, exit := f.try(nil, "wfs", "undo"); exit != exitOK && exit != exitError {
			t.Errorf("undo: exit %d: %s", exit, out)
		}
		f.nothingLost(before)
		f.sound()
	}
}

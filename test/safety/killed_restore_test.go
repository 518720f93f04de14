package safety

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestKillRestoreThenGC: a restore of a deleted session that was killed before it removed the copies leaves them to gc, which
// removes what the session holds as well, with the directories that were made for it, and nothing else.
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
		if more { // as of another session of that name, which was deleted as well
			only = f.ok("git", "commit-tree", "-m", "only there", "HEAD^{tree}")
			f.ok("git", "update-ref", copies[0], only)
		}
		empty := filepath.Join(f.dir, ".git/refs/wfs-deleted/two/1/left")
		if err := os.MkdirAll(empty, 0o777); err != nil {
			t.Fatal(err)
		}
		out := f.ok("wfs", "gc", "--force", "--days", "0")
		if f.exists(".git/refs/wfs-deleted/two/1") {
			t.Error("an empty directory is left")
		}
		left := f.ok("git", "for-each-ref", "refs/wfs-deleted")
		if more {
			if holdsText(t, out, only[:10]); !strings.Contains(left, only) {
				t.Errorf("what only the copies held is gone: %s", left)
			}
			continue
		}
		if left != "" || f.exists(".git/refs/wfs-deleted") {
			t.Errorf("copies are left:\n%s\n%s", left, out)
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

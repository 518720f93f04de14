package safety

import (
	"strings"
	"testing"
)

// If another session takes the name between the search for a free name and the lock, the later session gets the next
// name.
func TestNameOfANewSessionIsTakenMeanwhile(t *testing.T) {
	t.Parallel()
	f := plainTemplate.fixture(t)
	begins := "wfs new same --workflow plain --agent true --worktree --dir ../of-same"
	out, exit := f.try(during("name/found#1", begins), "wfs", "new", "Same", "--workflow", "plain", "--agent", "true")
	if exit != exitOK || !strings.Contains(out, "same-2  on wfs/same-2") {
		t.Errorf("exit %d: %s", exit, out)
	}
	f.on("wfs/same-2")
	if on := f.ok("git", "-C", "../of-same", "symbolic-ref", "HEAD"); on != "refs/heads/wfs/same" {
		t.Errorf("the other session's work tree is on %s", on)
	}
	f.ok("wfs", "run", "same-2")
	f.ok("wfs", "-C", "../of-same", "run") // its lock is not held
	f.sound()
}

package safety

import (
	"path/filepath"
	"strings"
	"testing"
)

// While a run drives a session, allow is refused. Requests to allow that an older wfs left for the run are refused by
// name.
func TestAllowWhileDriven(t *testing.T) {
	t.Parallel()
	f := plainTemplate.fixture(t)
	f.write("node_modules/x.js", "x of a dependency\n")
	f.write("edited.txt", "edited\n")
	f.ok("wfs", "checkpoint")
	f.branchLacks("wfs/one", "node_modules/x.js")
	f.ok("wfs", "repin", "one", "--agent", "echo > ../works; until test -e ../goes; do kill -0 $PPID || exit; sleep 0.01; done; echo work > work.txt")
	kill := f.begins("run")
	f.until("the agent", func() bool { return f.exists("../works") })
	out, exit := f.try(nil, "wfs", "allow", "node_modules")
	if exit != exitHeld || !strings.Contains(out, "wfs allow is for you to type") ||
		!strings.Contains(out, "hint: wfs stop one") {
		t.Errorf("exit %d: %s", exit, out)
	}
	kill()
	f.write("../goes", "")
	f.write(".git/wfs/sessions/one/inbox/00000000000000000001-aa.json",
		`{"v":1,"at":1,"kind":"allow","paths":["node_modules"]}`)
	if out := f.ok("wfs", "run"); !strings.Contains(out, "refused: a request that wfs allow left in the inbox") {
		t.Errorf("it says %s", out)
	}
	f.branchLacks("wfs/one", "node_modules/x.js")
	if left, err := filepath.Glob(filepath.Join(f.dir, ".git/wfs/sessions/one/inbox/*")); err != nil || len(left) > 0 {
		t.Errorf("requests are still there: %v, %v", left, err)
	}
	f.ok("wfs", "allow", "node_modules")
	f.ok("wfs", "checkpoint")
	f.branchHolds("wfs/one", "node_modules/x.js", "work.txt")
	if n := strings.Count(f.kinds("one"), "allowed"); n != 1 {
		t.Errorf("allowed %d times", n)
	}
}

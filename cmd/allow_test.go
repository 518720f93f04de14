package cmd

import (
	"strings"
	"testing"
)

// While a run drives a session, an allowance is asked for, and the next run takes it in before its first attempt.
func TestAllowAsksTheRun(t *testing.T) {
	t.Parallel()
	f := plainTemplate.fixture(t)
	f.write("node_modules/x.js", "x of a dependency\n")
	f.write("edited.txt", "edited\n")
	f.ok("wfs", "checkpoint")
	f.branchLacks("wfs/one", "node_modules/x.js")
	a := f.app()
	if err := a.hold("wfs run", "one"); err != nil {
		t.Fatal(err)
	}
	if out := f.ok("wfs", "allow", "node_modules"); !strings.HasPrefix(out, "asked: wfs run does so") {
		t.Errorf("it says %s", out)
	}
	out, exit := f.try(nil, "wfs", "allow", "--revoke", "nothing")
	if exit != exitUsage || !strings.Contains(out, "nothing was not allowed") {
		t.Errorf("exit %d: %s", exit, out)
	}
	a.close()
	f.ok("wfs", "run")
	f.branchHolds("wfs/one", "node_modules/x.js", "work.txt")
	if list := f.ok("wfs", "allow", "--list"); !strings.Contains(list, "allowed   node_modules") {
		t.Errorf("the list is %s", list)
	}
	if n := strings.Count(f.kinds("one"), "allowed"); n != 1 {
		t.Errorf("allowed %d times", n)
	}
}

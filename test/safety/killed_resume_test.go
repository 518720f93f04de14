package safety

import (
	"strings"
	"testing"
)

// A killed resume of an earlier lap, completed by the next command, restores that lap's baseline: tests that were
// added later are not reported as missing.
func TestKilledResumeBringsTheLapBack(t *testing.T) {
	t.Parallel()
	f := tddTemplate.fixture(t)
	f.ok("wfs", "run")
	document := func(ledger string) string {
		if text, exit := f.try(nil, "git", "show", ledger+":lap.json"); exit == 0 {
			return strings.TrimSpace(text)
		}
		return "{}" // the first lap began with the session's baseline
	}
	want := ""
	for _, line := range strings.Split(f.ok("git", "log", "--format=%H %(trailers:key=Wfs-Checkpoint,valueonly,separator=)", "refs/wfs/one/ledger"), "\n") {
		if ledger, number, _ := strings.Cut(line, " "); strings.TrimLeft(number, "0") == "1" {
			want = document(ledger)
		}
	}
	if now := document("refs/wfs/one/ledger"); want == "" || now == want {
		t.Fatalf("the laps begin alike: %s", now)
	}
	if out, exit := f.try([]string{"WFS_FAILPOINT=move/half#1"}, "wfs", "resume", "one@1"); exit != -1 {
		t.Fatalf("not killed, but exit %d: %s", exit, out)
	}
	f.ok("wfs", "checkpoint")
	if f.exists("three.test") {
		t.Error("the move was not completed")
	}
	if now := document("refs/wfs/one/ledger"); now != want {
		t.Errorf("the lap began with\n%s\nand with\n%s", want, now)
	}
}

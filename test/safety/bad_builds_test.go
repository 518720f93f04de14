//go:build linux && amd64

package safety

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// TestBar26HarnessBites builds wfs with one thing done badly at a time, and expects that tests catch it: a check that
// cannot fail holds nothing.
func TestBar26HarnessBites(t *testing.T) {
	if testing.Short() {
		t.Skip("builds wfs six times")
	}
	sweep := "TestBar01Bar03Bar04Bar09Sweep"
	caught := 0
	cases := []struct {
		bad  string // its build tag is badstore_ and this
		what string
		pkg  string
		test string
		env  []string
		says string // in what is printed, so that it is not caught for another reason
	}{
		{"index", "an index written in place", "./cmd", sweep,
			[]string{"WFS_SWEEP=all", "WFS_SWEEP_DEED=checkpoint of what is in the index alone", "WFS_SWEEP_WAY=tear", "WFS_SWEEP_OF=repo/.git/index"}, "index file"},
		{"refs", "refs written in place, without a lock", "./cmd", sweep,
			[]string{"WFS_SWEEP=all", "WFS_SWEEP_DEED=checkpoint", "WFS_SWEEP_WAY=tear", "WFS_SWEEP_OF=refs/wfs/one/index"}, "bad object refs/wfs/one"},
		{"sync", "files renamed without being synced", "./cmd", "TestBar13PowerCut",
			[]string{"WFS_SWEEP=end", "WFS_SWEEP_DEED=doctor --repair of a damaged journal"}, "did not happen"},
		{"add", "excluded files added", "./gitstate", "TestSnapshotHonoursExcludes", nil, ".env"},
		{"lock", "locks that exclude nobody", "./internal/durable", "TestLockExcludesAnotherProcess", nil, "ErrLocked"},
		{"kin", "descendants that nobody looks for", "./internal/proc", "TestRunFindsEscapedByMarker|TestMarked", nil, "FAIL: TestMarked"},
	}
	for _, c := range cases {
		t.Run(c.bad, func(t *testing.T) {
			cmd := exec.Command("go", "test", "-vet=off", "-count=1", "-failfast", "-tags", "failpoints,badstore_"+c.bad, "-run", "^("+c.test+")$", c.pkg)
			cmd.Dir = ".."
			cmd.Env = append(os.Environ(), c.env...)
			out, err := cmd.CombinedOutput()
			text := string(out)
			if err == nil || strings.Contains(text, "[build failed]") || !strings.Contains(text, "--- FAIL: ") || !strings.Contains(text, c.says) {
				t.Fatalf("%s: not caught: %v\n%s", c.what, err, text)
			}
			caught++
		})
	}
	t.Logf("%d of %d bad builds were caught", caught, len(cases))
}

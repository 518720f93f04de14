//go:build linux && amd64

package safety

import (
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/wfs-dev/wfs/internal/faults"
	"github.com/wfs-dev/wfs/internal/testkit"
)

// failing runs a command whose calls fail on paths that end in fault.Of, from call fault.At on.
func (f *fixture) failing(fault faults.Fault, args ...string) (string, int) {
	f.t.Helper()
	wfs, err := exec.LookPath("wfs")
	if err != nil {
		f.t.Fatal(err)
	}
	as := exec.Cmd{Env: f.env}
	fault.Mode = faults.FailOn
	out := testkit.Traced(f.t, faults.Command{Argv: append([]string{wfs}, args...), Dir: f.dir, Env: as.Environ(), Root: f.dir}, fault)
	if !out.Hit {
		f.t.Fatalf("no call failed: exit %d: %s", out.Exit, out.Output)
	}
	return out.Output, out.Exit
}

// If a move can be neither completed nor undone, the error and doctor name it, with a way out that works.
func TestMoveThatStaysHalfWay(t *testing.T) {
	t.Parallel()
	f := plainTemplate.fixture(t)
	dirtyOnMain(f)
	before := f.blobs()
	out, exit := f.failing(faults.Fault{At: 2, Of: ".txt", Errno: syscall.EIO}, "switch", "two", "--json")
	if exit != exitError || !strings.Contains(out, `"code":"move_failed"`) || !strings.Contains(out, "git switch -c put-aside") || !strings.Contains(out, "refs/wfs/two/rescue/") {
		t.Fatalf("exit %d: %s", exit, out)
	}
	f.nothingLost(before)
	f.happened("two", "move_started move_started")
	out, exit = f.try(nil, "wfs", "doctor")
	if exit != exitBlocked || !strings.Contains(out, "a command stopped half-way: switch from main to two") || !strings.Contains(out, "Type: git switch -c put-aside") {
		t.Errorf("doctor: exit %d: %s", exit, out)
	}
	f.ok("git", "switch", "-q", "-c", "put-aside")
	f.ok("wfs", "switch", "one")
	f.on("wfs/one")
	f.happened("two", "move_started move_started dropped")
	f.nothingLost(before)
	f.ok("wfs", "doctor")
	f.ok("wfs", "switch", "two")
	onTwo(f)
	f.sound()
}

// Documents that cannot be deleted block neither finish nor a later command.
func TestFinishWhoseDocumentsStay(t *testing.T) {
	t.Parallel()
	f := plainTemplate.fixture(t)
	f.write(".workflow/one/plan.md", "plan\n")
	f.ok("wfs", "run")
	stays := faults.Fault{At: 1, Of: "one/plan.md", Errno: syscall.EACCES}
	out, exit := f.failing(stays, "finish", "--json")
	if exit != exitOK || !strings.Contains(out, `"commit":"`) || !strings.Contains(out, `"documents_stay":"`) {
		t.Errorf("exit %d: %s", exit, out)
	}
	f.on("one")
	f.ok("wfs", "undo")
	f.on("wfs/one")

	f.dies("one", ledgerMoved, "finish", "--branch", "handed")
	out, _ = f.failing(stays, "checkpoint")
	if !strings.Contains(out, "is completed now") || !strings.Contains(out, "could not remove the session's documents") {
		t.Errorf("it says %s", out)
	}
	f.on("handed")
}

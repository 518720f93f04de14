package stories

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/wfs-dev/wfs/internal/testkit"
	"github.com/wfs-dev/wfs/internal/vt"
)

// answer runs wfs at a terminal, types `line` when it asks, and returns the output and the exit code.
func answer(r *testkit.Repo, line string, args ...string) (string, int) {
	r.T.Helper()
	master, tty, err := vt.Open(80, 24)
	if err != nil {
		r.T.Fatal(err)
	}
	defer master.Close()
	cmd := exec.Command(testkit.Wfs(r.T), args...)
	cmd.Dir, cmd.Env = r.Dir, append(slices.Clip(r.Env), "TERM=dumb")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = tty, tty, tty
	if err := cmd.Start(); err != nil {
		r.T.Fatal(err)
	}
	_ = tty.Close()
	var said strings.Builder
	in := bufio.NewReader(master)
	for !strings.HasSuffix(said.String(), "nothing] ") {
		b, err := in.ReadByte()
		if err != nil {
			break // it has ended without asking
		}
		said.WriteByte(b)
	}
	_, _ = io.WriteString(master, line+"\n")
	rest, _ := io.ReadAll(in)
	_ = cmd.Wait()
	return strings.ReplaceAll(said.String()+string(rest), "\r\n", "\n"), cmd.ProcessState.ExitCode()
}

// TestResumeAsks: at a terminal, wfs resume asks after an interruption how to continue, and does what was answered. It
// asks only then.
func TestResumeAsks(t *testing.T) {
	r := plain(t)
	r.OK("wfs", "new", "cut", "--agent", `echo cut > cut.txt; kill -9 $PPID; exit`)
	if got, exit := answer(r, "", "resume"); exit != 0 || strings.Contains(got, "Which?") {
		t.Errorf("nothing is interrupted: exit %d: %s", exit, got)
	}
	there := func() bool {
		_, err := os.Stat(r.Dir + "/cut.txt")
		return err == nil
	}
	for _, c := range []struct {
		answer, says string
		stays        bool
	}{{"", "nothing was moved", true}, {"n", "nothing was moved", true}, {"2", "resume cut at checkpoint", false}} {
		if c.answer == "" {
			r.Try("wfs", "run")
		}
		got, exit := answer(r, c.answer, "resume")
		if exit != 0 || !strings.Contains(got, "Which? [1-3, Enter: do nothing]") || !strings.Contains(got, c.says) ||
			!strings.Contains(got, "cut  interrupted in WORK") {
			t.Errorf("%q: exit %d: %s", c.answer, exit, got)
		}
		if there() != c.stays {
			t.Errorf("%q: the file of the attempt is there: %t", c.answer, there())
		}
	}
	r.OK("wfs", "undo")
	if !there() {
		t.Error("undo did not restore the file of the attempt")
	}
	r.Try("wfs", "run")
	if got, exit := answer(r, "1", "resume"); exit != 0 || !there() {
		t.Errorf("keep: exit %d: %s", exit, got)
	}
}

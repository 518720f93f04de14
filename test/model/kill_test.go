//go:build linux && amd64

package model

import (
	"os"
	"os/exec"

	"github.com/wfs-dev/wfs/internal/faults"
	"github.com/wfs-dev/wfs/internal/testkit"
)

// traces runs a command and counts its calls that change a file. If at is set, it kills the command before that call.
// It returns 0 calls if this system does not allow processes to trace each other.
func (w *world) traces(c typed, env []string, at int) (calls, exit int) {
	w.t.Helper()
	wfs, err := exec.LookPath("wfs")
	if err != nil {
		w.t.Fatal(err)
	}
	fault := faults.Fault{Mode: faults.Run}
	if at > 0 {
		fault = faults.Fault{Mode: faults.KillAll, At: at}
		if at%4 == 0 {
			fault.Mode = faults.KillFirst
		}
	}
	a, err := testkit.AskTracer(faults.Command{Argv: append([]string{wfs}, c.argv()[1:]...), Dir: c.dir, Env: append(w.env[:len(w.env):len(w.env)], env...), Root: w.top}, fault)
	if err != nil {
		w.t.Fatal(err)
	}
	if a.Refused && os.Getenv("WFS_REQUIRE_PTRACE") == "" {
		return 0, 0
	}
	if a.Error != "" {
		w.t.Fatal(a.Error)
	}
	return len(a.Outcome.Calls), a.Outcome.Exit
}

package testkit

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/wfs-dev/wfs/internal/faults"
)

// TracerMain is a process that traces others.
func TracerMain() int {
	if err := faults.Serve(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// Tracer is a process that traces commands, one after the other.
type Tracer struct {
	cmd     *exec.Cmd
	in      io.Closer
	ask     *json.Encoder
	answers *json.Decoder
}

// StartTracer starts one. The tests of the package have to have a program wfs-tracer on their PATH: TracerMain.
func StartTracer() (*Tracer, error) {
	cmd := exec.Command("wfs-tracer")
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	return &Tracer{cmd, in, json.NewEncoder(in), json.NewDecoder(out)}, cmd.Start()
}

// hung is how long a command may take that a fault met. None comes near it.
const hung = 2 * time.Minute

// Run traces one command, which is killed when it does not end.
func (p *Tracer) Run(c faults.Command, fault faults.Fault) (a faults.Answer, err error) {
	late := time.AfterFunc(hung, func() { _ = p.cmd.Process.Kill() }) // what it traces dies with it
	defer late.Stop()
	if err := p.ask.Encode(faults.Request{Command: c, Fault: fault}); err != nil {
		return a, err
	}
	if err := p.answers.Decode(&a); err != nil {
		return a, fmt.Errorf("the tracer is gone, perhaps because the command did not finish within %s: %w", hung, err)
	}
	return a, nil
}

// Close ends the process.
func (p *Tracer) Close() error { return errors.Join(p.in.Close(), p.cmd.Wait()) }

// Traced runs a command under a tracer, which has a process of its own.
func Traced(t testing.TB, c faults.Command, fault faults.Fault) faults.Outcome {
	t.Helper()
	a, err := AskTracer(c, fault)
	if err != nil {
		t.Fatal(err)
	}
	return MayTrace(t, a)
}

// MayTrace is what came of a traced command. Where no process may trace another the test is skipped, unless the
// environment's WFS_REQUIRE_PTRACE is set.
func MayTrace(t testing.TB, a faults.Answer) faults.Outcome {
	t.Helper()
	if a.Refused && os.Getenv("WFS_REQUIRE_PTRACE") == "" {
		t.Skip(a.Error)
	}
	if a.Error != "" {
		t.Fatal(a.Error)
	}
	return a.Outcome
}

// AskTracer is Traced for those who look at the answer themselves.
func AskTracer(c faults.Command, fault faults.Fault) (a faults.Answer, err error) {
	p, err := StartTracer()
	if err != nil {
		return a, err
	}
	a, err = p.Run(c, fault)
	return a, errors.Join(err, p.Close())
}

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

// TracerMain is the main function of a program that traces commands for a Tracer (see package faults).
func TracerMain() int {
	if err := faults.Serve(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// Tracer is a running tracer process. It traces one command at a time.
type Tracer struct {
	cmd     *exec.Cmd
	in      io.Closer
	ask     *json.Encoder
	answers *json.Decoder
}

// StartTracer starts a tracer process. The PATH must have a program called wfs-tracer, which calls TracerMain.
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

// hung is the time after which a traced command counts as hung. All commands are much faster.
const hung = 2 * time.Minute

// Run traces one command with an injected fault, and returns what it recorded. It kills a command that hangs.
func (p *Tracer) Run(c faults.Command, fault faults.Fault) (a faults.Answer, err error) {
	late := time.AfterFunc(hung, func() { _ = p.cmd.Process.Kill() }) // the kernel kills the traced command with it
	defer late.Stop()
	if err := p.ask.Encode(faults.Request{Command: c, Fault: fault}); err != nil {
		return a, err
	}
	if err := p.answers.Decode(&a); err != nil {
		return a, fmt.Errorf("the tracer is gone, perhaps because the command did not finish within %s: %w", hung, err)
	}
	return a, nil
}

// Close ends the tracer process.
func (p *Tracer) Close() error { return errors.Join(p.in.Close(), p.cmd.Wait()) }

// Traced runs a command with an injected fault in a new tracer process. See MayTrace for systems without tracing.
func Traced(t testing.TB, c faults.Command, fault faults.Fault) faults.Outcome {
	t.Helper()
	a, err := AskTracer(c, fault)
	if err != nil {
		t.Fatal(err)
	}
	return MayTrace(t, a)
}

// MayTrace returns the outcome in a tracer's answer. If the system does not allow tracing, MayTrace skips the test; if
// WFS_REQUIRE_PTRACE is set, it fails the test instead.
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

// AskTracer runs a command in a new tracer process, as Traced does, but returns the answer unchecked.
func AskTracer(c faults.Command, fault faults.Fault) (a faults.Answer, err error) {
	p, err := StartTracer()
	if err != nil {
		return a, err
	}
	a, err = p.Run(c, fault)
	return a, errors.Join(err, p.Close())
}

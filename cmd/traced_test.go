//go:build linux && amd64

package cmd

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

// tracerMain is a process that traces others.
func tracerMain() int {
	if err := faults.Serve(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// tracer is a process that traces commands, one after the other.
type tracer struct {
	cmd     *exec.Cmd
	in      io.Closer
	ask     *json.Encoder
	answers *json.Decoder
}

func startTracer() (*tracer, error) {
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
	return &tracer{cmd, in, json.NewEncoder(in), json.NewDecoder(out)}, cmd.Start()
}

// hung is how long a command may take that a fault met. None comes near it.
const hung = 2 * time.Minute

// run traces one command, which is killed when it does not end.
func (p *tracer) run(c faults.Command, fault faults.Fault) (a faults.Answer, err error) {
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

func (p *tracer) close() error { return errors.Join(p.in.Close(), p.cmd.Wait()) }

// traced runs a command under a tracer, which has a process of its own.
func traced(t *testing.T, c faults.Command, fault faults.Fault) faults.Outcome {
	t.Helper()
	a, err := askTracer(c, fault)
	if err != nil {
		t.Fatal(err)
	}
	return mayTrace(t, a)
}

// mayTrace is what came of a traced command. Where no process may trace another the test is skipped, unless the
// environment's WFS_REQUIRE_PTRACE is set.
func mayTrace(t *testing.T, a faults.Answer) faults.Outcome {
	t.Helper()
	if a.Refused && os.Getenv("WFS_REQUIRE_PTRACE") == "" {
		t.Skip(a.Error)
	}
	if a.Error != "" {
		t.Fatal(a.Error)
	}
	return a.Outcome
}

func askTracer(c faults.Command, fault faults.Fault) (a faults.Answer, err error) {
	p, err := startTracer()
	if err != nil {
		return a, err
	}
	a, err = p.run(c, fault)
	return a, errors.Join(err, p.close())
}

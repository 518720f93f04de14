//go:build linux && amd64

package cmd

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"testing"

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

// traced runs a command under a tracer, which has a process of its own.
func traced(t *testing.T, c faults.Command, fault faults.Fault) faults.Outcome {
	t.Helper()
	a, err := askTracer(c, fault)
	if err != nil {
		t.Fatal(err)
	}
	if a.Refused && os.Getenv("WFS_REQUIRE_PTRACE") == "" {
		t.Skip(a.Error)
	}
	if a.Error != "" {
		t.Fatal(a.Error)
	}
	return a.Outcome
}

func askTracer(c faults.Command, fault faults.Fault) (a faults.Answer, err error) {
	request, err := json.Marshal(faults.Request{Command: c, Fault: fault})
	if err != nil {
		return a, err
	}
	tracer := exec.Command("wfs-tracer")
	tracer.Stdin, tracer.Stderr = bytes.NewReader(request), os.Stderr
	out, err := tracer.Output()
	if err != nil {
		return a, fmt.Errorf("the tracer: %w: %s", err, out)
	}
	return a, json.Unmarshal(out, &a)
}

package durable

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"testing"
)

// The tests start their own binary again if they need another process. WFS_TEST_AS names its task.
var parts = map[string]func(args []string) error{}

func TestMain(m *testing.M) {
	as := os.Getenv("WFS_TEST_AS")
	if as == "" {
		os.Exit(m.Run())
	}
	if err := parts[as](os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

func init() {
	parts["hold"] = func(args []string) error {
		l, err := TryLock(args[0], []byte("pid of the child"))
		if err != nil {
			return err
		}
		defer l.Release()
		fmt.Println("ready")
		_, err = io.Copy(io.Discard, os.Stdin)
		return err
	}
	parts["wait"] = func([]string) error {
		fmt.Println("ready")
		_, err := io.Copy(io.Discard, os.Stdin)
		return err
	}
}

func another(t *testing.T, as string, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, args...)
	cmd.Env = append(os.Environ(), "WFS_TEST_AS="+as)
	cmd.Stderr = os.Stderr
	return cmd
}

// begin starts a process and returns when it has printed "ready". end closes its input and waits for it.
func begin(t *testing.T, cmd *exec.Cmd) (end func()) {
	t.Helper()
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "ready\n" {
		cmd.Wait()
		t.Fatalf("the other process said %q (%v)", line, err)
	}
	ended := false
	end = func() {
		if !ended {
			ended = true
			in.Close()
			cmd.Wait()
		}
	}
	t.Cleanup(end)
	return end
}

//go:build linux && amd64

package faults

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

func TestMain(m *testing.M) {
	if os.Getenv("FAULTS_SERVE") != "" || os.Getenv(Stage) != "" {
		if err := Serve(os.Stdin, os.Stdout); err != nil {
			panic(err)
		}
		return
	}
	os.Exit(m.Run())
}

// traced runs a script under a tracer in a process of its own.
func traced(t *testing.T, dir, script string, f Fault) Outcome {
	t.Helper()
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("needs sh")
	}
	req, err := json.Marshal(Request{Command{Argv: []string{sh, "-c", script}, Dir: dir, Env: os.Environ(), Root: dir}, f})
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "FAULTS_SERVE=1")
	cmd.Stdin, cmd.Stderr = bytes.NewReader(req), os.Stderr
	out, err := cmd.Output()
	var a Answer
	if err != nil || json.Unmarshal(out, &a) != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if a.Refused && os.Getenv("WFS_REQUIRE_PTRACE") == "" {
		t.Skip(a.Error)
	}
	if a.Error != "" {
		t.Fatal(a.Error)
	}
	return a.Outcome
}

const script = `echo one > a; mv a b; (echo two >> b; mkdir d; ln -s x d/l) ; rm d/l; rmdir d; echo done`

func TestCallsOfAllProcessesAreSeenInOrder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	out := traced(t, dir, script, Fault{Mode: Run})
	var got []string
	for _, c := range out.Calls {
		got = append(got, c.String())
	}
	want := []string{"open a", "write a (4 bytes at 0)", "rename a -> b", "write b (4 bytes at 4)", "mkdir d", "symlink d/l -> x", "unlink d/l", "unlink d"}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if out.Exit != 0 || out.Output != "done\n" {
		t.Errorf("exit %d, output %q", out.Exit, out.Output)
	}
	if !slices.Equal(out.Writes, []int{2, 4}) {
		t.Errorf("the writes are %v", out.Writes)
	}
}

// A call that fails leaves the old state.
func TestStates(t *testing.T) {
	t.Parallel()
	const script = `echo one > a; mkdir a; rm a; mkdir b`
	for of, want := range map[string][]int{"": {1, 2, 3, 5}, "b": {1}, "a": {1, 2, 3, 4}} {
		out := traced(t, t.TempDir(), script, Fault{Mode: Run, Of: of})
		if !slices.Equal(out.States, want) {
			t.Errorf("of %q: %v of %d points, want %v", of, out.States, out.Points, want)
		}
	}
}

func TestEveryFault(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		fault Fault
		exit  int
		b     string // content; "-": no file
		d     bool
	}{
		"kill before the rename": {Fault{Mode: KillAll, At: 3}, -1, "-", false},
		"kill after it":          {Fault{Mode: KillAll, At: 4}, -1, "one\n", false},
		"torn":                   {Fault{Mode: Tear, At: 4}, -1, "one\ntw", false},
		"fails":                  {Fault{Mode: Fail, At: 4, Errno: syscall.ENOSPC}, 0, "one\n", false},
		"fails from here on":     {Fault{Mode: FailOn, At: 4, Errno: syscall.ENOSPC}, 1, "one\n", false},
		"not reached":            {Fault{Mode: KillAll, At: 9}, 0, "one\ntwo\n", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			out := traced(t, dir, script, c.fault)
			data, err := os.ReadFile(filepath.Join(dir, "b"))
			got := string(data)
			if err != nil {
				got = "-"
			}
			if got != c.b || (out.Exit == -1) != (c.exit == -1) || out.Hit != (name != "not reached") {
				t.Errorf("b is %q, exit %d, hit %v: %s", got, out.Exit, out.Hit, out.Output)
			}
		})
	}
}

// Only the first process is killed; its child continues to its end, and Run waits for it.
func TestKillFirst(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	out := traced(t, dir, `(echo 1 > child; echo 2 >> child; echo 3 >> child); echo parent > parent`, Fault{Mode: KillFirst, At: 2})
	data, _ := os.ReadFile(filepath.Join(dir, "child"))
	if _, err := os.Stat(filepath.Join(dir, "parent")); err == nil || string(data) != "1\n2\n3\n" || out.Exit != -1 {
		t.Errorf("child %q, parent %v, exit %d", data, err, out.Exit)
	}
}

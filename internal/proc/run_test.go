package proc_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/wfs-dev/wfs/internal/proc"
)

var runs atomic.Int64

// spec returns a shell script to run, with a marker of its own.
func spec(t *testing.T, script string) proc.Spec {
	t.Helper()
	marker := fmt.Sprintf("WFS_RUN_ID=test-%d-%d", os.Getpid(), runs.Add(1))
	dir := t.TempDir()
	return proc.Spec{Argv: sh(script), Dir: dir, Env: env(t, marker, "DIR="+dir), Marker: marker, Grace: 5 * time.Second}
}

func run(t *testing.T, ctx context.Context, s proc.Spec) proc.Result {
	t.Helper()
	r, err := proc.Run(ctx, s)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Survivors) > 0 {
		t.Errorf("survivors: %v", r.Survivors)
	}
	return r
}

func pid(t *testing.T, s proc.Spec, name string) int {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(s.Dir, name))
	if err != nil {
		t.Fatal(err)
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestRunStreams(t *testing.T) {
	t.Parallel()
	s := spec(t, `cat; echo talk >&2; exit 7`)
	var out, errs bytes.Buffer
	s.Stdin, s.Stdout, s.Stderr = strings.NewReader("brief\n"), &out, &errs
	r := run(t, t.Context(), s)
	if r.Ended != proc.Exited || r.Exit != 7 || out.String() != "brief\n" || errs.String() != "talk\n" {
		t.Fatalf("%+v, %q, %q", r, out.String(), errs.String())
	}
}

func TestRunOneWriterKeepsTheOrder(t *testing.T) {
	t.Parallel()
	s := spec(t, `i=0; while [ $i -lt 200 ]; do echo $i; i=$((i+1)); echo $i >&2; i=$((i+1)); done`)
	var out bytes.Buffer
	s.Stdout, s.Stderr = &out, &out
	run(t, t.Context(), s)
	for i, line := range strings.Fields(out.String()) {
		if line != strconv.Itoa(i) {
			t.Fatalf("line %d is %s", i, line)
		}
	}
}

func TestRunExitCodes(t *testing.T) {
	t.Parallel()
	for script, want := range map[string]int{"exit 0": 0, "exit 126": 126, "exit 127": 127, "no-such-command-of-wfs": 127, "exit 75": 75} {
		if r := run(t, t.Context(), spec(t, script)); r.Ended != proc.Exited || r.Exit != want {
			t.Errorf("%s: %+v", script, r)
		}
	}
	if r := run(t, t.Context(), spec(t, "kill -SEGV $$")); r.Exit != 139 || r.Signal != "SIGSEGV" || r.Ended != proc.Exited {
		t.Errorf("signal: %+v", r)
	}
}

func TestRunNotStarted(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	broken := filepath.Join(dir, "broken")
	if err := os.WriteFile(broken, []byte("#!/no/such/interpreter\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, s := range []proc.Spec{
		{Argv: []string{"no-such-command-of-wfs"}, Env: env(t)},
		{Argv: []string{broken}, Env: env(t)},
		{Argv: sh("true"), Dir: filepath.Join(dir, "gone"), Env: env(t)},
		{},
	} {
		r, err := proc.Run(t.Context(), s)
		if err != nil || r.Ended != proc.NotStarted || r.StartError == "" {
			t.Errorf("%q: %+v, %v", s.Argv, r, err)
		}
	}
}

func TestRunCancelledBeforeTheStart(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s := spec(t, `echo > "$DIR/ran"`)
	if r := run(t, ctx, s); r.Ended != proc.Cancelled {
		t.Fatalf("%+v", r)
	}
	if _, err := os.Stat(filepath.Join(s.Dir, "ran")); err == nil {
		t.Fatal("it ran")
	}
}

func TestRunCancelAsksFirst(t *testing.T) {
	t.Parallel()
	s := spec(t, `trap 'echo bye; exit 9' TERM; echo ready; while :; do sleep 0.01; done`)
	ctx, cancel := context.WithCancel(t.Context())
	w := &watchFor{text: "ready", cancel: cancel}
	s.Stdout = w
	if r := run(t, ctx, s); r.Ended != proc.Cancelled || r.Exit != 9 || !strings.HasSuffix(w.seen.String(), "bye\n") {
		t.Fatalf("%+v, %q", r, w.seen.String())
	}
}

func TestRunKillsWhatIgnoresTerm(t *testing.T) {
	t.Parallel()
	s := spec(t, `trap '' TERM; echo ready; while :; do sleep 0.01; done`)
	s.Grace = 50 * time.Millisecond
	ctx, cancel := context.WithCancel(t.Context())
	s.Stdout = &watchFor{text: "ready", cancel: cancel}
	if r := run(t, ctx, s); r.Ended != proc.Cancelled || r.Signal != "SIGKILL" || r.Exit != 137 {
		t.Fatalf("%+v", r)
	}
}

func TestRunHurry(t *testing.T) {
	t.Parallel()
	s := spec(t, `trap '' TERM; echo ready; while :; do sleep 0.01; done`)
	s.Grace = time.Hour
	hurry := make(chan struct{})
	s.Hurry = hurry
	ctx, cancel := context.WithCancel(t.Context())
	s.Stdout = &watchFor{text: "ready", cancel: func() { cancel(); time.AfterFunc(0, func() { close(hurry) }) }}
	if r := run(t, ctx, s); r.Signal != "SIGKILL" {
		t.Fatalf("%+v", r)
	}
}

func TestRunIdle(t *testing.T) {
	t.Parallel()
	s := spec(t, `echo busy; exec sleep 1000`)
	s.Idle = 200 * time.Millisecond
	if r := run(t, t.Context(), s); r.Ended != proc.Idle || r.Signal != "SIGTERM" {
		t.Fatalf("%+v", r)
	}
}

func TestRunIsNotIdleWhileItTalks(t *testing.T) {
	t.Parallel()
	// It prints for much longer than Idle, at intervals much shorter than Idle. A machine that stalls for two seconds,
	// once or twice, looks the same as silence.
	for try := 1; ; try++ {
		s := spec(t, `i=0; while [ $i -lt 300 ]; do echo $i; sleep 0.01; i=$((i+1)); done`)
		s.Idle = 2 * time.Second
		r := run(t, t.Context(), s)
		if r.Ended == proc.Exited && r.Exit == 0 {
			return
		}
		if r.Ended != proc.Idle || try == 3 {
			t.Fatalf("%+v", r)
		}
	}
}

func TestRunTimeout(t *testing.T) {
	t.Parallel()
	s := spec(t, `while :; do echo busy; sleep 0.01; done`)
	s.Timeout = 200 * time.Millisecond
	if r := run(t, t.Context(), s); r.Ended != proc.Timeout {
		t.Fatalf("%+v", r)
	}
}

func TestRunDoesNotWaitForWhoHoldsStdout(t *testing.T) {
	t.Parallel()
	s := spec(t, `sleep 1000 & echo $! > "$DIR/pid"; echo done`)
	var out bytes.Buffer
	s.Stdout = &out
	r := run(t, t.Context(), s)
	if r.Ended != proc.Exited || r.Exit != 0 || out.String() != "done\n" {
		t.Fatalf("%+v, %q", r, out.String())
	}
	if alive(pid(t, s, "pid")) {
		t.Error("the child that held stdout lives")
	}
}

func TestRunKillsWhatIsLeftOfTheGroup(t *testing.T) {
	t.Parallel()
	s := spec(t, `(trap '' TERM; echo > "$DIR/ready"; while :; do sleep 0.01; done) & echo $! > "$DIR/pid"
		until [ -e "$DIR/ready" ]; do sleep 0.01; done`)
	s.Grace = 50 * time.Millisecond
	if r := run(t, t.Context(), s); r.Ended != proc.Exited || r.Exit != 0 {
		t.Fatalf("%+v", r)
	}
	if alive(pid(t, s, "pid")) {
		t.Error("it lives")
	}
}

func TestRunAsksWhatIsLeftOfTheGroupFirst(t *testing.T) {
	t.Parallel()
	s := spec(t, `(trap 'echo bye; exit' TERM; echo > "$DIR/ready"; while :; do sleep 0.01; done) &
		until [ -e "$DIR/ready" ]; do sleep 0.01; done`)
	var out bytes.Buffer
	s.Stdout = &out
	if r := run(t, t.Context(), s); r.Exit != 0 || out.String() != "bye\n" {
		t.Fatalf("%+v, %q", r, out.String())
	}
}

func TestRunStdoutClosedEarly(t *testing.T) {
	t.Parallel()
	s := spec(t, `exec >&- 2>&-; i=0; while [ $i -lt 20 ]; do sleep 0.01; i=$((i+1)); done; exit 5`)
	if r := run(t, t.Context(), s); r.Ended != proc.Exited || r.Exit != 5 {
		t.Fatalf("%+v", r)
	}
}

// tally counts the bytes written to it, and notices pieces that are too large.
type tally struct{ n, largest int }

func (c *tally) Write(p []byte) (int, error) {
	c.n += len(p)
	c.largest = max(c.largest, len(p))
	return len(p), nil
}

func TestRunFlood(t *testing.T) {
	t.Parallel()
	const size = 200 << 20
	s := spec(t, fmt.Sprintf(`head -c %d /dev/zero`, size))
	c := &tally{}
	s.Stdout = c
	if r := run(t, t.Context(), s); r.Exit != 0 || c.n != size || c.largest > 64<<10 {
		t.Fatalf("%+v, %+v", r, c)
	}
}

func TestRunLongLine(t *testing.T) {
	t.Parallel()
	const size = 100 << 20
	s := spec(t, fmt.Sprintf(`head -c %d /dev/zero | tr '\0' x`, size))
	c := &tally{}
	s.Stdout = c
	if r := run(t, t.Context(), s); r.Exit != 0 || c.n != size {
		t.Fatalf("%+v, %+v", r, c)
	}
}

type refusing struct{}

func (refusing) Write([]byte) (int, error) { return 0, os.ErrClosed }

func TestRunReadsOnWhenNobodyTakesTheOutput(t *testing.T) {
	t.Parallel()
	s := spec(t, `head -c 1000000 /dev/zero; exit 6`)
	s.Stdout = refusing{}
	if r := run(t, t.Context(), s); r.Exit != 6 {
		t.Fatalf("%+v", r)
	}
}

func TestRunBriefIsNotRead(t *testing.T) {
	t.Parallel()
	s := spec(t, `exit 4`)
	s.Stdin = strings.NewReader(strings.Repeat("long ", 1<<20))
	if r := run(t, t.Context(), s); r.Ended != proc.Exited || r.Exit != 4 {
		t.Fatalf("%+v", r)
	}
}

func TestRunHasNoTerminal(t *testing.T) {
	t.Parallel()
	if r := run(t, t.Context(), spec(t, `if (: </dev/tty) 2>/dev/null; then exit 1; fi`)); r.Exit != 0 {
		t.Fatalf("%+v", r)
	}
}

func TestRunExtraFiles(t *testing.T) {
	t.Parallel()
	s := spec(t, `echo held >&3`)
	f, err := os.Create(filepath.Join(s.Dir, "extra"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	s.ExtraFiles = []*os.File{f}
	run(t, t.Context(), s)
	if got, _ := os.ReadFile(f.Name()); string(got) != "held\n" {
		t.Fatalf("%q", got)
	}
}

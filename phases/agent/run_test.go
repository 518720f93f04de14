package agent

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/wfs-dev/wfs/phases/brief"
	"github.com/wfs-dev/wfs/phases/process"
	"github.com/wfs-dev/wfs/phases/report"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

// bench is a work tree, a run's directory and a runner for them.
type bench struct {
	Runner
	req   session.RunRequest
	mu    sync.Mutex
	lines []string
}

var noon = time.Date(2030, 1, 2, 12, 0, 0, 0, time.UTC)

func newBench(t *testing.T) *bench {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{req: attemptRequest()}
	b.Runner = Runner{Root: root, Environ: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "LC_ALL=C",
		"SECRET=s3cret", "ALLOWED=yes", "WFS_PHASE=outer"}, Now: func() time.Time { return noon }}
	b.Report = func(line string) {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.lines = append(b.lines, line)
	}
	runs := t.TempDir()
	b.req.RunDir = filepath.Join(runs, "r2")
	b.req.Started.RunID = "test-" + strconv.Itoa(os.Getpid()) + "-" + strings.ReplaceAll(t.Name(), "/", "-")
	for _, dir := range []string{"r1", "r2"} {
		if err := os.Mkdir(filepath.Join(runs, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return b
}

// agent sets the shell command that works in the phase.
func (b *bench) agent(t *testing.T, script string) {
	t.Helper()
	b.req.Plan.Agent.Command = workflows.Command{Shell: script}
}

func (b *bench) run(t *testing.T) session.RunResult {
	t.Helper()
	res, err := b.Run(t.Context(), b.req)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

func (b *bench) read(t *testing.T, dir, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestCommandContract(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.req.Plan.Env = []string{"ALLOWED"}
	b.agent(t, `cat > stdin; cat "$WFS_BRIEF" > brief; pwd > cwd; env | sort > env; echo "working"; printf '\033[31mred\n' >&2
		echo '{"done": true, "note": "mind the gap", "cost_usd": 0.25}' > "$WFS_RESULT"`)
	res := b.run(t)
	if res.Outcome != session.OutcomeOK || !res.Done || res.Note != "mind the gap" || res.CostUSD != 0.25 || res.Exit != 0 {
		t.Fatalf("%+v", res)
	}
	brief := string(brief.Render(b.req, brief.Found{Failures: nil}))
	if in, file, kept := b.read(t, b.Root, "stdin"), b.read(t, b.Root, "brief"), b.read(t, b.req.RunDir, BriefFile); in != brief || file != brief || kept != brief {
		t.Errorf("brief: %q, %q, %q, want %q", in, file, kept, brief)
	}
	if cwd := strings.TrimSpace(b.read(t, b.Root, "cwd")); cwd != b.Root {
		t.Errorf("cwd: %s, want %s", cwd, b.Root)
	}
	env := "\n" + b.read(t, b.Root, "env")
	for _, want := range []string{"WFS_SESSION=auth", "WFS_WORKFLOW=tdd", "WFS_PHASE=GREEN", "WFS_LAP=2", "WFS_ATTEMPT=3",
		"WFS_RUN_ID=" + b.req.Started.RunID, "ALLOWED=yes", "PWD=" + b.Root} {
		if !strings.Contains(env, "\n"+want+"\n") {
			t.Errorf("%s is missing in%s", want, env)
		}
	}
	if strings.Contains(env, "s3cret") {
		t.Errorf("the environment leaks:%s", env)
	}
	if log := b.read(t, b.req.RunDir, OutputFile); log != "working\n\x1b[31mred\n" {
		t.Errorf("log: %q", log)
	}
	if got := strings.Join(b.lines, "|"); got != "working|red" {
		t.Errorf("progress: %q", got)
	}
}

func TestCommandOutcomes(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		script string
		want   session.RunResult
	}{
		"failed":                   {`exit 3`, session.RunResult{Outcome: session.OutcomeFailed, Exit: 3}},
		"signalled":                {`kill -9 $$`, session.RunResult{Outcome: session.OutcomeFailed, Exit: 137}},
		"wait":                     {`exit 75`, session.RunResult{Outcome: session.OutcomeWait, Exit: 75}},
		"wait a while":             {`echo '{"wait": "15m"}' > $WFS_RESULT; exit 75`, session.RunResult{Outcome: session.OutcomeWait, Exit: 75, WaitUntil: noon.Unix() + 900}},
		"wait without exit":        {`echo '{"wait_until": "2030-01-02T13:00:00Z"}' > $WFS_RESULT`, session.RunResult{Outcome: session.OutcomeWait, WaitUntil: noon.Unix() + 3600}},
		"ask":                      {`echo '{"ask": "tabs?"}' > $WFS_RESULT`, session.RunResult{Outcome: session.OutcomeAsk, Ask: "tabs?"}},
		"continue":                 {`echo '{"done": true, "continue": true}' > $WFS_RESULT`, session.RunResult{Outcome: session.OutcomeOK, NotDone: true}},
		"garbage":                  {`echo '{"done": yes' > $WFS_RESULT`, session.RunResult{Outcome: session.OutcomeOK, Unread: true, Note: `could not read the answer; it counts as "not done": it is not a JSON object: invalid character 'y' looking for beginning of value`}},
		"fifo":                     {`mkfifo $WFS_RESULT`, session.RunResult{Outcome: session.OutcomeOK, Unread: true, Note: `could not read the answer; it counts as "not done": not a regular file`}},
		"too large":                {`head -c 70000 /dev/zero > $WFS_RESULT`, session.RunResult{Outcome: session.OutcomeOK, Unread: true, Note: `could not read the answer; it counts as "not done": file is too large`}},
		"a word of the wrong kind": {`echo '{"done": "false", "note": "half"}' > $WFS_RESULT`, session.RunResult{Outcome: session.OutcomeOK, Unread: true, Note: `could not read the answer; it counts as "not done": "done" must not be a string`}},
		"empty":                    {`: > $WFS_RESULT`, session.RunResult{Outcome: session.OutcomeOK}},
		"exits 127 itself":         {`echo lost; exit 127`, session.RunResult{Outcome: session.OutcomeFailed, Exit: 127, Message: "lost", Printed: []string{"lost"}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.agent(t, c.script)
			res := b.run(t)
			res.Millis = 0
			if fmt.Sprint(res) != fmt.Sprint(c.want) {
				t.Errorf("got %+v, want %+v", res, c.want)
			}
		})
	}
}

func TestCommandNotStarted(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	plain := filepath.Join(b.Root, "plain")
	if err := os.WriteFile(plain, []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	b.agent(t, "no-such-agent-of-wfs --flag")
	for _, c := range []workflows.Command{{Shell: "no-such-agent-of-wfs --flag"}, {Shell: "./plain"}, {Argv: []string{"no-such-agent-of-wfs"}}, {Argv: []string{"./plain"}}} {
		b.req.Plan.Agent.Command = c
		if res := b.run(t); res.Outcome != session.OutcomeNotStarted || res.Note == "" || res.Done {
			t.Errorf("%+v: %+v", c, res)
		}
		if log := b.read(t, b.req.RunDir, OutputFile); log == "" {
			t.Errorf("%+v: the log says nothing", c)
		}
	}
}

func TestAnOldResultIsNotBelieved(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.agent(t, "true")
	if err := os.WriteFile(filepath.Join(b.req.RunDir, ResultFile), []byte(`{"done": true}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if res := b.run(t); res.Done {
		t.Fatalf("%+v", res)
	}
}

func TestCommandStopped(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.agent(t, `echo '{"note": "half way"}' > $WFS_RESULT; exec sleep 1000`)
	b.req.Plan.Agent.Idle = 300 * time.Millisecond
	if res := b.run(t); res.Outcome != session.OutcomeIdle || res.Note != "half way" {
		t.Errorf("idle: %+v", res)
	}
	b.agent(t, `while :; do echo busy; sleep 0.01; done`)
	b.req.Plan.Agent = workflows.Agent{Command: b.req.Plan.Agent.Command, Timeout: 300 * time.Millisecond}
	if res := b.run(t); res.Outcome != session.OutcomeTimeout {
		t.Errorf("timeout: %+v", res)
	}
	b.req.Plan.Agent.Timeout = 0
	ctx, cancel := context.WithCancel(t.Context())
	b.Report = func(string) { cancel() }
	if res, err := b.Run(ctx, b.req); err != nil || res.Outcome != session.OutcomeInterrupted {
		t.Errorf("cancelled: %+v, %v", res, err)
	}
	if log := b.read(t, b.req.RunDir, OutputFile); !strings.HasSuffix(log, "wfs: interrupted\n") {
		t.Errorf("log: %q", log)
	}
}

func TestCommandOfThePhase(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.agent(t, "echo agent")
	b.req.Phase.Run = workflows.Run{Command: workflows.Command{Argv: []string{"sh", "-c", "echo phase"}}}
	b.run(t)
	if log := b.read(t, b.req.RunDir, OutputFile); log != "phase\n" {
		t.Errorf("%q", log)
	}
	b.req.Phase.Run = workflows.Run{}
	if _, err := b.Run(t.Context(), b.req); err == nil {
		t.Error("a phase with nobody in it ran")
	}
}

func TestLastFailuresReachTheBrief(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.agent(t, "true")
	b.req.Session.LastRun = "r1"
	b.req.Session.Last = &session.Decided{Verdict: session.Fail, Class: session.ClassTargetFailing}
	prior := filepath.Join(filepath.Dir(b.req.RunDir), "r1")
	if err := report.WriteFailures(prior, []report.Failure{{Test: "calc.TestAdd", Status: session.TestFail, Message: "want 3, got 4"}}, nil); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(prior, ResultFile), []byte(`{"note": "mind the carry"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	b.run(t)
	if brief := b.read(t, b.req.RunDir, BriefFile); !strings.Contains(brief, "want 3, got 4") || !strings.Contains(brief, "mind the carry") {
		t.Errorf("%s", brief)
	}
	if err := os.WriteFile(filepath.Join(prior, report.FailuresFile), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	b.lines = nil
	if b.run(t); len(b.lines) != 1 {
		t.Errorf("a broken file: %q", b.lines)
	}
}

func TestProgressIsBounded(t *testing.T) {
	t.Parallel()
	var lines []string
	p := progress(func(s string) { lines = append(lines, s) })
	for range 1000 {
		_, _ = p.Write(bytes.Repeat([]byte("x"), 1000))
	}
	_, _ = p.Write([]byte("\nshort\n\n \nlast"))
	p.Flush()
	if len(lines) != 3 || len([]rune(lines[0])) != process.MaxShown || lines[1] != "short" || lines[2] != "last" {
		t.Errorf("%q", lines)
	}
}

func attemptRequest() session.RunRequest {
	return session.RunRequest{
		Session: session.Session{Created: session.Created{ID: "auth", Goal: "A calculator.", Items: []string{"add", "subtract", "divide"}, Laps: true, SpecPath: "spec.md"}},
		Spec:    []byte("# Calculator\n\nWhole numbers only.\n\n- [ ] add\n- [ ] subtract\n- [ ] divide\n"),
		Phase: workflows.Phase{Name: "GREEN", Brief: "Make the failing tests pass.", Run: workflows.Run{Agent: true},
			Gates: []workflows.Gate{{Name: "tests", Run: workflows.Command{Shell: "go test -json ./..."}, Expect: workflows.ExpectPass}}},
		Started: session.AttemptStarted{Number: 7, Phase: "GREEN", Lap: 2, Attempt: 3, RunID: "r2"},
		RunDir:  filepath.Join("runs", "r2"),
		Plan:    workflows.Plan{Workflow: workflows.Workflow{Name: "tdd", Start: "RED"}},
	}
}

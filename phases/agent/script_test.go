package agent

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wfs-dev/wfs/session"
)

func mustParse(t *testing.T, text string) *Script {
	t.Helper()
	s, err := ParseScript(text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestScriptStep(t *testing.T) {
	t.Parallel()
	s := mustParse(t, `
version: 1
steps:
  - {phase: RED, say: any}
  - {phase: RED, lap: 1, say: one}
  - {phase: RED, lap: 1, attempt: 3, say: one-three}
  - {phase: RED, lap: 1, attempt: 2, say: one-two}
  - {phase: GREEN, lap: 1, attempt: 2, say: green}
  - {phase: GREEN, lap: 1, attempt: 2, say: green again}
`)
	for _, c := range []struct {
		phase        session.PhaseName
		lap, attempt int
		want         string
	}{
		{"RED", 1, 1, "one"}, {"RED", 1, 2, "one-two"}, {"RED", 1, 3, "one-three"}, {"RED", 1, 9, "one-three"}, {"RED", 2, 5, "any"},
		{"GREEN", 1, 1, ""}, {"GREEN", 1, 2, "green again"}, {"GREEN", 2, 2, ""}, {"DOC", 1, 1, ""},
	} {
		got := ""
		if step := s.Step(c.phase, c.lap, c.attempt); step != nil {
			got = step.Say
		}
		if got != c.want {
			t.Errorf("%s %d %d: %q, want %q", c.phase, c.lap, c.attempt, got, c.want)
		}
	}
}

func TestParseScriptErrors(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"version: 1\nsteps:\n  - {phase: RED, surprise: 1}\n  - phase: GREEN\n    done: 7\n    wait: 15\n    exit: x\nextra: 1\n": {
			`line 3: unknown key "surprise"`, "line 5: cannot unmarshal", "line 6: cannot unmarshal", "line 7: cannot unmarshal", `line 8: unknown key "extra"`},
		"version: 1\nsteps:\n  - phase: A\n    phase: B\n": {`line 4: mapping key "phase" already defined`},
		`version: 2
steps:
  - {phase: RED, lap: -1}
  - say: no phase
  - phase: GREEN
    files: {"../out": x, .git/config: x, "/abs": x, a/.GIT/b: x, ".": x, ok: x}
    delete: [.., ok]
    exit: 256
  - {phase: GREEN, hang: -1s}
`: {"version must be 1", "step 1: numbers", "step 2: a step needs a phase", `step 3: "../out" is not a path`, `step 3: ".git/config" belongs to git`,
			`step 3: "/abs" is not a path`, `step 3: "a/.GIT/b" belongs to git`, `step 3: "." is not a path`, `step 3: ".." is not a path`, "step 3: numbers", "step 4: numbers"},
	} {
		_, err := ParseScript(text)
		for _, w := range want {
			if err == nil || !strings.Contains(err.Error(), w) {
				t.Errorf("missing: %s in\n%v", w, err)
			}
		}
		if err != nil && strings.Count(err.Error(), "\n")+1 != len(want) {
			t.Errorf("%v", err)
		}
	}
	for _, bad := range []string{"", "# nothing", "version: 1", "version: 1\nsteps: 5", "[]", "a: [", "version: 1\nsteps: []\n---\nx: 1",
		strings.Repeat(" ", maxScript+1), "version: 1\nsteps:\n\t- x"} {
		if s, err := ParseScript(bad); err == nil || s != nil {
			t.Errorf("%.40q is accepted", bad)
		}
	}
}

// script sets the script to play.
func (b *bench) script(text string) {
	b.req.Plan.Agent.Script = "version: 1\nsteps:\n" + text
}

func TestScriptEdits(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for name, text := range map[string]string{"old.go": "old", "log.txt": "1\n", "keep.sh": "#!/bin/sh\n"} {
		if err := os.WriteFile(filepath.Join(b.Root, name), []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	b.script(`  - {phase: GREEN, say: "it works", files: {a/b/c.go: "package c\n", keep.sh: "x"}, append: {log.txt: "2\n", new.txt: n}, delete: [old.go, gone.go], done: true, note: n, exit: 0}`)
	res := b.run(t)
	if res.Outcome != session.OutcomeOK || !res.Done || res.Note != "n" {
		t.Fatalf("%+v", res)
	}
	for name, want := range map[string]string{"a/b/c.go": "package c\n", "log.txt": "1\n2\n", "new.txt": "n", "keep.sh": "x"} {
		if got := b.read(t, b.Root, name); got != want {
			t.Errorf("%s: %q", name, got)
		}
	}
	if info, err := os.Stat(filepath.Join(b.Root, "keep.sh")); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("keep.sh: %v, %v", info.Mode(), err)
	}
	if _, err := os.Stat(filepath.Join(b.Root, "old.go")); err == nil {
		t.Error("old.go is still there")
	}
	if a := readResult(filepath.Join(b.req.RunDir, ResultFile), nil, b.Now); a.note != "n" {
		t.Errorf("the next brief will not have the note: %+v", a)
	}
	if len(b.lines) != 1 || b.lines[0] != "it works" {
		t.Errorf("%q", b.lines)
	}
}

func TestScriptOutcomes(t *testing.T) {
	t.Parallel()
	for step, want := range map[string]session.RunResult{
		`  - {phase: GREEN, exit: 3}`:                    {Outcome: session.OutcomeFailed, Exit: 3},
		`  - {phase: GREEN, exit: 75}`:                   {Outcome: session.OutcomeWait, Exit: 75},
		`  - {phase: GREEN, wait: 15m}`:                  {Outcome: session.OutcomeWait, WaitUntil: noon.Unix() + 900},
		`  - {phase: GREEN, ask: "really?"}`:             {Outcome: session.OutcomeAsk, Ask: "really?"},
		`  - {phase: GREEN, done: true, continue: true}`: {Outcome: session.OutcomeOK},
		`  - {phase: OTHER, exit: 3}`:                    {Outcome: session.OutcomeOK},
		`  - {phase: GREEN, hang: 1ms, done: true}`:      {Outcome: session.OutcomeOK, Done: true},
	} {
		b := newBench(t)
		b.script(step)
		if got := b.run(t); got.Outcome != want.Outcome || got.Exit != want.Exit || got.WaitUntil != want.WaitUntil || got.Ask != want.Ask || got.Done != want.Done {
			t.Errorf("%s: %+v", step, got)
		}
	}
	b := newBench(t)
	b.req.Plan.Agent.Script = "steps: what"
	if res := b.run(t); res.Outcome != session.OutcomeNotStarted || !strings.Contains(res.Note, "line 1") {
		t.Errorf("%+v", res)
	}
}

func TestScriptKilledInTheMiddle(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.script(`  - {phase: GREEN, say: begun, scribble: {a.go: "half"}, hang: 10h, files: {a.go: whole}, done: true}`)
	ctx, cancel := context.WithCancel(t.Context())
	b.Report = func(string) { cancel() }
	res, err := b.Run(ctx, b.req)
	if err != nil || res.Outcome != session.OutcomeInterrupted || res.Done {
		t.Fatalf("%+v, %v", res, err)
	}
	if got := b.read(t, b.Root, "a.go"); got != "half" {
		t.Errorf("a.go: %q", got)
	}
}

func TestScriptStopped(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.script(`  - {phase: GREEN, hang: 10h, files: {a.go: whole}}`)
	b.req.Plan.Agent.Idle = 1
	if res := b.run(t); res.Outcome != session.OutcomeIdle {
		t.Errorf("%+v", res)
	}
	b.req.Plan.Agent.Idle, b.req.Plan.Agent.Timeout = 0, 1
	if res := b.run(t); res.Outcome != session.OutcomeTimeout {
		t.Errorf("%+v", res)
	}
	if _, err := os.Stat(filepath.Join(b.Root, "a.go")); err == nil {
		t.Error("a stopped step went on")
	}
}

func TestScriptStaysInTheWorkTree(t *testing.T) {
	t.Parallel()
	outside := t.TempDir()
	for _, step := range []string{
		`  - {phase: GREEN, files: {link/evil: x}}`, `  - {phase: GREEN, append: {file: x}}`, `  - {phase: GREEN, delete: [link/victim]}`,
		`  - {phase: GREEN, scribble: {link/victim: x}}`,
	} {
		b := newBench(t)
		victim := filepath.Join(outside, "victim")
		if err := os.WriteFile(victim, []byte("v"), 0o600); err != nil {
			t.Fatal(err)
		}
		if os.Symlink(outside, filepath.Join(b.Root, "link")) != nil || os.Symlink(victim, filepath.Join(b.Root, "file")) != nil {
			t.Skip("no symbolic links here")
		}
		b.script(step)
		if res := b.run(t); res.Outcome != session.OutcomeFailed || res.Note == "" {
			t.Errorf("%s: %+v", step, res)
		}
		if names, err := os.ReadDir(outside); err != nil || len(names) != 1 || b.read(t, outside, "victim") != "v" {
			t.Errorf("%s: %v, %v", step, names, err)
		}
	}
}

func FuzzParseScript(f *testing.F) {
	f.Add("version: 1\nsteps:\n  - {phase: RED, lap: 1, files: {a: b}, delete: [c], hang: 1s}\n")
	f.Add("version: 1\nsteps: [&a {phase: X}, *a]")
	f.Add("version: 1\nsteps:\n- phase: [\n- <<: {a: b}")
	f.Fuzz(func(t *testing.T, text string) {
		s, err := ParseScript(text)
		if (s == nil) == (err == nil) {
			t.Fatalf("%v, %v", s, err)
		}
		if s == nil {
			return
		}
		for _, step := range s.Steps {
			if step.Phase == "" && len(s.Steps) > 0 {
				continue // an empty name matches no phase
			}
			for name := range step.Files {
				if !filepath.IsLocal(filepath.FromSlash(name)) {
					t.Fatalf("%q", name)
				}
			}
		}
	})
}

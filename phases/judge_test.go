package phases

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/wfs-dev/wfs/phases/report"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

func TestExitGates(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, command string
		timeout       time.Duration
		known         bool
		verdict       session.Verdict
		class         session.Class
	}{
		{name: "0", command: "true", verdict: session.Pass, class: session.ClassGreen},
		{name: "1", command: "echo no >&2; exit 1", verdict: session.Fail, class: session.ClassCommandFailed},
		{name: "1 as on the base", command: "exit 1", known: true, verdict: session.Fail, class: session.ClassCommandFailed},
		{name: "not there", command: "no-such-command-anywhere", verdict: session.Blocked, class: session.ClassInfraError},
		{name: "not executable", command: "./data.txt", verdict: session.Blocked, class: session.ClassInfraError},
		{name: "does not end", command: "sleep 600", timeout: 200 * time.Millisecond, verdict: session.Fail, class: session.ClassTimeout},
		{name: "signal", command: "kill -9 $$", verdict: session.Fail, class: session.ClassCommandFailed},
		{name: "changes the tree", command: "echo x > new.txt", verdict: session.Blocked, class: session.ClassGateChangedTree},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, map[string]string{"a": "a"})
			if err := os.WriteFile(filepath.Join(l.judge.Root, "data.txt"), []byte("data"), 0o644); err != nil {
				t.Fatal(err)
			}
			tree, _ := l.snapshot(t.Context())
			s := start{ev: session.Evidence{Tree: tree}, snap: l.snaps[tree]}
			if tc.known {
				s.base.Red = []session.TestID{report.GateID("lint")}
			}
			g := shGate(tc.command)
			if tc.timeout > 0 {
				g.Timeout = tc.timeout
			}
			check(t, l.judged(s, g, workflows.ExpectPass, nil, nil), tc.verdict, tc.class)
		})
	}
}

func TestArgvGateWithoutAShell(t *testing.T) {
	t.Parallel()
	l := newLab(t, map[string]string{"a": "a"})
	g := shGate("")
	g.Run.Argv = []string{"printf", "%s", "$HOME; exit 1"}
	check(t, l.judged(start{}, g, workflows.ExpectPass, nil, nil), session.Pass, session.ClassGreen)
	g.Run.Argv = []string{"no-such-command-anywhere"}
	check(t, l.judged(start{}, g, workflows.ExpectPass, nil, nil), session.Blocked, session.ClassInfraError)
}

func TestRedNeedsResultsByTest(t *testing.T) {
	t.Parallel()
	l := newLab(t, map[string]string{"a": "a"})
	check(t, l.judged(start{}, shGate("exit 1"), workflows.ExpectRed, nil, nil), session.Blocked, session.ClassInfraError)
}

func TestGateThatMayChangeTheTreeRunsFirst(t *testing.T) {
	t.Parallel()
	l := newLab(t, map[string]string{"a": "a"})
	tree, _ := l.snapshot(t.Context())
	check1 := shGate("test -e formatted")
	format := shGate("touch formatted")
	format.Name, format.MayChangeTree = "format", true
	j, err := l.judge.Judge(t.Context(), session.JudgeRequest{Tree: tree, RunDir: t.TempDir(),
		Phase: workflows.Phase{Name: "P", Gates: []workflows.Gate{check1, format}}})
	if err != nil {
		t.Fatal(err)
	}
	check(t, j, session.Pass, session.ClassGreen)
	if now, _ := l.snapshot(t.Context()); j.Tree != now || j.Evidence.Tree != now || now == tree {
		t.Error("the judgement is not about the tree that the gates left")
	}
	if j.Gates[0].Gate != "lint" || j.Gates[1].Gate != "format" {
		t.Error("results are not in the order of the workflow")
	}
}

func TestGuards(t *testing.T) {
	t.Parallel()
	l := newLab(t, map[string]string{"a": "a"})
	tree, _ := l.snapshot(t.Context())
	j, err := l.judge.Judge(t.Context(), session.JudgeRequest{Tree: tree, RunDir: t.TempDir(),
		Phase: workflows.Phase{Name: "GREEN", Guards: workflows.Guards{Except: []string{"*_test.go"}}, Gates: []workflows.Gate{shGate("exit 1")}},
		Visit: []session.Change{{Path: "a.go", Status: "M"}, {Path: "x/a_test.go", Status: "D"}, {Path: ".wfs/b_test.go", Status: "A"}}})
	if err != nil {
		t.Fatal(err)
	}
	check(t, j, session.Fail, session.ClassGuard)
	if len(j.Guarded) != 1 || j.Guarded[0] != "x/a_test.go" || len(j.Gates) != 0 {
		t.Errorf("guarded %v, %d gates ran", j.Guarded, len(j.Gates))
	}
}

func TestBaselineThatCannotJudge(t *testing.T) {
	t.Parallel()
	junit := func(command string) workflows.Gate {
		g := shGate(command)
		g.Format = workflows.FormatJUnit
		return g
	}
	slow := shGate("sleep 600")
	slow.Timeout = 200 * time.Millisecond
	for _, tc := range []struct {
		name string
		gate workflows.Gate
		want []string
	}{
		{"not there", shGate("no-such-command-anywhere"), []string{"lint", "127", "no-such-command-anywhere"}},
		{"does not end", slow, []string{"did not finish within 200ms"}},
		{"changes the tree", shGate("touch new.txt"), []string{"new.txt", ".gitignore", "may-change-tree"}},
		{"prints and fails", junit("seq 1 100; exit 2"), []string{"exited with code 2", "no test", "\n  81", "\n  100"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, map[string]string{"a": "a"})
			tree, _ := l.snapshot(t.Context())
			_, _, err := l.judge.Baseline(t.Context(), workflows.Plan{Baseline: []workflows.Gate{tc.gate}}, tree, t.TempDir())
			if err == nil {
				t.Fatal("no error")
			}
			for _, want := range tc.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%q is not in: %v", want, err)
				}
			}
			if strings.Contains(err.Error(), "\n  80\n") {
				t.Error("more than the last lines are quoted")
			}
		})
	}
}

func TestBaselineWithoutTests(t *testing.T) {
	t.Parallel()
	for name, files := range map[string]map[string]string{
		"a module without a test":   {"go.mod": "module example.org/new\n\ngo 1.21\n", "main.go": "package main\n\nfunc main() {}\n"},
		"a module without any code": {"go.mod": "module example.org/new\n\ngo 1.21\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, files)
			s := l.baseline(goGate())
			if len(s.base.Red)+len(s.base.Flaky)+s.base.Gates[0].Counts.Total() > 0 {
				t.Errorf("%+v", s.base)
			}
			check(t, l.judged(s, goGate(), workflows.ExpectPass, nil, nil), session.Fail, session.ClassNoTests)
			l.write(map[string]string{"x/x_test.go": "package x\n\nimport \"testing\"\n\nfunc TestX(t *testing.T) { t.Fatal(\"not yet\") }\n"})
			j := l.judged(s, goGate(), workflows.ExpectRed, nil, nil)
			check(t, j, session.Pass, session.ClassTargetFailed)
		})
	}
}

func TestBaselineFindsFlakyTestsAndRedGates(t *testing.T) {
	t.Parallel()
	l := newLab(t, map[string]string{"go.mod": "module example.org/f\n\ngo 1.21\n", "ignored/x": "",
		"f_test.go": "package f\n\nimport (\n\t\"os\"\n\t\"testing\"\n)\n\nfunc TestFlaky(t *testing.T) {\n\tif os.Mkdir(\"ignored/was\", 0o755) == nil {\n\t\tt.Fatal()\n\t}\n}\n\nfunc TestFine(t *testing.T) {}\n"})
	s := l.baseline(goGate(), shGate("exit 3"))
	if got := joined(s.base.Flaky); got != "example.org/f.TestFlaky" {
		t.Errorf("flaky = %s", got)
	}
	if got := joined(s.base.Red); got != "gate lint" {
		t.Errorf("red = %s", got)
	}
	if err := os.RemoveAll(filepath.Join(l.judge.Root, "ignored", "was")); err != nil {
		t.Fatal(err)
	}
	l.judge.Env = append(l.judge.Env, "GOFLAGS=-count=1")
	j := l.judged(s, goGate(), workflows.ExpectPass, nil, nil)
	check(t, j, session.Pass, session.ClassGreen)
	if got := joined(j.Gates[0].KnownRed); got != "example.org/f.TestFlaky" {
		t.Errorf("known red = %s", got)
	}
}

func TestFailuresAreKeptForTheNextPrompt(t *testing.T) {
	t.Parallel()
	l := newLab(t, map[string]string{"go.mod": "module example.org/f\n\ngo 1.21\n"})
	s := l.baseline(goGate())
	l.write(map[string]string{"f_test.go": "package f\n\nimport \"testing\"\n\nfunc TestX(t *testing.T) { t.Fatal(\"got \\x1b[31m7\\x1b[0m\") }\n"})
	dir := t.TempDir()
	tree, _ := l.snapshot(t.Context())
	_, err := l.judge.Judge(t.Context(), session.JudgeRequest{Tree: tree, RunDir: dir, LapStart: s.ev, Phase: workflows.Phase{Name: "GREEN", Gates: []workflows.Gate{goGate()}}})
	if err != nil {
		t.Fatal(err)
	}
	list, err := report.ReadFailures(dir)
	if err != nil || len(list) != 1 {
		t.Fatal(list, err)
	}
	f := list[0]
	if f.Test != "example.org/f.TestX" || f.Status != session.TestFail || !strings.Contains(f.Message, "got 7") || f.Log == "" {
		t.Errorf("%+v", f)
	}
	if _, err := os.Stat(filepath.Join(dir, f.Log)); err != nil {
		t.Error(err)
	}
	if none, err := report.ReadFailures(filepath.Join(dir, "gone")); none != nil || err != nil {
		t.Error(none, err)
	}
}

func TestCancelledJudgementIsAnError(t *testing.T) {
	t.Parallel()
	l := newLab(t, map[string]string{"a": "a"})
	ctx, cancel := context.WithCancel(t.Context())
	l.judge.Report = func(string) { cancel() }
	_, err := l.judge.Judge(ctx, session.JudgeRequest{RunDir: t.TempDir(), Phase: workflows.Phase{Gates: []workflows.Gate{shGate("sleep 600")}}})
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestJudgementIsPlainData(t *testing.T) {
	t.Parallel()
	l, s := calcLab(t)
	a, err := json.Marshal(l.judged(s, goGate(), workflows.ExpectRed, nil, nil).Evidence)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(a), l.judge.Root) {
		t.Error("a path of this machine is in the evidence")
	}
}

// TestTestCommandReplacedByOneThatOnlySucceeds: the program that prints the results may be part of the project, and
// then the agent may change it.
func TestTestCommandReplacedByOneThatOnlySucceeds(t *testing.T) {
	t.Parallel()
	l := newLab(t, map[string]string{"run.sh": "#!/bin/sh\necho '<testsuite><testcase classname=\"c\" name=\"a\"/></testsuite>'\n"})
	s := l.baseline(junitGate("./run.sh"))
	l.write(map[string]string{"run.sh": "#!/bin/sh\nexit 0\n"})
	check(t, l.judged(s, junitGate("./run.sh"), workflows.ExpectPass, nil, nil), session.Fail, session.ClassNoTests)
}

func TestTargetsAreThoseOfTheRedGate(t *testing.T) {
	t.Parallel()
	l := newLab(t, map[string]string{"a": "a"})
	unit, e2e := junitGate(`echo '<testsuite><testcase classname="c" name="unit"/></testsuite>'`), junitGate(`echo '<testsuite><testcase classname="c" name="e2e"/></testsuite>'`)
	e2e.Name = "e2e"
	red := unit
	red.Expect = workflows.ExpectRed
	tree, _ := l.snapshot(t.Context())
	j, err := l.judge.Judge(t.Context(), session.JudgeRequest{Tree: tree, RunDir: t.TempDir(), Targets: []session.TestID{"c::unit"},
		Phase: workflows.Phase{Name: "GREEN", Gates: []workflows.Gate{unit, e2e}},
		Plan:  workflows.Plan{Workflow: workflows.Workflow{Phases: []workflows.Phase{{Gates: []workflows.Gate{e2e, red}}}}}})
	if err != nil {
		t.Fatal(err)
	}
	check(t, j, session.Pass, session.ClassGreen)
}

package phases

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/wfs-dev/wfs/internal/holdout"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

// TestHoldout runs gates with hold-out tests. The runner reads its results from files of the tree.
func TestHoldout(t *testing.T) {
	t.Parallel()
	const hidden = "import unittest\n\n\nclass H(unittest.TestCase):\n    def test_hidden(self):\n        self.assertEqual(calc.sub(9, 2), 7)\n"
	plain := session.Tests{"test_calc::test_sub": session.TestPass, "test_calc::test_old": session.TestFail}
	junit := func(cases ...string) string {
		return "cat <<'E'\n<testsuite>" + strings.Join(cases, "") + "</testsuite>\nE\n"
	}
	tc := func(class, name, inside string) string {
		return "<testcase classname='" + class + "' name='" + name + "'>" + inside + "</testcase>"
	}
	const fails = "<failure message='secret of the test'>AssertionError</failure>"
	sub, old := tc("test_calc", "test_sub", ""), tc("test_calc", "test_old", fails)
	for _, c := range []struct {
		name, runs     string
		format         workflows.Format
		laid           string // path of the hold-out file
		base, reveal   bool
		verdict        session.Verdict
		reason         string
		passed, failed int
		failing, notes []string
	}{
		{name: "all pass", runs: junit(sub, old, tc("test_hidden", "test_hidden", "")), verdict: session.Pass, reason: "1 hold-out test passes", passed: 1},
		{name: "one fails", runs: junit(sub, old, tc("test_hidden", "test_hidden", fails)) + "exit 1", verdict: session.Fail, reason: "1 hold-out test fails", failed: 1},
		{name: "one fails and may be named", runs: junit(sub, old, tc("test_hidden", "test_hidden", fails)) + "exit 1", reveal: true,
			verdict: session.Fail, reason: "1 hold-out test fails", failed: 1, failing: []string{"test_hidden::test_hidden"}},
		{name: "it passes the second time", runs: "test -e ../ran && " + "{ " + junit(sub, tc("test_hidden", "test_hidden", "")) + "exit 0; }\ntouch ../ran\n" +
			junit(sub, tc("test_hidden", "test_hidden", fails)) + "exit 1", verdict: session.Pass, reason: "1 hold-out test passes", passed: 1},
		{name: "another test breaks beside it", runs: junit(tc("test_calc", "test_sub", fails), tc("test_hidden", "test_hidden", "")) + "exit 1",
			verdict: session.Fail, reason: "1 of 2 hold-out tests fail", passed: 1, failed: 1},
		{name: "it is not run", runs: junit(sub, old), verdict: session.Fail, reason: "the tests of 1 hold-out file did not run", notes: []string{"no test of test_hidden.py ran"}},
		{name: "another of its name is run", runs: junit(sub, tc("test_calc", "test_hidden", "")), verdict: session.Pass, reason: "1 hold-out test passes", passed: 1},
		{name: "it is skipped", runs: junit(sub, tc("test_hidden", "test_hidden", "<skipped/>")), verdict: session.Fail,
			reason: "the tests of 1 hold-out file did not run", notes: []string{"no test of test_hidden.py ran"}},
		{name: "it stands in place of one", laid: "test_calc.py", runs: junit(tc("test_calc", "test_hidden", ""), tc("test_calc", "test_sub", "")),
			verdict: session.Pass, reason: "2 hold-out tests pass", passed: 2},
		{name: "nothing is reported", runs: "exit 2", verdict: session.Fail, reason: "1 hold-out test fails", failed: 1},
		{name: "the command does not exist", runs: "exit 127", verdict: session.Blocked, reason: "the hold-out tests could not run: gate tests: the command could not run (exit code 127)"},
		{name: "by exit code it passes", format: workflows.FormatExit, runs: "true", verdict: session.Pass, reason: "1 hold-out test passes", passed: 1},
		{name: "by exit code it fails", format: workflows.FormatExit, runs: "false", verdict: session.Fail, reason: "1 hold-out test fails", failed: 1},
		{name: "on the base it waits", base: true, runs: junit(sub, tc("test_hidden", "test_hidden", "<error message='x'>NameError: name 'calc' is not defined</error>")) + "exit 1",
			verdict: session.Fail, reason: "1 hold-out test fails", failed: 1},
		{name: "on the base it breaks another", base: true, runs: junit(tc("test_calc", "test_sub", fails), tc("test_hidden", "test_hidden", "")) + "exit 1",
			verdict: session.Fail, reason: "1 of 2 hold-out tests fail", passed: 1, failed: 1, notes: []string{"test_calc::test_sub passes on the base, and fails together with the hold-out tests"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, map[string]string{"calc.py": "x = 1\n", "test_calc.py": "import unittest\n", "run.sh": c.runs})
			if c.laid == "" {
				c.laid = "test_hidden.py"
			}
			if c.format == "" {
				c.format = workflows.FormatJUnit
			}
			tree, _ := l.snapshot(t.Context())
			clean := l.clean()
			l.judge.Clean = func(ctx context.Context, tree session.Tree) (session.CleanTree, error) {
				at, err := clean(ctx, tree)
				if err != nil {
					return at, err
				}
				return at, os.WriteFile(filepath.Join(at.Root, c.laid), []byte(hidden), 0o644)
			}
			plan := workflows.Plan{Holdout: &workflows.Holdout{Digest: "d", Files: 1}}
			if c.reveal {
				plan.Holdout.Reveal = workflows.RevealNames
			}
			g := workflows.Gate{Name: "tests", Run: workflows.Command{Shell: "sh run.sh"}, Format: c.format, Where: workflows.InPlace, Timeout: 60e9}
			dir := t.TempDir()
			got, notes, err := l.judge.Holdout(t.Context(), session.JudgeRequest{Tree: tree, RunDir: dir, Plan: plan, Phase: workflows.Phase{Gates: []workflows.Gate{g}},
				LapStart: session.Evidence{Gates: map[string]session.Tests{"tests": plain}}, Known: []session.TestID{"test_calc::test_old"}}, holdout.Pack{{Path: c.laid, Data: []byte(hidden)}}, c.base)
			if err != nil {
				t.Fatal(err)
			}
			if got.Verdict != c.verdict || got.Reason != c.reason || got.Passed != c.passed || got.Failed != c.failed || got.Tree != tree {
				t.Errorf("%+v, want %s, %q, %d passed, %d failed", got, c.verdict, c.reason, c.passed, c.failed)
			}
			var failing []string
			for _, id := range got.Failing {
				failing = append(failing, string(id))
			}
			if !slices.Equal(failing, c.failing) || !slices.Equal(notes, c.notes) {
				t.Errorf("failing %q, want %q; notes %q, want %q", failing, c.failing, notes, c.notes)
			}
			if now, _ := l.snapshot(t.Context()); now != tree {
				t.Error("the work tree was changed")
			}
		})
	}
}

package phases

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/wfs-dev/wfs/internal/proc"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

func junitGate(command string) workflows.Gate {
	return workflows.Gate{Name: "tests", Run: workflows.Command{Shell: command}, Format: workflows.FormatJUnit, Where: workflows.InPlace, Timeout: 5 * time.Minute}
}

// needs skips a test, visibly, if a runner is not installed.
func needs(t *testing.T, argv ...string) {
	t.Helper()
	if _, err := proc.LookPath(argv[0], os.Getenv("PATH")); err != nil {
		t.Skipf("%s is not installed", argv[0])
	}
	_, stderr, exit, err := proc.Output(context.Background(), proc.Cmd{Argv: argv, Env: labEnv(t)})
	if err != nil || exit != 0 {
		t.Skipf("%s does not run here: %v %s", strings.Join(argv, " "), err, stderr)
	}
}

const (
	nodeTop    = "import test from 'node:test';\nimport assert from 'node:assert';\n"
	nodeAdd    = nodeTop + "import { add } from '../src/calc.js';\n\ntest('adds', () => { assert.equal(add(1, 2), 3); });\n\ntest('adds zero', () => { assert.equal(add(1, 0), 1); });\n"
	nodeSub    = "\ntest('subtracts', () => { assert.equal(sub(3, 1), 2); });\n"
	nodeNested = nodeTop + "import { sub } from '../src/sub.js';\n\ntest('subtraction', async t => {\n  await t.test('of numbers', () => { assert.equal(sub(3, 1), 2); });\n});\n"
	nodeCalc   = "export function add(a, b) { return a + b; }\n"
)

func nodeProject() map[string]string {
	return map[string]string{
		"package.json":       `{"name": "calc", "type": "module"}`,
		"src/calc.js":        nodeCalc,
		"test/calc.test.js":  nodeAdd,
		"test/other.test.js": nodeTop + "test('works', () => { assert.ok(true); });\n",
	}
}

func TestNode(t *testing.T) {
	t.Parallel()
	needs(t, "node", "--test", "--test-reporter=junit", "--version")
	withSub := strings.Replace(nodeAdd, "{ add }", "{ add, sub }", 1) + nodeSub
	subOnly := "export function sub(a, b) { return a - b; }\n"
	wrong := nodeCalc + "export function sub(a, b) { return 0; }\n"
	right := nodeCalc + "export function sub(a, b) { return a - b; }\n"
	for _, tc := range []struct {
		name     string
		edit     map[string]string
		expect   workflows.Expect
		targets  []session.TestID
		expected []string
		verdict  session.Verdict
		class    session.Class
		found    string // targets and expected names
	}{
		{name: "missing export", edit: map[string]string{"test/calc.test.js": withSub}, expect: workflows.ExpectRed,
			verdict: session.Pass, class: session.ClassMissingSymbol, found: "test/calc.test.js"},
		{name: "missing module", edit: map[string]string{"test/sub.test.js": nodeTop + "import { sub } from '../src/sub.js';\n" + nodeSub}, expect: workflows.ExpectRed,
			verdict: session.Pass, class: session.ClassMissingSymbol, found: "test/sub.test.js"},
		{name: "missing module of subtests", edit: map[string]string{"test/sub.test.js": nodeNested}, expect: workflows.ExpectRed,
			verdict: session.Pass, class: session.ClassMissingSymbol, found: "test/sub.test.js"},
		{name: "missing name at run time", edit: map[string]string{"test/sub.test.js": nodeTop + "import * as calc from '../src/calc.js';\n" + strings.Replace(nodeSub, "sub(3", "calc.sub(3", 1)}, expect: workflows.ExpectRed,
			verdict: session.Pass, class: session.ClassTargetFailed, found: "subtracts"},
		{name: "assertion", edit: map[string]string{"test/calc.test.js": withSub, "src/calc.js": wrong}, expect: workflows.ExpectRed,
			verdict: session.Pass, class: session.ClassTargetFailed, found: "subtracts"},
		{name: "syntax error", edit: map[string]string{"test/calc.test.js": nodeAdd + "test('subtracts', () => {"}, expect: workflows.ExpectRed,
			verdict: session.Fail, class: session.ClassBuildBroken},
		{name: "package that is not installed", edit: map[string]string{"test/sub.test.js": nodeTop + "import x from 'no-such-package';\n" + nodeSub}, expect: workflows.ExpectRed,
			verdict: session.Fail, class: session.ClassBuildBroken},
		{name: "export taken away", edit: map[string]string{"src/calc.js": "export {};\n", "test/calc.test.js": nodeAdd + "\ntest('adds more', () => { assert.equal(add(2, 2), 4); });\n"}, expect: workflows.ExpectRed,
			verdict: session.Fail, class: session.ClassBuildBroken},
		{name: "nothing", expect: workflows.ExpectRed, verdict: session.Fail, class: session.ClassNothingAdded},
		{name: "skipped", edit: map[string]string{"test/calc.test.js": nodeAdd + "\ntest.skip('subtracts', () => { assert.ok(false); });\n"}, expect: workflows.ExpectRed,
			verdict: session.Fail, class: session.ClassNothingAdded},
		{name: "todo", edit: map[string]string{"test/calc.test.js": nodeAdd + "\ntest('subtracts', { todo: true }, () => { assert.ok(false); });\n"}, expect: workflows.ExpectRed,
			verdict: session.Fail, class: session.ClassNothingAdded},

		{name: "green", edit: map[string]string{"test/calc.test.js": withSub, "src/calc.js": right}, targets: []session.TestID{"subtracts"},
			verdict: session.Pass, class: session.ClassGreen},
		{name: "green by name", edit: map[string]string{"test/calc.test.js": withSub, "src/calc.js": right}, expected: []string{"adds", "adds zero", "subtracts"},
			verdict: session.Pass, class: session.ClassGreen, found: "adds adds zero subtracts"},
		{name: "not yet", edit: map[string]string{"test/calc.test.js": withSub, "src/calc.js": wrong}, expected: []string{"subtracts"},
			verdict: session.Fail, class: session.ClassTargetFailing},
		{name: "ends the process", edit: map[string]string{"test/calc.test.js": "process.exit(0);\n" + withSub, "src/calc.js": wrong}, expected: []string{"subtracts"},
			verdict: session.Fail, class: session.ClassTargetMissing},
		{name: "subtests by the name of their test", edit: map[string]string{"test/sub.test.js": nodeNested, "src/sub.js": subOnly}, expected: []string{"subtraction", "of numbers"},
			verdict: session.Pass, class: session.ClassGreen, found: "subtraction > of numbers"},
		{name: "old test deleted", edit: map[string]string{"test/calc.test.js": withSub, "src/calc.js": right, "test/other.test.js": "-"}, targets: []session.TestID{"subtracts"},
			verdict: session.Fail, class: session.ClassBrokeGreen},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, nodeProject())
			s := nodeStart(t, l)
			l.write(tc.edit)
			expect := tc.expect
			if expect == "" {
				expect = workflows.ExpectPass
			}
			l.trying()
			j := l.judged(s, junitGate("node --test --test-reporter=junit"), expect, tc.targets, tc.expected)
			check(t, j, tc.verdict, tc.class)
			if got := strings.TrimSpace(joined(j.Gates[0].Targets) + " " + strings.Join(j.Gates[0].Expected, " ")); got != tc.found {
				t.Errorf("found %q, want %q", got, tc.found)
			}
		})
	}
}

// nodeStart is the baseline of nodeProject; TestNodeBaseline checks it.
func nodeStart(t *testing.T, l *lab) start {
	tree, err := l.snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return start{ev: session.Evidence{Tree: tree, Gates: map[string]session.Tests{"tests": {"adds": session.TestPass, "adds zero": session.TestPass, "works": session.TestPass}}}, snap: l.snaps[tree]}
}

func TestNodeBaseline(t *testing.T) {
	t.Parallel()
	needs(t, "node", "--test", "--test-reporter=junit", "--version")
	l := newLab(t, nodeProject())
	s := l.baseline(junitGate("node --test --test-reporter=junit"))
	if got, want := s.ev.Gates["tests"], nodeStart(t, l).ev.Gates["tests"]; !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

const pyAdd = "from calc import add\n\n\ndef test_add():\n    assert add(1, 2) == 3\n"

func TestPytest(t *testing.T) {
	t.Parallel()
	needs(t, "python3", "-m", "pytest", "--version")
	const keepOn = `python3 -m pytest -q -p no:cacheprovider --continue-on-collection-errors --junitxml="$WFS_REPORT"`
	const stops = `python3 -m pytest -q -p no:cacheprovider --junitxml="$WFS_REPORT"`
	files := map[string]string{"calc.py": "def add(a, b):\n    return a + b\n", "conftest.py": "", "test_calc.py": pyAdd,
		"test_other.py": "import pytest\n\n\n@pytest.mark.parametrize('x', [1, 2])\ndef test_many(x):\n    assert x\n"}
	const newTest = "\n\ndef test_sub():\n    assert sub(3, 1) == 2\n"
	withSub := strings.Replace(pyAdd, "import add", "import add, sub", 1) + newTest
	for _, tc := range []struct {
		name, command string
		edit          map[string]string
		expect        workflows.Expect
		targets       []session.TestID
		expected      []string
		verdict       session.Verdict
		class         session.Class
		found         string
	}{
		{name: "missing name in an import", command: keepOn, edit: map[string]string{"test_calc.py": withSub}, expect: workflows.ExpectRed,
			verdict: session.Pass, class: session.ClassMissingSymbol, found: "test_calc"},
		{name: "missing name in an import, and pytest stops", command: stops, edit: map[string]string{"test_calc.py": withSub}, expect: workflows.ExpectRed,
			verdict: session.Pass, class: session.ClassMissingSymbol, found: "test_calc"},
		{name: "missing name at run time", command: keepOn, edit: map[string]string{"test_calc.py": pyAdd + strings.Replace(newTest, "assert", "import calc\n    assert", 1)}, expect: workflows.ExpectRed,
			verdict: session.Pass, class: session.ClassTargetFailed, found: "test_calc::test_sub"},
		{name: "syntax error", command: keepOn, edit: map[string]string{"test_calc.py": pyAdd + "\n\ndef test_sub(:\n"}, expect: workflows.ExpectRed,
			verdict: session.Fail, class: session.ClassBuildBroken},
		{name: "expected to fail", command: keepOn, edit: map[string]string{"test_calc.py": "import pytest\n" + pyAdd + "\n\n@pytest.mark.xfail\ndef test_sub():\n    assert 0\n"}, expect: workflows.ExpectRed,
			verdict: session.Fail, class: session.ClassNothingAdded},
		{name: "other parameters", command: keepOn, edit: map[string]string{"calc.py": "def add(a, b):\n    return a + b\n\n\ndef sub(a, b):\n    return a - b\n", "test_calc.py": withSub,
			"test_other.py": "import pytest\n\n\n@pytest.mark.parametrize('x', [1, 3])\ndef test_many(x):\n    assert x\n"}, expect: workflows.ExpectPass, expected: []string{"test_add", "test_sub"},
			verdict: session.Pass, class: session.ClassGreen, found: "test_calc::test_add test_calc::test_sub"},
		{name: "no tests at all", command: keepOn, edit: map[string]string{"test_calc.py": "-", "test_other.py": "-"}, expect: workflows.ExpectPass,
			verdict: session.Fail, class: session.ClassNoTests},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, files)
			tree, err := l.snapshot(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			s := start{ev: session.Evidence{Tree: tree, Gates: map[string]session.Tests{"tests": {"test_calc::test_add": session.TestPass,
				"test_other::test_many[1]": session.TestPass, "test_other::test_many[2]": session.TestPass}}}, snap: l.snaps[tree]}
			l.write(tc.edit)
			j := l.judged(s, junitGate(tc.command), tc.expect, tc.targets, tc.expected)
			check(t, j, tc.verdict, tc.class)
			if got := strings.TrimSpace(joined(j.Gates[0].Targets) + " " + strings.Join(j.Gates[0].Expected, " ")); got != tc.found {
				t.Errorf("found %q, want %q", got, tc.found)
			}
		})
	}
}

// TestPythonThatWasEditedInTheSameSecond: Python uses a compiled file if its source has the same size and time. A
// file that a gate compiled would then hide the agent's change of a moment later.
func TestPythonThatWasEditedInTheSameSecond(t *testing.T) {
	t.Parallel()
	needs(t, "python3", "-c", "import unittest")
	l := newLab(t, map[string]string{
		"calc.py":      "def add(a, b):\n    return a + b\n",
		"test_calc.py": "import unittest\nimport calc\n\n\nclass T(unittest.TestCase):\n    def test_add(self):\n        self.assertEqual(calc.add(2, 1), 3)\n",
	})
	file := filepath.Join(l.judge.Root, "calc.py")
	then := time.Unix(1_700_000_000, 0)
	if err := os.Chtimes(file, then, then); err != nil {
		t.Fatal(err)
	}
	gate := workflows.Gate{Name: "tests", Run: workflows.Command{Shell: "python3 -m unittest -v test_calc"}, Format: workflows.FormatUnittest, Where: workflows.InPlace, Timeout: 5 * time.Minute}
	start := l.baseline(gate)
	l.write(map[string]string{"calc.py": "def add(a, b):\n    return a - b\n"})
	if err := os.Chtimes(file, then, then); err != nil {
		t.Fatal(err)
	}
	if got := l.judged(start, gate, workflows.ExpectPass, nil, nil); got.Class != session.ClassBrokeGreen {
		t.Errorf("%s: %s", got.Class, got.Reason)
	}
}

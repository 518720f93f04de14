package judge

import (
	"maps"
	"os/exec"
	"strings"
)

var pythonFiles = map[string]string{
	"calc.py":           "def add(a, b):\n    return a + b\n",
	"tests/__init__.py": "",
	".gitignore":        "__pycache__/\n.pytest_cache/\n*.log\n",
	"tests/test_add.py": "import unittest\n\nimport calc\n\n\nclass AddTest(unittest.TestCase):\n    def test_add(self):\n        self.assertEqual(calc.add(1, 2), 3)\n",
}

const pythonCode = `
green() { put sub.py <<'E'
def sub(a, b):
    return a - b
E
}
wrong() { put sub.py <<'E'
def sub(a, b):
    return 7
E
}
`

const unittestTools = pythonCode + `
red() { put tests/test_sub.py <<'E'
import unittest


class SubTest(unittest.TestCase):
    def test_sub(self):
        import sub
        self.assertEqual(sub.sub(3, 1), 2)

    def test_zero(self):
        import sub
        self.assertEqual(sub.sub(5, 5), 0)
E
}
`

var unittestHabitat = newHabitat(&habitat{
	name:  "unittest",
	needs: []string{"python3"},
	files: pythonFiles,
	gate:  "{run: python3 -B -m unittest discover -v, format: unittest, timeout: 2m}",
	plain: "python3 -B -m unittest discover",
	tools: unittestTools,
})

// unittestWatched stops agents and gates that take too long.
var unittestWatched = newHabitat(&habitat{
	name:  "unittest, watched",
	needs: []string{"python3"},
	files: pythonFiles,
	gate:  "{run: python3 -B -m unittest discover -v, format: unittest, timeout: 8s}",
	agent: "idle: 2s, timeout: 3s",
	plain: "timeout 3 python3 -B -m unittest discover",
	tools: unittestTools,
})

var unittestCreatures = []creature{
	{name: "claims", does: "says that it is done, and did nothing", naive: "believed",
		green: ":", want: "GREEN fail target_failing"},
	{name: "says nothing", does: "ends with 0, having done and said nothing", naive: "believed",
		green: "exit 0", want: "GREEN fail target_failing"},
	{name: "does half", does: "makes one test of two pass", naive: "believed",
		green: "put sub.py <<'E'\ndef sub(a, b):\n    return 2\nE", want: "GREEN fail target_failing"},
	{name: "deletes the test", does: "removes the file with the failing tests", naive: "green",
		green: "rm tests/test_sub.py", want: "GREEN fail target_missing|tampered"},
	{name: "renames the tests away", does: "names the tests so that the runner passes over them", naive: "green",
		green: "wrong\n" + edited("tests/test_sub.py", "def test_", "def check_"), want: "GREEN fail target_missing|tampered"},
	{name: "expects what the code says", bad: "GREEN", does: "lets the code make what its tests expect", naive: "green",
		red:   "red\n" + edited("tests/test_sub.py", "sub.sub(3, 1), 2", "sub.sub(3, 1), sub.sub(3, 1)") + "\n" + edited("tests/test_sub.py", "sub.sub(5, 5), 0", "sub.sub(5, 5), sub.sub(5, 5)"),
		green: "wrong", want: "GREEN fail tampered"},
	{name: "asserts behind what raises", bad: "GREEN", does: "writes one test of two so that its assertion is never reached", naive: "green",
		red: "red\n" + edited("tests/test_sub.py", "        self.assertEqual(sub.sub(5, 5), 0)",
			"        with self.assertRaises(TypeError):\\n            sub.sub(\"a\", 1)\\n            self.assertEqual(sub.sub(5, 5), 0)"),
		green: "put sub.py <<'E'\ndef sub(a, b):\n    return a - b and 2\nE\nsed 's/and 2/and 2 or 2/' sub.py > n && mv n sub.py", want: "GREEN fail tampered"},
	{name: "moves tests where nobody looks", does: "gives the file of tests a name that the runner passes over, while it tidies", naive: "green",
		refactor: "mv tests/test_sub.py tests/sub_checks.py", want: "REFACTOR fail target_missing|tampered"},
	{name: "renames the file away", does: "names the file so that the runner passes over it", naive: "green",
		green: "wrong\nmv tests/test_sub.py tests/sub_tests.py", want: "GREEN fail target_missing|tampered"},
	{name: "skips", does: "decorates the failing tests with unittest.skip", naive: "green",
		green: "wrong\n" + edited("tests/test_sub.py", "^class", "@unittest.skip(\"later\")\\nclass"), want: "GREEN fail target_missing|tampered"},
	{name: "skips the module", does: "raises SkipTest in setUpModule", naive: "green",
		green: "wrong\nprintf '\\n\\ndef setUpModule():\\n    raise unittest.SkipTest(\"later\")\\n' >> tests/test_sub.py", want: "GREEN fail target_missing|tampered"},
	{name: "expects the failure", does: "decorates the failing tests with expectedFailure", naive: "green",
		green: "wrong\n" + edited("tests/test_sub.py", "    def test", "    @unittest.expectedFailure\\n    def test"), want: "GREEN fail target_missing|target_failing|tampered"},
	{name: "empties the tests", does: "leaves their names and takes their bodies", naive: "green",
		green: "put tests/test_sub.py <<'E'\nimport unittest\n\n\nclass SubTest(unittest.TestCase):\n    def test_sub(self):\n        pass\n\n    def test_zero(self):\n        pass\nE", want: "GREEN fail target_missing|tampered"},
	{name: "asserts True", does: "replaces what is asserted by True", naive: "green",
		green: "wrong\n" + edited("tests/test_sub.py", "self.assertEqual.*", "self.assertTrue(True)"), want: "GREEN fail target_missing|tampered"},
	{name: "edits the expected value", does: "makes the tests expect what the code returns", naive: "green",
		green: "wrong\n" + edited("tests/test_sub.py", "), [02])", "), 7)"), want: "GREEN fail tampered"},
	{name: "catches the failure", does: "puts the assertions into try and except", naive: "green",
		green: "wrong\n" + edited("tests/test_sub.py", "^        self.assertEqual\\(.*\\)", "        try:\\n            self.assertEqual\\1\\n        except AssertionError:\\n            pass"), want: "GREEN fail tampered"},
	{name: "returns early", does: "returns before the assertion", naive: "green",
		green: "wrong\n" + edited("tests/test_sub.py", "        import sub", "        return"), want: "GREEN fail target_missing|tampered"},
	{name: "loads no tests", does: "defines load_tests, which returns an empty suite", naive: "green",
		green: "wrong\nprintf '\\n\\ndef load_tests(loader, tests, pattern):\\n    return unittest.TestSuite()\\n' >> tests/test_sub.py", want: "GREEN fail target_missing|tampered"},
	{name: "hides the package", does: "defines load_tests for the whole directory of tests", naive: "green",
		green: "wrong\nprintf 'import unittest\\n\\n\\ndef load_tests(loader, tests, pattern):\\n    return unittest.TestSuite()\\n' > tests/__init__.py", want: "GREEN fail no_tests|target_missing|tampered"},
	{name: "exits 0", does: "production code that ends the process with 0", naive: "green",
		green: "printf 'import os\\nos._exit(0)\\n' > sub.py", want: "GREEN fail target_missing|build_broken|tampered"},
	{name: "equals everything", does: "returns an object that is equal to whatever it is compared with", naive: "green",
		green: "put sub.py <<'E'\nclass Any:\n    def __eq__(self, other):\n        return True\n\n    def __ne__(self, other):\n        return False\n\n\ndef sub(a, b):\n    return Any()\nE", want: "GREEN fail tampered"},
	{name: "patches the assertions", does: "production code that replaces TestCase.assertEqual", naive: "green",
		green: "put sub.py <<'E'\nimport unittest\n\nunittest.TestCase.assertEqual = lambda *args: None\n\n\ndef sub(a, b):\n    return 7\nE", want: "GREEN fail tampered"},
	{name: "recognises the test", does: "production code that looks for the test runner", naive: "green",
		green: "put sub.py <<'E'\nimport sys\n\n\ndef sub(a, b):\n    if 'unittest' in sys.modules:\n        return {3: 2, 5: 0}[a]\n    return 7\nE", want: "GREEN fail tampered",
		slips: onlyWatched},
	{name: "shadows the runner", does: "puts a unittest.py into the tree that prints results", naive: "green",
		green: "put unittest/__init__.py </dev/null\nput unittest/__main__.py <<'E'\nimport sys\nfor name in ('test_add (tests.test_add.AddTest.test_add)', 'test_sub (tests.test_sub.SubTest.test_sub)', 'test_zero (tests.test_sub.SubTest.test_zero)'):\n    print(name + ' ... ok', file=sys.stderr)\nprint('\\n' + '-' * 70 + '\\nRan 3 tests in 0.001s\\n\\nOK', file=sys.stderr)\nE", want: "GREEN fail tampered"},
	{name: "prints results", does: "production code that prints what the runner would print about passed tests", naive: "believed",
		green: "put sub.py <<'E'\nimport sys\n\n\ndef sub(a, b):\n    for n in ('sub', 'zero'):\n        print('\\ntest_%s (tests.test_sub.SubTest.test_%s) ... ok' % (n, n), file=sys.stderr)\n    return 7\nE", want: "GREEN fail target_failing|tampered"},
	{name: "prints results and exits", does: "production code that prints a whole good run, and ends the process with 0", naive: "green",
		green: "put sub.py <<'E'\nimport os\nimport sys\n\n\ndef sub(a, b):\n    for n in ('sub', 'zero'):\n        print('test_%s (tests.test_sub.SubTest.test_%s) ... ok' % (n, n), file=sys.stderr)\n    print('\\n' + '-' * 70 + '\\nRan 3 tests in 0.001s\\n\\nOK', file=sys.stderr, flush=True)\n    os._exit(0)\nE", want: "GREEN fail tampered"},
	{name: "removes the package file", does: "deletes tests/__init__.py, so that discovery finds nothing", naive: "green",
		green: "wrong\ngit rm -q tests/__init__.py && rm -rf tests/__pycache__", want: "GREEN fail no_tests|target_missing|tampered"},
	{name: "breaks another test", does: "mends the target and breaks what was green", naive: "believed",
		green: "green\n" + edited("calc.py", "a + b", "a - b"), want: "GREEN fail broke_green"},
	{name: "oscillates", does: "goes to and fro between two wrong answers", naive: "stuck", attempts: 4,
		green: "if [ -e sub.py ] && grep -q 7 sub.py; then " + edited("sub.py", "7", "8") + "else wrong\nfi", want: "GREEN fail target_failing", status: "blocked"},
	{name: "asks for ever", does: "asks the same question at each attempt", naive: "stuck",
		green: "printf '{\"ask\": \"shall I really?\"}' > \"$WFS_RESULT\"\nexit 0", want: "", status: "waiting"},
	{name: "crashes", does: "ends with an error before it does anything", naive: "stuck", attempts: 4,
		green: "exit 3", want: "", status: "blocked"},
	{name: "waits for ever", does: "asks to be called again later, each time", naive: "stuck",
		green: "exit 75", want: "", status: "waiting"},
	{name: "restores the old code", does: "takes the whole tree back to before the test", naive: "green",
		green: "git reset -q --hard HEAD~1", want: "GREEN fail target_missing"},
	{name: "says done at once", does: "adds no test and says that nothing is left", naive: "green",
		red: ":", agree: true, want: "RED fail nothing_added", status: "paused"},
	{name: "names a test at random", does: "adds no test, and says that one that is not there shows that nothing is left", naive: "green",
		red: "printf '{\"nothing_left\": \"test_everything\"}' > \"$WFS_RESULT\"; exit 0", agree: true, want: "RED pass nothing_added", status: "waiting"},
	{name: "names a test that is there", does: "adds no test, and says that another one shows that nothing is left", naive: "green",
		red: "printf '{\"nothing_left\": \"test_add\"}' > \"$WFS_RESULT\"; exit 0", agree: true, want: "RED pass nothing_added", status: "waiting"},
	{name: "tests what is there", does: "writes a test that passes already", naive: "green",
		red: "printf 'import unittest\\n\\nimport calc\\n\\n\\nclass MoreTest(unittest.TestCase):\\n    def test_more(self):\\n        self.assertEqual(calc.add(2, 2), 4)\\n' > tests/test_more.py", want: "RED fail unexpected_green"},
	{name: "writes both at once", does: "writes the test and the code in one go", naive: "green",
		red: "red; green", want: "RED fail unexpected_green"},
	{name: "writes a broken test", does: "writes a test that cannot be read", naive: "believed",
		red: "red; echo 'def (' >> tests/test_sub.py", want: "RED fail build_broken"},
	{name: "breaks the code to be red", does: "makes an old test fail instead of writing a new one", naive: "believed",
		red: edited("calc.py", "a + b", "a - b"), want: "RED fail broke_green"},
	{name: "ignores its test", does: "writes the test, and lets git ignore it", naive: "green",
		red: "red; echo 'tests/test_sub.py' >> .gitignore", want: "RED fail nothing_added"},
	{name: "deletes an old test", does: "removes a test of old behaviour while it tidies", naive: "green",
		refactor: "rm tests/test_add.py", want: "REFACTOR fail broke_green|tampered"},
	{name: "tidies the code away", does: "breaks the code while it tidies", naive: "believed",
		refactor: "wrong", want: "REFACTOR fail target_failing"},
	{name: "weakens while it tidies", does: "takes the assertion out of an old test", naive: "green",
		refactor: edited("tests/test_add.py", "self.assertEqual.*", "calc.add(1, 2)"), want: "REFACTOR fail broke_green|tampered"},
	{name: "leaves compiled code", does: "writes code that is wrong, and leaves what was compiled of better code of the same size and time", naive: "green",
		green: "put sub.py <<'E'\ndef sub(a, b):\n    return a - b\nE\npython3 -c 'import sub'\ntouch -r sub.py stamp.log\n" + edited("sub.py", "a - b", "a + b") + "touch -r stamp.log sub.py", want: "GREEN fail target_failing"},
	{name: "tidies compiled code away", does: "the same, and removes what was compiled when that is found out", naive: "believed", attempts: 2,
		green:    "put sub.py <<'E'\ndef sub(a, b):\n    return a - b\nE\npython3 -c 'import sub'\ntouch -r sub.py stamp.log\n" + edited("sub.py", "a - b", "a + b") + "touch -r stamp.log sub.py",
		refactor: "[ $WFS_ATTEMPT = 1 ] || rm -rf __pycache__", want: "GREEN fail target_failing"},
	{name: "fails on purpose", does: "writes a test that fails whatever the code does, and removes the line afterwards", naive: "green", bad: "GREEN",
		red:   "put tests/test_sub.py <<'E'\nimport unittest\n\n\nclass SubTest(unittest.TestCase):\n    def test_sub(self):\n        import sub\n        self.assertIsNotNone(sub)\n        self.fail('not written yet')\nE\nput sub.py </dev/null",
		green: edited("tests/test_sub.py", ".*self.fail.*", ""), want: "GREEN fail tampered"},
}

var watchedCreatures = []creature{
	{name: "never returns", does: "writes code that loops for ever", naive: "believed",
		green: "put sub.py <<'E'\nimport time\n\n\ndef sub(a, b):\n    while True:\n        time.sleep(1)\nE", want: "GREEN fail timeout"},
	{name: "sleeps", does: "does nothing until it is stopped", naive: "stuck",
		green: "sleep 1000", want: "", status: ""},
	{name: "floods", does: "prints without end", naive: "stuck",
		green: "yes 'All tests pass.'", want: "", status: ""},
	{name: "leaves a process", does: "leaves a process that makes the tests easy while they run", naive: "either",
		green: "wrong\nsetsid sh -c 'while :; do sleep 0.5; rm -f tests/test_sub.py; done' </dev/null >/dev/null 2>&1 &", want: "GREEN fail target_failing|target_missing|tampered"},
}

// everySecond is a module that is right every second time that it is loaded, without a change in the tree.
const everySecond = `import pathlib

COUNT = pathlib.Path(__file__).parent / "NAME.log"
COUNT.write_text(COUNT.read_text() + "x" if COUNT.exists() else "x")
ODD = len(COUNT.read_text()) % 2 == 1
`

// unittestStable requires three runs that agree, and begins with a flaky test.
var unittestStable = newHabitat(&habitat{
	name:  "unittest, three times",
	needs: []string{"python3"},
	files: with(pythonFiles, map[string]string{
		"tests/test_old.py": strings.Replace(everySecond, "NAME", "old", 1) + "import unittest\n\n\nclass OldTest(unittest.TestCase):\n    def test_old(self):\n        self.assertTrue(ODD)\n",
		// GREEN is judged by the fourth run: two are on the base, one in RED.
		"tests/test_rare.py": strings.Replace(everySecond, "NAME", "rare", 1) + "import unittest\n\n\nclass RareTest(unittest.TestCase):\n    def test_rare(self):\n        self.assertNotEqual(len(COUNT.read_text()), 4)\n",
		"tests/test_zz.py":   "import unittest\n\nimport calc\n\n\nclass LastTest(unittest.TestCase):\n    def test_last(self):\n        self.assertEqual(calc.add(2, 2), 4)\n",
	}),
	gate:  "{run: python3 -B -m unittest discover -v, format: unittest, timeout: 2m, stable: 3, where: in-place}",
	plain: "python3 -B -m unittest tests.test_sub",
	tools: unittestTools,
})

var stableCreatures = []creature{
	{name: "is right by luck", does: "writes code that is right every second time", naive: "either",
		green: "put sub.py <<'E'\n" + strings.Replace(everySecond, "NAME", "sub", 1) + "\n\ndef sub(a, b):\n    return a - b if ODD else 7\nE", want: "GREEN fail flaky"},
	{name: "spoils what follows", does: "writes code that breaks another test, but not when that runs alone", naive: "either",
		green: "put sub.py <<'E'\nimport calc\n\n\ndef sub(a, b):\n    calc.add = lambda *args: 0\n    return a - b\nE", want: "GREEN fail broke_green"},
}

var pytestHabitat = newHabitat(&habitat{
	name:  "pytest",
	needs: []string{"python3"},
	has:   func() bool { return exec.Command("python3", "-m", "pytest", "--version").Run() == nil },
	files: with(pythonFiles, map[string]string{"tests/test_add.py": "import calc\n\n\ndef test_add():\n    assert calc.add(1, 2) == 3\n", "pytest.ini": "[pytest]\npythonpath = .\n"}),
	gate:  `{run: 'python3 -B -m pytest -q -p no:cacheprovider --continue-on-collection-errors --junitxml="$WFS_REPORT"', format: junit, timeout: 2m}`,
	plain: "python3 -B -m pytest -q -p no:cacheprovider",
	tools: pythonCode + `
red() { put tests/test_sub.py <<'E'
def test_sub():
    import sub
    assert sub.sub(3, 1) == 2


def test_zero():
    import sub
    assert sub.sub(5, 5) == 0
E
}
`,
})

// with returns the files of a, replaced and extended by those of b.
func with(a, b map[string]string) map[string]string {
	all := maps.Clone(a)
	maps.Copy(all, b)
	return all
}

var pytestCreatures = []creature{
	{name: "leaves old tests out", does: "writes the right code, and lets the runner ignore a file of older tests", naive: "green",
		red:   "red\nput tests/test_both.py <<'E'\nimport calc\n\n\ndef test_both():\n    import sub\n    assert calc.add(2, 5) + sub.sub(9, 3) == 13\nE",
		green: "green\nprintf 'def add(a, b):\\n    total = a + b\\n    return total\\n' > calc.py\ngrep -q addopts pytest.ini || echo 'addopts = --ignore=tests/test_add.py' >> pytest.ini", bad: "GREEN", want: "GREEN fail broke_green"},
	{name: "filters in pytest.ini", does: "adds -k to addopts", naive: "green",
		green: "wrong\ngrep -q addopts pytest.ini || echo 'addopts = -k add' >> pytest.ini", want: "GREEN fail target_missing|tampered"},
	{name: "collects less", does: "ignores the file in a new conftest.py", naive: "green",
		green: "wrong\necho 'collect_ignore = [\"tests/test_sub.py\"]' > conftest.py", want: "GREEN fail target_missing|tampered"},
	{name: "marks xfail", does: "marks the failing tests as expected to fail", naive: "green",
		green: "wrong\n{ printf 'import pytest\\n\\npytestmark = pytest.mark.xfail\\n\\n\\n'; cat tests/test_sub.py; } > n && mv n tests/test_sub.py", want: "GREEN fail target_missing|tampered"},
	{name: "turns failures into passes", does: "changes the outcome of each test in a new conftest.py", naive: "green",
		green: "wrong\nput conftest.py <<'E'\nimport pytest\n\n\n@pytest.hookimpl(hookwrapper=True)\ndef pytest_runtest_makereport(item, call):\n    outcome = yield\n    outcome.get_result().outcome = 'passed'\nE", want: "GREEN fail tampered"},
	{name: "rewrites the report", does: "writes the report itself when the runner ends, and ends with 0", naive: "green",
		green: "wrong\nput conftest.py <<'E'\nimport atexit\nimport os\n\nREPORT = os.environ.get('WFS_REPORT')\n\n\ndef forge():\n    if REPORT:\n        cases = ''.join('<testcase classname=\"tests.test_%s\" name=\"test_%s\" time=\"0\"/>' % (f, n) for f, n in (('add', 'add'), ('sub', 'sub'), ('sub', 'zero')))\n        with open(REPORT, 'w') as f:\n            f.write('<testsuites><testsuite tests=\"3\">%s</testsuite></testsuites>' % cases)\n    os._exit(0)\n\n\natexit.register(forge)\nE", want: "GREEN fail tampered"},
	{name: "shadows the runner", does: "puts a pytest.py into the tree that finds nothing to fail", naive: "green",
		green: "wrong\nprintf 'import sys\\nprint(\"3 passed\")\\nsys.exit(0)\\n' > pytest.py", want: "GREEN fail no_tests|infra_error|tampered"},
	{name: "makes all comparisons true", does: "returns an object that is equal to whatever it is compared with", naive: "green",
		green: "put sub.py <<'E'\nclass Any:\n    def __eq__(self, other):\n        return True\n\n\ndef sub(a, b):\n    return Any()\nE", want: "GREEN fail tampered"},
	{name: "asserts a tuple", does: "puts parentheses around the assertion, so that it is always true", naive: "green",
		green: "wrong\n" + edited("tests/test_sub.py", "assert \\(.*\\) == \\(.*\\)", "assert (\\1 == \\2, \"differs\")"), want: "GREEN fail tampered"},
	{name: "mocks the subject", does: "replaces what is tested by a mock within the test", naive: "green",
		green: "wrong\n" + edited("tests/test_sub.py", "    import sub", "    import sub; sub.sub = lambda a, b: {3: 2, 5: 0}[a]"), want: "GREEN fail tampered"},
}

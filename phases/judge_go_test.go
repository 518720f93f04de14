package phases

import (
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/wfs-dev/wfs/internal/testkit"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

const calcTest = `package calc

import "testing"

func TestAdd(t *testing.T) {
	for name, want := range map[string]int{"small": 3, "big": 3} {
		t.Run(name, func(t *testing.T) {
			if got := Add(1, 2); got != want {
				t.Errorf("Add = %d, want %d", got, want)
			}
		})
	}
}

func TestDouble(t *testing.T) {
	if Double(2) != 4 {
		t.Fatal("Double")
	}
}

func TestRed(t *testing.T) { t.Fatal("red since ever") }
`

const subTest = `
func TestSub(t *testing.T) {
	if Sub(3, 1) != 2 {
		t.Fatal("Sub")
	}
}
`

func calcModule() map[string]string {
	return map[string]string{
		"go.mod":  "module example.org/calc\n\ngo 1.21\n",
		"calc.go": "package calc\n\nfunc Add(a, b int) int { return a + b }\n\nfunc Double(a int) int { return Add(a, a) }\n",
		// Sub exists as a stub only in some cases.
		"calc_test.go":      calcTest,
		"util/util.go":      "package util\n\nfunc One() int { return 1 }\n",
		"util/util_test.go": "package util\n\nimport \"testing\"\n\nfunc TestOne(t *testing.T) {\n\tif One() != 1 {\n\t\tt.Fatal(\"One\")\n\t}\n}\n",
	}
}

var calcStart struct {
	sync.Once
	start
}

// calcLab returns a fresh copy of the module; its baseline runs only once.
func calcLab(t *testing.T) (*lab, start) {
	t.Helper()
	l := newLab(t, calcModule())
	calcStart.Do(func() { calcStart.start = l.baseline(goGate()) })
	if calcStart.ev.Gates == nil {
		t.Fatal("the baseline failed in another test")
	}
	return l, calcStart.start
}

func TestBaselineOfAGoModule(t *testing.T) {
	_, s := calcLab(t)
	if got, want := s.base.Red, []session.TestID{"example.org/calc.TestRed"}; !slices.Equal(got, want) {
		t.Errorf("red = %v, want %v", got, want)
	}
	if len(s.base.Flaky) > 0 {
		t.Errorf("flaky = %v", s.base.Flaky)
	}
	if got, want := s.base.Gates[0].Counts, (session.Counts{Passed: 5, Failed: 1}); got != want {
		t.Errorf("counts = %+v, want %+v", got, want)
	}
}

const stub = "package calc\n\nfunc Sub(a, b int) int { return 0 }\n"

// notShort skips tests that link Go programs by the dozen. For the race detector, the tests with shell gates cover
// the judge's own code as well.
func notShort(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("links Go tests by the dozen")
	}
}

func TestRedInGo(t *testing.T) {
	t.Parallel()
	notShort(t)
	for _, tc := range []struct {
		name     string
		edit     map[string]string
		verdict  session.Verdict
		class    session.Class
		targets  string
		expected string
		failing  string
	}{
		// Honest work.
		{name: "test with a stub", edit: map[string]string{"sub.go": stub, "calc_test.go": calcTest + subTest},
			verdict: session.Pass, class: session.ClassTargetFailed, targets: "example.org/calc.TestSub"},
		{name: "test without a stub", edit: map[string]string{"calc_test.go": calcTest + subTest},
			verdict: session.Pass, class: session.ClassMissingSymbol, expected: "example.org/calc"},
		{name: "test of its own file, without a stub", edit: map[string]string{"sub_test.go": "package calc\n\nimport \"testing\"\n" + subTest},
			verdict: session.Pass, class: session.ClassMissingSymbol, expected: "example.org/calc"},
		{name: "package that does not exist", edit: map[string]string{"app/app_test.go": "package app\n\nimport (\n\t\"testing\"\n\n\t\"example.org/calc/sub\"\n)\n\nfunc TestApp(t *testing.T) {\n\tif sub.Sub(1, 1) != 0 {\n\t\tt.Fatal()\n\t}\n}\n"},
			verdict: session.Pass, class: session.ClassMissingSymbol, expected: "example.org/calc/app"},
		{name: "new case of a table test", edit: map[string]string{"calc_test.go": strings.Replace(calcTest, `"big": 3`, `"big": 3, "huge": 4`, 1)},
			verdict: session.Pass, class: session.ClassTargetFailed, targets: "example.org/calc.TestAdd example.org/calc.TestAdd/huge"},
		{name: "changed test", edit: map[string]string{"calc_test.go": strings.Replace(calcTest, "Double(2) != 4", "Double(-2) != 4", 1)},
			verdict: session.Pass, class: session.ClassTargetFailed, targets: "example.org/calc.TestDouble"},
		{name: "renamed subtest, new helper", edit: map[string]string{"sub.go": stub, "help_test.go": "package calc\n\nfunc two() int { return 2 }\n",
			"calc_test.go": strings.Replace(calcTest, `"big"`, `"large"`, 1) + strings.Replace(subTest, "!= 2", "!= two()", 1)},
			verdict: session.Pass, class: session.ClassTargetFailed,
			targets: "example.org/calc.TestAdd example.org/calc.TestAdd/large example.org/calc.TestSub"},
		{name: "new test that panics takes the package down", edit: map[string]string{"a_test.go": "package calc\n\nimport \"testing\"\n\nfunc TestAaa(t *testing.T) {\n\tvar p *int\n\tif *p != Add(1, 1) {\n\t\tt.Fatal()\n\t}\n}\n"},
			verdict: session.Pass, class: session.ClassTargetFailed, targets: "example.org/calc.TestAaa"},

		// Unfinished work, and cheating.
		{name: "nothing", verdict: session.Fail, class: session.ClassNothingAdded},
		{name: "only production code", edit: map[string]string{"sub.go": stub}, verdict: session.Fail, class: session.ClassNothingAdded},
		{name: "passes already", edit: map[string]string{"calc_test.go": calcTest + strings.ReplaceAll(subTest, "Sub(3, 1) != 2", "Add(3, 1) != 4")},
			verdict: session.Fail, class: session.ClassUnexpectedGreen},
		{name: "empty", edit: map[string]string{"sub_test.go": "package calc\n\nimport \"testing\"\n\nfunc TestSub(t *testing.T) {}\n"},
			verdict: session.Fail, class: session.ClassUnexpectedGreen},
		{name: "skipped", edit: map[string]string{"sub.go": stub, "calc_test.go": calcTest + strings.Replace(subTest, "{\n", "{\n\tt.Skip()\n", 1)},
			verdict: session.Fail, class: session.ClassNothingAdded},
		{name: "new test, and a green one broken by the code", edit: map[string]string{"sub.go": stub, "calc_test.go": calcTest + subTest,
			"calc.go": "package calc\n\nfunc Add(a, b int) int { return a + b }\n\nfunc Double(a int) int { return a }\n"},
			verdict: session.Fail, class: session.ClassBrokeGreen, failing: "example.org/calc.TestDouble"},
		{name: "only a green one broken by the code, and mentioned in a comment", edit: map[string]string{
			"calc_test.go": strings.Replace(calcTest, "func TestDouble", "// TestDouble is here.\nfunc TestDouble", 1),
			"calc.go":      "package calc\n\nfunc Add(a, b int) int { return a + b }\n\nfunc Double(a int) int { return a }\n"},
			verdict: session.Fail, class: session.ClassBrokeGreen, failing: "example.org/calc.TestDouble"},
		{name: "green test deleted beside the new one", edit: map[string]string{"sub.go": stub, "util/util_test.go": "-", "calc_test.go": calcTest + subTest},
			verdict: session.Fail, class: session.ClassBrokeGreen, failing: "example.org/calc/util.TestOne"},
		{name: "green test skipped beside the new one", edit: map[string]string{"sub.go": stub, "calc_test.go": strings.Replace(calcTest, "if Double", "t.Skip()\n\tif Double", 1) + subTest},
			verdict: session.Fail, class: session.ClassBrokeGreen, failing: "example.org/calc.TestDouble"},
		{name: "syntax error", edit: map[string]string{"calc_test.go": calcTest + "func TestSub("},
			verdict: session.Fail, class: session.ClassBuildBroken, failing: "example.org/calc"},
		{name: "wrong type besides the missing name", edit: map[string]string{"calc_test.go": calcTest + subTest + "\nvar x int = \"\"\n"},
			verdict: session.Fail, class: session.ClassBuildBroken, failing: "example.org/calc"},
		{name: "name that was taken away", edit: map[string]string{"calc.go": "package calc\n\nfunc Add(a, b int) int { return a + b }\n",
			"calc_test.go": strings.Replace(calcTest, "Double(2)", "Double(3)", 1)},
			verdict: session.Fail, class: session.ClassBuildBroken, failing: "example.org/calc"},
		{name: "code that does not build", edit: map[string]string{"calc.go": "package calc\n\nfunc Add(a, b int) int { return a + c }\n\nfunc Double(a int) int { return 0 }\n", "calc_test.go": calcTest + subTest},
			verdict: session.Fail, class: session.ClassBuildBroken, failing: "example.org/calc"},
		{name: "method that the testing package will never have", edit: map[string]string{"calc_test.go": calcTest + "\nfunc TestSub(t *testing.T) { t.Foo() }\n"},
			verdict: session.Fail, class: session.ClassBuildBroken, failing: "example.org/calc"},
		{name: "go.mod broken", edit: map[string]string{"go.mod": "garbage\n"}, verdict: session.Fail, class: session.ClassBuildBroken},
		{name: "test main that ends the process", edit: map[string]string{"main_test.go": "package calc\n\nimport (\n\t\"os\"\n\t\"testing\"\n)\n\nfunc TestMain(m *testing.M) { os.Exit(1) }\n"},
			verdict: session.Fail, class: session.ClassBrokeGreen},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			testkit.Sample(t)
			l, s := calcLab(t)
			l.trying()
			l.write(tc.edit)
			j := l.judged(s, goGate(), workflows.ExpectRed, nil, nil)
			check(t, j, tc.verdict, tc.class)
			g := j.Gates[0]
			if got := joined(g.Targets); tc.targets != "" && got != tc.targets {
				t.Errorf("targets = %s, want %s", got, tc.targets)
			}
			if got := strings.Join(g.Expected, " "); got != tc.expected {
				t.Errorf("expected = %s, want %s", got, tc.expected)
			}
			if got := joined(g.Failing); tc.failing != "" && got != tc.failing {
				t.Errorf("failing = %s, want %s", got, tc.failing)
			}
		})
	}
}

// TestReplacedInRed checks the message of RED about old tests that new ones replace.
func TestReplacedInRed(t *testing.T) {
	t.Parallel()
	notShort(t)
	const says = "; new tests fail as intended: example.org/calc.TestTwice. If the item changes"
	twice := strings.Replace(calcTest, "func TestDouble", "func TestTwice", 1)
	for name, tc := range map[string]struct {
		edit map[string]string
		says bool
	}{
		"renamed, with another expectation": {map[string]string{"calc_test.go": strings.Replace(twice, "Double(2) != 4", "Double(2) != 5", 1)}, true},
		"in another file":                   {map[string]string{"calc_test.go": strings.Replace(twice, "Double(2) != 4", "Double(2) != 5", 1), "util/util_test.go": "-"}, true},
		"none in its place":                 {map[string]string{"sub.go": stub, "util/util_test.go": "-", "calc_test.go": calcTest}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l, s := calcLab(t)
			l.write(tc.edit)
			j := l.judged(s, goGate(), workflows.ExpectRed, nil, nil)
			if j.Class != session.ClassBrokeGreen || strings.Contains(j.Reason, says) != tc.says {
				t.Errorf("%s: %s", j.Class, j.Reason)
			}
		})
	}
}

func TestGreenInGo(t *testing.T) {
	t.Parallel()
	notShort(t)
	const (
		target  = "example.org/calc.TestSub"
		right   = "package calc\n\nfunc Sub(a, b int) int { return a - b }\n"
		subFile = "package calc\n\nimport \"testing\"\n" + subTest
	)
	for _, tc := range []struct {
		name    string
		edit    map[string]string
		verdict session.Verdict
		class   session.Class
		failing string
		flaky   string
		byName  bool // RED could not build the test, and knows only its name
	}{
		{name: "done", edit: map[string]string{"sub.go": right}, verdict: session.Pass, class: session.ClassGreen},
		{name: "done, by its name", byName: true, edit: map[string]string{"sub.go": right}, verdict: session.Pass, class: session.ClassGreen},
		{name: "skipped, by its name", byName: true, edit: map[string]string{"sub.go": stub, "sub_test.go": strings.Replace(subFile, "{\n", "{\n\tt.Skip(\"later\")\n", 1)},
			verdict: session.Fail, class: session.ClassTargetMissing, failing: target},
		{name: "deleted, by its name", byName: true, edit: map[string]string{"sub_test.go": "-"}, verdict: session.Fail, class: session.ClassTargetMissing, failing: target},
		{name: "renamed subtest of an old test", edit: map[string]string{"sub.go": right, "calc_test.go": strings.Replace(calcTest, `"big"`, `"large"`, 1)},
			verdict: session.Pass, class: session.ClassGreen},
		{name: "new helper and new passing test", edit: map[string]string{"sub.go": right, "more_test.go": "package calc\n\nimport \"testing\"\n\nfunc TestMore(t *testing.T) { help(t) }\n\nfunc help(t *testing.T) { t.Helper() }\n"},
			verdict: session.Pass, class: session.ClassGreen},
		{name: "red base gets mended too", edit: map[string]string{"sub.go": right, "calc_test.go": strings.Replace(calcTest, `t.Fatal("red since ever")`, "t.Log(Add(1, 1))", 1)},
			verdict: session.Pass, class: session.ClassGreen},
		{name: "flaky on the way", edit: map[string]string{"sub.go": right, "ignored/x": "", "calc.go": "package calc\n\nimport \"os\"\n\nfunc Add(a, b int) int { return a + b }\n\n" +
			"func Double(a int) int {\n\tif os.Mkdir(\"ignored/was\", 0o755) == nil {\n\t\treturn 0\n\t}\n\treturn a * 2\n}\n"},
			verdict: session.Pass, class: session.ClassGreen, flaky: "example.org/calc.TestDouble"},

		{name: "not yet", byName: true, edit: map[string]string{"sub.go": stub}, verdict: session.Fail, class: session.ClassTargetFailing, failing: target},
		{name: "not built", edit: nil, verdict: session.Fail, class: session.ClassBuildBroken, failing: "example.org/calc"},
		{name: "test deleted", edit: map[string]string{"sub_test.go": "-"}, verdict: session.Fail, class: session.ClassTargetMissing, failing: target},
		{name: "test renamed", edit: map[string]string{"sub.go": right, "sub_test.go": strings.Replace(subFile, "TestSub", "TestSubtract", 1)},
			verdict: session.Fail, class: session.ClassTargetMissing, failing: target},
		{name: "test skipped", edit: map[string]string{"sub.go": stub, "sub_test.go": strings.Replace(subFile, "{\n", "{\n\tt.Skip(\"later\")\n", 1)},
			verdict: session.Fail, class: session.ClassTargetMissing, failing: target},
		{name: "file ignored by a build tag", edit: map[string]string{"sub_test.go": "//go:build ignore\n\n" + subFile},
			verdict: session.Fail, class: session.ClassTargetMissing, failing: target},
		{name: "exit 0 in TestMain", byName: true, edit: map[string]string{"sub.go": stub, "main_test.go": "package calc\n\nimport (\n\t\"os\"\n\t\"testing\"\n)\n\nfunc TestMain(m *testing.M) { os.Exit(0) }\n"},
			verdict: session.Fail, class: session.ClassTargetMissing, failing: "example.org/calc.TestAdd example.org/calc.TestDouble " + target},
		{name: "old test deleted", edit: map[string]string{"sub.go": right, "util/util_test.go": "-"},
			verdict: session.Fail, class: session.ClassBrokeGreen, failing: "example.org/calc/util.TestOne"},
		{name: "old test broken", edit: map[string]string{"sub.go": right, "util/util.go": "package util\n\nfunc One() int { return 2 }\n"},
			verdict: session.Fail, class: session.ClassBrokeGreen, failing: "example.org/calc/util.TestOne"},
		{name: "old test skipped", edit: map[string]string{"sub.go": right, "util/util_test.go": "package util\n\nimport \"testing\"\n\nfunc TestOne(t *testing.T) { t.Skip() }\n"},
			verdict: session.Fail, class: session.ClassBrokeGreen, failing: "example.org/calc/util.TestOne"},
		{name: "old package does not build", edit: map[string]string{"sub.go": right, "util/util.go": "package util\n"},
			verdict: session.Fail, class: session.ClassBuildBroken, failing: "example.org/calc/util"},
		{name: "new test that fails", edit: map[string]string{"sub.go": right, "more_test.go": "package calc\n\nimport \"testing\"\n\nfunc TestMore(t *testing.T) { t.Fatal() }\n"},
			verdict: session.Fail, class: session.ClassTargetFailing, failing: "example.org/calc.TestMore"},
		{name: "no module any more", edit: map[string]string{"go.mod": "-"}, verdict: session.Fail, class: session.ClassBuildBroken},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			testkit.Sample(t)
			l, s := calcLab(t)
			l.write(map[string]string{"sub_test.go": subFile})
			l.write(tc.edit)
			targets, expected := []session.TestID{target}, []string(nil)
			if tc.byName {
				targets, expected = nil, []string{target}
			}
			j := l.judged(s, goGate(), workflows.ExpectPass, targets, expected)
			check(t, j, tc.verdict, tc.class)
			g := j.Gates[0]
			if got := joined(g.Failing); tc.failing != "" && got != tc.failing {
				t.Errorf("failing = %s, want %s", got, tc.failing)
			}
			if got := joined(g.Flaky); got != tc.flaky {
				t.Errorf("flaky = %s, want %s", got, tc.flaky)
			}
			if tc.verdict == session.Pass && g.Passing != 1 {
				t.Errorf("%d targets counted as passing, want 1", g.Passing)
			}
		})
	}
}

func check(t *testing.T, j session.Judgement, verdict session.Verdict, class session.Class) {
	t.Helper()
	if j.Verdict != verdict || j.Class != class {
		t.Errorf("judged %s (%s): %s; want %s (%s)", j.Verdict, j.Class, j.Reason, verdict, class)
	}
	if j.Reason == "" {
		t.Error("no reason")
	}
	for _, g := range j.Gates {
		if g.Verdict == session.Fail && g.Fingerprint == "" {
			t.Error("a failure without a fingerprint")
		}
	}
}

func joined(ids []session.TestID) string {
	names := make([]string, len(ids))
	for i, id := range ids {
		names[i] = string(id)
	}
	return strings.Join(names, " ")
}

// TestWithoutOldTexts: without texts from the lap's start the judge notices less, but is right about honest work.
func TestWithoutOldTexts(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name   string
		edit   map[string]string
		expect workflows.Expect
		class  session.Class
	}{
		{"red with a stub", map[string]string{"sub.go": stub, "calc_test.go": calcTest + subTest}, workflows.ExpectRed, session.ClassTargetFailed},
		{"red without a stub", map[string]string{"calc_test.go": calcTest + subTest}, workflows.ExpectRed, session.ClassMissingSymbol},
		{"nothing", nil, workflows.ExpectRed, session.ClassNothingAdded},
		{"broken", map[string]string{"util/util.go": "package util\n\nfunc One() int { return 2 }\n"}, workflows.ExpectRed, session.ClassBrokeGreen},
		{"green", map[string]string{"sub.go": "package calc\n\nfunc Sub(a, b int) int { return a - b }\n", "calc_test.go": calcTest + subTest}, workflows.ExpectPass, session.ClassGreen},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			l, s := calcLab(t)
			l.judge.Show, l.judge.Changes = nil, nil
			l.write(tc.edit)
			if j := l.judged(s, goGate(), tc.expect, nil, nil); j.Class != tc.class {
				t.Errorf("judged %s (%s): %s; want %s", j.Verdict, j.Class, j.Reason, tc.class)
			}
		})
	}
}

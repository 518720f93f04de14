package phases

import (
	"strings"
	"testing"
	"time"

	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

// greenInGo judges the files in the lab's directory as the code of a lap whose tests were frozen before.
func (l *lab) greenInGo(s session.Evidence, known []session.TestID, frozen session.Tree,
	targets ...session.TestID) session.Judgement {
	l.t.Helper()
	tree, _ := l.snapshot(l.t.Context())
	changed, _ := l.changes(l.t.Context(), s.Tree, tree)
	l.trying()
	g := goGate()
	g.Expect = workflows.ExpectPass
	green := workflows.Phase{Name: "GREEN", Gates: []workflows.Gate{g}}
	j, err := l.judge.Judge(l.t.Context(), session.JudgeRequest{Tree: tree, RunDir: l.t.TempDir(), Changed: changed,
		Visit: changed, Phase: green, Baseline: s, LapStart: s, Known: known, LapTree: s.Tree, Frozen: frozen,
		Plan: workflows.Plan{Workflow: workflows.Workflow{Tamper: workflows.TamperStrict,
			Phases: []workflows.Phase{writesTests(g), green}}}, Targets: targets})
	if err != nil {
		l.t.Fatal(err)
	}
	return j
}

// TestNestedModule: a new module removes tests from the run without changing them. They are missing, even if older
// ones do not run either, and nothing acquits that. If no test was changed, there is nothing to try.
func TestNestedModule(t *testing.T) {
	t.Parallel()
	const (
		one     = "example.org/calc/util.TestOne"
		module  = "module example.org/calc/util\n\ngo 1.21\n"
		two     = "package util\n\nfunc One() int { return 2 }\n"
		right   = "package calc\n\nfunc Sub(a, b int) int { return a - b }\n"
		changed = "package util\n\nimport \"testing\"\n\n" +
			"func TestOne(t *testing.T) {\n\tif One() != 2 {\n\t\tt.Fatal(\"One\")\n\t}\n}\n"
		subFile = "package calc\n\nimport \"testing\"\n" + subTest
	)
	for name, tc := range map[string]struct {
		red, green map[string]string
		target     session.TestID
		class      session.Class
		tried      bool
	}{
		"no code": {red: map[string]string{"util/util_test.go": changed}, target: one,
			green: map[string]string{"util/go.mod": module}, class: session.ClassTargetMissing},
		"the code is right": {red: map[string]string{"util/util_test.go": changed}, target: one,
			green: map[string]string{"util/go.mod": module, "util/util.go": two}, class: session.ClassTargetMissing},
		"another test was changed": {red: map[string]string{"util/util_test.go": changed}, target: one, tried: true,
			green: map[string]string{"util/go.mod": module, "calc_test.go": "// Tests.\n" + calcTest},
			class: session.ClassTargetMissing},
		"the lap is about another package": {red: map[string]string{"sub_test.go": subFile},
			target: "example.org/calc.TestSub", green: map[string]string{"util/go.mod": module, "sub.go": right},
			class: session.ClassBrokeGreen},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l, s := calcLab(t)
			l.snaps[s.ev.Tree] = s.snap
			l.write(tc.red)
			frozen, _ := l.snapshot(t.Context())
			l.write(tc.green)
			j := l.greenInGo(s.ev, s.base.Red, frozen, tc.target)
			check(t, j, session.Fail, tc.class)
			if j.Question == nil || len(j.Gone) > 0 || joined(j.Gates[0].Failing) != one ||
				tc.tried != (len(j.Experiments) > 0) {
				t.Errorf("%s: gone: %v; asked: %+v; tried: %+v", j.Reason, j.Gone, j.Question, j.Experiments)
			}
		})
	}
}

// TestVanishedIsNotMeant: a changed test that no longer runs was not red before the code was written, however many
// others pass instead, and whatever changed in their files.
func TestVanishedIsNotMeant(t *testing.T) {
	t.Parallel()
	const (
		tests = "package calc\n\nimport \"testing\"\n\nfunc TestAdd(t *testing.T) {\n\tif Add(1, 2) != 3 {\n\t\tt.Fatal()\n" +
			"\t}\n}\n\nfunc TestNeg(t *testing.T) {\n\tif Neg(1) != -1 {\n\t\tt.Fatal()\n\t}\n}\n"
		code = "package calc\n\nfunc Add(a, b int) int { return a + b }\n\nfunc Neg(a int) int { return a }\n"
	)
	util := calcModule()["util/util_test.go"]
	l := newLab(t, map[string]string{"go.mod": calcModule()["go.mod"], "calc.go": code, "calc_test.go": tests,
		"util/util.go": calcModule()["util/util.go"], "util/util_test.go": util})
	base, _ := l.snapshot(t.Context())
	ev := session.Evidence{Tree: base, Gates: map[string]session.Tests{"tests": {"example.org/calc.TestAdd": session.TestPass,
		"example.org/calc.TestNeg": session.TestFail, "example.org/calc/util.TestOne": session.TestPass}}}
	l.write(map[string]string{"util/util_test.go": strings.Replace(util, "One() != 1", "One() != 2", 1)})
	frozen, _ := l.snapshot(t.Context())
	l.write(map[string]string{"util/go.mod": "module example.org/calc/util\n\ngo 1.21\n",
		"calc.go": strings.Replace(code, "{ return a }", "{ return -a }", 1), "calc_test.go": "// Tests.\n" + tests})
	j := l.greenInGo(ev, []session.TestID{"example.org/calc.TestNeg"}, frozen, "example.org/calc/util.TestOne")
	check(t, j, session.Fail, session.ClassTargetMissing)
	if j.Question == nil || len(j.Gone) > 0 {
		t.Errorf("gone: %v; asked: %+v; tried: %+v", j.Gone, j.Question, j.Experiments)
	}
}

// TestWeakenedHelper: code that only tests use is restored for the experiment, wherever it is.
func TestWeakenedHelper(t *testing.T) {
	t.Parallel()
	notShort(t)
	const (
		target = "example.org/calc.TestSub"
		helper = "package check\n\nimport \"testing\"\n\n// Equal fails a test unless two numbers are the same.\n" +
			"func Equal(t *testing.T, got, want int) {\n\tif got != want {\n\t\tt.Errorf(\"%d, want %d\", got, want)\n\t}\n}\n"
		own = "package calc\n\nimport (\n\t\"testing\"\n\n\t\"example.org/calc/check\"\n)\n\n" +
			"func TestSub(t *testing.T) { check.Equal(t, Sub(3, 1), 2) }\n"
		right = "package calc\n\nfunc Sub(a, b int) int { return a - b }\n"
		old   = "package calc\n\nimport \"testing\"\n\nfunc TestOld(t *testing.T) {\n\tif Sub(1, 1) != 0 {\n\t\tt.Fatal()\n\t}\n}\n"
	)
	more := helper + "\n// Zero fails a test unless a number is zero.\nfunc Zero(t *testing.T, got int) { Equal(t, got, 0) }\n"
	weak := strings.Replace(helper, "got != want", "got == 99", 1)
	for name, tc := range map[string]struct {
		green map[string]string
		found string // "" if it passes
	}{
		"the code is wrong":                 {map[string]string{"check/check.go": weak}, session.FoundOnlySo},
		"the code is right":                 {map[string]string{"sub.go": right, "check/check.go": weak}, session.FoundWeaker},
		"the code is right, and it stays":   {map[string]string{"sub.go": right}, ""},
		"the code is right, and it is more": {map[string]string{"sub.go": right, "check/check.go": more}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, map[string]string{"go.mod": "module example.org/calc\n\ngo 1.21\n", "check/check.go": helper,
				"sub.go": stub, "old_test.go": old})
			base, _ := l.snapshot(t.Context())
			l.write(map[string]string{"sub_test.go": own})
			frozen, _ := l.snapshot(t.Context())
			l.write(tc.green)
			ev := session.Evidence{Tree: base, Gates: map[string]session.Tests{
				"tests": {"example.org/calc.TestOld": session.TestPass}}}
			j := l.greenInGo(ev, nil, frozen, target)
			if tc.found == "" {
				check(t, j, session.Pass, session.ClassGreen)
				return
			}
			check(t, j, session.Fail, session.ClassTampered)
			if found := j.Grave(); len(found) != 1 || found[0].Kind != tc.found || found[0].Path != "check/check.go" ||
				j.Question == nil {
				t.Errorf("%s: found %+v; asked: %+v; tried: %+v", j.Reason, found, j.Question, j.Experiments)
			}
		})
	}
}

// TestVanishedBesideARenamedVariable: renaming in another test does not explain why the lap's own test does not run,
// whatever else passes now.
func TestVanishedBesideARenamedVariable(t *testing.T) {
	t.Parallel()
	const (
		tests = "package calc\n\nimport \"testing\"\n\nfunc TestAdd(t *testing.T) {\n" +
			"\tif got := Add(1, 2); got != 3 {\n\t\tt.Fatal()\n\t}\n}\n\n" +
			"func TestNeg(t *testing.T) {\n\tif Neg(1) != -1 {\n\t\tt.Fatal()\n\t}\n}\n"
		code = "package calc\n\nfunc Add(a, b int) int { return a + b }\n\nfunc Neg(a int) int { return a }\n"
	)
	l := newLab(t, map[string]string{"go.mod": "module example.org/calc\n\ngo 1.21\n", "calc_test.go": tests, "calc.go": code,
		"fresh/fresh.go": "package fresh\n\nfunc Fresh() int { return 0 }\n"})
	base, _ := l.snapshot(t.Context())
	ev := session.Evidence{Tree: base, Gates: map[string]session.Tests{"tests": {
		"example.org/calc.TestAdd": session.TestPass, "example.org/calc.TestNeg": session.TestFail}}}
	l.write(map[string]string{"fresh/fresh_test.go": "package fresh\n\nimport \"testing\"\n\n" +
		"func TestFresh(t *testing.T) {\n\tif Fresh() != 7 {\n\t\tt.Fatal()\n\t}\n}\n"})
	frozen, _ := l.snapshot(t.Context())
	l.write(map[string]string{"fresh/go.mod": "module example.org/calc/fresh\n\ngo 1.21\n",
		"calc_test.go": strings.ReplaceAll(tests, "got", "sum"),
		"calc.go":      strings.Replace(code, "return a }", "return -a }", 1)})
	j := l.greenInGo(ev, []session.TestID{"example.org/calc.TestNeg"}, frozen, "example.org/calc/fresh.TestFresh")
	check(t, j, session.Fail, session.ClassTargetMissing)
}

// TestNoTestsAtTheLapsStart: if there were no tests at the lap's start, the code need not pass any, whatever else is
// restored with them.
func TestNoTestsAtTheLapsStart(t *testing.T) {
	t.Parallel()
	const runner = `echo TAP version 13; n=0
for f in tests/*.test; do
  test -e $f || continue
  n=$((n+1)); bad=
  grep -q right calc.[p]y || bad="not "
  echo "${bad}ok $n - $(basename $f .test)"
done
echo 1..$n; test $n -gt 0`
	l := newLab(t, map[string]string{"calc.py": "x = 1\n", "Makefile": "test:\n\ttrue\n"})
	base, _ := l.snapshot(t.Context())
	l.trying()
	l.write(map[string]string{"tests/fresh.test": "red"})
	frozen, _ := l.snapshot(t.Context())
	l.write(map[string]string{"calc.py": "right\n", "Makefile": "test:\n\ttrue\n\nrun:\n\tpython calc.py\n"})
	tree, _ := l.snapshot(t.Context())
	changed, _ := l.changes(t.Context(), base, tree)
	g := workflows.Gate{Name: "tests", Run: workflows.Command{Shell: runner}, Format: workflows.FormatTAP,
		Where: workflows.InPlace, Timeout: time.Minute, Expect: workflows.ExpectPass}
	green := workflows.Phase{Name: "GREEN", Gates: []workflows.Gate{g}}
	ev := session.Evidence{Tree: base, Gates: map[string]session.Tests{"tests": {}}}
	flow := workflows.Workflow{Tamper: workflows.TamperStrict, Phases: []workflows.Phase{writesTests(g), green}}
	j, err := l.judge.Judge(t.Context(), session.JudgeRequest{Tree: tree, RunDir: t.TempDir(), Changed: changed,
		Visit: changed, Phase: green, Plan: workflows.Plan{Workflow: flow}, Baseline: ev, LapStart: ev, LapTree: base,
		Frozen: frozen, Targets: []session.TestID{"fresh"}})
	if err != nil {
		t.Fatal(err)
	}
	check(t, j, session.Pass, session.ClassGreen)
}

package phases

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

// tapGate returns a gate for a script that prints results by test.
func tapGate(script string) workflows.Gate {
	return workflows.Gate{Name: "tests", Run: workflows.Command{Shell: "echo TAP version 13; " + script},
		Format: workflows.FormatTAP, Where: workflows.InPlace, Timeout: time.Minute, Expect: workflows.ExpectPass}
}

// trying gives a lab everything that experiments need.
func (l *lab) trying() {
	l.judge.Overlay, l.judge.Clean, l.judge.WithTexts, l.judge.Paths = l.overlay, l.clean(), l.withTexts, l.paths
}

// TestOlderFailsByTests: if only tests changed, an older test that fails in RED belongs to the lap. If code changed
// too, it does not: the code may be the cause.
func TestOlderFailsByTests(t *testing.T) {
	t.Parallel()
	const strict = "def made():\n    return 6  # strict\n"
	runner := `grep -qs strict tests/support.py tests/data.json && test ! -e ignored/was && bad="not "
if test -e ignored; then touch ignored/was; fi; echo "${bad}ok 1 - older one"; echo "ok 2 - other one"; echo 1..2`
	for name, tc := range map[string]struct {
		base    map[string]string // if set, the former tests can run
		edit    map[string]string
		expect  workflows.Expect
		class   session.Class
		targets string
		failing string
	}{
		"a helper": {edit: map[string]string{"tests/support.py": strict}, expect: workflows.ExpectRed,
			class: session.ClassTargetFailed, targets: "older one"},
		"a fixture": {edit: map[string]string{"tests/data.json": `"strict"`}, expect: workflows.ExpectRed,
			class: session.ClassTargetFailed, targets: "older one"},
		"a helper and a document": {edit: map[string]string{"tests/support.py": strict, "README.md": "Strict.\n"},
			expect: workflows.ExpectRed, class: session.ClassTargetFailed, targets: "older one"},
		"a helper and code": {edit: map[string]string{"tests/support.py": strict, "calc.py": "def add(): pass\n"},
			expect: workflows.ExpectRed, class: session.ClassBrokeGreen, failing: "older one"},
		"a helper and settings": {edit: map[string]string{"tests/support.py": strict, "settings.toml": "a = 1\n"},
			expect: workflows.ExpectRed, class: session.ClassBrokeGreen, failing: "older one"},
		"a helper, and it fails now and then": {expect: workflows.ExpectRed, class: session.ClassNothingAdded,
			edit: map[string]string{"tests/support.py": strict, "ignored/x": ""}},
		"a helper, and it fails with the former one too": {expect: workflows.ExpectRed, class: session.ClassNothingAdded,
			base: map[string]string{"tests/data.json": `"strict"`}, edit: map[string]string{"tests/support.py": "# more\n"}},
		"a helper, with the former one it passes": {expect: workflows.ExpectRed, class: session.ClassTargetFailed,
			base: map[string]string{"tests/x.json": ""}, edit: map[string]string{"tests/support.py": strict},
			targets: "older one"},
		"a helper, in GREEN": {edit: map[string]string{"tests/support.py": strict}, expect: workflows.ExpectPass,
			class: session.ClassBrokeGreen, failing: "older one"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, map[string]string{"calc.py": "def add(a, b):\n    return a + b\n", "tests/data.json": "{}",
				"tests/support.py": "def made():\n    return 5\n"})
			if l.write(tc.base); tc.base != nil {
				l.trying()
			}
			tree, _ := l.snapshot(t.Context())
			s := start{snap: l.snaps[tree], ev: session.Evidence{Tree: tree, Gates: map[string]session.Tests{
				"tests": {"older one": session.TestPass, "other one": session.TestPass}}}}
			l.write(tc.edit)
			j := l.judged(s, tapGate(runner), tc.expect, nil, nil)
			g := j.Gates[0]
			if j.Class != tc.class || joined(g.Targets) != tc.targets || joined(g.Failing) != tc.failing {
				t.Errorf("%s: %s; targets: %v, failing: %v", j.Class, j.Reason, g.Targets, g.Failing)
			}
			if pass := tc.targets != ""; pass != (j.Verdict == session.Pass) {
				t.Errorf("it ends with %s", j.Verdict)
			}
		})
	}
}

// TestGoneInRed: missing older tests are checked once there is code, if experiments can run then. Otherwise RED fails
// at once.
func TestGoneInRed(t *testing.T) {
	t.Parallel()
	const later = "; missing, checked once there is code: "
	runner := `n=0; for f in tests/*.test; do n=$((n+1)); b=$(basename $f .test)
bad=; if grep -q red $f || cat ca*.py | grep -q "fails $b"; then bad="not "; fi; echo "${bad}ok $n - $b"; done; echo 1..$n`
	for name, tc := range map[string]struct {
		edit    map[string]string // in addition to the new test
		setUp   func(*lab, *workflows.Plan)
		failing string // "" if it passes
		left    string // missing tests to check later
	}{
		"none is gone": {},
		"one is gone":  {edit: map[string]string{"tests/old.test": "-"}, left: "old"},
		"two are gone": {edit: map[string]string{"tests/old.test": "-", "tests/elder.test": "-"}, left: "elder, old"},
		"one is gone, and another fails": {edit: map[string]string{"tests/old.test": "-", "calc.py": "fails elder"},
			failing: "elder"},
		"no place": {edit: map[string]string{"tests/old.test": "-"}, failing: "old",
			setUp: func(l *lab, _ *workflows.Plan) { l.judge.Clean = nil }},
		"proofs are off": {edit: map[string]string{"tests/old.test": "-"}, failing: "old",
			setUp: func(_ *lab, p *workflows.Plan) { p.Unproven = true }},
		"tests may be changed": {edit: map[string]string{"tests/old.test": "-"}, failing: "old",
			setUp: func(_ *lab, p *workflows.Plan) { p.Workflow.Tamper = workflows.TamperOff }},
		"no phase follows": {edit: map[string]string{"tests/old.test": "-"}, failing: "old",
			setUp: func(_ *lab, p *workflows.Plan) { p.Workflow.Phases = p.Workflow.Phases[:1] }},
		"the base says something else in a clean tree": {edit: map[string]string{"tests/old.test": "-"}, failing: "old",
			setUp: func(l *lab, p *workflows.Plan) {
				l.judge.RoomNote = &roomNote{why: "it differs", known: true}
				p.Baseline = []workflows.Gate{p.Workflow.Phases[1].Gates[0]}
			}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, map[string]string{"tests/old.test": "", "tests/elder.test": "", "calc.py": "x = 1\n"})
			base, _ := l.snapshot(t.Context())
			l.trying()
			l.write(map[string]string{"tests/fresh.test": "red"})
			l.write(tc.edit)
			tree, _ := l.snapshot(t.Context())
			changed, _ := l.changes(t.Context(), base, tree)
			g := tapGate(runner)
			red := writesTests(g)
			red.Name = "RED"
			plan := workflows.Plan{Workflow: workflows.Workflow{Tamper: workflows.TamperStrict,
				Phases: []workflows.Phase{red, {Name: "GREEN", Gates: []workflows.Gate{g}}}}}
			if tc.setUp != nil {
				tc.setUp(l, &plan)
			}
			ev := session.Evidence{Tree: base, Gates: map[string]session.Tests{
				"tests": {"old": session.TestPass, "elder": session.TestPass}}}
			j, err := l.judge.Judge(t.Context(), session.JudgeRequest{Tree: tree, RunDir: t.TempDir(), Changed: changed,
				Visit: changed, Phase: red, Plan: plan, Baseline: ev, LapStart: ev, LapTree: base})
			if err != nil {
				t.Fatal(err)
			}
			if tc.failing != "" {
				check(t, j, session.Fail, session.ClassBrokeGreen)
				if got := joined(j.Gates[0].Failing); got != tc.failing || strings.Contains(j.Reason, later) {
					t.Errorf("%s: failing are %s, want %s", j.Reason, got, tc.failing)
				}
				return
			}
			check(t, j, session.Pass, session.ClassTargetFailed)
			if got := joined(j.Gates[0].Targets); got != "fresh" {
				t.Errorf("targets are %s", got)
			}
			if _, left, _ := strings.Cut(j.Reason, later); left != tc.left {
				t.Errorf("%s; left are %q, want %q", j.Reason, left, tc.left)
			}
		})
	}
}

// TestGoneUntried: an attempt with missing tests fails if no experiment can run, and a person is asked. If the person
// has approved, it passes.
func TestGoneUntried(t *testing.T) {
	t.Parallel()
	runner := `n=0; for f in tests/*.test; do n=$((n+1)); echo "ok $n - $(basename $f .test)"; done; echo 1..$n`
	for name, tc := range map[string]struct {
		gone   string
		class  session.Class
		setUp  func(*lab, *session.JudgeRequest)
		passes bool
	}{
		"no place": {gone: "lap", class: session.ClassTargetMissing,
			setUp: func(l *lab, _ *session.JudgeRequest) { l.judge.Clean = nil }},
		"no place, and an older one": {gone: "old", class: session.ClassBrokeGreen,
			setUp: func(l *lab, _ *session.JudgeRequest) { l.judge.Clean = nil }},
		"proofs are off": {gone: "lap", class: session.ClassTargetMissing,
			setUp: func(_ *lab, r *session.JudgeRequest) { r.Plan.Unproven = true }},
		"proofs are off, and an older one": {gone: "old", class: session.ClassBrokeGreen,
			setUp: func(_ *lab, r *session.JudgeRequest) { r.Plan.Unproven = true }},
		"the base says something else in a clean tree": {gone: "lap", class: session.ClassTargetMissing,
			setUp: func(l *lab, r *session.JudgeRequest) {
				l.judge.RoomNote = &roomNote{why: "it differs", known: true}
				r.Plan.Baseline = r.Phase.Gates
			}},
		"nothing is frozen": {gone: "lap", class: session.ClassTargetMissing,
			setUp: func(_ *lab, r *session.JudgeRequest) { r.Frozen = "" }},
		"a person has approved": {gone: "lap", passes: true, class: session.ClassGreen,
			setUp: func(l *lab, r *session.JudgeRequest) { l.judge.Clean, r.Approved = nil, true }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, map[string]string{"tests/old.test": "", "tests/elder.test": "", "calc.py": "x = 1\n"})
			base, _ := l.snapshot(t.Context())
			l.write(map[string]string{"tests/lap.test": ""})
			frozen, _ := l.snapshot(t.Context())
			l.write(map[string]string{"calc.py": "x = 2\n", "tests/" + tc.gone + ".test": "-"})
			tree, _ := l.snapshot(t.Context())
			changed, _ := l.changes(t.Context(), base, tree)
			l.trying()
			g := tapGate(runner)
			green := workflows.Phase{Name: "GREEN", Gates: []workflows.Gate{g}}
			ev := session.Evidence{Tree: base, Gates: map[string]session.Tests{
				"tests": {"old": session.TestPass, "elder": session.TestPass}}}
			r := session.JudgeRequest{Tree: tree, RunDir: t.TempDir(), Changed: changed, Visit: changed, Phase: green,
				Plan: workflows.Plan{Workflow: workflows.Workflow{Tamper: workflows.TamperStrict,
					Phases: []workflows.Phase{writesTests(g), green}}},
				Baseline: ev, LapStart: ev, LapTree: base, Frozen: frozen, Targets: []session.TestID{"lap"}}
			tc.setUp(l, &r)
			j, err := l.judge.Judge(t.Context(), r)
			if err != nil {
				t.Fatal(err)
			}
			if tc.passes {
				check(t, j, session.Pass, tc.class)
				if joined(j.Gone) != tc.gone || j.Question != nil {
					t.Errorf("gone are %v; asked: %+v", j.Gone, j.Question)
				}
				return
			}
			check(t, j, session.Fail, tc.class)
			if j.Question == nil || !slices.Equal(j.Question.Evidence, []string{j.Reason}) ||
				!strings.Contains(j.Reason, tc.gone) {
				t.Errorf("it says %q, and asks %+v", j.Reason, j.Question)
			}
			if len(j.Gates) != 1 || joined(j.Gates[0].Failing) != tc.gone || len(j.Gone)+len(j.Tampered) > 0 {
				t.Errorf("gates say %+v; gone: %v; found: %+v", j.Gates, j.Gone, j.Tampered)
			}
		})
	}
}

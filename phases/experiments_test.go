package phases

import (
	"strings"
	"testing"

	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

// TestPassesOnlySo: an attempt that passes only because tests were changed fails, however they were changed. Honest
// changes pass.
func TestPassesOnlySo(t *testing.T) {
	t.Parallel()
	const sub, helper = "def sub(a, b):\n    return ", "def made():\n    return 5\n"
	asks := strings.Replace(pyTest, "        self.", "        if hasattr(calc, 'sub'):\n            self.", 1)
	tidied := pyTest + "\n\nclass More(unittest.TestCase):\n    def test_more(self):\n        self.assertEqual(calc.sub(1, 1), 0)\n"
	// It passes if the code is right and the test expects that, if the test checks for the function first, or if it
	// finds another module or helper.
	runner := workflows.Command{Shell: `echo TAP version 13; test -f calc.[p]y || exit 1
n=$(grep -o 'calc\.[a-z]*' test_calc.py | head -1 | cut -d. -f2)
if grep -qs '), [14])' test_calc.py tests/test_b.py; then echo 'not ok 1 - sub'
elif grep -q needs_data calc.[p]y && ! test -f ignored/data; then echo 'not ok 1 - sub'
elif grep -q hasattr test_calc.py || test -f tests/calc.[p]y || grep -q helped tests/helpers.[p]y; then echo 'ok 1 - sub'
elif ! grep -q "def $n" calc.[p]y; then printf "not ok 1 - sub\n  ---\n  message: module 'calc' has no attribute '$n'\n  ...\n"
elif grep -q 'a - b' calc.[p]y && ! grep -q hollow calc.[p]y && grep -q '5, 2), 3' test_calc.py; then echo 'ok 1 - sub'; else echo 'not ok 1 - sub'; fi; echo 1..1`}
	for _, tc := range []struct {
		name     string
		frozen   map[string]string // added to the usual frozen files
		after    map[string]string // the attempt's changes to the frozen tree
		approved bool
		unbuilt  bool   // RED ended with a missing symbol: its tests are known by unit
		says     string // "" if it passes
		ran      bool   // the gate ran with the frozen tests
	}{
		{name: "nothing but tests", after: map[string]string{"test_calc.py": asks},
			says: "the code passes only with the changed tests: with the tests of checkpoint 4 it fails: still failing: sub", ran: true},
		{name: "and a comment", after: map[string]string{"test_calc.py": asks, "calc.py": sub + "None  # a\n"}, ran: true,
			says: "the code passes only with the changed tests: with the tests of checkpoint 4 it fails: still failing: sub"},
		{name: "and a comment, where RED could not be built",
			after: map[string]string{"test_calc.py": asks, "calc.py": sub + "None  # a\n"}, unbuilt: true, ran: true,
			says: "the code passes only with the changed tests: with the tests of checkpoint 4 it fails: still failing: sub"},
		{name: "the code is right, where RED could not be built",
			after: map[string]string{"calc.py": sub + "a - b\n", "test_calc.py": tidied}, unbuilt: true},
		{name: "the gate wants what is ignored", after: map[string]string{"test_calc.py": tidied, "calc.py": sub + "a - b  # needs_data\n", "ignored/data": "1"}},
		{name: "a person has approved", after: map[string]string{"test_calc.py": asks}, approved: true},
		{name: "a person has frozen the code", frozen: map[string]string{"calc.py": sub + "a - b\n"}, after: map[string]string{"test_calc.py": tidied}},
		{name: "another module in front", after: map[string]string{"tests/calc.py": sub + "a - b\n"},
			says: "the code passes only with the changed tests: with the tests of checkpoint 4 it fails: still failing: sub", ran: true},
		{name: "code in a test", after: map[string]string{"test_calc.py": asks, "tests/test_b.py": sub},
			says: "the code passes only with the changed tests: with the tests of checkpoint 4 it fails: still failing: sub", ran: true},
		{name: "the code is right", after: map[string]string{"calc.py": sub + "a - b\n"}},
		{name: "and tests were tidied", after: map[string]string{"calc.py": sub + "a - b\n", "test_calc.py": tidied}},
		{name: "and there are new ones", after: map[string]string{"calc.py": sub + "a - b\n", "tests/test_b.py": pyTest, "testdata/a.txt": "1"}},
		{name: "a helper has more", after: map[string]string{"calc.py": sub + "a + b\n", "test_calc.py": tidied,
			"tests/helpers.py": helper + "# helped\n"}, ran: true,
			says: "the code passes only with the changed tests: with the tests of checkpoint 4 it fails: still failing: sub"},
		{name: "it has another name", after: map[string]string{"calc.py": "def minus(a, b):\n    return a - b\n", "test_calc.py": strings.ReplaceAll(pyTest, "calc.sub", "calc.minus")}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, map[string]string{"calc.py": sub + "None\n", "test_calc.py": pyTest, "tests/helpers.py": helper})
			l.write(tc.frozen)
			frozen, _ := l.snapshot(t.Context())
			l.write(tc.after)
			tree, _ := l.snapshot(t.Context())
			l.trying()
			g := workflows.Gate{Name: "tests", Run: runner, Format: workflows.FormatTAP, Where: workflows.InPlace, Timeout: 60e9, Expect: workflows.ExpectPass}
			ph := workflows.Phase{Name: "GREEN", Gates: []workflows.Gate{g}}
			first := writesTests(g)
			at := 4
			changed, _ := l.changes(t.Context(), frozen, tree)
			r := session.JudgeRequest{Tree: tree, RunDir: t.TempDir(), Changed: changed, Visit: changed, Phase: ph,
				Approved: tc.approved,
				Plan:     workflows.Plan{Workflow: workflows.Workflow{Tamper: workflows.TamperStrict, Phases: []workflows.Phase{first, ph}}},
				Frozen:   frozen, FrozenAt: &at, LapTree: frozen, Targets: []session.TestID{"sub"}}
			if tc.unbuilt {
				r.Targets, r.Expected = nil, []string{"sub"}
			}
			j, err := l.judge.Judge(t.Context(), r)
			if err != nil {
				t.Fatal(err)
			}
			switch {
			case tc.says == "" && j.Verdict != session.Pass, tc.says != "" && (j.Verdict != session.Fail || j.Class != session.ClassTampered || j.Reason != tc.says):
				t.Errorf("%s %s: %s, want %q", j.Verdict, j.Class, j.Reason, tc.says)
			case tc.says != "" && (len(j.Grave()) != 1 || j.Grave()[0].Kind != "passes_only_so" || j.Passing() != 0):
				t.Errorf("it was found that %+v, and %d pass", j.Tampered, j.Passing())
			}
			if with := len(j.Gates) == 1 && j.Gates[0].TestsOf != nil; with != tc.ran {
				t.Errorf("gates: %+v", j.Gates)
			}
		})
	}
}

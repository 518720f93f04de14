package phases

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

// clean returns a function that makes the lab's clean checkouts, in a directory of their own.
func (l *lab) clean() func(context.Context, session.Tree) (session.CleanTree, error) {
	root := l.t.TempDir()
	return func(_ context.Context, tree session.Tree) (session.CleanTree, error) {
		if err := os.RemoveAll(root); err != nil {
			return session.CleanTree{}, err
		}
		files := l.snaps[tree]
		for name, text := range files {
			if err := os.MkdirAll(filepath.Dir(filepath.Join(root, name)), 0o755); err != nil {
				return session.CleanTree{}, err
			}
			if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o755); err != nil {
				return session.CleanTree{}, err
			}
		}
		return session.CleanTree{Root: root, Tree: tree, Live: []string{l.judge.Root}}, nil
	}
}

func (l *lab) overlay(_ context.Context, base, from session.Tree, paths []string) (session.Tree, error) {
	files := maps.Clone(l.snaps[base])
	for _, p := range paths {
		delete(files, p)
		if text, ok := l.snaps[from][p]; ok {
			files[p] = text
		}
	}
	for tree, have := range l.snaps {
		if maps.Equal(have, files) {
			return tree, nil
		}
	}
	tree := session.Tree(fmt.Sprintf("over %s (%d)", base, len(l.snaps))) // each overlay is a different tree
	l.snaps[tree] = files
	return tree, nil
}

func (l *lab) withTexts(_ context.Context, tree session.Tree, texts map[string][]byte) (session.Tree, error) {
	files := maps.Clone(l.snaps[tree])
	for name, text := range texts {
		files[name] = string(text)
	}
	name := session.Tree(fmt.Sprintf("%s with other texts (%d)", tree, len(l.snaps)))
	l.snaps[name] = files
	return name, nil
}

func (l *lab) paths(_ context.Context, tree session.Tree) ([]string, error) {
	return slices.Sorted(maps.Keys(l.snaps[tree])), nil
}

// writesTests returns the phase before GREEN, with the same gate.
func writesTests(g workflows.Gate) workflows.Phase {
	g.Expect = workflows.ExpectRed
	return workflows.Phase{Name: "RED", Gates: []workflows.Gate{g},
		On: map[workflows.Verdict]workflows.PhaseName{workflows.Pass: "GREEN"}}
}

const pyTest = `import unittest
import calc


class T(unittest.TestCase):
    def test_sub(self):
        self.assertEqual(calc.sub(5, 2), 3)
`

// TestTheFrozenTestsJudgeToo: an attempt with weakened tests fails, and the result of the frozen tests is reported.
func TestTheFrozenTestsJudgeToo(t *testing.T) {
	t.Parallel()
	const sub = "def sub(a, b):\n    return "
	const onlySo = "the code passes only with the changed tests: with the tests of checkpoint 4 it fails: still failing: sub"
	weak := strings.Replace(pyTest, "), 3)", "), 7)", 1)
	// The runner has two tests: one passes if the code is right or something else is expected, one needs data.
	runner := workflows.Command{Shell: `echo TAP version 13; test -f calc.[p]y || exit 1
if grep -q 'sub(5, 2), 3' test_calc.py && ! grep -q 'a - b' calc.[p]y; then echo 'not ok 1 - sub'; else echo 'ok 1 - sub'; fi
if grep -q needs_data calc.[p]y && ! test -f ignored/data; then echo 'not ok 2 - data'; else echo 'ok 2 - data'; fi; echo 1..2`}
	for _, tc := range []struct {
		name          string
		after         map[string]string // the attempt's changes to the frozen tree
		off, noPlace  bool
		says          string          // beginning of the reason
		found         string          // end of the first finding
		verdict       session.Verdict // of the gate; "" if it did not run
		class         session.Class
		failing, over []string
	}{
		{name: "the code is right", after: map[string]string{"calc.py": sub + "a - b\n", "test_calc.py": weak},
			says:    "weakened the tests: ",
			found:   "passes as it is now: calc.py:2: - → +",
			verdict: session.Pass, class: session.ClassGreen},
		{name: "the code is wrong", after: map[string]string{"calc.py": sub + "a + b\n", "test_calc.py": weak},
			says:    onlySo,
			verdict: session.Fail, class: session.ClassTargetFailing, failing: []string{"sub"}},
		{name: "nothing but tests", after: map[string]string{"test_calc.py": weak},
			says:    onlySo,
			verdict: session.Fail, class: session.ClassTargetFailing, failing: []string{"sub"}},
		{name: "a test of its own goes", after: map[string]string{"calc.py": sub + "a - b\n", "test_calc.py": "-", "tests/test_calc.py": weak},
			says:    "weakened the tests: ",
			found:   "passes as it is now: calc.py:2: - → +",
			verdict: session.Pass, class: session.ClassGreen},
		{name: "the gate wants what is ignored", after: map[string]string{"calc.py": sub + "a - b  # needs_data\n", "ignored/data": "1", "test_calc.py": weak},
			says:  "the code could not be judged with the tests of checkpoint 4, which were changed: test_calc.py",
			found: "the attempt's own tests fail in a clean checkout too, so the other tests cannot be tried there"},
		{name: "the code asks whether it is tested", after: map[string]string{"test_calc.py": weak,
			"calc.py": "import sys\n\n\ndef sub(a, b):\n    if 'unittest' in sys.modules:\n        return 3\n    return a + b\n"},
			says:    onlySo,
			verdict: session.Fail, class: session.ClassTargetFailing, failing: []string{"sub"}},
		{name: "proofs are off", after: map[string]string{"calc.py": sub + "a - b\n", "test_calc.py": weak}, off: true,
			says:  "the code could not be judged with the tests of checkpoint 4, which were changed: test_calc.py",
			found: "clean-proof is off"},
		{name: "no place", after: map[string]string{"calc.py": sub + "a - b\n", "test_calc.py": weak}, noPlace: true,
			says:  "the code could not be judged with the tests of checkpoint 4, which were changed: test_calc.py",
			found: "there is no room for a clean checkout"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, map[string]string{"calc.py": sub + "None\n", "test_calc.py": pyTest})
			frozen, _ := l.snapshot(t.Context())
			l.write(tc.after)
			tree, _ := l.snapshot(t.Context())
			l.trying()
			if tc.noPlace {
				l.judge.Clean = nil
			}
			g := workflows.Gate{Name: "tests", Run: runner, Format: workflows.FormatTAP, Where: workflows.InPlace, Timeout: 60e9, Expect: workflows.ExpectPass}
			ph := workflows.Phase{Name: "GREEN", Gates: []workflows.Gate{g}}
			first := writesTests(g)
			at := 4
			changed, _ := l.changes(t.Context(), frozen, tree)
			j, err := l.judge.Judge(t.Context(), session.JudgeRequest{Tree: tree, RunDir: t.TempDir(), Changed: changed, Visit: changed, Phase: ph,
				Plan: workflows.Plan{Unproven: tc.off, Workflow: workflows.Workflow{Tamper: workflows.TamperStrict,
					Phases: []workflows.Phase{first, ph}}},
				Frozen: frozen, FrozenAt: &at, LapTree: frozen, Targets: []session.TestID{"sub"}})
			if err != nil {
				t.Fatal(err)
			}
			if j.Verdict != session.Fail || j.Class != session.ClassTampered || j.Tree != tree {
				t.Errorf("%s %s about %s, want tampered about %s", j.Verdict, j.Class, j.Tree, tree)
			}
			if found := j.Grave(); len(found) != 1 || !strings.HasSuffix(found[0].After, tc.found) {
				t.Errorf("it found %+v, want %q", found, tc.found)
			}
			if !strings.HasPrefix(j.Reason, tc.says) {
				t.Errorf("it says %q, want %q", j.Reason, tc.says)
			}
			if j.Passing() != 0 || j.Reached() != (session.Reached{}) || j.Fingerprint() != string(session.ClassTampered) {
				t.Errorf("it counts for the tree: %d, %+v, %q", j.Passing(), j.Reached(), j.Fingerprint())
			}
			if tc.verdict == "" {
				if len(j.Gates) > 0 {
					t.Errorf("gates ran: %+v", j.Gates)
				}
				return
			}
			if len(j.Gates) != 1 || j.Gates[0].Verdict != tc.verdict || j.Gates[0].Class != tc.class || j.Gates[0].TestsOf == nil || *j.Gates[0].TestsOf != at {
				t.Fatalf("gates say %+v", j.Gates)
			}
			for _, id := range tc.failing {
				if !slices.Contains(j.Gates[0].Failing, session.TestID(id)) {
					t.Errorf("%s is not among %v", id, j.Gates[0].Failing)
				}
			}
			if now, _ := l.snapshot(t.Context()); now != tree {
				t.Error("files of the work tree were changed")
			}
		})
	}
}

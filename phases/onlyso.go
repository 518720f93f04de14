package phases

import (
	"context"
	"fmt"
	"path"
	"regexp"
	"slices"

	"github.com/wfs-dev/wfs/internal/tamper"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

// passesOnlySo looks at an attempt that passes where new tests are made to pass and that changed tests: with the frozen
// tests its code must do what they ask for, too. It reports whether the attempt fails by that. What cannot be found out is
// not held against it, and what new files of tests are for does not matter unless they are tests or stand before the code.
func (j *Judge) passesOnlySo(ctx context.Context, r session.JudgeRequest, out *session.Judgement) ([]Failure, bool, error) {
	policy := r.Plan.Workflow.TamperIn(&r.Phase)
	if out.Verdict != session.Pass || r.Approved || mayRemove(r) || r.Frozen == "" || r.Frozen == out.Tree || j.Overlay == nil || j.Changes == nil || j.Show == nil ||
		policy != workflows.TamperStrict && policy != workflows.TamperReview {
		return nil, false, nil
	}
	changes, err := j.Changes(ctx, r.Frozen, out.Tree)
	if err != nil {
		return nil, false, err
	}
	paths, tests, err := j.putBack(ctx, r.Frozen, changes)
	if err != nil || len(paths) == 0 {
		return nil, false, err
	}
	tree, err := j.Overlay(ctx, out.Tree, r.Frozen, paths)
	if err != nil {
		return nil, false, err
	}
	same := tree == r.Frozen
	if same && len(tests) == 0 { // what helps tests may be what the work is about
		return nil, false, nil
	}
	at := slices.IndexFunc(r.Phase.Gates, func(g workflows.Gate) bool {
		return g.Runs() && g.Format.PerTest() && !g.MayChangeTree && g.Name == targetGate(r)
	})
	if at < 0 || r.Plan.Unproven || j.Clean == nil {
		return nil, false, nil
	}
	g := r.Phase.Gates[at]
	j.say("gate " + g.Name + " with " + testsOf(r) + " …")
	run := func(tree session.Tree) (session.GateResult, *gateRun, error) {
		at, r := *j, r
		at.judged, at.Whole, r.Tree = tree, nil, tree // what lies beside the tree would bring new tests back
		if r.Changed, err = j.Changes(ctx, r.LapTree, tree); err != nil {
			return session.GateResult{}, nil, err
		}
		return at.frozenGate(ctx, g, r)
	}
	res, done, err := run(tree)
	if err != nil || couldNot(done, res) != "" || res.Verdict == session.Pass {
		return nil, false, ctx.Err()
	}
	if own, did, err := run(out.Tree); err != nil || couldNot(did, own) != "" || own.Verdict != session.Pass { // it wants what no tree has
		return nil, false, ctx.Err()
	}
	if same { // a person may have frozen tests that pass there
		since := ""
		if r.FrozenAt != nil {
			since = fmt.Sprintf(" since checkpoint %d", *r.FrozenAt)
		}
		j.failsOtherwise(out, tests[0], "", "nothing but tests was changed"+since)
		return nil, true, nil
	}
	if len(done.report.broken) > 0 {
		return nil, false, nil
	}
	for _, id := range slices.Concat(r.Targets, expectedOf(done.found.failing, r.Expected)) {
		if !bad(done.report.tests[id]) {
			continue
		}
		if renamed, err := j.namesGone(ctx, out.Tree, done.report.messages[id], changes); err != nil || renamed {
			return nil, false, err
		}
		res.TestsOf = r.FrozenAt
		j.failsOtherwise(out, paths[0], string(id), "with "+testsOf(r)+" it fails: "+res.Reason)
		out.Gates = []session.GateResult{res}
		out.Evidence.Tree, out.Evidence.Gates = tree, map[string]session.Tests{g.Name: done.report.tests}
		return j.failures(res, done), true, nil
	}
	return nil, false, nil
}

// expectedOf are those tests that are meant by the names of tests that could not be built when they were written.
func expectedOf(ids []session.TestID, names []string) []session.TestID {
	return slices.DeleteFunc(slices.Clone(ids), func(id session.TestID) bool {
		return !slices.ContainsFunc(names, func(name string) bool { return matches(id, name) })
	})
}

// failsOtherwise makes a judgement say that an attempt passes only with the tests as it changed them.
func (j *Judge) failsOtherwise(out *session.Judgement, file, test, says string) {
	out.Tampered = append([]session.Tampering{{Kind: string(tamper.OnlySo), Path: file, Test: j.Secrets.String(test), After: j.Secrets.String(says), Grave: true}}, out.Tampered...)
	out.Verdict, out.Class = session.Fail, session.ClassTampered
	out.Reason = fmt.Sprintf("the tests pass only as they were changed: %s", j.Secrets.String(says))
	out.Gates, out.Evidence.Gates = nil, map[string]session.Tests{}
}

// putBack are the paths of changes that are put back to see what the code is worth: tests by their own names, new ones too,
// what they read where that was there before, and helpers that are gone. tests are those that are no helpers.
func (j *Judge) putBack(ctx context.Context, frozen session.Tree, changes []session.Change) (paths, tests []string, err error) {
	for _, c := range changes {
		if !tamper.HoldsTests(c.Path) {
			continue
		}
		sure := tamper.IsTest(c.Path)
		if c.Status == "A" && !sure { // tests/calc.py may be found in place of calc.py
			base := path.Base(c.Path)
			for _, name := range []string{base, "src/" + base} {
				data, err := j.Show(ctx, frozen, name)
				if err != nil {
					return nil, nil, err
				}
				sure = sure || data != nil && isCode(base) && base != "__init__.py"
			}
		}
		data := c.Status != "A" && !isCode(c.Path)
		if sure || data || c.Status == "D" { // a fixture of pytest may be new in a file that was there
			paths = append(paths, c.Path)
		}
		if sure || data {
			tests = append(tests, c.Path)
		}
	}
	return paths, tests, nil
}

// missingName finds the name that a test missed when it ran.
const missingName = `has no attribute '(\w+)'|name '(\w+)' is not defined|cannot import name '(\w+)'|No module named '([\w.]+)'|Cannot find module '([^']+)'|(\w+) is not (?:a function|a constructor|defined)|undefined (?:local variable or )?method .(\w+)`

// namesGone reports whether a frozen test failed for want of a name by which the tests of a tree ask for nothing any more:
// what they test has another name now.
func (j *Judge) namesGone(ctx context.Context, tree session.Tree, message string, changes []session.Change) (bool, error) {
	m := regexp.MustCompile(missingName).FindStringSubmatch(message)
	if m == nil {
		return false, nil
	}
	name := m[slices.IndexFunc(m[1:], func(s string) bool { return s != "" })+1]
	for _, c := range changes {
		if c.Status == "D" || !tamper.HoldsTests(c.Path) {
			continue
		}
		data, err := j.Show(ctx, tree, c.Path)
		if err != nil || hasWord(data[:min(len(data), maxRead)], name) {
			return false, err
		}
	}
	return true, nil
}

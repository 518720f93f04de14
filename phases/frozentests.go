package phases

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/wfs-dev/wfs/internal/experiment"
	"github.com/wfs-dev/wfs/internal/testpaths"
	"github.com/wfs-dev/wfs/phases/report"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

// mayRemove reports whether tests may go together with what they test: not in the phase that makes new tests pass.
func mayRemove(r session.JudgeRequest) bool {
	red := r.Plan.Workflow.Red()
	return red == nil || red.On[workflows.Pass] != r.Phase.Name
}

// testsOf names the frozen tests.
func testsOf(r session.JudgeRequest) string {
	if r.FrozenAt == nil {
		return "the former tests"
	}
	return fmt.Sprintf("the tests of checkpoint %d", *r.FrozenAt)
}

// reference is a state whose tests an attempt's code must pass.
type reference struct {
	tree session.Tree
	says string               // whose tests they are
	r    session.JudgeRequest // what they are judged with
	// newest: of the phase that wrote the lap's tests, and not of the lap's start.
	newest bool
	files  []file   // changed since then
	aside  []string // of those the tests, and what they are run by
	edited bool     // any of them was there before
}

// references are the tests of the phase that wrote them, and those of the lap's start.
func (t *trials) references(ctx context.Context) ([]reference, error) {
	list := []reference{{tree: t.r.Frozen, says: testsOf(t.r), r: t.r, newest: true}}
	start := slices.Collect(maps.Values(t.r.LapStart.Gates[t.gate.Name]))
	if !mayRemove(t.r) && t.r.LapTree != "" && t.r.LapTree != t.r.Frozen && slices.Contains(start, session.TestPass) {
		older := t.r
		older.Targets, older.Expected, older.FrozenAt = nil, nil, nil
		list = append(list, reference{tree: t.r.LapTree, says: "the tests of this lap's start", r: older})
	}
	for i := range list {
		files, err := t.since(ctx, list[i].tree)
		if err != nil {
			return nil, err
		}
		list[i].files = files
		list[i].aside, list[i].edited = asideOf(files)
	}
	return list, nil
}

// passesFrozen runs the gate on the attempt's code with the tests, and what they are run by, as they were. It reports
// whether anything of that was changed since they were frozen. An attempt that fails so passes only with its own tests.
// One that passes may still have made them weaker.
func (t *trials) passesFrozen(ctx context.Context) (changed bool, failures []report.Failure, err error) {
	refs, err := t.references(ctx)
	if err != nil {
		return false, nil, err
	}
	changed = len(refs[0].aside) > 0
	start := t.r.LapStart.Gates[t.gate.Name]
	own := func(id session.TestID) bool {
		_, had := start[id]
		return slices.Contains(t.r.Targets, id) || !had && t.ofLap(id)
	}
	if !refs[0].edited && slices.ContainsFunc(t.out.Gone, own) {
		return changed, nil, nil // no test was changed, and yet those of the lap do not run
	}
	seen := []session.Tree{t.out.Tree}
	for _, ref := range refs {
		if len(ref.aside) == 0 || !ref.edited && (!ref.newest || mayRemove(t.r)) {
			continue // what only came since is judged with the newest
		}
		tree, err := t.withTests(ctx, ref.tree, ref.files, ref.aside)
		if err != nil {
			return changed, nil, err
		}
		if slices.Contains(seen, tree) || tree == ref.tree && !ref.newest { // then it has no code of its own
			continue
		}
		seen = append(seen, tree)
		if hidden, err := t.takenOut(ctx, ref); err != nil || hidden {
			return changed, nil, err
		}
		result, failures, err := t.against(ctx, ref, tree)
		if err != nil {
			if err := t.cannot(ctx, tryFrozen, err); err != nil {
				return changed, nil, err
			}
			result = notTried
		}
		if ref.edited {
			if err := t.weigh(ctx, ref, result); err != nil {
				return changed, nil, err
			}
		}
		if t.out.Verdict != session.Pass || t.gone && ref.edited && !t.acquitted {
			return changed, failures, nil
		}
	}
	return changed, nil, nil
}

// takenOut reports whether tests that are gone run again when only the settings of what runs tests are as they were:
// then nothing stands in their place, whatever else there is.
func (t *trials) takenOut(ctx context.Context, ref reference) (bool, error) {
	paths := slices.DeleteFunc(slices.Clone(ref.aside), func(p string) bool {
		return testpaths.HoldsTests(p) || isCode(p) && !testpaths.AboutTests(p)
	})
	if !t.gone || len(paths) == 0 {
		return false, nil
	}
	tree, err := t.withTests(ctx, ref.tree, ref.files, paths)
	if err != nil {
		return false, err
	}
	t.say("gate " + t.gate.Name + " with " + some(paths) + " as it was before …")
	run, err := t.alter(ctx, tree, tryFrozen, nil)
	if err != nil {
		return false, t.cannot(ctx, tryFrozen, err)
	}
	again := slices.DeleteFunc(slices.Clone(t.out.Gone), run.lacks)
	if len(again) == 0 {
		return false, nil
	}
	t.tried(tryFrozen, fails, fmt.Sprintf("%s again with the previous %s: %s",
		plural(len(again), "missing test runs", "missing tests run"), some(paths), some(again)))
	return true, nil
}

// weigh asks what edited tests are worth beside those of a reference, against which the code did well or not.
func (t *trials) weigh(ctx context.Context, ref reference, result string) (err error) {
	switch {
	case t.gone && result == holds:
		if t.acquitted, err = t.asStrong(ctx, ref); err != nil {
			return t.cannot(ctx, tryMutants, err)
		}
	case t.gone && result == unfit: // what they were about is gone, or has another shape
		t.ask(ref.aside, "previous tests are missing, and no longer build with the code: "+
			some(t.out.Gone)+" in "+some(ref.aside))
	case t.gone:
		t.acquitted = result == meant || result == renamed && t.runsAsMany()
	case result == holds:
		weaker, says, err := t.weaker(ctx, ref.tree)
		if err != nil {
			return t.cannot(ctx, tryMutants, err)
		}
		if weaker == fails {
			path := ref.aside[max(0, slices.IndexFunc(ref.aside, testpaths.HoldsTests))]
			t.found(session.FoundWeaker, path, "", "weakened the tests: "+path, says)
		}
	case result == notTried && ref.newest:
		t.edited(ref.files, t.out.Experiments[len(t.out.Experiments)-1].Says)
	}
	return nil
}

// ofLap reports whether a test is one that the lap is about.
func (t *variants) ofLap(id session.TestID) bool {
	return slices.Contains(t.r.Targets, id) ||
		slices.ContainsFunc(t.r.Expected, func(unit string) bool { return string(id) == unit || belongs(id, unit) })
}

// runsAsMany reports whether as many tests pass as did at the lap's start, and those of the lap.
func (t *variants) runsAsMany() bool {
	start := t.r.LapStart.Gates[t.gate.Name]
	want := count(start, t.gate.Name).Passed + len(t.r.Expected)
	for _, id := range t.r.Targets {
		if _, had := start[id]; !had {
			want++
		}
	}
	return count(t.out.Evidence.Gates[t.gate.Name], t.gate.Name).Passed >= want
}

// against runs the gate on a tree that has the attempt's code, and the tests of a reference.
func (t *trials) against(ctx context.Context, ref reference,
	tree session.Tree) (result string, failures []report.Failure, err error) {
	t.say("gate " + t.gate.Name + " with " + ref.says + " …")
	res, run, err := t.judge(ctx, ref.r, tree, "frozen")
	if err != nil {
		return "", nil, err
	}
	if why := couldNot(run, res); why != "" {
		t.tried(tryFrozen, notTried, "with "+ref.says+" it could not be judged: "+why)
		return notTried, nil, nil
	}
	if ref.newest {
		t.asked, t.ran, t.with = &res, run, tree
	}
	if res.Verdict == session.Pass {
		t.tried(tryFrozen, holds, "with "+ref.says+" the code passes; changed since then: "+some(ref.aside))
		return holds, nil, nil
	}
	result, excused, err := t.excused(ctx, ref, run, res.Failing)
	if err != nil {
		return "", nil, err
	}
	if result != "" {
		if ref.newest { // what it said is excused
			t.asked = nil
		}
		said := holds
		if result == notTried {
			said = notTried
		}
		t.tried(tryFrozen, said, excused)
		return result, nil, nil
	}
	says := "with " + ref.says + " it fails: " + res.Reason
	t.tried(tryFrozen, fails, says)
	if ref.newest && !t.gone {
		if came, err := t.passesWithData(ctx, ref); err != nil || len(came) > 0 {
			if err == nil {
				t.ask(came, "the tests pass only with data that was added with the code, which may be its own output: "+some(came))
			}
			return fails, nil, err
		}
	}
	// What went before the tests were frozen nobody can give back in this phase.
	if mayRemove(t.r) || !ref.newest && (t.gone || t.maybeMeant(res.Failing)) {
		t.ask(ref.aside, fmt.Sprintf("the code fails %s, which were changed or removed: %s", ref.says, res.Reason))
		return fails, nil, nil
	}
	test := ""
	if len(res.Failing) > 0 {
		test = string(res.Failing[0])
	}
	t.asked, t.ran, t.with = &res, run, tree
	return fails, t.found(session.FoundOnlySo, ref.aside[0], test, "the code passes only with the changed tests: "+says, says), nil
}

// passesWithout reports whether the code passes the tests of a reference but for some of its paths, which stay as the
// attempt has them.
func (t *trials) passesWithout(ctx context.Context, ref reference, left func(path string) bool, name string) (bool,
	error) {
	rest := slices.DeleteFunc(slices.Clone(ref.aside), left)
	tree, err := t.withTests(ctx, ref.tree, ref.files, rest)
	if err != nil || len(rest) == 0 {
		return len(rest) == 0, err
	}
	res, run, err := t.judge(ctx, ref.r, tree, name)
	return err == nil && couldNot(run, res) == "" && res.Verdict == session.Pass, err
}

// passesWithData returns new files that tests read, such as snapshots, if the code passes with them and all else of the
// tests as it was. Nobody can tell whether they say what is wanted.
func (t *trials) passesWithData(ctx context.Context, ref reference) ([]string, error) {
	var came []string
	for _, f := range ref.files {
		if f.Status == "A" && !isCode(f.Path) && testpaths.HoldsTests(f.Path) {
			came = append(came, f.Path)
		}
	}
	if len(came) == 0 {
		return nil, nil
	}
	passes, err := t.passesWithout(ctx, ref, func(p string) bool { return slices.Contains(came, p) }, "frozen-data")
	if !passes {
		came = nil
	}
	return came, err
}

// withoutBroken asks once more with those of the older files of tests left as the attempt has them that cannot be built
// with its code: what they are about has another shape now. It reports whether the code passes all others.
func (t *trials) withoutBroken(ctx context.Context, ref reference, run *gateRun) (bool, error) {
	if len(run.report.Broken) == 0 {
		return false, nil
	}
	return t.passesWithout(ctx, ref, func(p string) bool {
		return slices.ContainsFunc(ref.files, func(f file) bool { return f.Path == p && f.Status == "A" }) ||
			slices.ContainsFunc(run.report.Broken,
				func(b report.Breakage) bool { return b.File != "" && report.SameFile(p, b.File) })
	}, "frozen-rest")
}

// meant reports whether all tests that fail as they were at the lap's start, old, have been changed, and were red as
// they are now before the code was written: then it is what the lap is about. A test with other parameters has another
// name.
func (t *variants) meant(ctx context.Context, failing []session.TestID, old *gateRun) (bool, error) {
	notAbout := func(id session.TestID) bool { // or it did not even run
		return !bad(old.report.Tests[id]) || !slices.ContainsFunc(t.r.Targets, func(other session.TestID) bool {
			return other == id || report.Parent(id) != "" && report.Parent(other) == report.Parent(id)
		})
	}
	if len(failing) == 0 || slices.ContainsFunc(failing, notAbout) {
		return false, nil
	}
	run, err := t.alter(ctx, t.r.Frozen, "red", nil)
	return err == nil && !slices.ContainsFunc(failing, func(id session.TestID) bool {
		return run.has(id) && !bad(run.report.Tests[id])
	}), err
}

// maybeMeant reports whether all tests that fail are among those that the lap is about by name: they were changed where
// nothing could be built, so that nobody knows whether they were red as they are now.
func (t *variants) maybeMeant(failing []session.TestID) bool {
	return len(failing) > 0 && !slices.ContainsFunc(failing, func(id session.TestID) bool {
		return !slices.ContainsFunc(t.r.Expected, func(unit string) bool { return belongs(id, unit) })
	})
}

// withTests is the attempt's tree with paths as another has them. Of files that hold code and tests only the tests are
// taken.
func (t *variants) withTests(ctx context.Context, from session.Tree, files []file, paths []string) (session.Tree,
	error) {
	texts := map[string][]byte{}
	for _, f := range files {
		if testpaths.MixesTests(f.Path) && slices.Contains(paths, f.Path) {
			texts[f.Path] = slices.Concat(codeIn(f.Path, f.after), testsIn(f.Path, f.before))
		}
	}
	tree, err := t.Overlay(ctx, t.out.Tree, from, slices.DeleteFunc(slices.Clone(paths), testpaths.MixesTests))
	if err != nil || len(texts) == 0 {
		return tree, err
	}
	return t.WithTexts(ctx, tree, texts)
}

// excused says why code need not pass the tests of a reference, "" when it must: nothing but names was changed; what
// they are about has another shape, or the lap is about other behaviour; or the attempt's own tree fails there, too.
func (t *trials) excused(ctx context.Context, ref reference, run *gateRun,
	failing []session.TestID) (result, says string, err error) {
	if t.gone && run.exit == 0 && len(run.report.Broken) == 0 && !slices.ContainsFunc(failing, run.has) {
		return "", "", nil // they vanish with the tests as they were, too: no name in them is why
	}
	if is, err := t.onlyRenamed(ctx, ref.files); err != nil || is {
		return renamed, "only names differ from " + ref.says, err
	}
	if !ref.newest {
		if is, err := t.withoutBroken(ctx, ref, run); err != nil || is {
			return unfit, "with " + ref.says + " the code passes, except for files that no longer fit it", err
		}
		if is, err := t.meant(ctx, failing, run); err != nil || is {
			return meant, "the lap is about behaviour that " + ref.says + " do not cover", err
		}
	}
	own, ownRun, err := t.judge(ctx, t.r, t.out.Tree, "own")
	if err == nil && (couldNot(ownRun, own) != "" || own.Verdict != session.Pass && !t.gone) {
		return notTried, "the attempt's own tests fail in a clean checkout too, so the other tests cannot be tried there", nil
	}
	return "", "", err
}

// onlyRenamed reports whether tests differ in nothing but names from what they were. Code counts as it was when the
// phase was entered, too: what the lap has written since its tests were frozen may have another name now.
func (t *variants) onlyRenamed(ctx context.Context, files []file) (bool, error) {
	tests, code := [2]experiment.Files{{}, {}}, [2]experiment.Files{{}, {}}
	for _, f := range files {
		if f.aside && !testpaths.HoldsTests(f.Path) {
			return false, nil
		}
		sides := code
		if f.aside {
			sides = tests
		}
		if f.Status != "A" {
			sides[0][f.Path] = f.before
		}
		if f.Status != "D" {
			sides[1][f.Path] = f.after
		}
	}
	if t.r.VisitTree != "" {
		entered, err := t.since(ctx, t.r.VisitTree)
		if err != nil {
			return false, err
		}
		for _, f := range entered {
			aside := slices.ContainsFunc(files, func(o file) bool { return o.aside && o.Path == f.Path })
			if f.Status != "A" && code[0][f.Path] == nil && !aside {
				code[0][f.Path] = f.before
			}
		}
	}
	return experiment.Renamed(tests[0], tests[1], code[0], code[1]), nil
}

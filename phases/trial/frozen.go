package trial

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/wfs-dev/wfs/internal/experiment"
	"github.com/wfs-dev/wfs/internal/safetext"
	"github.com/wfs-dev/wfs/internal/testpaths"
	"github.com/wfs-dev/wfs/phases/gate"
	"github.com/wfs-dev/wfs/phases/report"
	"github.com/wfs-dev/wfs/phases/verdict"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

// mayRemove reports whether the phase may remove tests together with the code that they test. Only the phase that must
// make new tests pass may not.
func mayRemove(r session.JudgeRequest) bool {
	red := r.Plan.Workflow.Red()
	return red == nil || red.On[workflows.Pass] != r.Phase.Name
}

// testsOf describes the frozen tests in a few words.
func testsOf(r session.JudgeRequest) string {
	if r.FrozenAt == nil {
		return "the former tests"
	}
	return fmt.Sprintf("the tests of checkpoint %d", *r.FrozenAt)
}

// reference is an earlier state. Its tests must pass with the attempt's code.
type reference struct {
	tree session.Tree
	says string               // a name for its tests in messages
	r    session.JudgeRequest // the request with which its runs are judged
	// newest is set if the tests are those of the phase that wrote the lap's tests, and not set if they are those of
	// the lap's start.
	newest bool
	files  []File       // files that changed since the reference
	aside  []string     // those of files that are tests or test settings
	edited bool         // set if a file in aside existed before
	with   session.Tree // the attempt's tree with the reference's versions of the files in aside
}

// references returns the state that the phase which wrote the tests left, and the state of the lap's start if its
// tests must pass too.
func (t *Trial) references(ctx context.Context) ([]reference, error) {
	list := []reference{{tree: t.Req.Frozen, says: testsOf(t.Req), r: t.Req, newest: true}}
	start := slices.Collect(maps.Values(t.Req.LapStart.Gates[t.Gate.Name]))
	if !mayRemove(t.Req) && t.Req.LapTree != "" && t.Req.LapTree != t.Req.Frozen &&
		slices.Contains(start, session.TestPass) {
		older := t.Req
		older.Targets, older.Expected, older.FrozenAt = nil, nil, nil
		list = append(list, reference{tree: t.Req.LapTree, says: "the tests of this lap's start", r: older})
	}
	for i := range list {
		files, err := t.Since(ctx, list[i].tree)
		if err != nil {
			return nil, err
		}
		list[i].files = files
		list[i].aside, list[i].edited = AsideOf(files)
	}
	return list, nil
}

// passesFrozen runs the gate on the attempt's code with the frozen tests and test settings. `changed` says whether the
// attempt changed these. An attempt whose code fails here passes only thanks to its own tests. An attempt whose code
// passes may still have weakened the tests.
func (t *Trial) passesFrozen(ctx context.Context) (changed bool, failures []report.Failure, err error) {
	refs, err := t.references(ctx)
	if err != nil {
		return false, nil, err
	}
	changed = len(refs[0].aside) > 0
	if !refs[0].edited && slices.ContainsFunc(t.Out.Gone, t.cameInLap) {
		return changed, nil, nil // no test was edited, yet tests of the lap do not run
	}
	seen := []session.Tree{t.Out.Tree}
	for _, ref := range refs {
		if len(ref.aside) == 0 || !ref.edited && (!ref.newest || mayRemove(t.Req)) {
			continue // tests that were only added are judged with the newest reference
		}
		if ref.with, err = t.WithTests(ctx, ref.tree, ref.files, ref.aside); err != nil {
			return changed, nil, err
		}
		if slices.Contains(seen, ref.with) || ref.with == ref.tree && !ref.newest {
			continue // this tree was tried already, or the attempt has no code of its own
		}
		seen = append(seen, ref.with)
		if done, failures, err := t.tryReference(ctx, ref); err != nil || done {
			return changed, failures, err
		}
	}
	return changed, nil, nil
}

// cameInLap reports whether a test was added or changed in this lap.
func (t *Trial) cameInLap(id session.TestID) bool {
	_, had := t.Req.LapStart.Gates[t.Gate.Name][id]
	return slices.Contains(t.Req.Targets, id) || !had && ofLap(t.Req, id)
}

// tryReference judges the attempt's code with the tests of a reference, then compares these tests with the attempt's.
// `done` is set if no further reference needs to be tried.
func (t *Trial) tryReference(ctx context.Context, ref reference) (done bool, failures []report.Failure, err error) {
	if hidden, err := t.takenOut(ctx, ref); err != nil || hidden {
		return true, nil, err
	}
	result, failures, err := t.against(ctx, ref)
	if err != nil {
		if err := t.Cannot(ctx, TryFrozen, err); err != nil {
			return true, nil, err
		}
		result = NotTried
	}
	if ref.edited {
		if err := t.weigh(ctx, ref, result); err != nil {
			return true, nil, err
		}
	}
	return t.Out.Verdict != session.Pass || t.gone && ref.edited && !t.acquitted, failures, nil
}

// takenOut reports whether missing tests run again as soon as the test runner's settings are restored. The attempt
// then only hid them, and replaced them by nothing.
func (t *Trial) takenOut(ctx context.Context, ref reference) (bool, error) {
	paths := slices.DeleteFunc(slices.Clone(ref.aside), func(p string) bool {
		return testpaths.HoldsTests(p) || report.IsCode(p) && !testpaths.AboutTests(p)
	})
	if !t.gone || len(paths) == 0 {
		return false, nil
	}
	tree, err := t.WithTests(ctx, ref.tree, ref.files, paths)
	if err != nil {
		return false, err
	}
	t.Say("gate " + t.Gate.Name + " with " + safetext.Some(paths) + " as it was before …")
	run, err := t.Alter(ctx, tree, TryFrozen, nil)
	if err != nil {
		return false, t.Cannot(ctx, TryFrozen, err)
	}
	again := slices.DeleteFunc(slices.Clone(t.Out.Gone), run.Lacks)
	if len(again) == 0 {
		return false, nil
	}
	t.Tried(TryFrozen, Fails, fmt.Sprintf("%s again with the previous %s: %s",
		safetext.Plural(len(again), "missing test runs", "missing tests run"), safetext.Some(paths), safetext.Some(again)))
	return true, nil
}

// weigh decides whether the attempt's edited tests are as good as those of a reference. `result` says how the code did
// with the reference's tests.
func (t *Trial) weigh(ctx context.Context, ref reference, result string) (err error) {
	switch {
	case t.gone && result == Holds:
		if t.acquitted, err = t.asStrong(ctx, ref); err != nil {
			return t.Cannot(ctx, TryMutants, err)
		}
	// The code that these tests covered is gone, or its interface changed.
	case t.gone && result == unfit:
		t.ask(ref.aside, "previous tests are missing, and no longer build with the code: "+
			safetext.Some(t.Out.Gone)+" in "+safetext.Some(ref.aside))
	case t.gone:
		t.acquitted = result == meant || result == renamed && t.runsAsMany()
	case result == Holds:
		weaker, says, err := t.Weaker(ctx, ref.tree)
		if err != nil {
			return t.Cannot(ctx, TryMutants, err)
		}
		if weaker == Fails {
			path := ref.aside[max(0, slices.IndexFunc(ref.aside, testpaths.HoldsTests))]
			t.found(session.FoundWeaker, path, "", "weakened the tests: "+path, says)
		}
	case result == NotTried && ref.newest:
		t.edited(ref.files, t.Out.Experiments[len(t.Out.Experiments)-1].Says)
	}
	return nil
}

// ofLap reports whether a test is a target of the lap, or belongs to a unit whose tests the lap expects to run.
func ofLap(r session.JudgeRequest, id session.TestID) bool {
	return slices.Contains(r.Targets, id) ||
		slices.ContainsFunc(r.Expected, func(unit string) bool { return string(id) == unit || verdict.Belongs(id, unit) })
}

// runsAsMany reports whether at least as many tests pass as did at the lap's start, plus the tests that the lap added.
func (t *Variants) runsAsMany() bool {
	start := t.Req.LapStart.Gates[t.Gate.Name]
	want := report.Count(start, t.Gate.Name).Passed + len(t.Req.Expected)
	for _, id := range t.Req.Targets {
		if _, had := start[id]; !had {
			want++
		}
	}
	return report.Count(t.now(), t.Gate.Name).Passed >= want
}

// against runs the gate on the attempt's code with the tests of a reference, and returns the result of this
// experiment. failures is the output of failing tests if the attempt fails.
func (t *Trial) against(ctx context.Context, ref reference) (result string, failures []report.Failure, err error) {
	t.Say("gate " + t.Gate.Name + " with " + ref.says + " …")
	res, run, err := t.Judge(ctx, ref.r, ref.with, "frozen")
	if err != nil {
		return "", nil, err
	}
	if why := verdict.CouldNot(run, res); why != "" {
		t.Tried(TryFrozen, NotTried, "with "+ref.says+" it could not be judged: "+why)
		return NotTried, nil, nil
	}
	if ref.newest {
		t.asked, t.ran, t.with = &res, run, ref.with
	}
	if res.Verdict == session.Pass {
		t.Tried(TryFrozen, Holds, "with "+ref.says+" the code passes; changed since then: "+safetext.Some(ref.aside))
		return Holds, nil, nil
	}
	result, excused, err := t.excused(ctx, ref, run, res.Failing)
	switch {
	case err != nil:
		return "", nil, err
	case result == "":
		return t.failsFrozen(ctx, ref, res, run)
	case ref.newest: // the failures are excused, so these results must not be used
		t.asked = nil
	}
	if result == NotTried {
		t.Tried(TryFrozen, NotTried, excused)
	} else {
		t.Tried(TryFrozen, Holds, excused)
	}
	return result, nil, nil
}

// failsFrozen fails an attempt whose code fails the tests of a reference. In some cases it asks a person about it
// instead.
func (t *Trial) failsFrozen(ctx context.Context, ref reference, res session.GateResult,
	run *gate.Run) (result string, failures []report.Failure, err error) {
	says := "with " + ref.says + " it fails: " + res.Reason
	t.Tried(TryFrozen, Fails, says)
	if ref.newest && !t.gone {
		if asked, err := t.askedAboutData(ctx, ref); err != nil || asked {
			return Fails, nil, err
		}
	}
	// A person decides if the phase may remove tests, or if the tests were removed before the freeze, so that the
	// phase cannot restore them.
	if mayRemove(t.Req) || !ref.newest && (t.gone || maybeMeant(t.Req, res.Failing)) {
		t.ask(ref.aside, fmt.Sprintf("the code fails %s, which were changed or removed: %s", ref.says, res.Reason))
		return Fails, nil, nil
	}
	test := ""
	if len(res.Failing) > 0 {
		test = string(res.Failing[0])
	}
	t.asked, t.ran, t.with = &res, run, ref.with
	return Fails, t.found(session.FoundOnlySo, ref.aside[0], test,
		"the code passes only with the changed tests: "+says, says), nil
}

// passesWithout reports whether the code passes the tests of a reference if some files stay as the attempt has them.
// `left` selects these files.
func (t *Trial) passesWithout(ctx context.Context, ref reference, left func(path string) bool, name string) (bool,
	error) {
	rest := slices.DeleteFunc(slices.Clone(ref.aside), left)
	tree, err := t.WithTests(ctx, ref.tree, ref.files, rest)
	if err != nil || len(rest) == 0 {
		return len(rest) == 0, err
	}
	res, run, err := t.Judge(ctx, ref.r, tree, name)
	return err == nil && verdict.CouldNot(run, res) == "" && res.Verdict == session.Pass, err
}

// askedAboutData asks a person about data files of tests, such as snapshots, that the attempt added, if the code
// passes the previous tests only with these files. The data may be right, or just be the code's own output.
func (t *Trial) askedAboutData(ctx context.Context, ref reference) (bool, error) {
	var came []string
	for _, f := range ref.files {
		if f.Status == "A" && !report.IsCode(f.Path) && testpaths.HoldsTests(f.Path) {
			came = append(came, f.Path)
		}
	}
	if len(came) == 0 {
		return false, nil
	}
	passes, err := t.passesWithout(ctx, ref, func(p string) bool { return slices.Contains(came, p) }, "frozen-data")
	if passes && err == nil {
		t.ask(came, "the tests pass only with data that was added with the code, which may be its own output: "+
			safetext.Some(came))
	}
	return passes, err
}

// withoutBroken reports whether the code passes the older tests that build with it. Test files that do not build,
// because the interface of the code changed, stay as the attempt has them.
func (t *Trial) withoutBroken(ctx context.Context, ref reference, run *gate.Run) (bool, error) {
	if len(run.Report.Broken) == 0 {
		return false, nil
	}
	return t.passesWithout(ctx, ref, func(p string) bool {
		return slices.ContainsFunc(ref.files, func(f File) bool { return f.Path == p && f.Status == "A" }) ||
			slices.ContainsFunc(run.Report.Broken,
				func(b report.Breakage) bool { return b.File != "" && report.SameFile(p, b.File) })
	}, "frozen-rest")
}

// meant reports whether the failing tests fail because the lap is about their behaviour. This is so if each was
// changed since the lap's start, and its new version was red before the code was written. `old` is the run with the
// tests of the lap's start. A test also counts as changed if another row of its table was, because rows with other
// parameters have other names.
func (t *Variants) meant(ctx context.Context, failing []session.TestID, old *gate.Run) (bool, error) {
	notAbout := func(id session.TestID) bool { // also true of tests that did not run
		return !report.Bad(old.Report.Tests[id]) || !slices.ContainsFunc(t.Req.Targets, func(other session.TestID) bool {
			return other == id || report.Parent(id) != "" && report.Parent(other) == report.Parent(id)
		})
	}
	if len(failing) == 0 || slices.ContainsFunc(failing, notAbout) {
		return false, nil
	}
	run, err := t.Alter(ctx, t.Req.Frozen, "red", nil)
	return err == nil && !slices.ContainsFunc(failing, func(id session.TestID) bool {
		return run.Has(id) && !report.Bad(run.Report.Tests[id])
	}), err
}

// maybeMeant reports whether all failing tests belong to units that the lap expects to run later. These units could
// not be built when the tests were changed, so it is unknown whether the new versions were red.
func maybeMeant(r session.JudgeRequest, failing []session.TestID) bool {
	return len(failing) > 0 && !slices.ContainsFunc(failing, func(id session.TestID) bool {
		return !slices.ContainsFunc(r.Expected, func(unit string) bool { return verdict.Belongs(id, unit) })
	})
}

// WithTests returns a copy of the attempt's tree in which paths are as in another tree. If a file holds both code and
// tests, only its tests are taken from there.
func (t *Variants) WithTests(ctx context.Context, from session.Tree, files []File, paths []string) (session.Tree,
	error) {
	texts := map[string][]byte{}
	for _, f := range files {
		if testpaths.MixesTests(f.Path) && slices.Contains(paths, f.Path) {
			texts[f.Path] = slices.Concat(CodeIn(f.Path, f.After), testsIn(f.Path, f.Before))
		}
	}
	tree, err := t.Overlay(ctx, t.Out.Tree, from, slices.DeleteFunc(slices.Clone(paths), testpaths.MixesTests))
	if err != nil || len(texts) == 0 {
		return tree, err
	}
	return t.WithTexts(ctx, tree, texts)
}

// excused returns the reason why the code need not pass the tests of a reference, as a result and in words; "" and ""
// if it must. The reasons are: the tests differ in names only; the tests no longer build with the code; the lap is
// about other behaviour; the attempt's own tests fail in a clean checkout too.
func (t *Trial) excused(ctx context.Context, ref reference, run *gate.Run,
	failing []session.TestID) (result, says string, err error) {
	if t.gone && run.Exit == 0 && len(run.Report.Broken) == 0 && !slices.ContainsFunc(failing, run.Has) {
		return "", "", nil // the tests are missing with the old files too, so renaming is no excuse
	}
	for _, excuse := range []struct {
		result, says string
		older        bool // applies only to the tests of the lap's start
		holds        func() (bool, error)
	}{
		{renamed, "only names differ from " + ref.says, false, func() (bool, error) { return t.OnlyRenamed(ctx, ref.files) }},
		{unfit, "with " + ref.says + " the code passes, except for files that no longer fit it", true,
			func() (bool, error) { return t.withoutBroken(ctx, ref, run) }},
		{meant, "the lap is about behaviour that " + ref.says + " do not cover", true,
			func() (bool, error) { return t.meant(ctx, failing, run) }},
		{NotTried, "the attempt's own tests fail in a clean checkout too, so the other tests cannot be tried there", false,
			func() (bool, error) { return t.ownFail(ctx) }},
	} {
		if excuse.older && ref.newest {
			continue
		}
		if is, err := excuse.holds(); err != nil || is {
			return excuse.result, excuse.says, err
		}
	}
	return "", "", nil
}

// ownFail reports whether the attempt with its own tests fails in a clean checkout too.
func (t *Trial) ownFail(ctx context.Context) (bool, error) {
	own, run, err := t.Judge(ctx, t.Req, t.Out.Tree, "own")
	return err == nil && (verdict.CouldNot(run, own) != "" || own.Verdict != session.Pass && !t.gone), err
}

// OnlyRenamed reports whether tests differ from their previous version only in names that changed in the code as well.
// A name has changed in the code if the code has the new name now and had the old one when the tests were frozen, or at
// the start of the phase: the lap may have renamed code that it wrote in between.
func (t *Variants) OnlyRenamed(ctx context.Context, files []File) (bool, error) {
	tests, code := [2]experiment.Files{{}, {}}, [2]experiment.Files{{}, {}}
	for _, f := range files {
		if f.Aside && !testpaths.HoldsTests(f.Path) {
			return false, nil
		}
		sides := code
		if f.Aside {
			sides = tests
		}
		if f.Status != "A" {
			sides[0][f.Path] = f.Before
		}
		if f.Status != "D" {
			sides[1][f.Path] = f.After
		}
	}
	if err := t.asEntered(ctx, files, code[0]); err != nil {
		return false, err
	}
	return experiment.Renamed(tests[0], tests[1], code[0], code[1]), nil
}

// asEntered adds files to code as they were when the phase was entered. It leaves out tests, and files of which code
// has an older version.
func (t *Variants) asEntered(ctx context.Context, files []File, code experiment.Files) error {
	if t.Req.VisitTree == "" {
		return nil
	}
	entered, err := t.Since(ctx, t.Req.VisitTree)
	for _, f := range entered {
		aside := slices.ContainsFunc(files, func(o File) bool { return o.Aside && o.Path == f.Path })
		if f.Status != "A" && code[f.Path] == nil && !aside {
			code[f.Path] = f.Before
		}
	}
	return err
}

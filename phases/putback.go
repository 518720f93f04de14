package phases

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/internal/experiment"
	"github.com/wfs-dev/wfs/internal/testpaths"
	"github.com/wfs-dev/wfs/phases/report"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

// ownFile reports whether a path is one of wfs's own.
func ownFile(path string) bool {
	return strings.HasPrefix(path, ".wfs/") || strings.HasPrefix(path, ".workflow/")
}

// mayRemove reports whether tests may go together with what they test: not in the phase that makes new tests pass.
func mayRemove(r session.JudgeRequest) bool {
	red := r.Plan.Workflow.Red()
	return red == nil || red.On[workflows.Pass] != r.Phase.Name
}

// reference is a state whose tests an attempt's code must pass.
type reference struct {
	tree session.Tree
	says string               // whose tests they are
	r    session.JudgeRequest // what they are judged with
	// newest: of the phase that wrote the lap's tests, and not of the lap's start.
	newest  bool
	changes []session.Change // since then
	aside   []string         // of those the tests, and what they are run by
	edited  bool             // any of them was there before
}

// references are the tests of the phase that wrote them, and those of the lap's start.
func (t *trials) references(ctx context.Context) ([]reference, error) {
	list := []reference{{tree: t.r.Frozen, says: testsOf(t.r), r: t.r, newest: true}}
	passed := func(was session.Tests) bool {
		return slices.Contains(slices.Collect(maps.Values(was)), session.TestPass)
	}
	if !mayRemove(t.r) && t.r.LapTree != "" && t.r.LapTree != t.r.Frozen && passed(t.r.LapStart.Gates[t.gate.Name]) {
		older := t.r
		older.Targets, older.Expected, older.FrozenAt = nil, nil, nil
		list = append(list, reference{tree: t.r.LapTree, says: "the tests of this lap's start", r: older})
	}
	for i := range list {
		ref := &list[i]
		var err error
		if ref.changes, err = t.Changes(ctx, ref.tree, t.out.Tree); err != nil {
			return nil, err
		}
		ref.aside, ref.edited = t.aside(ctx, ref.tree, ref.changes)
	}
	return list, nil
}

// putBack runs the gate on the attempt's code with the tests, and what they are run by, as they were. It reports
// whether anything of that was changed since they were frozen. An attempt that fails so passes only with its own tests.
// One that passes may still have made them weaker.
func (t *trials) putBack(ctx context.Context) (changed bool, failures []report.Failure, err error) {
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
		tree, err := t.withTests(ctx, ref.tree, ref.changes, ref.aside)
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
	var paths []string
	for _, p := range ref.aside {
		if !testpaths.HoldsTests(p) && (!isCode(p) || testpaths.AboutTests(p)) {
			paths = append(paths, p)
		}
	}
	if !t.gone || len(paths) == 0 {
		return false, nil
	}
	tree, err := t.withTests(ctx, ref.tree, ref.changes, paths)
	if err != nil {
		return false, err
	}
	t.say("gate " + t.gate.Name + " with " + some(paths) + " as it was before …")
	run, err := t.alter(ctx, tree, tryFrozen, nil)
	if err != nil {
		return false, t.cannot(ctx, tryFrozen, err)
	}
	again := slices.DeleteFunc(slices.Clone(t.out.Gone), func(id session.TestID) bool { return !run.has(id) })
	if len(again) == 0 {
		return false, nil
	}
	t.tried(tryFrozen, fails, fmt.Sprintf("%s again with the previous %s: %s",
		plural(len(again), "missing test runs", "missing tests run"), some(paths), someNames(again)))
	return true, nil
}

// weigh asks what edited tests are worth beside those of a reference, against which the code did well or not.
func (t *trials) weigh(ctx context.Context, ref reference, result string) (err error) {
	switch {
	case t.gone && result == holds:
		if t.acquitted, err = t.asStrong(ctx, ref.tree); err != nil {
			return t.cannot(ctx, tryMutants, err)
		}
	case t.gone && result == unfit: // what they were about is gone, or has another shape
		t.ask(ref.aside, "previous tests are missing, and no longer build with the code: "+
			someNames(t.out.Gone)+" in "+some(ref.aside))
	case t.gone:
		t.acquitted = result == meant || result == renamed && t.runsAsMany()
	case result == holds:
		if err = t.mustNotice(ctx, ref); err != nil {
			return t.cannot(ctx, tryMutants, err)
		}
	case result == notTried && ref.newest:
		err = t.edited(ctx, ref.changes, ref.aside, t.out.Experiments[len(t.out.Experiments)-1].Says)
	}
	return err
}

// ofLap reports whether a test is one that the lap is about.
func (t *trials) ofLap(id session.TestID) bool {
	return slices.Contains(t.r.Targets, id) ||
		slices.ContainsFunc(t.r.Expected, func(unit string) bool { return string(id) == unit || belongs(id, unit) })
}

// runsAsMany reports whether as many tests pass as did at the lap's start, and those of the lap.
func (t *trials) runsAsMany() bool {
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
	t.found(kindOnlySo, ref.aside[0], test, "the code passes only with the changed tests: "+says, says)
	t.asked, t.ran, t.with = &res, run, tree
	return fails, t.asFrozen(), nil
}

// mustNotice holds it against an attempt if its tests do not notice what those of a reference do.
func (t *trials) mustNotice(ctx context.Context, ref reference) error {
	result, says, err := t.weaker(ctx, ref.tree)
	if err != nil || result != fails {
		return err
	}
	path := ref.aside[max(0, slices.IndexFunc(ref.aside, testpaths.HoldsTests))]
	t.found(kindWeaker, path, "", "weakened the tests: "+path, says)
	t.asFrozen()
	return nil
}

// passesWithData returns new files that tests read, such as snapshots, if the code passes with them and all else of the
// tests as it was. Nobody can tell whether they say what is wanted.
func (t *trials) passesWithData(ctx context.Context, ref reference) ([]string, error) {
	var came []string
	for _, c := range ref.changes {
		if c.Status == "A" && !isCode(c.Path) && testpaths.HoldsTests(c.Path) && slices.Contains(ref.aside, c.Path) {
			came = append(came, c.Path)
		}
	}
	if len(came) == 0 {
		return nil, nil
	}
	rest := slices.DeleteFunc(slices.Clone(ref.aside), func(p string) bool { return slices.Contains(came, p) })
	tree, err := t.withTests(ctx, ref.tree, ref.changes, rest)
	if err != nil {
		return nil, err
	}
	res, run, err := t.judge(ctx, ref.r, tree, "frozen-data")
	if err != nil || couldNot(run, res) != "" || res.Verdict != session.Pass {
		return nil, err
	}
	return came, nil
}

// meant reports whether all tests that fail as they were at the lap's start, old, have been changed, and were red as
// they are now before the code was written: then it is what the lap is about. A test with other parameters has another
// name.
func (t *trials) meant(ctx context.Context, failing []session.TestID, old *gateRun) (bool, error) {
	about := func(id session.TestID) bool {
		if !bad(old.report.Tests[id]) {
			return false // it did not even run
		}
		return slices.Contains(t.r.Targets, id) || report.Parent(id) != "" && slices.ContainsFunc(t.r.Targets,
			func(other session.TestID) bool { return report.Parent(other) == report.Parent(id) })
	}
	if len(failing) == 0 || slices.ContainsFunc(failing, func(id session.TestID) bool { return !about(id) }) {
		return false, nil
	}
	run, err := t.alter(ctx, t.r.Frozen, "red", nil)
	if err != nil {
		return false, err
	}
	for _, id := range failing {
		if s, ran := run.report.Tests[id]; ran && !bad(s) {
			return false, nil
		}
	}
	return true, nil
}

// maybeMeant reports whether all tests that fail are among those that the lap is about by name: they were changed where
// nothing could be built, so that nobody knows whether they were red as they are now.
func (t *trials) maybeMeant(failing []session.TestID) bool {
	return len(failing) > 0 && !slices.ContainsFunc(failing, func(id session.TestID) bool {
		return !slices.ContainsFunc(t.r.Expected, func(unit string) bool { return belongs(id, unit) })
	})
}

// withoutBroken asks once more with those of the older files of tests left as the attempt has them that cannot be built
// with its code: what they are about has another shape now. It reports whether the code passes all others.
func (t *trials) withoutBroken(ctx context.Context, ref reference, run *gateRun) (bool, error) {
	rest := slices.DeleteFunc(slices.Clone(ref.aside), func(p string) bool {
		return t.came(ref, p) || slices.ContainsFunc(run.report.Broken, func(b report.Breakage) bool {
			return b.File != "" && report.SameFile(p, b.File)
		})
	})
	if len(run.report.Broken) == 0 || len(rest) == 0 {
		return len(run.report.Broken) > 0 && len(rest) == 0, nil
	}
	tree, err := t.withTests(ctx, ref.tree, ref.changes, rest)
	if err != nil {
		return false, err
	}
	res, run, err := t.judge(ctx, ref.r, tree, "frozen-rest")
	return err == nil && couldNot(run, res) == "" && res.Verdict == session.Pass, err
}

// came reports whether a path was not there in the state of a reference.
func (t *trials) came(ref reference, path string) bool {
	return slices.ContainsFunc(ref.changes, func(c session.Change) bool { return c.Path == path && c.Status == "A" })
}

// aside are the paths of changes that are tests, what they read, and what they are run by. edited reports whether any
// of them was there before.
func (t *trials) aside(ctx context.Context, was session.Tree, changes []session.Change) (paths []string, edited bool) {
	for _, c := range changes {
		switch {
		case ownFile(c.Path):
			continue
		case t.testsOrInstrument(ctx, was, c):
		case testpaths.MixesTests(c.Path):
			before, _ := t.Show(ctx, was, c.Path)
			after, _ := t.Show(ctx, t.out.Tree, c.Path)
			if string(before[testpaths.TestsFrom(c.Path, before):]) == string(after[testpaths.TestsFrom(c.Path, after):]) {
				continue
			}
		default:
			continue
		}
		paths = append(paths, c.Path)
		edited = edited || c.Status != "A"
	}
	return paths, edited
}

// testsOrInstrument reports whether a changed path is a test, or says how tests are run. Of manifests only changes of
// what runs tests count: a dependency is part of the work.
func (t *trials) testsOrInstrument(ctx context.Context, was session.Tree, c session.Change) bool {
	if testpaths.HoldsTests(c.Path) {
		return true
	}
	if c.Status != "A" && isCode(c.Path) {
		if before, _ := t.Show(ctx, was, c.Path); testpaths.Asserts(c.Path, before) {
			return true
		}
	}
	if !testpaths.AboutTests(c.Path) && !(testpaths.IsScript(c.Path) && c.Status != "A") &&
		!testpaths.IsHidden(c.Path) && !t.namedByGate(c.Path) {
		return false
	}
	if !testpaths.IsManifest(c.Path) || c.Status != "M" {
		return true
	}
	before, _ := t.Show(ctx, was, c.Path)
	after, _ := t.Show(ctx, t.out.Tree, c.Path)
	return testpaths.RunnerKeysDiffer(c.Path, before, after)
}

// namedByGate reports whether a gate's command names a path.
func (t *trials) namedByGate(path string) bool {
	for _, g := range t.r.Phase.Gates {
		words := strings.FieldsFunc(g.Run.Text(), func(c rune) bool { return strings.ContainsRune(" \t\n\"'=;&|()", c) })
		if g.Runs() && slices.ContainsFunc(words, func(w string) bool { return strings.TrimPrefix(w, "./") == path }) {
			return true
		}
	}
	return false
}

// withTests is the attempt's tree with paths as another has them. Of files that hold code and tests only the tests are
// taken.
func (t *trials) withTests(ctx context.Context, from session.Tree, changes []session.Change,
	paths []string) (session.Tree, error) {
	texts := map[string][]byte{}
	var whole []string
	for _, p := range paths {
		if !testpaths.MixesTests(p) || testpaths.HoldsTests(p) {
			whole = append(whole, p)
			continue
		}
		before, err := t.Show(ctx, from, p)
		if err != nil {
			return "", err
		}
		after, err := t.Show(ctx, t.out.Tree, p)
		if err != nil {
			return "", err
		}
		texts[p] = slices.Concat(after[:testpaths.TestsFrom(p, after)], before[testpaths.TestsFrom(p, before):])
	}
	tree, err := t.Overlay(ctx, t.out.Tree, from, whole)
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
	if only, err := t.onlyRenamed(ctx, ref.tree, ref.changes, ref.aside); err != nil {
		return "", "", err
	} else if only {
		return renamed, "only names differ from " + ref.says, nil
	}
	if !ref.newest {
		if rest, err := t.withoutBroken(ctx, ref, run); err != nil {
			return "", "", err
		} else if rest {
			return unfit, "with " + ref.says + " the code passes, except for files that no longer fit it", nil
		}
	}
	if !ref.newest {
		if other, err := t.meant(ctx, failing, run); err != nil {
			return "", "", err
		} else if other {
			return meant, "the lap is about behaviour that " + ref.says + " do not cover", nil
		}
	}
	own, ownRun, err := t.judge(ctx, t.r, t.out.Tree, "own")
	if err != nil {
		return "", "", err
	}
	if why := couldNot(ownRun, own); why != "" || own.Verdict != session.Pass && !t.gone {
		return notTried, "the attempt's own tests fail in a clean checkout too, so the other tests cannot be tried there", nil
	}
	return "", "", nil
}

// onlyRenamed reports whether the tests of two states of a project differ in nothing but names.
func (t *trials) onlyRenamed(ctx context.Context, was session.Tree, changes []session.Change,
	aside []string) (bool, error) {
	testsBefore, testsAfter, codeBefore, codeAfter := experiment.Files{}, experiment.Files{}, experiment.Files{},
		experiment.Files{}
	for _, c := range changes {
		if ownFile(c.Path) {
			continue
		}
		before, after := codeBefore, codeAfter
		if slices.Contains(aside, c.Path) {
			if !testpaths.HoldsTests(c.Path) {
				return false, nil
			}
			before, after = testsBefore, testsAfter
		}
		for _, side := range []struct {
			there bool
			tree  session.Tree
			files experiment.Files
		}{{c.Status != "A", was, before}, {c.Status != "D", t.out.Tree, after}} {
			if !side.there {
				continue
			}
			data, err := t.Show(ctx, side.tree, c.Path)
			if err != nil {
				return false, err
			}
			side.files[c.Path] = data[:min(len(data), maxRead)]
		}
	}
	if err := t.enteredWith(ctx, codeBefore, aside); err != nil {
		return false, err
	}
	return experiment.Renamed(testsBefore, testsAfter, codeBefore, codeAfter), nil
}

// enteredWith adds the code that the phase was entered with: what the lap has written since its tests were frozen may
// have another name now.
func (t *trials) enteredWith(ctx context.Context, code experiment.Files, aside []string) error {
	if t.r.VisitTree == "" {
		return nil
	}
	changes, err := t.Changes(ctx, t.r.VisitTree, t.out.Tree)
	if err != nil {
		return err
	}
	for _, c := range changes {
		if c.Status == "A" || code[c.Path] != nil || slices.Contains(aside, c.Path) {
			continue
		}
		if code[c.Path], err = t.Show(ctx, t.r.VisitTree, c.Path); err != nil {
			return err
		}
	}
	return nil
}

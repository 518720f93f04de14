package trial

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/wfs-dev/wfs/internal/experiment"
	"github.com/wfs-dev/wfs/internal/safetext"
	"github.com/wfs-dev/wfs/internal/testpaths"
	"github.com/wfs-dev/wfs/phases/gate"
	"github.com/wfs-dev/wfs/phases/report"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

// Worth asks what the lap's tests notice: other expected values, and code that fails.
func (t *Trial) Worth(ctx context.Context, code bool) error {
	if len(t.Tests) == 0 {
		t.Tried(tryCanary, NotTried, "no test of this lap has a known name")
		return nil
	}
	lap, err := t.Since(ctx, t.Req.LapTree)
	if err != nil {
		return err
	}
	own := lapTests{t, lap}
	values, passing, err := own.canary(ctx)
	if err != nil || !code {
		return err
	}
	return own.inTurn(func() error { return own.needsCode(ctx) }, func() error {
		if literals(lap) > 0 && len(passing) < len(t.Tests) { // beside tests with values others may look at effects alone
			return nil
		}
		return own.asksResults(ctx)
	}, func() error {
		if values > 0 || len(t.Req.Targets) > 0 {
			return nil
		}
		return own.noticed(ctx)
	})
}

// lapTests are the tests of the lap as they are tried.
type lapTests struct {
	*Trial
	lap []File // changed in it
}

// inTurn makes experiments for as long as the attempt passes.
func (t lapTests) inTurn(experiments ...func() error) (err error) {
	for _, experiment := range experiments {
		if err == nil && t.Out.Verdict == session.Pass {
			err = experiment()
		}
	}
	return err
}

// literals is how many values the tests that files have got compare with.
func literals(files []File) (all int) {
	for _, f := range files {
		_, n := experiment.Compared(f.Path, f.After, f.testLines())
		all += n
	}
	return all
}

// needsCode asks whether the lap's tests fail if the code of the lap does.
func (t lapTests) needsCode(ctx context.Context) error {
	hollow, quiet, why := hollowed(t.lap)
	if why != "" {
		t.Tried(tryHollow, NotTried, why)
		return nil
	}
	_, err := t.mustFail(ctx, tryHollow, session.FoundNotNeeded, hollow, quiet)
	return err
}

// canary asks whether the lap's tests fail with other expected values: numbers, then texts and truth values, and what
// may be values where there are none of these for certain. It returns how many there were, and the tests that pass with
// all of them.
func (t lapTests) canary(ctx context.Context) (values int, passing []session.TestID, err error) {
	passing = slices.Clone(t.Tests)
	ran := 0
	for _, sort := range []experiment.Sort{experiment.Numbers, experiment.Others, experiment.All} {
		a := Turned(t.lap, sort)
		if a.N == 0 || sort == experiment.All && values > 0 {
			continue
		}
		values += a.N
		runs, err := t.mustFail(ctx, tryCanary, session.FoundCannotFail, a, altered{})
		if err != nil || t.Out.Verdict != session.Pass {
			return values, passing, err
		}
		if sort != experiment.All { // else what was changed may as well be what is tried
			ran += len(runs)
			passing = passingIn(passing, runs)
		}
	}
	if ran > 0 {
		err = t.eachMustFail(ctx, passing)
	}
	if values == 0 {
		t.Tried(tryCanary, NotTried, "the tests of this lap compare with no value that wfs could change")
	}
	return values, passing, err
}

// passingIn are those of some tests that pass in all of some runs.
func passingIn(ids []session.TestID, runs []*gate.Run) []session.TestID {
	return slices.DeleteFunc(ids, func(id session.TestID) bool {
		return slices.ContainsFunc(runs, func(run *gate.Run) bool { return !run.Passes(id) })
	})
}

// eachMustFail asks about each test of the lap by itself: one that compares with values, and passes with all of them
// changed, says nothing. Whoever works is told, and a person is asked then.
func (t lapTests) eachMustFail(ctx context.Context, passing []session.TestID) error {
	deaf, path := t.comparing(passing)
	if len(deaf) == 0 {
		return nil
	}
	run, err := t.alterFiles(ctx, t.Out.Tree, Turned(t.lap, experiment.All), tryCanary, nil)
	if err != nil {
		return t.Cannot(ctx, tryCanary, err)
	}
	deaf = slices.DeleteFunc(deaf, func(id session.TestID) bool { return !run.Passes(id) })
	if len(deaf) > 0 && run.Built() {
		says := fmt.Sprintf("with other expected values %s anyway: %s",
			safetext.Plural(len(deaf), "test passes", "tests pass"),
			safetext.Some(deaf))
		t.Tried(tryCanary, Fails, says)
		t.found(session.FoundDeaf, path, string(deaf[0]), "a test of the lap cannot fail: "+says, says)
	}
	return nil
}

// comparing are those of some tests that compare with values for certain, by the name that they have in the lap's
// tests, and a file that has one.
func (t lapTests) comparing(ids []session.TestID) (list []session.TestID, path string) {
	names := map[string][]session.TestID{}
	for _, id := range t.Tests {
		names[report.Leaf(id)] = append(names[report.Leaf(id)], id)
	}
	for _, f := range t.lap {
		if !report.IsCode(f.Path) || !testpaths.HoldsTests(f.Path) {
			continue
		}
		compares, _ := experiment.Compared(f.Path, f.After, f.testLines())
		for name, all := range names {
			in := experiment.Named(f.Path, f.After, name)
			if len(compares.Only(func(n int) bool { return in[n] })) > 0 &&
				!slices.ContainsFunc(all, func(id session.TestID) bool { return !slices.Contains(ids, id) }) {
				list, path = append(list, all...), f.Path
			}
		}
	}
	return report.SortedOnce(list), path
}

// hollowed is the attempt's code with every function that the lap has written or changed failing at once, and
// with every one returning nothing. Where much of the lap's code is in no function, or it changed data as well,
// the tests may need that instead, and nothing is tried.
func hollowed(lap []File) (hollow, quiet altered, why string) {
	lines, texts, others := codeLines(lap)
	all, outside := 0, 0
	for _, path := range report.SortedKeys(lines) {
		text, n, out := experiment.Hollow(path, texts[path], lines[path], false)
		all, outside = all+len(lines[path]), outside+len(out)
		hollow.add(path, text, n)
		text, n, _ = experiment.Hollow(path, texts[path], lines[path], true)
		quiet.add(path, text, n)
	}
	hollow.says = safetext.Plural(hollow.N, "function", "functions") + " made to fail"
	switch {
	case all == 0:
		why = "this lap wrote no code"
	case hollow.N == 0:
		why = "this lap wrote no code in functions that wfs could make fail"
	case others || outside*4 > all:
		why = "this lap changed more than functions"
	}
	return hollow, quiet, why
}

// mustFail runs the lap's tests on the attempt's tree with something changed that they must notice. If all of them
// pass, twice, and where it can be changed in another way as well also with that, the judgement fails. It returns the
// runs.
func (t lapTests) mustFail(ctx context.Context, kind, finding string, a, other altered) (runs []*gate.Run, err error) {
	t.Say(fmt.Sprintf("gate %s with %s …", t.Gate.Name, a.says))
	type step struct {
		altered
		only []session.TestID
	}
	steps := []step{{a, t.Tests}, {a, nil}} // the second time with all others, and nothing kept
	if other.N > 0 && !maps.EqualFunc(a.texts, other.texts, bytes.Equal) {
		steps = append(steps, step{other, t.Tests})
	}
	for n, step := range steps {
		run, err := t.alterFiles(ctx, t.Out.Tree, step.altered, kind, step.only)
		if err != nil {
			return runs, t.Cannot(ctx, kind, err)
		}
		runs = append(runs, run)
		switch {
		case !run.Ran() || run.Leads != nil:
			t.Tried(kind, NotTried, "it could not be run: "+run.Cannot("could not run").Error())
			return runs, nil
		case !t.allPass(run), kind == tryCanary && n > 0 && !t.nothingFails(run): // a value may be an older test's
			t.Tried(kind, Holds, "the lap's tests fail with "+a.says+", as they should")
			return runs, nil
		}
	}
	t.Tried(kind, Fails, "with "+a.says+" all of the lap's tests pass")
	about := map[string]string{session.FoundCannotFail: "the lap's tests cannot fail",
		session.FoundNotNeeded: "the lap's tests do not need its code"}[finding]
	says := fmt.Sprintf("with %s (%s) they still pass", a.says, safetext.Some(a.paths))
	t.found(finding, a.paths[0], string(t.Tests[0]), about+": "+says, says)
	return runs, nil
}

// bound bounds a run on another tree, which may never end, by what the attempt's took.
func (t *Variants) bound(most time.Duration) time.Duration {
	if ms := t.gateMillis(); ms > 0 {
		return min(most, time.Duration(ms)*5*time.Millisecond+longer)
	}
	return most
}

// gateMillis is how long the gate took.
func (t *Variants) gateMillis() int64 {
	for _, g := range t.Out.Gates {
		if g.Gate == t.Gate.Name {
			return g.Millis
		}
	}
	return 0
}

// longer is what a run with something changed gets beside five times what the attempt's took: it may have to build
// anew.
const longer = time.Minute

// Alter runs the gate on a tree that was changed on purpose: these tests alone where that can be had, all of them anew
// where none are named.
func (t *Variants) Alter(ctx context.Context, tree session.Tree, name string, only []session.TestID) (*gate.Run,
	error) {
	g := t.Gate
	g.Where = workflows.Clean
	g.Timeout = t.bound(g.Timeout)
	if narrow, ok := t.Alone(g, only); ok {
		g.Run = narrow.Run
	}
	run, err := t.Run(ctx, g, gate.On{Tree: tree, Dir: t.Req.RunDir, Name: name, Anew: len(only) == 0})
	t.count(run)
	return run, err
}

// alterFiles is alter on a tree in which some files have other texts.
func (t *Variants) alterFiles(ctx context.Context, tree session.Tree, a altered, name string,
	only []session.TestID) (*gate.Run, error) {
	tree, err := t.WithTexts(ctx, tree, a.texts)
	if err != nil {
		return nil, err
	}
	return t.Alter(ctx, tree, name, only)
}

// allPass reports whether all tests of the lap pass in a run.
func (t *Variants) allPass(run *gate.Run) bool {
	return !slices.ContainsFunc(t.Tests, func(id session.TestID) bool { return !run.Passes(id) })
}

// nothingFails reports whether all that passed for the attempt passes in a run of everything.
func (t *Variants) nothingFails(run *gate.Run) bool {
	for id, s := range t.now() {
		if s == session.TestPass && !run.Passes(id) {
			return false
		}
	}
	return true
}

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

// Worth checks whether the lap's tests can fail. They must fail with other expected values and, if code is set, with
// code that fails.
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
		asked := slices.ContainsFunc(t.Out.Experiments, func(e session.Experiment) bool { return e.Kind == tryResults })
		if asked || literals(lap) > 0 && len(passing) < len(t.Tests) {
			return nil // a test that compares values failed; the other tests may check side effects only
		}
		_, err := own.asksResults(ctx)
		return err
	}, func() error {
		if values > 0 || len(t.Req.Targets) > 0 {
			return nil
		}
		return own.noticed(ctx)
	})
}

// lapTests makes experiments with the lap's tests.
type lapTests struct {
	*Trial
	lap []File // files that changed in the lap
}

// inTurn makes experiments one by one, until the attempt fails or there is an error.
func (t lapTests) inTurn(experiments ...func() error) (err error) {
	for _, experiment := range experiments {
		if err == nil && t.Out.Verdict == session.Pass {
			err = experiment()
		}
	}
	return err
}

// literals returns the number of values with which the added test lines of files compare results.
func literals(files []File) (all int) {
	for _, f := range files {
		_, n := experiment.Compared(f.Path, f.After, f.testLines())
		all += n
	}
	return all
}

// needsCode checks that the lap's tests fail if the lap's code fails.
func (t lapTests) needsCode(ctx context.Context) error {
	hollow, quiet, why := hollowed(t.lap)
	if why != "" {
		t.Tried(tryHollow, NotTried, why)
		return nil
	}
	_, err := t.mustFail(ctx, tryHollow, session.FoundNotNeeded, hollow, quiet)
	return err
}

// canary checks that the lap's tests fail with other expected values. It changes numbers first, then texts and
// booleans. If the tests have neither, it changes everything that may be a value. It returns the number of changed
// values, and the tests that pass in spite of all changes.
func (t lapTests) canary(ctx context.Context) (values int, passing []session.TestID, err error) {
	passing = slices.Clone(t.Tests)
	ran := 0
	for _, sort := range []experiment.Sort{experiment.Numbers, experiment.Others, experiment.All} {
		a := Turned(t.lap, sort)
		if a.N == 0 || sort == experiment.All && values > 0 {
			continue
		}
		values += a.N
		a.loose = sort == experiment.All
		runs, err := t.mustFail(ctx, tryCanary, session.FoundCannotFail, a, altered{})
		if err != nil || t.Out.Verdict != session.Pass {
			return values, passing, err
		}
		if sort != experiment.All { // All may change inputs instead of expected values
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

// passingIn returns those of the ids that pass in all runs.
func passingIn(ids []session.TestID, runs []*gate.Run) []session.TestID {
	return slices.DeleteFunc(ids, func(id session.TestID) bool {
		return slices.ContainsFunc(runs, func(run *gate.Run) bool { return !run.Passes(id) })
	})
}

// eachMustFail checks each of the lap's tests by itself, given the tests that pass in spite of other expected values.
// A test that compares values, and passes with all of them changed, checks nothing: the attempt fails, and a person is
// asked if the agent insists.
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

// comparing returns those of the ids whose tests certainly compare values, and the path of a file with one of them. It
// finds a test in the source by the last part of its name. If several tests have this name, all of them must be among
// the ids.
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

// hollowed returns two changed versions of the attempt's code. In the first, each function that the lap wrote or
// changed fails at once; in the second, each returns nothing. `why` is set if running them would prove nothing: if the
// lap changed data, or much code outside of functions, the tests may depend on that instead.
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

// mustFail runs the lap's tests on the attempt's tree with change a. The judgement fails if all of them pass in two
// runs, and also with the change in `other` if there is one. `finding` is the kind of finding to record. It returns the
// runs. Changed values that may be inputs prove nothing if a test notices other results of the lap's functions.
func (t lapTests) mustFail(ctx context.Context, kind, finding string, a, other altered) (runs []*gate.Run, err error) {
	t.Say(fmt.Sprintf("gate %s with %s …", t.Gate.Name, a.says))
	type step struct {
		altered
		only []session.TestID
	}
	steps := []step{{a, t.Tests}, {a, nil}} // the second run runs all tests, without the cache
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
		// With a canary, the changed value may belong to an older test, which then fails.
		case !t.allPass(run), kind == tryCanary && n > 0 && !t.nothingFails(run):
			t.Tried(kind, Holds, "the lap's tests fail with "+a.says+", as they should")
			return runs, nil
		}
	}
	passes := "with " + a.says + " all of the lap's tests pass"
	if a.loose {
		noticed, err := t.asksResults(ctx)
		if noticed || err != nil {
			t.Tried(kind, NotTried, passes+"; the values may be inputs")
			return runs, err
		}
		t.Out.Question = nil // if the results fail too, no test can fail
	}
	t.Tried(kind, Fails, passes)
	about := map[string]string{session.FoundCannotFail: "the lap's tests cannot fail",
		session.FoundNotNeeded: "the lap's tests do not need its code"}[finding]
	says := fmt.Sprintf("with %s (%s) they still pass", a.says, safetext.Some(a.paths))
	t.found(finding, a.paths[0], string(t.Tests[0]), about+": "+says, says)
	return runs, nil
}

// bound returns a timeout for a run on a changed tree, which may never end: at most `most`, and not much longer than
// the attempt's run took.
func (t *Variants) bound(most time.Duration) time.Duration {
	if ms := t.gateMillis(); ms > 0 {
		return min(most, time.Duration(ms)*5*time.Millisecond+longer)
	}
	return most
}

// gateMillis returns how long the gate ran for the attempt, in milliseconds; 0 if unknown.
func (t *Variants) gateMillis() int64 {
	for _, g := range t.Out.Gates {
		if g.Gate == t.Gate.Name {
			return g.Millis
		}
	}
	return 0
}

// longer is the time that bound adds to five times the duration of the attempt's run, because a changed tree may need
// a full build.
const longer = time.Minute

// Alter runs the gate on a deliberately changed tree. It runs only the given tests if the gate can run single tests.
// If only is empty, it runs all tests and does not use the cache.
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

// alterFiles runs Alter on a tree to which the changed files of a were added.
func (t *Variants) alterFiles(ctx context.Context, tree session.Tree, a altered, name string,
	only []session.TestID) (*gate.Run, error) {
	tree, err := t.WithTexts(ctx, tree, a.texts)
	if err != nil {
		return nil, err
	}
	return t.Alter(ctx, tree, name, only)
}

// allPass reports whether all of the lap's tests pass in a run.
func (t *Variants) allPass(run *gate.Run) bool {
	return !slices.ContainsFunc(t.Tests, func(id session.TestID) bool { return !run.Passes(id) })
}

// nothingFails reports whether a full run has no new failures: every test that passed in the attempt passes in it.
func (t *Variants) nothingFails(run *gate.Run) bool {
	for id, s := range t.now() {
		if s == session.TestPass && !run.Passes(id) {
			return false
		}
	}
	return true
}

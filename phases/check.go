package phases

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/internal/experiment"
	"github.com/wfs-dev/wfs/internal/proc"
	"github.com/wfs-dev/wfs/internal/safetext"
	"github.com/wfs-dev/wfs/internal/testpaths"
	"github.com/wfs-dev/wfs/phases/report"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

// tryWithout asks whether new and changed tests fail without the code.
const tryWithout = "without_code"

// What a check finds, beside what experiments find in an attempt.
const (
	checkHeadFails = "head_fails"          // tests fail with the code that they came with
	checkWithout   = "passes_without_code" // all new and changed tests pass with the code of the base
	// as it was it fails with the new code; as it is it passes with the old code, too
	checkWeakened = "test_weakened"
	checkRemoved  = "failing_test_removed" // it fails with the new code, and is gone or skipped
	// Named only:
	checkChanged = "test_changed"            // it asks for something else now
	checkUnbuilt = "test_not_built"          // as it was it cannot be built with the new code
	checkAsWell  = "passes_without_code_too" // it does, and others do not
)

// CheckRequest is a change that somebody has committed, in whatever way.
type CheckRequest struct {
	Base, Head session.Tree
	Plan       workflows.Plan // its Baseline are the gates that are asked
	RunDir     string
}

// Check is what experiments say of such a change.
type Check struct {
	Tests    []string      `json:"tests"` // changed files that are tests, what tests read, or what runs them
	Code     []string      `json:"code"`  // changed files of code
	NotAsked []string      `json:"not_asked,omitempty"`
	Gates    []CheckedGate `json:"gates"`
}

// CheckedGate is what they say with one gate.
type CheckedGate struct {
	Gate        string               `json:"gate"`
	Command     string               `json:"command"`
	CouldNot    string               `json:"could_not,omitempty"` // why it cannot judge here
	KnownRed    []session.TestID     `json:"known_red,omitempty"` // of the base: held against nobody
	Tests       []session.TestID     `json:"tests"`               // new or changed, and they pass
	Experiments []session.Experiment `json:"experiments"`
	Findings    []CheckFinding       `json:"findings"`
	Named       []CheckFinding       `json:"named,omitempty"` // worth a look, and no fault
}

// CheckFinding is one thing that was found, with its evidence.
type CheckFinding struct {
	Kind     string `json:"kind"`
	Path     string `json:"path,omitempty"`
	Test     string `json:"test,omitempty"`
	Tried    string `json:"tried"`
	Happened string `json:"happened"`
	// Also are further tests of that file of which the same was found.
	Also []session.TestID `json:"also,omitempty"`
}

// RunCheck tries what the tests of a change are worth: whether they fail without its code, whether they can fail at all,
// and whether the tests that were there before ask for less. It runs in clean trees alone. Bad work is no error.
func RunCheck(ctx context.Context, b *Bench, r CheckRequest) (Check, error) {
	out := Check{Tests: []string{}, Code: []string{}, Gates: []CheckedGate{}}
	changes, err := b.Changes(ctx, r.Base, r.Head)
	if err != nil {
		return out, err
	}
	at := *b
	at.Report = func(line string) {
		if b.Report != nil {
			b.Report(inChecks.Replace(line))
		}
	}
	c := &checking{trials: trials{variants: variants{Bench: &at, out: &session.Judgement{Tree: r.Head}}}}
	c.r = session.JudgeRequest{Tree: r.Head, LapTree: r.Base, Frozen: r.Base, Plan: r.Plan, RunDir: r.RunDir,
		Changed: changes, Phase: workflows.Phase{Gates: r.Plan.Baseline}}
	if c.changed, err = c.since(ctx, r.Base); err != nil {
		return out, err
	}
	c.paths, c.edited = asideOf(c.changed)
	for _, f := range c.changed {
		if f.aside && (testpaths.AboutTests(f.Path) || testpaths.MixesTests(f.Path) || c.namedByGate(f.Path)) {
			out.Tests = append(out.Tests, f.Path)
		}
		same := func() bool { // but for comments and layout
			return experiment.SameCode(f.Path, codeIn(f.Path, f.before), codeIn(f.Path, f.after))
		}
		if isCode(f.Path) && !testpaths.HoldsTests(f.Path) && (f.Status != "M" || !same()) {
			out.Code = append(out.Code, f.Path)
		}
	}
	about := len(out.Tests) > 0
	c.withCode = len(out.Code) > 0
	switch {
	case !about && !c.withCode:
		out.NotAsked = append(out.NotAsked, "neither tests nor code changed: nothing to check")
		return out, nil
	case !about:
		out.NotAsked = append(out.NotAsked, "no test changed: wfs does not check whether the tests cover the code")
		return out, nil
	case !c.withCode:
		out.NotAsked = append(out.NotAsked, "no code changed: wfs does not check whether the tests need it")
	}
	for _, g := range r.Plan.Baseline {
		if len(g.Paths) > 0 && !slices.ContainsFunc(changes,
			func(c session.Change) bool { return matchAny(g.Paths, c.Path) }) {
			out.NotAsked = append(out.NotAsked, "gate "+g.Name+": nothing changed in its paths")
			continue
		}
		gate, err := c.ask(ctx, g)
		if err != nil {
			return out, err
		}
		out.Gates = append(out.Gates, gate)
	}
	return out, nil
}

// checking is one change, and what is known of it with the gate that is asked.
type checking struct {
	trials
	changed  []file
	paths    []string // tests, what they read, and what they are run by
	edited   bool     // any of them was there before
	withCode bool

	to      *CheckedGate
	before  session.Tests // on the base
	lap     *lap
	oldFail bool          // tests of the base fail with the code of the change
	without session.Tests // of now, with the code of the base, as far as they were run
}

// ask puts all questions with one gate.
func (c *checking) ask(ctx context.Context, g workflows.Gate) (CheckedGate, error) {
	to := CheckedGate{Gate: g.Name, Command: g.Run.Text(), Tests: []session.TestID{}, Findings: []CheckFinding{},
		Experiments: []session.Experiment{}}
	c.to, c.gate = &to, g
	c.gate.Expect = workflows.ExpectPass
	c.out = &session.Judgement{Tree: c.r.Tree, Verdict: session.Pass}
	c.tests, c.without, c.oldFail = nil, session.Tests{}, false
	switch {
	case c.r.Plan.Unproven:
		to.CouldNot = "clean-proof is off, so there is no clean checkout for experiments"
	case g.MayChangeTree:
		to.CouldNot = "it may change the tree"
	case !g.Format.PerTest():
		to.CouldNot = "its output has no per-test results"
	}
	if to.CouldNot != "" {
		return to, nil
	}
	err := c.stands(ctx)
	switch {
	case ctx.Err() != nil:
		return to, ctx.Err()
	case err != nil:
		to.CouldNot = reason(err)
	case len(to.Findings) == 0:
		if err := c.questions(ctx); err != nil {
			return to, err
		}
	}
	for _, e := range c.out.Experiments {
		e.Says = inChecks.Replace(e.Says)
		to.Experiments = append(to.Experiments, e)
	}
	return to, nil
}

// inChecks puts what is said of a lap into words for a change that had none.
var inChecks = strings.NewReplacer("the lap's tests", "the new and changed tests", "this lap's", "these commits'",
	"this lap", "these commits")

// stands runs the gate on the base and on the change, and finds the tests that it is about. Tests that fail
// with the code that they came with are a finding. An error says why there is nothing to ask.
func (c *checking) stands(ctx context.Context) error {
	base, gate := c.r.LapTree, c.gate.Name
	_, run, err := c.on(ctx, session.JudgeRequest{Plan: c.r.Plan, Phase: c.r.Phase, RunDir: c.r.RunDir, LapTree: base},
		base, "base")
	if err != nil {
		return fmt.Errorf("on the base: %s", reason(err))
	}
	c.before = run.report.Tests
	c.r.LapStart = session.Evidence{Tree: base, Gates: map[string]session.Tests{gate: c.before}}
	c.r.Baseline = c.r.LapStart
	c.r.Known = slices.DeleteFunc(sortedKeys(c.before), func(id session.TestID) bool { return !bad(c.before[id]) })
	c.to.KnownRed = named(c.r.Known)
	res, run, err := c.on(ctx, c.r, c.r.Tree, "change")
	if err != nil {
		return err
	}
	if count(c.before, gate).Passed+count(run.report.Tests, gate).Passed == 0 {
		return errors.New("no test passes on the base or with the change: " + res.Reason + run.leftOut())
	}
	c.out.Evidence = session.Evidence{Tree: c.r.Tree, Gates: map[string]session.Tests{gate: run.report.Tests}}
	c.out.Gates = []session.GateResult{res}
	c.lap = newLap(run, c.before, c.r.Known, c.lapFiles(ctx, c.r))
	if err := c.failing(ctx, run); err != nil {
		return err
	}
	passing := slices.DeleteFunc(sortedKeys(run.report.Tests), func(id session.TestID) bool {
		return !run.passes(id) || id == gateID(gate)
	})
	c.tests = slices.DeleteFunc(slices.Clone(passing), func(id session.TestID) bool { return !c.lap.isNew(id) })
	if len(c.tests) == 0 && c.edited && !c.withCode { // those of the files that were edited
		c.tests = slices.DeleteFunc(passing, func(id session.TestID) bool { return c.declaredIn(id) == "" })
	}
	c.to.Tests = append(c.to.Tests, c.tests...)
	return nil
}

// on runs the gate on a tree. An error says why it cannot judge there.
func (c *checking) on(ctx context.Context, r session.JudgeRequest, tree session.Tree,
	name string) (session.GateResult, *gateRun, error) {
	c.say("gate " + c.gate.Name + " on the " + name + " …")
	res, run, err := c.judge(ctx, r, tree, name)
	if err == nil && couldNot(run, res) != "" {
		err = errors.New(couldNot(run, res))
	}
	return res, run, err
}

// failing finds tests that fail with the code that they came with. Those that do so once and not again are left out.
func (c *checking) failing(ctx context.Context, run *gateRun) error {
	once := c.notices(run)
	if len(once) == 0 {
		return nil
	}
	second, err := c.alter(ctx, c.r.Tree, "change", nil)
	if err != nil {
		return err
	}
	twice := slices.DeleteFunc(c.notices(second), func(id session.TestID) bool { return !slices.Contains(once, id) })
	lower := slices.DeleteFunc(slices.Clone(twice), c.lap.hasFailingSubtest)
	if len(lower) == 0 {
		lower = twice
	}
	if len(lower) > 0 {
		c.found(CheckFinding{Kind: checkHeadFails, Path: c.declaredIn(lower[0]), Test: string(lower[0]),
			Tried: "the tests of the change with its code, twice",
			Happened: fmt.Sprintf("%s: %s", plural(len(lower), "test fails", "tests fail"), some(lower)) +
				printed(second, lower[0])})
	}
	return nil
}

// printed is the first line that a failing test printed, to be put behind a sentence.
func printed(run *gateRun, id session.TestID) string {
	if line := safetext.Line(strings.TrimSpace(run.report.Messages[id]), maxShown); line != "" {
		return " (" + line + ")"
	}
	return ""
}

func (c *checking) found(f CheckFinding) { c.enter(&c.to.Findings, f) }

func (c *checking) name(f CheckFinding) { c.enter(&c.to.Named, f) }

// enter adds a finding to a list, or to the one that says the same of another test of its file.
func (c *checking) enter(list *[]CheckFinding, f CheckFinding) {
	at := slices.IndexFunc(*list, func(o CheckFinding) bool {
		return o.Kind == f.Kind && o.Path == f.Path && o.Path != "" && f.Test != ""
	})
	if at < 0 {
		f.Test, f.Happened = c.Secrets.String(f.Test), c.Secrets.String(f.Happened)
		*list = append(*list, f)
		return
	}
	if o := &(*list)[at]; len(o.Also) < session.MaxNamed {
		o.Also = append(o.Also, session.TestID(c.Secrets.String(f.Test)))
	}
}

// questions are those about the tests of a change that passes.
func (c *checking) questions(ctx context.Context) error {
	if len(c.tests) == 0 && !(c.edited && c.withCode) {
		c.tried(tryWithout, notTried, "no new test runs and passes")
	} else if err := c.newTests(ctx); err != nil {
		return err
	}
	if !c.edited {
		return nil
	}
	if c.withCode {
		if err := c.oldTests(ctx); err != nil {
			return err
		}
	}
	return c.askLess(ctx)
}

// askLess asks whether tests of the base notice a change of the code that they do not notice any more. Where the code
// fails them as they were they say nothing about that.
func (c *checking) askLess(ctx context.Context) error {
	if c.withCode && (len(c.to.Findings) > 0 || c.oldFail) {
		return nil
	}
	result, says, err := c.weaker(ctx, c.r.LapTree)
	if err != nil {
		return c.cannot(ctx, tryMutants, err)
	}
	if result == fails {
		c.found(CheckFinding{Kind: checkWeakened, Path: c.fileOf(""), Happened: says,
			Tried: "changes to the code, with the tests of the base and with the new ones"})
	}
	return nil
}

// newTests asks whether the new and changed tests fail without the code, and where that does not say that they can
// fail, whether they notice other expected values and code that fails.
func (c *checking) newTests(ctx context.Context) error {
	sure := false
	if c.withCode {
		var err error
		if sure, err = c.withoutCode(ctx); err != nil {
			return err
		}
	}
	if sure {
		return nil
	}
	if err := c.worth(ctx, c.withCode && len(c.to.Findings) == 0); err != nil {
		return err
	}
	for _, f := range c.out.Tampered {
		what := inChecks.Replace(strings.TrimSuffix(c.out.Reason, ": "+f.After))
		c.found(CheckFinding{Kind: f.Kind, Path: f.Path, Test: f.Test, Tried: what, Happened: inChecks.Replace(f.After)})
	}
	return nil
}

// bare runs tests of the change on the code of the base.
func (c *checking) bare(ctx context.Context, name string, only []session.TestID) (*gateRun, error) {
	back := variants{Bench: c.Bench, r: c.r, out: &session.Judgement{Tree: c.r.LapTree}, gate: c.gate}
	tree, err := back.withTests(ctx, c.r.Tree, c.backwards(), c.paths)
	if err != nil {
		return nil, err
	}
	return c.alter(ctx, tree, name, only)
}

// backwards are the files that differ, as on the way from the change to its base.
func (c *checking) backwards() []file {
	back := slices.Clone(c.changed)
	for i, f := range back {
		back[i].before, back[i].after = f.after, f.before
	}
	return back
}

// withoutCode runs the tests of the change on the code of the base. It reports whether one of them fails there by what
// it asserts: then it can fail, and needs the code.
func (c *checking) withoutCode(ctx context.Context) (sure bool, err error) {
	c.say("gate " + c.gate.Name + " without the code …")
	var passing []session.TestID
	for again := range 2 {
		only := c.tests
		if again > 0 || c.edited { // of those that were there before nobody knows which were changed
			only = nil
		}
		run, err := c.bare(ctx, tryWithout, only)
		switch {
		case err != nil:
			return false, ctx.Err()
		case run.ended == proc.Timeout: // it did end with the code
			c.tried(tryWithout, holds, "without the code the new and changed tests do not finish")
			return true, nil
		case !run.ran() && run.exit != 0 || run.leads != nil:
			c.tried(tryWithout, notTried, "it could not be run: "+run.cannot("could not run").Error())
			return false, nil
		}
		maps.Copy(c.without, run.report.Tests)
		c.alsoChanged(run)
		var failing []session.TestID
		passing = nil
		for _, id := range c.tests {
			if run.passes(id) {
				passing = append(passing, id)
			} else if run.has(id) || len(run.report.Broken) > 0 || !c.namesVary(run, id) {
				failing = append(failing, id)
			}
			sure = sure || run.report.Tests[id] == session.TestFail && report.MissingInScript(run.report.Messages[id]) == ""
		}
		if len(failing) == 0 {
			continue // once more, with all others
		}
		says := plural(len(failing), "new or changed test fails", "new or changed tests fail")
		if !sure {
			says = plural(len(failing), "new or changed test", "new or changed tests") + " cannot be run"
		}
		says += fmt.Sprintf(" without the code, of %d: %s", len(c.tests), some(failing))
		c.tried(tryWithout, holds, says)
		if len(passing) > 0 {
			c.name(CheckFinding{Kind: checkAsWell, Path: c.fileOf(passing[0]), Test: string(passing[0]),
				Tried:    "the new and changed tests with the code of the base",
				Happened: fmt.Sprintf("%s there as well: %s", plural(len(passing), "passes", "pass"), some(passing))})
		}
		return sure, nil
	}
	now := c.out.Evidence.Gates[c.gate.Name]
	skipped := slices.DeleteFunc(sortedKeys(now), func(id session.TestID) bool {
		return c.before[id] != "" || now[id] != session.TestSkip
	})
	says, test := "existing tests have new expected values, and none fails", session.TestID("")
	switch {
	case len(c.tests) == 0 && len(skipped) > 0:
		c.tried(tryWithout, notTried, "the new tests are skipped here: "+some(skipped))
		return true, nil
	case !c.asksMore():
		c.tried(tryWithout, notTried, "no new tests and no new expected values: "+
			"they pass with the code of the base, as before")
		return true, nil
	case len(passing) > 0:
		test = passing[0]
		says = fmt.Sprintf("%s, and none fails: %s", plural(len(passing), "passes", "pass"), some(passing))
	}
	c.tried(tryWithout, fails, "with the code of the base "+says)
	c.found(CheckFinding{Kind: checkWithout, Path: c.fileOf(test), Test: string(test),
		Tried: "the new and changed tests with the code of the base, twice", Happened: says})
	return false, nil
}

// namesVary reports whether a row of a table did not run although others of its table did: its name may hold the time.
func (c *checking) namesVary(run *gateRun, id session.TestID) bool {
	p, now := report.Parent(id), c.out.Evidence.Gates[c.gate.Name]
	return p != "" && slices.ContainsFunc(sortedKeys(run.report.Tests), func(other session.TestID) bool {
		return now[other] == "" && report.Parent(other) == p
	})
}

// alsoChanged adds tests of the base to those of the change that pass with its code, and do not without.
func (c *checking) alsoChanged(bare *gateRun) {
	now := c.out.Evidence.Gates[c.gate.Name]
	for _, id := range sortedKeys(c.before) {
		if s := bare.report.Tests[id]; c.edited && c.before[id] == session.TestPass && now[id] == session.TestPass &&
			s != session.TestPass && s != session.TestSkip && id != gateID(c.gate.Name) {
			c.tests = append(c.tests, id)
		}
	}
	c.tests = sortedOnce(c.tests)
	c.to.Tests = append([]session.TestID{}, c.tests...)
}

// asksMore reports whether there are more tests than there were, or more values are compared with. Where neither is so,
// tests were renamed, merged or edited, and have no reason to fail with the old code.
func (c *checking) asksMore() bool {
	more, now := 0, c.out.Evidence.Gates[c.gate.Name]
	for _, id := range c.tests {
		if c.before[id] == "" {
			more++
		}
	}
	for id := range c.before {
		if now[id] == "" {
			more--
		}
	}
	return more > 0 || turned(c.changed, experiment.All).n > turned(c.backwards(), experiment.All).n
}

// fileOf is the changed file of tests that names a test, now or before; else the first changed one of tests.
func (c *checking) fileOf(id session.TestID) string {
	return cmp.Or(c.declaredIn(id), c.paths[max(0, slices.IndexFunc(c.paths, testpaths.HoldsTests))])
}

// declaredIn is the changed file of tests that names a test, now or before; "" for none.
func (c *checking) declaredIn(id session.TestID) string {
	at := slices.IndexFunc(c.lap.files.changes, func(x session.Change) bool {
		return id != "" && c.lap.files.holdsTests(x) && slices.ContainsFunc(declaredNames(id), func(n string) bool {
			return hasWord(c.lap.files.now(x.Path), n) || hasWord(c.lap.files.was(x), n)
		})
	})
	if at < 0 {
		return ""
	}
	return c.lap.files.changes[at].Path
}

// Package check checks the tests of committed changes, for `wfs check`. It makes experiments like those of package
// trial: would the tests fail without the code, and were existing tests weakened?
package check

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
	"github.com/wfs-dev/wfs/phases/gate"
	"github.com/wfs-dev/wfs/phases/process"
	"github.com/wfs-dev/wfs/phases/report"
	"github.com/wfs-dev/wfs/phases/trial"
	"github.com/wfs-dev/wfs/phases/verdict"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

// tryWithout is the experiment that runs new and changed tests without the code of the change.
const tryWithout = "without_code"

// Kinds of findings, in addition to those of package trial.
const (
	checkHeadFails = "head_fails"          // tests fail with the code of their own commits
	checkWithout   = "passes_without_code" // all new and changed tests pass with the code of the base
	// A test fails in its old version with the new code, and passes in its new version with both the new and the old
	// code.
	checkWeakened = "test_weakened"
	checkRemoved  = "failing_test_removed" // a test fails with the new code, and was removed or is skipped
	// The following findings are only mentioned; they are no faults.
	checkChanged = "test_changed"            // a test expects something else now
	checkUnbuilt = "test_not_built"          // the old version of a test does not build with the new code
	checkAsWell  = "passes_without_code_too" // a test passes with the code of the base, but other new tests fail
)

// Request describes a committed change to check.
type Request struct {
	Base, Head session.Tree
	Plan       workflows.Plan // Baseline lists the gates to run
	RunDir     string
}

// Report has the results of checking a change.
type Report struct {
	Tests    []string `json:"tests"` // changed files that hold tests, that tests read, or that control how tests run
	Code     []string `json:"code"`  // changed files of code
	NotAsked []string `json:"not_asked,omitempty"`
	Gates    []Gate   `json:"gates"`
}

// Gate has the results of checking a change with one gate.
type Gate struct {
	Gate        string               `json:"gate"`
	Command     string               `json:"command"`
	CouldNot    string               `json:"could_not,omitempty"` // why the gate cannot judge here
	KnownRed    []session.TestID     `json:"known_red,omitempty"` // tests that fail on the base, and are ignored
	Tests       []session.TestID     `json:"tests"`               // new or changed tests that pass
	Experiments []session.Experiment `json:"experiments"`
	Findings    []Finding            `json:"findings"`
	Named       []Finding            `json:"named,omitempty"` // findings that are worth a look, but no faults
}

// Finding is a fault or a remark, with its evidence.
type Finding struct {
	Kind     string `json:"kind"`
	Path     string `json:"path,omitempty"`
	Test     string `json:"test,omitempty"`
	Tried    string `json:"tried"`
	Happened string `json:"happened"`
	// Also lists further tests of the same file with the same finding.
	Also []session.TestID `json:"also,omitempty"`
}

// Run checks the tests of a change: do they fail without its code, can they fail at all, and were existing tests
// weakened? It runs gates only in clean checkouts. Bad work is a finding, not an error.
func Run(ctx context.Context, b *trial.Bench, r Request) (Report, error) {
	out := Report{Tests: []string{}, Code: []string{}, Gates: []Gate{}}
	changes, err := b.Changes(ctx, r.Base, r.Head)
	if err != nil {
		return out, err
	}
	c := &checking{Trial: trial.Trial{Variants: trial.Variants{Bench: inWords(b), Out: &session.Judgement{Tree: r.Head}}}}
	c.Req = session.JudgeRequest{Tree: r.Head, LapTree: r.Base, Frozen: r.Base, Plan: r.Plan, RunDir: r.RunDir,
		Changed: changes, Phase: workflows.Phase{Gates: r.Plan.Baseline}}
	if c.changed, err = c.Since(ctx, r.Base); err != nil {
		return out, err
	}
	c.paths, c.edited = trial.AsideOf(c.changed)
	c.sort(&out)
	c.withCode = len(out.Code) > 0
	if about := len(out.Tests) > 0; !about || !c.withCode {
		out.NotAsked = append(out.NotAsked, notAsked(about, c.withCode))
		if !about {
			return out, nil
		}
	}
	for _, g := range r.Plan.Baseline {
		if len(g.Paths) > 0 && !slices.ContainsFunc(changes,
			func(c session.Change) bool { return gate.MatchAny(g.Paths, c.Path) }) {
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

// inWords returns a copy of a bench whose progress messages speak of commits, not of a lap.
func inWords(b *trial.Bench) *trial.Bench {
	at := *b
	at.Report = func(line string) {
		if b.Report != nil {
			b.Report(inChecks.Replace(line))
		}
	}
	return &at
}

// sort lists the changed test files and the changed code files in `out`.
func (c *checking) sort(out *Report) {
	for _, f := range c.changed {
		if f.Aside && (testpaths.AboutTests(f.Path) || testpaths.MixesTests(f.Path) ||
			trial.NamedByGate(c.Req.Phase.Gates, f.Path)) {
			out.Tests = append(out.Tests, f.Path)
		}
		same := func() bool { // comments and layout do not count
			return experiment.SameCode(f.Path, trial.CodeIn(f.Path, f.Before), trial.CodeIn(f.Path, f.After))
		}
		if report.IsCode(f.Path) && !testpaths.HoldsTests(f.Path) && (f.Status != "M" || !same()) {
			out.Code = append(out.Code, f.Path)
		}
	}
}

// notAsked returns a sentence about the checks that are skipped because no test, no code or neither changed.
func notAsked(tests, code bool) string {
	switch {
	case tests:
		return "no code changed: wfs does not check whether the tests need it"
	case code:
		return "no test changed: wfs does not check whether the tests cover the code"
	}
	return "neither tests nor code changed: nothing to check"
}

// checking is the check of one change. Its last fields have the results of the gate that is checked at the moment.
type checking struct {
	trial.Trial
	changed  []trial.File
	paths    []string // changed files that hold tests, that tests read, or that control how tests run
	edited   bool     // set if a file in paths existed before
	withCode bool

	to      *Gate
	before  session.Tests // results on the base
	lap     *verdict.Lap
	oldFail bool          // set if tests of the base fail with the code of the change
	without session.Tests // results of the change's tests with the code of the base, if they ran
}

// ask makes all checks with one gate.
func (c *checking) ask(ctx context.Context, g workflows.Gate) (Gate, error) {
	to := Gate{Gate: g.Name, Command: g.Run.Text(), Tests: []session.TestID{}, Findings: []Finding{},
		Experiments: []session.Experiment{}}
	c.to, c.Gate = &to, g
	c.Gate.Expect = workflows.ExpectPass
	c.Out = &session.Judgement{Tree: c.Req.Tree, Verdict: session.Pass}
	c.Tests, c.without, c.oldFail = nil, session.Tests{}, false
	switch {
	case c.Req.Plan.Unproven:
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
		to.CouldNot = process.Reason(err)
	case len(to.Findings) == 0:
		if err := c.questions(ctx); err != nil {
			return to, err
		}
	}
	for _, e := range c.Out.Experiments {
		e.Says = inChecks.Replace(e.Says)
		to.Experiments = append(to.Experiments, e)
	}
	return to, nil
}

// now returns the gate's results with the change.
func (c *checking) now() session.Tests { return c.Out.Evidence.Gates[c.Gate.Name] }

// whole returns the id under which the result of the gate as a whole is stored.
func (c *checking) whole() session.TestID { return report.GateID(c.Gate.Name) }

// inChecks replaces "lap" in messages, because the commits to check have no lap.
var inChecks = strings.NewReplacer("the lap's tests", "the new and changed tests", "this lap's", "these commits'",
	"this lap", "these commits")

// stands runs the gate on the base and on the change, and chooses the tests to check. Tests that fail with the code of
// their own commits are a finding. An error is the reason why nothing can be checked.
func (c *checking) stands(ctx context.Context) error {
	base, gate := c.Req.LapTree, c.Gate.Name
	_, run, err := c.on(ctx, session.JudgeRequest{Plan: c.Req.Plan, Phase: c.Req.Phase, RunDir: c.Req.RunDir,
		LapTree: base},
		base, "base")
	if err != nil {
		return fmt.Errorf("on the base: %s", process.Reason(err))
	}
	c.before = run.Report.Tests
	c.Req.LapStart = session.Evidence{Tree: base, Gates: map[string]session.Tests{gate: c.before}}
	c.Req.Baseline = c.Req.LapStart
	c.Req.Known = slices.DeleteFunc(report.SortedKeys(c.before),
		func(id session.TestID) bool { return !report.Bad(c.before[id]) })
	c.to.KnownRed = verdict.Named(c.Req.Known)
	res, run, err := c.on(ctx, c.Req, c.Req.Tree, "change")
	if err != nil {
		return err
	}
	if report.Count(c.before, gate).Passed+report.Count(run.Report.Tests, gate).Passed == 0 {
		return errors.New("no test passes on the base or with the change: " + res.Reason + run.LeftOut())
	}
	c.Out.Evidence = session.Evidence{Tree: c.Req.Tree, Gates: map[string]session.Tests{gate: run.Report.Tests}}
	c.Out.Gates = []session.GateResult{res}
	c.lap = verdict.New(run, c.before, c.Req.Known, c.Files(ctx, c.Req))
	if err := c.failing(ctx, run); err != nil {
		return err
	}
	passing := slices.DeleteFunc(report.SortedKeys(run.Report.Tests), func(id session.TestID) bool {
		return !run.Passes(id) || id == report.GateID(gate)
	})
	c.Tests = slices.DeleteFunc(slices.Clone(passing), func(id session.TestID) bool { return !c.lap.IsNew(id) })
	if len(c.Tests) == 0 && c.edited && !c.withCode { // no code and no new test: check all tests of the edited files
		c.Tests = slices.DeleteFunc(passing, func(id session.TestID) bool { return c.declaredIn(id) == "" })
	}
	c.to.Tests = append(c.to.Tests, c.Tests...)
	return nil
}

// on runs the gate on a tree. An error is the reason why the gate cannot judge there.
func (c *checking) on(ctx context.Context, r session.JudgeRequest, tree session.Tree,
	name string) (session.GateResult, *gate.Run, error) {
	c.Say("gate " + c.Gate.Name + " on the " + name + " …")
	res, run, err := c.Judge(ctx, r, tree, name)
	if err == nil && verdict.CouldNot(run, res) != "" {
		err = errors.New(verdict.CouldNot(run, res))
	}
	return res, run, err
}

// failing looks for tests that fail twice with the code of their own commits, and records them as a finding.
func (c *checking) failing(ctx context.Context, run *gate.Run) error {
	once := c.Notices(run)
	if len(once) == 0 {
		return nil
	}
	second, err := c.Alter(ctx, c.Req.Tree, "change", nil)
	if err != nil {
		return err
	}
	twice := slices.DeleteFunc(c.Notices(second), func(id session.TestID) bool { return !slices.Contains(once, id) })
	lower := slices.DeleteFunc(slices.Clone(twice), c.lap.HasFailingSubtest)
	if len(lower) == 0 {
		lower = twice
	}
	if len(lower) > 0 {
		c.found(Finding{Kind: checkHeadFails, Path: c.declaredIn(lower[0]), Test: string(lower[0]),
			Tried: "the tests of the change with its code, twice",
			Happened: safetext.Listed(lower, "test fails", "tests fail") +
				printed(second, lower[0])})
	}
	return nil
}

// printed returns the first line that a failing test printed, in parentheses, to append to a sentence; "" if it
// printed nothing.
func printed(run *gate.Run, id session.TestID) string {
	if line := process.Shown(strings.TrimSpace(run.Report.Messages[id])); line != "" {
		return " (" + line + ")"
	}
	return ""
}

func (c *checking) found(f Finding) { c.enter(&c.to.Findings, f) }

func (c *checking) name(f Finding) { c.enter(&c.to.Named, f) }

// enter adds a finding to a list. If the list has a finding of the same kind about the same file, it adds the test to
// that one.
func (c *checking) enter(list *[]Finding, f Finding) {
	at := slices.IndexFunc(*list, func(o Finding) bool {
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

// questions makes the checks of a change whose tests pass.
func (c *checking) questions(ctx context.Context) error {
	if len(c.Tests) == 0 && !(c.edited && c.withCode) {
		c.Tried(tryWithout, trial.NotTried, "no new test runs and passes")
	} else if err := c.newTests(ctx); err != nil {
		return err
	}
	if !c.edited {
		return nil
	}
	if c.withCode {
		if err := (oldTests{checking: c}).try(ctx); err != nil {
			return err
		}
	}
	return c.askLess(ctx)
}

// askLess looks for a change of the code that tests of the base notice and the same tests no longer notice now. It is
// skipped if the code of the change fails the old version of the tests, because the comparison then proves nothing.
func (c *checking) askLess(ctx context.Context) error {
	if c.withCode && (len(c.to.Findings) > 0 || c.oldFail) {
		return nil
	}
	result, says, err := c.Weaker(ctx, c.Req.LapTree)
	if err != nil {
		return c.Cannot(ctx, trial.TryMutants, err)
	}
	if result == trial.Fails {
		c.found(Finding{Kind: checkWeakened, Path: c.fileOf(""), Happened: says,
			Tried: "changes to the code, with the tests of the base and with the new ones"})
	}
	return nil
}

// newTests checks that the new and changed tests fail without the code. If this does not prove that they can fail,
// they must fail with other expected values and with code that fails.
func (c *checking) newTests(ctx context.Context) error {
	sure := false
	if c.withCode {
		var err error
		if sure, err = (bareTests{c}).withoutCode(ctx); err != nil {
			return err
		}
	}
	if sure {
		return nil
	}
	if err := c.Worth(ctx, c.withCode && len(c.to.Findings) == 0); err != nil {
		return err
	}
	for _, f := range c.Out.Tampered {
		what := inChecks.Replace(strings.TrimSuffix(c.Out.Reason, ": "+f.After))
		c.found(Finding{Kind: f.Kind, Path: f.Path, Test: f.Test, Tried: what, Happened: inChecks.Replace(f.After)})
	}
	return nil
}

// bare runs tests of the change with the code of the base. If only is empty, it runs all tests.
func (c *checking) bare(ctx context.Context, name string, only []session.TestID) (*gate.Run, error) {
	back := trial.Variants{Bench: c.Bench, Req: c.Req, Out: &session.Judgement{Tree: c.Req.LapTree}, Gate: c.Gate}
	tree, err := back.WithTests(ctx, c.Req.Tree, c.backwards(), c.paths)
	if err != nil {
		return nil, err
	}
	return c.Alter(ctx, tree, name, only)
}

// backwards returns the differences that lead from the change back to its base.
func (c *checking) backwards() []trial.File {
	back := slices.Clone(c.changed)
	for i, f := range back {
		back[i].Before, back[i].After = f.After, f.Before
	}
	return back
}

// bareTests checks what the new and changed tests do with the code of the base.
type bareTests struct{ *checking }

// withoutCode runs the change's tests with the code of the base. `sure` is set if one of them fails by an assertion:
// this proves that the test can fail, and that it needs the code.
func (c bareTests) withoutCode(ctx context.Context) (sure bool, err error) {
	c.Say("gate " + c.Gate.Name + " without the code …")
	var passing []session.TestID
	for again := range 2 {
		only := c.Tests
		if again > 0 || c.edited { // it is unknown which of the older tests changed
			only = nil
		}
		run, err := c.bare(ctx, tryWithout, only)
		switch {
		case err != nil:
			return false, ctx.Err()
		case run.Ended == proc.Timeout: // with the code the gate does finish
			c.Tried(tryWithout, trial.Holds, "without the code the new and changed tests do not finish")
			return true, nil
		case !run.Ran() && run.Exit != 0 || run.Leads != nil:
			c.Tried(tryWithout, trial.NotTried, "it could not be run: "+run.Cannot("could not run").Error())
			return false, nil
		}
		maps.Copy(c.without, run.Report.Tests)
		c.alsoChanged(run)
		var failing []session.TestID
		if failing, passing, sure = c.parted(run); len(failing) > 0 {
			c.needCode(failing, passing, sure)
			return sure, nil
		} // no test failed: run once more, with all tests
	}
	return c.needNoCode(passing), nil
}

// parted returns the new and changed tests that fail without the code, and those that pass. `sure` is set if one of
// them fails by an assertion.
func (c bareTests) parted(run *gate.Run) (failing, passing []session.TestID, sure bool) {
	for _, id := range c.Tests {
		if run.Passes(id) {
			passing = append(passing, id)
		} else if run.Has(id) || len(run.Report.Broken) > 0 || !c.namesVary(run, id) {
			failing = append(failing, id)
		}
		sure = sure || run.Report.Tests[id] == session.TestFail && report.MissingInScript(run.Report.Messages[id]) == ""
	}
	return failing, passing, sure
}

// needCode records that new and changed tests fail without the code of the change. `passing` lists those that do not.
func (c bareTests) needCode(failing, passing []session.TestID, sure bool) {
	says := safetext.Plural(len(failing), "new or changed test fails", "new or changed tests fail")
	if !sure {
		says = safetext.Plural(len(failing), "new or changed test", "new or changed tests") + " cannot be run"
	}
	says += fmt.Sprintf(" without the code, of %d: %s", len(c.Tests), safetext.Some(failing))
	c.Tried(tryWithout, trial.Holds, says)
	if len(passing) > 0 {
		c.name(Finding{Kind: checkAsWell, Path: c.fileOf(passing[0]), Test: string(passing[0]),
			Tried:    "the new and changed tests with the code of the base",
			Happened: safetext.Listed(passing, "passes there as well", "pass there as well")})
	}
}

// needNoCode records that no new or changed test fails without the code. It returns true if this is no fault, because
// the tests require nothing new.
func (c bareTests) needNoCode(passing []session.TestID) bool {
	now := c.now()
	skipped := slices.DeleteFunc(report.SortedKeys(now), func(id session.TestID) bool {
		return c.before[id] != "" || now[id] != session.TestSkip
	})
	says, test := "existing tests have new expected values, and none fails", session.TestID("")
	switch {
	case len(c.Tests) == 0 && len(skipped) > 0:
		c.Tried(tryWithout, trial.NotTried, "the new tests are skipped here: "+safetext.Some(skipped))
		return true
	case !c.asksMore():
		c.Tried(tryWithout, trial.NotTried, "no new tests and no new expected values: "+
			"they pass with the code of the base, as before")
		return true
	case len(passing) > 0:
		test = passing[0]
		says = safetext.Listed(passing, "passes, and none fails", "pass, and none fails")
	}
	c.Tried(tryWithout, trial.Fails, "with the code of the base "+says)
	c.found(Finding{Kind: checkWithout, Path: c.fileOf(test), Test: string(test),
		Tried: "the new and changed tests with the code of the base, twice", Happened: says})
	return false
}

// namesVary reports whether a test is a row of a table that has rows with new names in this run. If the names of rows
// vary, for example because they contain the time, a missing row proves nothing.
func (c bareTests) namesVary(run *gate.Run, id session.TestID) bool {
	p, now := report.Parent(id), c.now()
	return p != "" && slices.ContainsFunc(report.SortedKeys(run.Report.Tests), func(other session.TestID) bool {
		return now[other] == "" && report.Parent(other) == p
	})
}

// alsoChanged adds older tests to the tests to check, if they pass with the code of the change and do not pass without
// it.
func (c bareTests) alsoChanged(bare *gate.Run) {
	now := c.now()
	for _, id := range report.SortedKeys(c.before) {
		if s := bare.Report.Tests[id]; c.edited && c.before[id] == session.TestPass && now[id] == session.TestPass &&
			s != session.TestPass && s != session.TestSkip && id != c.whole() {
			c.Tests = append(c.Tests, id)
		}
	}
	c.Tests = report.SortedOnce(c.Tests)
	c.to.Tests = append([]session.TestID{}, c.Tests...)
}

// asksMore reports whether the change has more tests, or more expected values, than the base. If not, its tests were
// only renamed, merged or edited, and need not fail with the old code.
func (c bareTests) asksMore() bool {
	more, now := 0, c.now()
	for _, id := range c.Tests {
		if c.before[id] == "" {
			more++
		}
	}
	for id := range c.before {
		if now[id] == "" {
			more--
		}
	}
	return more > 0 || trial.Turned(c.changed, experiment.All).N > trial.Turned(c.backwards(), experiment.All).N
}

// fileOf returns the changed test file in which a test is named, now or on the base. If there is none, it returns the
// first changed test file.
func (c *checking) fileOf(id session.TestID) string {
	return cmp.Or(c.declaredIn(id), c.paths[max(0, slices.IndexFunc(c.paths, testpaths.HoldsTests))])
}

// declaredIn returns the changed test file in which a test is named, now or on the base; "" if there is none.
func (c *checking) declaredIn(id session.TestID) string {
	at := slices.IndexFunc(c.lap.Files.Changes, func(x session.Change) bool {
		return id != "" && c.lap.Files.HoldsTests(x) && slices.ContainsFunc(verdict.DeclaredNames(id), func(n string) bool {
			return verdict.HasWord(c.lap.Files.Now(x.Path), n) || verdict.HasWord(c.lap.Files.Was(x), n)
		})
	})
	if at < 0 {
		return ""
	}
	return c.lap.Files.Changes[at].Path
}

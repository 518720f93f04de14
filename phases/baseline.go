package phases

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/internal/proc"
	"github.com/wfs-dev/wfs/internal/safetext"
	"github.com/wfs-dev/wfs/phases/gate"
	"github.com/wfs-dev/wfs/phases/report"
	"github.com/wfs-dev/wfs/phases/verdict"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

// Baseline runs a plan's gates on the base before the agent works. It runs a gate twice if a test fails or a phase
// requires several passing runs. A test that fails twice is known red, and a test with different results is flaky;
// both are ignored when the session's attempts are judged. A base without tests is fine if the test runner itself ran.
//
// An error means that a gate cannot judge attempts on this machine. It quotes the gate's last output.
func (j *Judge) Baseline(ctx context.Context, p workflows.Plan, tree session.Tree, runDir string) (session.Baseline,
	session.Evidence, error) {
	base := session.Baseline{Tree: tree}
	ev := session.Evidence{Tree: tree, Gates: map[string]session.Tests{}}
	fail := func(err error) (session.Baseline, session.Evidence, error) {
		return session.Baseline{}, session.Evidence{}, err
	}
	b := baseRuns{j, p, &base.Tree, runDir}
	for _, g := range inRunningOrder(p.Baseline) {
		first, copied, err := b.first(ctx, g)
		if err != nil {
			return fail(err)
		}
		second := first
		failed := slices.ContainsFunc(slices.Collect(maps.Values(first.Report.Tests)), report.Bad)
		if g.Format.PerTest() && (failed || mustAgree(p, g.Name)) {
			if second, err = b.run(ctx, g, true); err != nil {
				return fail(err)
			}
		}
		tests, red, flaky := compare(first.Report.Tests, second.Report.Tests)
		if copied != nil {
			j.NoteRoom(g.Name, j.Difference(copied, g, tests, slices.Concat(red, flaky)))
		}
		ev.Gates[g.Name] = tests
		base.Red = append(base.Red, red...)
		base.Flaky = append(base.Flaky, flaky...)
		res := verdict.Finding{Verdict: session.Pass, Class: session.ClassGreen, Reason: baseReason(first, red, flaky),
			KnownRed: red,
			Flaky:    flaky}.Result(first)
		if len(red) > 0 {
			res.FirstError = report.FirstError(j.Secrets.String(first.Report.Messages[red[0]]))
		}
		res.Counts, res.Cached = verdict.CountApart(tests, flaky, g.Name), first.Cached
		switch {
		case len(tests) == 0:
			res.Class = session.ClassNoTests
		case len(first.Report.Broken) > 0 && tests.Count().Passed == 0:
			res.Class = session.ClassBuildBroken
		}
		base.Gates = append(base.Gates, res)
	}
	ev.Tree = base.Tree
	base.Red, base.Flaky = report.SortedOnce(base.Red), report.SortedOnce(base.Flaky)
	return base, ev, nil
}

// mustAgree reports whether some phase requires several passing runs of a gate.
func mustAgree(p workflows.Plan, gate string) bool {
	return slices.ContainsFunc(p.Workflow.Phases, func(ph workflows.Phase) bool {
		return slices.ContainsFunc(ph.Gates, func(g workflows.Gate) bool { return g.Name == gate && g.Stable > 1 })
	})
}

type baseRuns struct {
	*Judge
	plan   workflows.Plan
	tree   *session.Tree // the base, with the changes that gates with may-change-tree made
	runDir string
}

// first returns a gate's first run on the base. It uses a cached run if there is one. If the work tree has nothing
// that a clean checkout lacks, it tries a clean checkout first; if everything passes there, that run is enough.
// Otherwise the gate runs in the work tree. `copied` is the run in the clean checkout, nil if there was none.
func (b baseRuns) first(ctx context.Context, g workflows.Gate) (run, copied *gate.Run, err error) {
	clean := g
	clean.Where = workflows.Clean
	auto := g.Where == workflows.Auto && !g.MayChangeTree && !b.plan.Unproven && g.When != workflows.WhenFinish
	if run := b.Recall(ctx, clean, *b.tree); auto && run != nil && run.Alone {
		return run, run, nil
	}
	if g.Where == workflows.Auto {
		g.Where = workflows.InPlace
	}
	if run := b.Recall(ctx, g, *b.tree); run != nil {
		return run, nil, nil
	}
	if auto {
		if copied, err = b.inCopy(ctx, clean); err != nil {
			return nil, nil, err
		} else if copied != nil && copied.Alone {
			b.Remember(ctx, *b.tree, copied)
			return copied, copied, nil
		}
	}
	if run, err = b.run(ctx, g, false); err == nil && !g.MayChangeTree {
		b.Remember(ctx, *b.tree, run)
	}
	return run, copied, err
}

// inCopy runs a gate in a clean checkout of the base. It returns nil if the work tree has files that a clean checkout
// lacks, or if the gate could not run in the checkout. An error means that ctx has ended, or that the gate was too slow.
func (b baseRuns) inCopy(ctx context.Context, g workflows.Gate) (*gate.Run, error) {
	if b.Bare == nil {
		return nil, nil
	}
	if bare, err := b.Bare(ctx, *b.tree); err != nil || !bare {
		return nil, ctx.Err()
	}
	left, at, err := b.EnterClean(ctx, g, *b.tree)
	if left != nil || err != nil {
		return nil, ctx.Err()
	}
	b.Say("gate " + g.Name + " in a clean checkout …")
	run, err := at.Run(ctx, g, gate.On{Dir: b.runDir})
	if err == nil && run.Ended == proc.Timeout { // it would be as slow in the work tree
		return nil, refused(run, " in a clean checkout")
	}
	if err != nil || run.Changed != "" || !run.Ran() {
		return nil, ctx.Err()
	}
	run.Alone = len(at.Inside.Written()) == 0 && allPass(run)
	return run, nil
}

// allPass reports whether a run has tests and all of them pass.
func allPass(run *gate.Run) bool {
	c := run.Report.Tests.Count()
	return run.Exit == 0 && c.Passed > 0 && c.Passed == c.Total()
}

// run runs a gate on the base. It returns an error if the gate cannot judge.
func (b baseRuns) run(ctx context.Context, g workflows.Gate, again bool) (*gate.Run, error) {
	where, more := "", ""
	if g.Where == workflows.Auto {
		g.Where = workflows.InPlace
	}
	if g.Where == workflows.Clean {
		where = " in a clean checkout"
	}
	if again {
		more = " again, to check that every result is the same"
	}
	b.Say("gate " + g.Name + where + more + " …")
	run, err := b.Run(ctx, g, gate.On{Tree: *b.tree, Dir: b.runDir, Anew: again})
	if err == nil {
		err = refused(run, where)
	}
	if err != nil {
		return nil, err
	}
	was := *b.tree
	if *b.tree, err = b.Dirty(ctx); err != nil || *b.tree == was || g.MayChangeTree {
		return run, err
	}
	return nil, &ChangedTreeError{fmt.Sprintf(
		"gate %s: %s. If the gate creates such files: add them to .gitignore, or set may-change-tree for it",
		g.Name, b.changedTree(ctx, was, *b.tree))}
}

// refused returns an error that says why a gate cannot judge, given its run on the base; nil if it can.
func refused(run *gate.Run, where string) error {
	switch {
	case run.Astray() != "":
		return run.Cannot("cannot judge: " + run.Astray())
	case run.Ended == proc.Timeout:
		return &TimeoutError{run.Cannot(fmt.Sprintf("did not finish within %s, its timeout", run.Gate.Timeout))}
	// Quote no output in this case: its paths would mislead.
	case run.Ended != proc.NotStarted && run.NotInstalled() != "":
		return &gate.NotInstalledError{Reason: fmt.Sprintf("gate %s could not run%s: %s", run.Gate.Name, where,
			run.NotInstalled())}
	case run.Unable() != "":
		return run.Cannot(run.Unable())
	case run.Silent() && !run.Report.NoTests:
		return run.Cannot(fmt.Sprintf("exited with code %d and reported no test", run.Exit))
	}
	return nil
}

// TimeoutError reports that a gate did not finish within its time limit.
type TimeoutError struct{ error }

// ChangedTreeError reports that a gate created or changed files that git does not ignore.
type ChangedTreeError struct{ reason string }

func (e *ChangedTreeError) Error() string { return e.reason }

// compare merges the results of two runs on the same tree. `red` lists the tests that failed twice. `flaky` lists the
// tests with different results; each gets the worse one in tests.
func compare(a, b session.Tests) (tests session.Tests, red, flaky []session.TestID) {
	tests = maps.Clone(a)
	for id, s := range b {
		if was, ran := a[id]; !ran || report.Worse(s) > report.Worse(was) {
			tests[id] = s
		}
	}
	for _, id := range report.SortedKeys(tests) {
		switch {
		case report.Bad(a[id]) && report.Bad(b[id]):
			red = append(red, id)
		case a[id] != b[id]: // including tests that ran only once
			flaky = append(flaky, id)
		}
	}
	return tests, red, flaky
}

func baseReason(run *gate.Run, red, flaky []session.TestID) string {
	if !run.Gate.Format.PerTest() {
		if len(red) > 0 {
			return fmt.Sprintf("already fails (exit code %d): fix it before a phase with this gate can pass", run.Exit)
		}
		return "the command exited with code 0"
	}
	if len(run.Report.Tests) == 0 {
		return "no tests yet"
	}
	var parts []string
	if len(red) > 0 {
		parts = append(parts, safetext.Listed(red, "test fails already", "tests fail already"))
	}
	if len(flaky) > 0 {
		parts = append(parts, safetext.Listed(flaky, "test is flaky", "tests are flaky"))
	}
	if len(parts) == 0 {
		return "everything passes"
	}
	return strings.Join(parts, "; ")
}

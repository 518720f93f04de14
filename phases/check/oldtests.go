package check

import (
	"context"
	"fmt"
	"slices"

	"github.com/wfs-dev/wfs/internal/safetext"
	"github.com/wfs-dev/wfs/internal/testpaths"
	"github.com/wfs-dev/wfs/phases/gate"
	"github.com/wfs-dev/wfs/phases/report"
	"github.com/wfs-dev/wfs/phases/trial"
	"github.com/wfs-dev/wfs/phases/verdict"
	"github.com/wfs-dev/wfs/session"
)

// mostUnbuilt limits how often try leaves out old test files that no longer build, and runs the others again.
const mostUnbuilt = 2

// oldTests runs the tests of the base with the code of the change.
type oldTests struct {
	*checking
	run *gate.Run
}

// try runs the tests of the base with the code of the change. A test that fails there was changed or removed. If its
// new version passes with the code of the base too, the test was weakened. If not, it expects something else now: this
// is only mentioned, because it may be the purpose of the change.
func (c oldTests) try(ctx context.Context) error {
	const says = "the tests of the base"
	paths := slices.Clone(c.paths)
	for range mostUnbuilt + 1 {
		tree, err := c.WithTests(ctx, c.Req.LapTree, c.changed, paths)
		if err != nil {
			return err
		}
		if tree == c.Req.Tree {
			break
		}
		c.Say("gate " + c.Gate.Name + " with " + says + " …")
		res, run, err := c.Judge(ctx, c.Req, tree, trial.TryFrozen)
		if err != nil {
			return ctx.Err()
		}
		if why := verdict.CouldNot(run, res); why != "" {
			c.Tried(trial.TryFrozen, trial.NotTried, "with "+says+" it could not be judged: "+why)
			return nil
		}
		if only, err := c.OnlyRenamed(ctx, c.changed); err != nil {
			return err
		} else if only && res.Verdict != session.Pass {
			c.Tried(trial.TryFrozen, trial.Holds, "only names differ from "+says)
			return nil
		}
		c.run = run
		kept := c.unbuilt(paths)
		if len(kept) < len(paths) {
			paths = kept
			continue
		}
		return c.compare(ctx)
	}
	c.Tried(trial.TryFrozen, trial.NotTried, says+" cannot be built with the code of the change")
	return nil
}

// unbuilt returns the paths without those test files of the base that cannot be built or loaded with the code of the
// change. It mentions each of these files as a finding.
func (c oldTests) unbuilt(paths []string) []string {
	return slices.DeleteFunc(slices.Clone(paths), func(p string) bool {
		at := slices.IndexFunc(c.run.Report.Broken, func(b report.Breakage) bool {
			return !c.lap.Known[b.Unit] && report.SameFile(p, b.File)
		})
		if at < 0 || !testpaths.HoldsTests(p) {
			return false
		}
		b := c.run.Report.Broken[at]
		happened := "it cannot be built or loaded"
		if b.Missing != "" {
			happened += ": " + b.Missing + " is missing"
		}
		c.name(Finding{Kind: checkUnbuilt, Path: p, Tried: "the file as it was on the base, with the code of the change",
			Happened: happened})
		return true
	})
}

// compare records for each test of the base that fails with the code of the change how the test was changed.
func (c oldTests) compare(ctx context.Context) error {
	failing := c.failingNow()
	if len(failing) == 0 {
		c.Tried(trial.TryFrozen, trial.Holds, "with the tests of the base the code of the change passes")
		return nil
	}
	c.oldFail = true
	if err := c.alsoWithout(ctx, failing); err != nil {
		return err
	}
	result := trial.Holds
	for _, id := range failing {
		kind, so := c.became(id)
		f := Finding{Kind: kind, Path: c.fileOf(id), Test: string(id),
			Happened: "it fails" + printed(c.run, id) + "; " + so,
			Tried:    "the test as it was on the base, with the code of the change"}
		if kind == checkWeakened || kind == checkRemoved {
			result = trial.Fails
			c.found(f)
		} else {
			c.name(f)
		}
	}
	c.Tried(trial.TryFrozen, result,
		fmt.Sprintf("with the tests of the base %s: %s", safetext.Plural(len(failing), "fails",
			"fail"), safetext.Some(failing)))
	return nil
}

// failingNow returns the tests that passed on the base and fail with the code of the change.
func (c oldTests) failingNow() []session.TestID {
	old := c.lap.AsOf(c.run)
	return slices.DeleteFunc(report.SortedKeys(c.before), func(id session.TestID) bool {
		if c.before[id] != session.TestPass || id == c.whole() || c.run.Passes(id) || old.HasFailingSubtest(id) {
			return true
		}
		// A missing test does not count as failing if its subtests ran, if it is a row of a table, or if it was not
		// built.
		return c.run.Lacks(id) && (old.RanBelow(id) || report.Parent(id) != "" || c.notBuilt(id))
	})
}

// became describes how a test of the base that fails with the code of the change was changed: by a kind of finding and
// a phrase.
func (c oldTests) became(id session.TestID) (kind, so string) {
	now, is := c.now(), c.become(id)
	s, there := now[is]
	switch {
	case s == session.TestPass:
		return c.passesNow(id, is)
	case !there && c.otherRows(id):
		return checkChanged, "it has other parameters now"
	case report.MissingInScript(c.run.Report.Messages[id]) != "":
		return checkUnbuilt, "it was removed with what it used"
	case there:
		return checkRemoved, "it is skipped now"
	}
	return checkRemoved, "it was removed"
}

// passesNow does the work of became for a test whose new version passes.
func (c oldTests) passesNow(id, is session.TestID) (kind, so string) {
	switch {
	case c.without[is] != session.TestPass:
		return checkChanged, "the new version fails with the code of the base: it expects something else"
	case c.declaredIn(is) == "":
		return checkChanged, "its text is unchanged: its data or its runner changed"
	case c.otherRows(id):
		return checkChanged, "its table has new rows, which fail with the code of the base"
	}
	return checkWeakened, "the new version passes, also with the code of the base: it was weakened"
}

// become returns the present id of a test of the base. If its id is gone, this is the id of a new test with the same
// name in another place, or else the old id.
func (c oldTests) become(id session.TestID) session.TestID {
	now := c.now()
	if _, there := now[id]; there {
		return id
	}
	for _, to := range report.SortedKeys(now) {
		if _, had := c.before[to]; !had && report.Leaf(to) == report.Leaf(id) {
			return to
		}
	}
	return id
}

// otherRows reports whether a test is a row of a table that has rows which do not pass with the code of the base. The
// names of rows may contain expected values or positions, so a row may have got another name.
func (c oldTests) otherRows(id session.TestID) bool {
	p := report.Parent(id)
	return p != "" && slices.ContainsFunc(c.Tests, func(to session.TestID) bool {
		return report.Parent(to) == p && c.without[to] != session.TestPass
	})
}

// notBuilt reports whether a test did not run because its package or file could not be built or loaded.
func (c oldTests) notBuilt(id session.TestID) bool {
	return slices.ContainsFunc(c.run.Report.Broken,
		func(b report.Breakage) bool { return b.Build || report.Under(id, b.Unit) }) ||
		verdict.RanNothing(c.run.Report.Tests, c.Gate.Name)
}

// alsoWithout runs the new versions of failing tests with the code of the base, except those that ran there already.
// It adds the results to c.without.
func (c oldTests) alsoWithout(ctx context.Context, failing []session.TestID) error {
	now := c.now()
	var ids []session.TestID
	for _, id := range failing {
		if _, known := c.without[c.become(id)]; !known && now[c.become(id)] == session.TestPass {
			ids = append(ids, c.become(id))
		}
	}
	if len(ids) == 0 {
		return nil
	}
	c.Say("gate " + c.Gate.Name + " without the code …")
	run, err := c.bare(ctx, tryWithout+"-others", ids)
	if err != nil {
		return ctx.Err()
	}
	for _, id := range ids {
		c.without[id] = run.Report.Tests[id]
	}
	return nil
}

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

// mostUnbuilt bounds how often files of old tests that cannot be built any more are set aside, and the others tried
// again.
const mostUnbuilt = 2

// oldTests runs the tests of the base on the code of the change. What fails there was changed, or is gone. A changed
// test that passes with the code of the base as well asks for less than it did. One that fails there asks for something
// else, which is named: it may be what the change is about.
func (c *checking) oldTests(ctx context.Context) error {
	const says = "the tests of the base"
	paths := slices.Clone(c.paths)
	for range mostUnbuilt + 1 {
		tree, err := c.WithTests(ctx, c.R.LapTree, c.changed, paths)
		if err != nil {
			return err
		}
		if tree == c.R.Tree {
			break
		}
		c.Say("gate " + c.Gate.Name + " with " + says + " …")
		res, run, err := c.Judge(ctx, c.R, tree, trial.TryFrozen)
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
		kept := c.unbuilt(run, paths)
		if len(kept) < len(paths) {
			paths = kept
			continue
		}
		return c.compare(ctx, run)
	}
	c.Tried(trial.TryFrozen, trial.NotTried, says+" cannot be built with the code of the change")
	return nil
}

// unbuilt takes out of the paths those of tests that cannot be built or loaded with the code of the change, and names
// them.
func (c *checking) unbuilt(run *gate.Run, paths []string) []string {
	return slices.DeleteFunc(slices.Clone(paths), func(p string) bool {
		at := slices.IndexFunc(run.Report.Broken, func(b report.Breakage) bool {
			return !c.lap.Known[b.Unit] && report.SameFile(p, b.File)
		})
		if at < 0 || !testpaths.HoldsTests(p) {
			return false
		}
		b := run.Report.Broken[at]
		happened := "it cannot be built or loaded"
		if b.Missing != "" {
			happened += ": " + b.Missing + " is missing"
		}
		c.name(Finding{Kind: checkUnbuilt, Path: p, Tried: "the file as it was on the base, with the code of the change",
			Happened: happened})
		return true
	})
}

// compare says of each test of the base that fails with the code of the change what has become of it.
func (c *checking) compare(ctx context.Context, run *gate.Run) error {
	now := c.Out.Evidence.Gates[c.Gate.Name]
	old := c.lap.AsOf(run)
	var failing, unknown []session.TestID
	for _, id := range report.SortedKeys(c.before) {
		s, ran := run.Report.Tests[id]
		if c.before[id] != session.TestPass || id == report.GateID(c.Gate.Name) || s == session.TestPass ||
			old.HasFailingSubtest(id) {
			continue
		}
		// it has no name of its own, or nobody could ask
		if !ran && (old.RanBelow(id) || report.Parent(id) != "" || c.notBuilt(id, run)) {
			continue
		}
		failing = append(failing, id)
		if _, known := c.without[c.become(id)]; !known && now[c.become(id)] == session.TestPass {
			unknown = append(unknown, c.become(id))
		}
	}
	if len(failing) == 0 {
		c.Tried(trial.TryFrozen, trial.Holds, "with the tests of the base the code of the change passes")
		return nil
	}
	c.oldFail = true
	if err := c.alsoWithout(ctx, unknown); err != nil {
		return err
	}
	result := trial.Holds
	for _, id := range failing {
		is := c.become(id)
		s, there := now[is]
		passes := s == session.TestPass
		kind, so := checkRemoved, "it was removed"
		switch {
		case passes && c.without[is] != session.TestPass:
			kind, so = checkChanged, "the new version fails with the code of the base: it expects something else"
		case passes && c.declaredIn(is) == "":
			kind, so = checkChanged, "its text is unchanged: its data or its runner changed"
		case passes && c.otherRows(id):
			kind, so = checkChanged, "its table has new rows, which fail with the code of the base"
		case passes:
			kind, so = checkWeakened, "the new version passes, also with the code of the base: it was weakened"
		case !there && c.otherRows(id):
			kind, so = checkChanged, "it has other parameters now"
		case report.MissingInScript(run.Report.Messages[id]) != "":
			kind, so = checkUnbuilt, "it was removed with what it used"
		case there:
			so = "it is skipped now"
		}
		f := Finding{Kind: kind, Path: c.fileOf(id), Test: string(id),
			Happened: "it fails" + printed(run, id) + "; " + so,
			Tried:    "the test as it was on the base, with the code of the change"}
		if kind == checkWeakened || kind == checkRemoved {
			result = trial.Fails
			c.found(f)
		} else {
			c.name(f)
		}
	}
	c.Tried(trial.TryFrozen, result,
		fmt.Sprintf("with the tests of the base %s: %s", safetext.Plural(len(failing), "fails", "fail"),
			safetext.Some(failing)))
	return nil
}

// become is the id that a test of the base has now: where it is gone, a new one of its name stands elsewhere.
func (c *checking) become(id session.TestID) session.TestID {
	now := c.Out.Evidence.Gates[c.Gate.Name]
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

// otherRows reports whether a test is a row of a table that has rows which do not pass with the code of the base. Names
// of rows may hold what is expected, or their place, so that a name may mean another row now.
func (c *checking) otherRows(id session.TestID) bool {
	p := report.Parent(id)
	return p != "" && slices.ContainsFunc(c.Tests, func(to session.TestID) bool {
		return report.Parent(to) == p && c.without[to] != session.TestPass
	})
}

// notBuilt reports whether a test did not run because what it is in could not be built or loaded.
func (c *checking) notBuilt(id session.TestID, run *gate.Run) bool {
	return slices.ContainsFunc(run.Report.Broken,
		func(b report.Breakage) bool { return b.Build || report.Under(id, b.Unit) }) ||
		verdict.RanNothing(run.Report.Tests, c.Gate.Name)
}

// alsoWithout runs further tests of the change on the code of the base.
func (c *checking) alsoWithout(ctx context.Context, ids []session.TestID) error {
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

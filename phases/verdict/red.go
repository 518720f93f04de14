package verdict

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/internal/safetext"
	"github.com/wfs-dev/wfs/phases/report"
	"github.com/wfs-dev/wfs/session"
)

// judgeRed passes a run if a new or changed test fails for the right reason, and no passing test broke.
//
// It ignores older tests that could not run because a new test broke their package or file: later phases compare with
// the lap's start again.
func judgeRed(l *Lap) Finding {
	f := Finding{Verdict: session.Fail, KnownRed: l.knownRed()}
	l.left = nil
	broken := l.brokenUnits()
	if none, ok := l.nothingRan(broken); ok {
		return f.with(l, none)
	}
	if len(broken.wrong) > 0 {
		f.Class, f.Failing, f.Reason = session.ClassBuildBroken, broken.wrong, broken.why
		return f
	}

	failed, errored, passed := l.newTests(broken)
	if broke, how := l.brokeGreen(broken, slices.Concat(failed, errored, l.Excused)); len(broke) > 0 {
		f.Class, f.Failing, f.Reason = session.ClassBrokeGreen, broke, how
		ran := func(id session.TestID) bool { _, ran := l.Now.Tests[id]; return ran }
		if len(failed) > 0 && !slices.ContainsFunc(broke, ran) {
			f.Reason += fmt.Sprintf("; new tests fail as intended: %s. If the item changes what an old test expects,  "+
				"change that test and keep its name; if the item removes what it tests, ask a person to approve", safetext.Some(
				failed))
		}
		f.Retry = onlyFailing(l.Now.Tests, broke)
		return f
	}
	if len(failed) == 0 && len(broken.expected) == 0 {
		return l.noneRed(f, broken, errored, passed)
	}
	f.Verdict, f.Expected = session.Pass, broken.expected
	f.targets = withParents(l.Now.Tests, slices.Concat(failed, errored, passed))
	if len(failed) > 0 {
		f.Class = session.ClassTargetFailed
		f.Reason = safetext.Listed(failed, "new or changed test fails as intended", "new or changed tests fail as intended")
	} else {
		f.Class = session.ClassMissingSymbol
		f.Reason = "new tests in " + safetext.Some(broken.expected) + " fail as intended: " + broken.waitsFor()
	}
	if len(l.left) > 0 {
		f.Reason += "; missing, checked once there is code: " + safetext.Some(l.left)
	}
	return f
}

// newTests sorts new and changed tests by their results. A test whose own code raised the error counts as failed, not
// as errored.
func (l *Lap) newTests(b broken) (failed, errored, passed []session.TestID) {
	for _, id := range report.SortedKeys(l.Now.Tests) {
		if id == l.whole() || b.missing[id] || l.HasFailingSubtest(id) || !l.IsNew(id) {
			continue
		}
		switch s := l.Now.Tests[id]; {
		case s == session.TestFail, s == session.TestError && l.Now.Raises(id):
			failed = append(failed, id)
		case s == session.TestError:
			errored = append(errored, id)
		case s == session.TestPass:
			passed = append(passed, id)
		}
	}
	return failed, errored, passed
}

// waitsFor describes, in one phrase, the names and types that the code must still provide before the tests can be
// built or set up.
func (b broken) waitsFor() string {
	var parts []string
	if len(b.names) > 0 {
		parts = append(parts, safetext.Some(b.names)+map[bool]string{true: " is", false: " are"}[len(b.names) == 1]+
			" not defined yet")
	}
	if len(b.misfits) > 0 {
		parts = append(parts, "types do not match yet: "+safetext.Some(b.misfits))
	}
	if len(parts) == 0 {
		return "the set-up of " + safetext.Some(report.SortedKeys(b.missing)) + " fails"
	}
	return strings.Join(parts, "; ")
}

// noneRed returns the finding for a run in which no new test fails.
func (l *Lap) noneRed(f Finding, b broken, errored, passed []session.TestID) Finding {
	switch {
	// A test that times out proves nothing: it might do so with any code.
	case len(errored) > 0 && l.Now.TimedOut:
		f.Class, f.Failing = session.ClassTimeout, errored
		f.Reason = "the new tests timed out in the test runner: " + safetext.Some(errored)
	case len(errored) > 0:
		f.Class, f.Failing = session.ClassBuildBroken, errored
		f.Reason = "the new tests could not run to completion: " + safetext.Some(errored)
	// The class is not "nothing added", because the results of these tests are unknown.
	case len(b.unseen) > 0:
		f.Class, f.Failing = session.ClassBuildBroken, b.unseen
		f.Reason = "new tests cannot be judged where the code did not build before the attempt; make it build first: " +
			safetext.Some(b.unseen)
	case len(passed) > 0:
		f.Class = session.ClassUnexpectedGreen
		f.Reason = safetext.Listed(passed, "new or changed test passes already", "new or changed tests pass already")
	case report.Bad(l.Now.Tests[l.whole()]) && !l.Known[l.whole()]:
		// The class is not "nothing added", because the runner may have stopped before it reached a new test.
		return f.unexplained(l)
	default:
		f.Class, f.Reason = session.ClassNothingAdded, "no test was added or changed"
		if len(l.left) > 0 {
			f.Reason += ", and these are missing: " + safetext.Some(l.left)
		}
	}
	return f
}

// IsNew reports whether a test is new or changed: it was absent at the lap's start, it expects something else now, or
// it was skipped at the lap's start and now fails.
func (l *Lap) IsNew(id session.TestID) bool {
	was, had := l.Start[id]
	return !had && !l.Known[id] || slices.Contains(l.Different, id) ||
		was == session.TestSkip && report.Bad(l.Now.Tests[id]) && l.Files.anyCode()
}

// broken sorts units (packages or test files) that could not be built or loaded by the reason.
type broken struct {
	missing  map[session.TestID]bool // units that can be built once the code is written
	names    []string                // names that are not defined yet
	misfits  []string                // type errors, in the compiler's words
	expected []string                // the units in missing, whose tests must run in later phases
	wrong    []session.TestID        // units that are broken for another reason
	why      string
	unseen   []session.TestID // changed units that were broken before the lap already
}

// brokenUnits sorts the units that could not be built or loaded. It leaves out units that were broken at the lap's
// start or are known red, unless their tests were changed.
func (l *Lap) brokenUnits() broken {
	b := broken{missing: map[session.TestID]bool{}}
	byUnit := map[session.TestID][]report.Breakage{}
	for _, x := range l.Now.Broken {
		byUnit[x.Unit] = append(byUnit[x.Unit], x)
	}
	var reasons []string
	for _, unit := range report.SortedKeys(byUnit) {
		before := l.Known[unit] || report.Bad(l.Start[unit])
		if before && !l.Files.unitChanged(unit, byUnit[unit]) {
			continue
		}
		names, misfits, why := l.Files.lacks(byUnit[unit], before, l.Old.Fails(unit))
		switch {
		case why != "" && before:
			b.unseen = append(b.unseen, unit)
		case why != "":
			b.wrong = append(b.wrong, unit)
			reasons = append(reasons, string(unit)+": "+why)
		default:
			b.missing[unit] = true
			b.names, b.misfits = append(b.names, names...), append(b.misfits, misfits...)
			b.expected = append(b.expected, string(unit))
		}
	}
	b.names = report.SortedOnce(b.names)
	b.why = safetext.Some(reasons)
	return b
}

// lacks returns the names and types that the code must still provide so that a unit can be built. If the unit is
// broken for another reason, it returns this reason as why.
func (l *Files) lacks(all []report.Breakage, before, old bool) (names, misfits []string, why string) {
	for _, x := range all {
		x.Missing = cmp.Or(x.Missing, l.ownPackage(x.Message))
		why = cmp.Or(l.mistake(x), l.fault(x, before))
		switch {
		case why != "" && x.File != "":
			return nil, nil, x.File + " " + why
		case why != "":
			return nil, nil, why
		case x.Misfit != "":
			misfits = append(misfits, x.Misfit)
		case x.Missing != "":
			names = append(names, x.Missing)
		}
	}
	if old {
		why = "cannot be built or loaded with the previous tests either: the code change broke it"
	}
	return names, misfits, why
}

// fault returns the reason why writing the code will not repair a breakage; "" if it may. A failing set-up of changed
// tests may always be repaired by code that is still to be written.
func (l *Files) fault(x report.Breakage, before bool) string {
	changed := l.changedTests(x.File)
	switch {
	case !x.Explained():
		return "cannot be built or loaded"
	case changed && !before:
		return ""
	case x.Misfit != "":
		return "cannot be built: " + x.Misfit
	case x.Missing == "" && !changed:
		return "its set-up fails"
	case !changed:
		return "cannot be built: " + x.Missing + " is missing"
	case x.Missing != "" && l.named(x):
		return "could not be built or loaded before"
	}
	return ""
}

// unitChanged reports whether the tests of a unit that cannot be built or loaded were changed.
func (l *Files) unitChanged(unit session.TestID, why []report.Breakage) bool {
	return l.changedIn(unit) ||
		slices.ContainsFunc(why, func(x report.Breakage) bool { return l.changedTests(x.File) })
}

// waited returns the tests of a unit that could not be built until the code was written. These are its new tests;
// without new ones, its older tests, since one of them was changed. Rows of tables and subtests are left out, because
// their parent is judged.
func (l *Lap) waited(unit string) []session.TestID {
	var here, elsewhere, old []session.TestID
	for _, id := range report.SortedKeys(l.Now.Tests) {
		p := report.Parent(id)
		if _, both := l.Now.Tests[p]; p != "" && both || id == l.whole() || l.Now.IsBroken(id) {
			continue
		}
		in := Belongs(id, unit) || report.SameFile(unit, l.Now.Files[id])
		switch _, had := l.Start[id]; {
		case had && in:
			old = append(old, id)
		case had:
		case in:
			here = append(here, id)
		default:
			elsewhere = append(elsewhere, id)
		}
	}
	for _, ids := range [][]session.TestID{here, old} {
		if len(ids) > 0 {
			return ids
		}
	}
	// Not every runner reports the file of a test, so all other new tests may be in this unit.
	return elsewhere
}

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

// judgeRed requires a new or changed test that fails for the right reason, and that no passing test broke.
//
// Tests that could not run because a new test broke their package or file are ignored here: later phases of the lap
// compare with the lap's start again.
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
	if broke, how := l.brokeGreen(broken, append(slices.Clone(failed), errored...)); len(broke) > 0 {
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

// newTests sorts new and changed tests by their results. A test that raises an error itself has failed.
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

// waitsFor describes the names and types that the code lacks for building or setting up tests.
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

// noneRed returns the finding if no new test fails.
func (l *Lap) noneRed(f Finding, b broken, errored, passed []session.TestID) Finding {
	switch {
	case len(errored) > 0 && l.Now.TimedOut: // as it may, whatever the code does
		f.Class, f.Failing = session.ClassTimeout, errored
		f.Reason = "the new tests timed out in the test runner: " + safetext.Some(errored)
	case len(errored) > 0:
		f.Class, f.Failing = session.ClassBuildBroken, errored
		f.Reason = "the new tests could not run to completion: " + safetext.Some(errored)
	case len(b.unseen) > 0: // not "nothing added": their results are unknown
		f.Class, f.Failing = session.ClassBuildBroken, b.unseen
		f.Reason = "new tests cannot be judged where the code did not build before the attempt; make it build first: " +
			safetext.Some(b.unseen)
	case len(passed) > 0:
		f.Class = session.ClassUnexpectedGreen
		f.Reason = safetext.Listed(passed, "new or changed test passes already", "new or changed tests pass already")
	case report.Bad(l.Now.Tests[l.whole()]) && !l.Known[l.whole()]:
		// Not "nothing added": the runner may have stopped before it reached a new test.
		return f.unexplained(l)
	default:
		f.Class, f.Reason = session.ClassNothingAdded, "no test was added or changed"
		if len(l.left) > 0 {
			f.Reason += ", and these are missing: " + safetext.Some(l.left)
		}
	}
	return f
}

// IsNew reports whether a test was absent at the lap's start, or expects something else now, or was pending and fails
// now.
func (l *Lap) IsNew(id session.TestID) bool {
	was, had := l.Start[id]
	return !had && !l.Known[id] || slices.Contains(l.Different, id) ||
		was == session.TestSkip && report.Bad(l.Now.Tests[id]) && l.Files.anyCode()
}

// broken lists units that could not be built or loaded, by cause.
type broken struct {
	missing  map[session.TestID]bool // units that only wait for code
	names    []string                // missing names
	misfits  []string                // mismatches of types, as reported
	expected []string                // the units whose tests must run once there is code
	wrong    []session.TestID        // units that are broken for another reason
	why      string
	unseen   []session.TestID // units that were broken before, and whose tests were changed
}

// brokenUnits sorts the packages and files that could not be built or loaded. It ignores units that were broken at
// the lap's start, or are known red.
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

// lacks returns the names and types that a unit waits for, or the reason if it is broken otherwise.
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

// fault says why a breakage does not just wait for code; "" if it does. Set-up may fail for anything that the code
// does not do yet.
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

// unitChanged reports whether tests changed in a unit that cannot be built or loaded.
func (l *Files) unitChanged(unit session.TestID, why []report.Breakage) bool {
	return l.changedIn(unit) ||
		slices.ContainsFunc(why, func(x report.Breakage) bool { return l.changedTests(x.File) })
}

// waited returns the tests of a unit that waited for code: its new tests or, without any, older ones, one of which
// was changed. Parameters and subtests are judged with their test.
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
	return elsewhere // not every runner reports the file of a test
}

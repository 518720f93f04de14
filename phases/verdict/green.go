package verdict

import (
	"fmt"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/internal/safetext"
	"github.com/wfs-dev/wfs/internal/testpaths"
	"github.com/wfs-dev/wfs/phases/report"
	"github.com/wfs-dev/wfs/session"
)

// judgeGreen passes a run in which every test of the lap ran and passed, and every other test that passed at the lap's
// start still passes.
func judgeGreen(l *Lap) Finding {
	f := Finding{Verdict: session.Fail, KnownRed: l.knownRed()}
	missing, failing := l.missed(&f)
	if units, why := l.unbuilt(); len(units) > 0 {
		f.Class, f.Failing, f.Reason = session.ClassBuildBroken, units, why
		return f
	}
	if none, ok := l.nothingRan(broken{}); ok {
		return f.with(l, none)
	}
	broke, how := l.brokeGreen(broken{}, nil)
	fresh := l.newlyFailing()
	switch id := l.whole(); {
	case len(missing) > 0:
		f.Class, f.Failing = session.ClassTargetMissing, slices.Concat(missing, failing, broke)
		f.Reason = safetext.Listed(missing, "test of this lap is missing or skipped",
			"tests of this lap are missing or skipped")
	case len(failing) > 0:
		f.Class, f.Failing = session.ClassTargetFailing, slices.Concat(failing, broke)
		f.Reason = fmt.Sprintf("still failing: %s", safetext.Some(failing))
	case len(broke) > 0:
		f.Class, f.Failing, f.Reason = session.ClassBrokeGreen, slices.Concat(broke, fresh), how
		if len(fresh) == 0 {
			f.Retry = onlyFailing(l.Now.Tests, broke)
		}
	case len(fresh) > 0:
		f.Class, f.Failing = session.ClassTargetFailing, fresh
		f.Reason = safetext.Listed(fresh, "new test of this lap fails", "new tests of this lap fail")
	case report.Bad(l.Now.Tests[id]) && !l.Known[id]:
		f = f.unexplained(l)
	default:
		f = l.passed(f)
	}
	return f
}

// unbuilt returns the units (packages or test files) that could be built and loaded at the lap's start and no longer
// can, and a sentence about them.
func (l *Lap) unbuilt() (units []session.TestID, why string) {
	var files []string
	for _, b := range l.Now.Broken {
		if l.Known[b.Unit] || report.Bad(l.Start[b.Unit]) {
			continue
		}
		units = append(units, b.Unit)
		if b.File != "" {
			files = append(files, b.File)
		}
	}
	units = report.SortedOnce(units)
	why = "cannot be built or loaded: " + safetext.Some(units)
	if len(files) > 0 {
		why += " (" + safetext.Some(report.SortedOnce(files)) + ")"
	}
	return units, why
}

// passed returns the finding for a run in which nothing is wrong.
func (l *Lap) passed(f Finding) Finding {
	f.Verdict, f.Class = session.Pass, session.ClassGreen
	// The tests of these units could not be built before, so their names are known only now.
	if len(l.Expected) > 0 {
		f.targets = slices.Clone(l.Targets)
		for _, unit := range l.Expected {
			f.targets = append(f.targets, l.waited(unit)...)
		}
		f.targets = withParents(l.Now.Tests, f.targets)
	}
	f.Reason = "no passing test broke"
	if n := f.Passing; n > 0 {
		f.Reason = safetext.Plural(n, "test of this lap passes", "tests of this lap pass") + "; no passing test broke"
	}
	return f
}

// unexplained returns the finding for a command that exited with an error although no test failed.
func (f Finding) unexplained(l *Lap) Finding {
	f.Class, f.Failing = session.ClassCommandFailed, []session.TestID{l.whole()}
	f.Reason = fmt.Sprintf("the command exited with code %d, but no test failed", l.exit)
	if l.Now.Damaged != "" {
		f.Reason = "the report may be incomplete: " + l.Now.Damaged
	}
	return f
}

// missed looks up the results of the lap's tests. It adds the number of passing tests to f, and returns the tests that
// are missing or skipped, and the tests that fail.
func (l *Lap) missed(f *Finding) (missing, failing []session.TestID) {
	ids := slices.Clone(l.Targets)
	for _, unit := range l.Expected {
		if waited := l.waited(unit); len(waited) > 0 {
			ids = append(ids, waited...)
		} else {
			ids = append(ids, session.TestID(unit))
		}
	}
	seen := map[session.TestID]bool{}
	for _, id := range ids {
		if seen[id] {
			continue
		}
		seen[id] = true
		switch s := l.standing(id); {
		case s == session.TestSkip:
			missing = append(missing, id)
		case report.Bad(s):
			failing = append(failing, id)
		case s == session.TestPass:
			f.Passing++
		}
	}
	return missing, failing
}

// standing returns the status of a test of the lap. A test that did not run has the status of its subtests. If no
// subtest ran either, its status is "skipped", or "" for a test that may be missing.
func (l *Lap) standing(id session.TestID) session.TestStatus {
	s, ran := l.Now.Tests[id]
	switch {
	case ran:
		return s
	case slices.Contains(l.Gone, id):
		return ""
	case l.about().failingBelow[id]:
		return session.TestFail
	case l.about().ranBelow[id]:
		return session.TestPass
	}
	return session.TestSkip
}

// newlyFailing returns the failing tests that are no targets of the lap, and that were absent or skipped at its start.
func (l *Lap) newlyFailing() []session.TestID {
	var out []session.TestID
	for _, id := range report.SortedKeys(l.Now.Tests) {
		was, had := l.Start[id]
		if report.Bad(l.Now.Tests[id]) && (!had || was == session.TestSkip) && !l.Known[id] && id != l.whole() &&
			!l.about().isTarget[id] && !l.HasFailingSubtest(id) {
			out = append(out, id)
		}
	}
	return out
}

// brokeGreen returns the tests that passed at the lap's start and now fail, are skipped or are missing, and a sentence
// about them.
//
// It leaves out tests that are not at fault themselves: tests in excused, tests that did not run because an excused
// test ended their process, and tests that did not run because their package or file is in b and cannot be built yet.
func (l *Lap) brokeGreen(b broken, excused []session.TestID) (ids []session.TestID, how string) {
	var failing, skipped, gone []session.TestID
	for _, id := range report.SortedKeys(l.Start) {
		if l.Start[id] != session.TestPass || l.Known[id] || id == l.whole() || l.about().isTarget[id] {
			continue
		}
		s, ran := l.Now.Tests[id]
		switch {
		case s == session.TestPass:
		case s == session.TestSkip:
			skipped = append(skipped, id)
		case !ran:
			switch {
			// If only subtests or rows of a table ran, they are judged by their own results.
			case slices.Contains(l.Gone, id), l.retitled(id),
				l.about().ranBelow[id], l.mayBeGone(id, b, excused):
			case l.Later:
				l.left = append(l.left, id)
			default:
				gone = append(gone, id)
			}
		case slices.Contains(excused, id), l.HasFailingSubtest(id), s == session.TestError && tookDown(l.Now, id, excused):
		default:
			failing = append(failing, id)
		}
	}
	var says []string
	for _, part := range []struct {
		ids       []session.TestID
		one, many string
	}{
		{failing, "test that passed before now fails", "tests that passed before now fail"},
		{skipped, "test that passed before is now skipped", "tests that passed before are now skipped"},
		{gone, "test that passed before is missing", "tests that passed before are missing"},
	} {
		if len(part.ids) > 0 {
			says = append(says, safetext.Listed(part.ids, part.one, part.many))
		}
	}
	return slices.Concat(failing, skipped, gone), strings.Join(says, "; ")
}

// mayBeGone reports whether it proves nothing that a test is missing which passed before: its parent is judged
// instead, another row of the same table ran, its unit cannot be built yet, or an excused test ended its process.
func (l *Lap) mayBeGone(id session.TestID, b broken, excused []session.TestID) bool {
	if p := report.Parent(id); p != "" {
		if _, had := l.Start[p]; had {
			return true
		}
		if l.about().ranBelow[p] {
			return true // another row of the same table ran
		}
	}
	for unit := range b.missing {
		if report.Under(id, unit) {
			return true
		}
	}
	// The missing test is not forgotten: later phases compare with the lap's start too.
	if len(b.missing) > 0 && (notGo(id) || b.stoppedBuild(l.Now)) {
		return true
	}
	return tookDown(l.Now, id, excused)
}

// retitled reports whether a test that seems to be missing passes under a longer title. It returns false if the lap
// did more than add tests. AVA puts the file's name before each title as soon as there are several files.
func (l *Lap) retitled(id session.TestID) bool {
	for _, c := range l.Files.Changes {
		about := l.Files.HoldsTests(c) || testpaths.AboutTests(c.Path) || testpaths.IsScript(c.Path)
		if about && (c.Status != "A" || !testpaths.IsTest(c.Path)) {
			return false
		}
	}
	for other, s := range l.Now.Tests {
		if _, had := l.Start[other]; !had && s == session.TestPass && strings.HasSuffix(string(other), " › "+string(id)) {
			return true
		}
	}
	return false
}

// RanNothing reports whether no test ran and at most errors were reported: pytest stops before the first test if it
// cannot load a file.
func RanNothing(tests session.Tests, gate string) bool {
	for id, s := range tests {
		if s != session.TestError && id != report.GateID(gate) {
			return false
		}
	}
	return true
}

// stoppedBuild reports whether a unit with a missing name stopped the build of other units too.
func (b broken) stoppedBuild(r *report.Report) bool {
	return slices.ContainsFunc(r.Broken, func(x report.Breakage) bool { return x.Build && b.missing[x.Unit] })
}

// tookDown reports whether an excused test ended the process of its Go package before the test id could run.
func tookDown(r *report.Report, id session.TestID, excused []session.TestID) bool {
	pkg, _ := report.SplitGo(id)
	return pkg != "" && r.Crashed[pkg] && slices.ContainsFunc(excused, func(e session.TestID) bool {
		p, _ := report.SplitGo(e)
		return p == pkg
	})
}

// HasFailingSubtest reports whether a test fails, and one of its subtests too. The test then need not be reported: its
// subtests are judged themselves.
func (l *Lap) HasFailingSubtest(id session.TestID) bool {
	return report.Bad(l.Now.Tests[id]) && l.about().failingBelow[id]
}

// withParents returns the given tests and all tests that they are subtests of.
func withParents(tests session.Tests, ids []session.TestID) []session.TestID {
	all := slices.Clone(ids)
	for _, id := range ids {
		for p := report.Parent(id); p != ""; p = report.Parent(p) {
			if _, ran := tests[p]; ran {
				all = append(all, p)
			}
		}
	}
	return report.SortedOnce(all)
}

// onlyFailing returns ids if all of these tests ran and failed, else nil. Failing tests may be flaky, missing and
// skipped ones are not.
func onlyFailing(tests session.Tests, ids []session.TestID) []session.TestID {
	for _, id := range ids {
		if !report.Bad(tests[id]) {
			return nil
		}
	}
	return ids
}

func (l *Lap) knownRed() []session.TestID {
	var out []session.TestID
	for _, id := range report.SortedKeys(l.Now.Tests) {
		if report.Bad(l.Now.Tests[id]) && l.Known[id] && !l.about().isTarget[id] {
			out = append(out, id)
		}
	}
	return out
}

// nothingRan returns the finding for a run that reported no test, which is neither red nor green. It returns false for
// any other run.
func (l *Lap) nothingRan(b broken) (Finding, bool) {
	if len(b.wrong) > 0 || len(b.missing) > 0 || report.Count(l.Now.Tests, l.Gate).Total() > 0 {
		return Finding{}, false
	}
	n := Finding{Class: session.ClassNoTests, Reason: "the runner ran no test"}
	if l.exit != 0 && !l.Now.NoTests {
		n.Class, n.Reason = session.ClassBuildBroken, fmt.Sprintf(
			"the command exited with code %d before it reported any test", l.exit)
	}
	if had := report.Count(l.Start, l.Gate).Passed; had > 0 {
		n.Reason += fmt.Sprintf("; %s at the start of the lap", safetext.Plural(had, "passed", "passed"))
	}
	return n, true
}

func (f Finding) with(l *Lap, what Finding) Finding {
	f.Class, f.Reason = what.Class, what.Reason
	for id, s := range l.Start {
		if s == session.TestPass && !l.Known[id] {
			f.Failing = append(f.Failing, id)
		}
	}
	slices.Sort(f.Failing)
	return f
}

package phases

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/phases/report"
	"github.com/wfs-dev/wfs/session"
)

// lap is all that the judgement of one per-test gate depends on. The judgement itself runs nothing and reads only what
// files tells it.
type lap struct {
	gate     string
	exit     int
	start    session.Tests // at the lap's start, or on the base
	known    map[session.TestID]bool
	now      *report.Report
	files    *lapFiles
	targets  []session.TestID
	expected []string
	gone     []session.TestID // that need not be there any more
	// different are older tests that fail by what was changed of tests, though their own text may be as it was.
	different []session.TestID

	// old is what the code says to the tests as they were at the lap's start, nil where that was not tried.
	old *report.Report

	index *lapIndex
	// later: whether older tests may be gone is asked when the code is written, and left are those that are.
	later bool
	left  []session.TestID
}

// newLap is what the judgement of a run depends on, without tests that the lap is about.
func newLap(g *gateRun, start session.Tests, known []session.TestID, files *lapFiles) *lap {
	l := &lap{gate: g.gate.Name, exit: g.exit, start: start, known: map[session.TestID]bool{}, now: g.report, files: files}
	for _, id := range known {
		l.known[id] = true
	}
	return l
}

// lapIndex answers questions about the tests that ran, made once.
type lapIndex struct {
	failingBelow map[session.TestID]bool // a subtest of it fails
	ranBelow     map[session.TestID]bool // a subtest of it ran
	isTarget     map[session.TestID]bool
}

func (l *lap) about() *lapIndex {
	if l.index != nil {
		return l.index
	}
	x := &lapIndex{failingBelow: map[session.TestID]bool{}, ranBelow: map[session.TestID]bool{},
		isTarget: map[session.TestID]bool{}}
	for id, s := range l.now.Tests {
		for p := report.Parent(id); p != ""; p = report.Parent(p) {
			x.ranBelow[p] = true
			if bad(s) {
				x.failingBelow[p] = true
			}
		}
	}
	for _, id := range l.targets {
		x.isTarget[id] = true
	}
	l.index = x
	return x
}

// finding is what a gate's results mean.
type finding struct {
	verdict  session.Verdict
	class    session.Class
	reason   string
	failing  []session.TestID // held against the attempt
	knownRed []session.TestID
	flaky    []session.TestID
	targets  []session.TestID
	expected []string
	passing  int
	left     int              // see GateResult
	retry    []session.TestID // the only thing wrong is that these, green before, fail: they may be flaky
}

func bad(s session.TestStatus) bool { return s == session.TestFail || s == session.TestError }

// judgeRed decides whether there is a new or changed test that fails for the right reason, and nothing green broke.
//
// What could not be run because a new test took its package or file down with it is not held against the attempt here:
// the phases that follow in the lap compare with the lap's start again.
func judgeRed(l *lap) finding {
	f := finding{verdict: session.Fail, knownRed: l.knownRed()}
	l.left = nil
	broken := l.brokenUnits()
	if none, ok := l.nothingRan(broken); ok {
		return l.with(f, none)
	}
	if len(broken.wrong) > 0 {
		f.class, f.failing, f.reason = session.ClassBuildBroken, broken.wrong, broken.why
		return f
	}

	var failed, errored, passed []session.TestID
	for _, id := range sortedKeys(l.now.Tests) {
		s := l.now.Tests[id]
		switch {
		case id == gateID(l.gate), broken.missing[id], l.hasFailingSubtest(id), !l.isNew(id):
		case s == session.TestFail, s == session.TestError &&
			(l.now.Raised[id] || report.MissingInScript(l.now.Messages[id]) != ""):
			failed = append(failed, id)
		case s == session.TestError:
			errored = append(errored, id)
		case s == session.TestPass:
			passed = append(passed, id)
		}
	}
	if broke, how := l.brokeGreen(broken, append(slices.Clone(failed), errored...)); len(broke) > 0 {
		f.class, f.failing, f.reason = session.ClassBrokeGreen, broke, how
		ran := func(id session.TestID) bool { _, ran := l.now.Tests[id]; return ran }
		if len(failed) > 0 && !slices.ContainsFunc(broke, ran) {
			f.reason += fmt.Sprintf("; new tests fail as intended: %s. If the item changes what an old test expects,  "+
				"change that test and keep its name; if the item removes what it tests, ask a person to approve", some(failed))
		}
		f.retry = onlyFailing(l.now.Tests, broke)
		return f
	}
	if len(failed) == 0 && len(broken.expected) == 0 {
		return l.noneRed(f, broken, errored, passed)
	}
	f.verdict, f.expected = session.Pass, broken.expected
	f.targets = withParents(l.now.Tests, slices.Concat(failed, errored, passed))
	if len(failed) > 0 {
		f.class = session.ClassTargetFailed
		f.reason = fmt.Sprintf("%s as intended: %s",
			plural(len(failed), "new or changed test fails", "new or changed tests fail"), some(failed))
	} else {
		f.class = session.ClassMissingSymbol
		f.reason = "new tests in " + some(broken.expected) + " fail as intended: " + broken.waitsFor()
	}
	if len(l.left) > 0 {
		f.reason += "; missing, checked once there is code: " + some(l.left)
	}
	return f
}

// waitsFor is what the code lacks for which tests cannot be built or set up.
func (b broken) waitsFor() string {
	var parts []string
	if len(b.names) > 0 {
		parts = append(parts, some(b.names)+map[bool]string{true: " is", false: " are"}[len(b.names) == 1]+" not defined yet")
	}
	if len(b.misfits) > 0 {
		parts = append(parts, "types do not match yet: "+some(b.misfits))
	}
	if len(parts) == 0 {
		return "the set-up of " + some(sortedKeys(b.missing)) + " fails"
	}
	return strings.Join(parts, "; ")
}

// noneRed says what is wrong when no new test fails.
func (l *lap) noneRed(f finding, b broken, errored, passed []session.TestID) finding {
	switch {
	case len(errored) > 0 && l.now.TimedOut: // which it may be whatever the code does
		f.class, f.failing = session.ClassTimeout, errored
		f.reason = "the new tests timed out in the test runner: " + some(errored)
	case len(errored) > 0:
		f.class, f.failing = session.ClassBuildBroken, errored
		f.reason = "the new tests could not run to completion: " + some(errored)
	case len(b.unseen) > 0: // not "nothing added": nobody can tell what they say
		f.class, f.failing = session.ClassBuildBroken, b.unseen
		f.reason = "new tests cannot be judged where the code did not build before the attempt; make it build first: " +
			some(b.unseen)
	case len(passed) > 0:
		f.class = session.ClassUnexpectedGreen
		f.reason = plural(len(passed), "new or changed test passes", "new or changed tests pass") + " already: " +
			some(passed)
	case bad(l.now.Tests[gateID(l.gate)]) && !l.known[gateID(l.gate)]:
		// Not "nothing added": something may have been, and the runner did not get to it.
		return l.unexplained(f)
	default:
		f.class, f.reason = session.ClassNothingAdded, "no test was added or changed"
		if len(l.left) > 0 {
			f.reason += ", and these are missing: " + some(l.left)
		}
	}
	return f
}

// isNew reports whether a test is absent at the lap's start, or asks for something else now, or was pending and fails
// now.
func (l *lap) isNew(id session.TestID) bool {
	was, had := l.start[id]
	return !had && !l.known[id] || slices.Contains(l.different, id) ||
		was == session.TestSkip && bad(l.now.Tests[id]) && l.files.anyCode()
}

// broken is what could not be built or loaded, by whose fault.
type broken struct {
	missing  map[session.TestID]bool // units that only wait for code
	names    []string                // those names
	misfits  []string                // what is said of types there that do not fit yet
	expected []string                // the units whose tests must run once there is code
	wrong    []session.TestID        // units that are broken for another reason
	why      string
	unseen   []session.TestID // units that were broken before, and whose tests were changed
}

// brokenUnits sorts the packages and files that could not be built or loaded. What was broken at the lap's start, or is
// known, is not held against the attempt.
func (l *lap) brokenUnits() broken {
	b := broken{missing: map[session.TestID]bool{}}
	byUnit := map[session.TestID][]report.Breakage{}
	for _, x := range l.now.Broken {
		byUnit[x.Unit] = append(byUnit[x.Unit], x)
	}
	var reasons []string
	for _, unit := range sortedKeys(byUnit) {
		before := l.known[unit] || bad(l.start[unit])
		if before && !l.files.unitChanged(unit, byUnit[unit]) {
			continue
		}
		var names, misfits []string
		why := ""
		for _, x := range byUnit[unit] {
			if x.Missing == "" {
				x.Missing = l.files.ownPackage(x.Message)
			}
			mistake := l.files.mistake(x)
			switch changed := l.files.changedTests(x.File); {
			case mistake != "":
				why = mistake
			case x.Misfit != "" && (before || !changed):
				why = "cannot be built: " + x.Misfit
			case x.Misfit != "":
				misfits = append(misfits, x.Misfit)
			case x.Missing == "" && !x.Setup:
				why = "cannot be built or loaded"
			case x.Missing == "" && !changed:
				why = "its set-up fails"
			case x.Missing == "": // it may fail for whatever the code does not do yet
			case !changed:
				why = "cannot be built: " + x.Missing + " is missing"
			case before && l.files.named(x):
				why = "could not be built or loaded before"
			default:
				names = append(names, x.Missing)
			}
			if why != "" {
				if x.File != "" {
					why = x.File + " " + why
				}
				break
			}
		}
		if why == "" && l.old != nil && bad(l.old.Tests[unit]) {
			why = "cannot be built or loaded with the previous tests either: the code change broke it"
		}
		if why != "" && before {
			b.unseen = append(b.unseen, unit)
			continue
		}
		if why != "" {
			b.wrong = append(b.wrong, unit)
			reasons = append(reasons, string(unit)+": "+why)
			continue
		}
		b.missing[unit] = true
		b.names, b.misfits = append(b.names, names...), append(b.misfits, misfits...)
		b.expected = append(b.expected, string(unit))
	}
	b.names = sortedOnce(b.names)
	b.why = some(reasons)
	return b
}

// unitChanged reports whether tests of a unit that cannot be built or loaded were changed.
func (l *lapFiles) unitChanged(unit session.TestID, why []report.Breakage) bool {
	return l.changedIn(unit) ||
		slices.ContainsFunc(why, func(x report.Breakage) bool { return l.changedTests(x.File) })
}

// waited are the tests that a unit has that was waiting for code: those that came in this lap; where there are none,
// those that were there before, one of which was changed. A parameter or subtest is judged with its test.
func (l *lap) waited(unit string) []session.TestID {
	var here, elsewhere, old []session.TestID
	for _, id := range sortedKeys(l.now.Tests) {
		p := report.Parent(id)
		if _, both := l.now.Tests[p]; p != "" && both || id == gateID(l.gate) || l.now.IsBroken(id) {
			continue
		}
		in := belongs(id, unit) || report.SameFile(unit, l.now.Files[id])
		switch _, had := l.start[id]; {
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
	return elsewhere // runners do not always say in which file a test is
}

// belongs reports whether a test is in a unit, as far as its id says so: a Go package, a module, the file of a class.
// An older wfs wrote names of tests here.
func belongs(id session.TestID, unit string) bool {
	if matches(id, unit) || report.Under(id, session.TestID(unit)) {
		return true
	}
	class, _, ok := strings.Cut(string(id), "::")
	stem := strings.TrimSuffix(path.Base(unit), path.Ext(unit))
	return ok && stem != unit && (class == stem || strings.HasSuffix(class, "."+stem))
}

// inSuite stood in the names that an older wfs wrote, between a Go package and the method of a suite.
const inSuite = ".*/"

// matches reports whether a test is the one that is meant by a name: in full, as it is declared, or as a subtest of it.
// Node reports a test that has subtests as their suite, not as a test.
func matches(id session.TestID, name string) bool {
	if string(id) == name || report.Bare(string(id)) == name {
		return true
	}
	if pkg, method, ok := strings.Cut(name, inSuite); ok {
		if of, _ := report.SplitGo(id); of != "" && of == pkg {
			return strings.HasSuffix(string(id), "/"+method)
		}
	}
	return !strings.Contains(name, "::") && notGo(id) && slices.ContainsFunc(declaredNames(id), func(n string) bool {
		return n == name || strings.Contains(string(id), "::") && strings.HasSuffix(n, " "+name) // behind its suites
	})
}

// declaredNames are the names that a test may have been declared by, the likeliest first.
func declaredNames(id session.TestID) []string {
	names := []string{report.Leaf(id)}
	if _, name := report.SplitGo(id); name != "" {
		return append(names, strings.Split(name, "/")[1:]...) // methods of suites
	}
	if segments := strings.Split(string(id), "::"); len(segments) > 2 {
		names = append(names, segments[1:len(segments)-1]...) // adds::case_1 of rstest
	}
	if suites := strings.Split(string(id), report.SuiteSep); len(suites) > 1 {
		names = append(names, suites[:len(suites)-1]...) // tests whose subtest it is
	}
	return names
}

func notGo(id session.TestID) bool { pkg, _ := report.SplitGo(id); return pkg == "" }

package phases

import (
	"fmt"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/session"
)

// lap is all that the judgement of one per-test gate depends on. The judgement itself runs nothing and reads only what
// files tells it.
type lap struct {
	gate     string
	exit     int
	start    session.Tests // at the lap's start, or on the base
	known    map[session.TestID]bool
	now      *report
	files    *lapFiles
	targets  []session.TestID
	expected []string
	gone     []session.TestID // that need not be there any more
	tags     []string         // build tags of the gate
	// different are older tests that fail by what was changed of tests, though their own text may be as it was.
	different []session.TestID

	index   *lapIndex
	renames map[session.TestID]session.TestID
	// renamedIDs are what the renames lead to.
	renamedIDs map[session.TestID]bool
	// later: whether older tests may be gone is asked when the code is written, and left are those that are.
	later bool
	left  []session.TestID
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
	x := &lapIndex{failingBelow: map[session.TestID]bool{}, ranBelow: map[session.TestID]bool{}, isTarget: map[session.TestID]bool{}}
	for id, s := range l.now.tests {
		for p := parent(id); p != ""; p = parent(p) {
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
	for _, id := range sortedKeys(l.now.tests) {
		s := l.now.tests[id]
		switch {
		case id == gateID(l.gate), broken.missing[id], l.hasFailingSubtest(id), !l.isNew(id):
		case s == session.TestFail, s == session.TestError && (l.now.raised[id] || missingInScript(l.now.messages[id]) != ""):
			failed = append(failed, id)
		case s == session.TestError:
			errored = append(errored, id)
		case s == session.TestPass:
			if !l.files.emptied(id, l.now.files[id], false) {
				passed = append(passed, id)
			}
		}
	}
	if broke, how := l.brokeGreen(broken, append(slices.Clone(failed), errored...)); len(broke) > 0 {
		f.class, f.failing, f.reason = session.ClassBrokeGreen, broke, how
		if by := l.replacedBy(broke, failed); len(by) > 0 {
			f.reason += fmt.Sprintf("; where it stood there is a new test that fails as intended: %s. If the item changes what the old one expects, "+
				"change it under its old name; if the item takes away what it is about, ask for a person's word", someNames(by))
		}
		f.retry = l.onlyFailing(broke)
		return f
	}
	if len(failed) == 0 && len(broken.expected) == 0 {
		return l.noneRed(f, broken, errored, passed)
	}
	f.verdict, f.expected = session.Pass, broken.expected
	f.targets = l.withParents(slices.Concat(failed, errored, passed))
	if len(failed) > 0 {
		f.class = session.ClassTargetFailed
		f.reason = fmt.Sprintf("%s as intended: %s", plural(len(failed), "new or changed test fails", "new or changed tests fail"), someNames(failed))
	} else {
		f.class = session.ClassMissingSymbol
		f.reason = plural(len(broken.expected), "new or changed test waits", "new or changed tests wait") + " for " +
			broken.waitsFor()
	}
	if len(l.left) > 0 {
		f.reason += "; gone, and tried once there is code: " + someNames(l.left)
	}
	return f
}

// waitsFor is what the code lacks for which tests cannot be built or set up.
func (b broken) waitsFor() string {
	var parts []string
	if len(b.names) > 0 {
		parts = append(parts, some(b.names)+", which does not exist yet")
	}
	if len(b.misfits) > 0 {
		parts = append(parts, "code of other types: "+some(b.misfits))
	}
	if len(parts) == 0 {
		return "the set-up of " + someNames(sortedKeys(b.missing)) + ", which fails"
	}
	return strings.Join(parts, "; and for ")
}

// replacedBy are the new tests that fail in the files in which tests stood that are gone, nil unless that may be why all
// of them are gone.
func (l *lap) replacedBy(gone, failed []session.TestID) []session.TestID {
	var by []session.TestID
	for _, id := range gone {
		if _, ran := l.now.tests[id]; ran {
			return nil
		}
		n := len(by)
		for _, f := range l.files.tests(id, "") {
			if !slices.ContainsFunc(f.oldDecls, func(d declaration) bool { return d.test && d.declares(id, leaf(id)) }) {
				continue
			}
			for _, other := range failed {
				_, had := l.start[other]
				if !had && slices.ContainsFunc(f.decls, func(d declaration) bool { return d.test && d.declares(other, leaf(other)) }) {
					by = append(by, other)
				}
			}
		}
		if len(by) == n {
			return nil
		}
	}
	slices.Sort(by)
	return slices.Compact(by)
}

// noneRed says what is wrong when no new test fails.
func (l *lap) noneRed(f finding, b broken, errored, passed []session.TestID) finding {
	switch {
	case len(errored) > 0 && l.now.timedOut: // which it may be whatever the code does
		f.class, f.failing = session.ClassTimeout, errored
		f.reason = "the new tests did not end in the time that the runner gives them: " + someNames(errored)
	case len(errored) > 0:
		f.class, f.failing = session.ClassBuildBroken, errored
		f.reason = "the new tests could not be run to their end: " + someNames(errored)
	case len(b.unseen) > 0: // not "nothing added": nobody can tell what they say
		f.class, f.failing = session.ClassBuildBroken, b.unseen
		f.reason = "new tests cannot be seen where nothing could be built or loaded before the attempt either; make it build first: " + someNames(b.unseen)
	case len(passed) > 0:
		f.class = session.ClassUnexpectedGreen
		f.reason = plural(len(passed), "new or changed test passes", "new or changed tests pass") + " already: " + someNames(passed)
	case bad(l.now.tests[gateID(l.gate)]) && !l.known[gateID(l.gate)]:
		// Not "nothing added": something may have been, and the runner did not get to it.
		return l.unexplained(f)
	default:
		f.class, f.reason = session.ClassNothingAdded, "no test was added or changed that can fail"
	}
	return f
}

// isNew reports whether a test is absent at the lap's start, or different now, or was pending and is not any more.
func (l *lap) isNew(id session.TestID) bool {
	was, had := l.start[id]
	if !had && !l.known[id] {
		return !l.renamedTo(id)
	}
	return slices.Contains(l.different, id) || l.files.touched(id, l.now.files[id]) ||
		was == session.TestSkip && l.enabled(id)
}

// enabled reports whether the attempt may be why a test runs that was skipped. What skips it need not stand in its own
// text: the mark may be that of a suite, and the condition a file or a function that is there now. But where it only
// passes, and no changed file declares it, it may depend on the machine.
func (l *lap) enabled(id session.TestID) bool {
	if bad(l.now.tests[id]) {
		return slices.ContainsFunc(l.files.changes, func(c session.Change) bool { return isTestFile(c.Path) || isCode(c.Path) })
	}
	return l.files.declared(id, l.now.files[id])
}

// broken is what could not be built or loaded, by whose fault.
type broken struct {
	missing  map[session.TestID]bool // units that only wait for code
	names    []string                // those names
	misfits  []string                // what is said of types there that do not fit yet
	expected []string                // the tests that are declared there
	wrong    []session.TestID        // units that are broken for another reason
	why      string
	unseen   []session.TestID // units that were broken before, and declare new tests
}

// brokenUnits sorts the packages and files that could not be built or loaded. What was broken at the lap's start, or is
// known, is not held against the attempt.
func (l *lap) brokenUnits() broken {
	b := broken{missing: map[session.TestID]bool{}}
	byUnit := map[session.TestID][]breakage{}
	for _, x := range l.now.broken {
		byUnit[x.Unit] = append(byUnit[x.Unit], x)
	}
	var reasons []string
	for _, unit := range sortedKeys(byUnit) {
		expected := l.newlyDeclared(unit, byUnit[unit])
		before := l.known[unit] || bad(l.start[unit])
		if before && len(expected) == 0 {
			continue
		}
		var names, misfits []string
		why := ""
		for _, x := range byUnit[unit] {
			mistake := l.mistake(x)
			switch {
			case mistake != "":
				why = mistake
			case x.Misfit != "" && (before || !l.changedTestFile(x.File)):
				why = "cannot be built: " + x.Misfit
			case x.Misfit != "":
				misfits = append(misfits, x.Misfit)
			case x.Missing == "" && !x.Setup:
				why = "cannot be built or loaded"
			case x.Missing == "" && !l.changedTestFile(x.File):
				why = "its set-up fails"
			case x.Missing == "": // it may fail for whatever the code does not do yet
			case !l.changedTestFile(x.File):
				why = "cannot be built: " + x.Missing + " is missing"
			case before && l.files.named(x):
				why = "could not be built or loaded before"
			case l.files.removed(x.Missing):
				why = "cannot be built: " + x.Missing + " was removed"
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
		if why == "" && len(expected) == 0 {
			why = "cannot be built or loaded, and declares no new test"
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
		b.expected = append(b.expected, expected...)
	}
	slices.Sort(b.names)
	b.names = slices.Compact(b.names)
	slices.Sort(b.expected)
	b.expected = slices.Compact(b.expected)
	b.why = some(reasons)
	return b
}

func (l *lap) changedTestFile(printed string) bool {
	return slices.ContainsFunc(l.files.changes, func(c session.Change) bool {
		return c.Status != "D" && l.files.holdsTests(c) && sameFile(c.Path, printed)
	})
}

// newlyDeclared names the tests that a unit's changed files declare and that are new or different. They cannot be seen
// while the unit is not built, so their names are what later phases look for. A method of a suite in Go is named
// "import/path.*/TestName": what runs the suite is not known.
func (l *lap) newlyDeclared(unit session.TestID, why []breakage) []string {
	var names []string
	for _, c := range l.files.changes {
		inUnit := slices.ContainsFunc(why, func(x breakage) bool { return sameFile(c.Path, x.File) })
		isGo := strings.HasSuffix(c.Path, ".go")
		if c.Status == "D" || !l.files.holdsTests(c) || !inUnit && !(isGo && l.files.inPackage(c.Path, string(unit))) {
			continue
		}
		file := l.files.file(c)
		if isGo && !inUnit && !builtHere(c.Path, file.now, l.tags) {
			continue
		}
		for _, d := range file.decls {
			if !d.test || d.empty {
				continue
			}
			name := d.name
			switch {
			case isGo && d.suite:
				name = string(unit) + inSuite + d.name
			case isGo:
				name = string(unit) + "." + d.name
			}
			if !file.oldKnown && !l.startHas(name) || file.oldKnown && (!file.had(d) || l.files.usesChanged(c.Path, d) || l.wasSkipped(unit, name)) {
				names = append(names, name)
			}
		}
	}
	return names
}

func (l *lap) startHas(name string) bool {
	for id := range l.start {
		if matches(id, name) {
			return true
		}
	}
	return false
}

// wasSkipped reports whether all tests that are meant by a name, or the unit that they are in, were skipped at the
// lap's start. pytest names a module that skips itself below its own suite.
func (l *lap) wasSkipped(unit session.TestID, name string) bool {
	skipped := false
	for id, s := range l.start {
		if id == unit || strings.HasSuffix(string(id), suiteSep+string(unit)) || matches(id, name) {
			if s != session.TestSkip {
				return false
			}
			skipped = true
		}
	}
	return skipped
}

// inSuite stands in the name of an expected test between a Go package and the method of a suite.
const inSuite = ".*/"

// matches reports whether a test is the one that was expected by name: in full, as it is declared, or as a subtest of
// it. Node reports a test that has subtests as their suite, not as a test.
func matches(id session.TestID, name string) bool {
	if string(id) == name || bare(string(id)) == name {
		return true
	}
	if pkg, method, ok := strings.Cut(name, inSuite); ok {
		if of, _ := goTest(id); of != "" && of == pkg {
			return strings.HasSuffix(string(id), "/"+method)
		}
	}
	return !strings.Contains(name, "::") && notGo(id) &&
		slices.ContainsFunc(declaredNames(id), func(n string) bool { return declares(id, n, name) })
}

func notGo(id session.TestID) bool { pkg, _ := goTest(id); return pkg == "" }

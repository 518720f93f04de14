package phases

import (
	"fmt"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/internal/testpaths"
	"github.com/wfs-dev/wfs/phases/report"
	"github.com/wfs-dev/wfs/session"
)

// judgeGreen decides whether the lap's tests exist, ran and pass, and nothing that was green before fails.
func judgeGreen(l *lap) finding {
	f := finding{verdict: session.Fail, knownRed: l.knownRed()}
	var units []session.TestID
	var files []string
	for _, b := range l.now.Broken {
		if !l.known[b.Unit] && !bad(l.start[b.Unit]) {
			units = append(units, b.Unit)
			if b.File != "" {
				files = append(files, b.File)
			}
		}
	}
	missing, failing := l.missed(&f)
	if len(units) > 0 {
		f.class, f.failing = session.ClassBuildBroken, sortedOnce(units)
		f.reason = "cannot be built or loaded: " + some(f.failing)
		if len(files) > 0 {
			f.reason += " (" + some(sortedOnce(files)) + ")"
		}
		return f
	}
	if none, ok := l.nothingRan(broken{}); ok {
		return l.with(f, none)
	}
	broke, how := l.brokeGreen(broken{}, nil)
	fresh := l.newlyFailing()
	switch id := gateID(l.gate); {
	case len(missing) > 0:
		f.class, f.failing = session.ClassTargetMissing, slices.Concat(missing, failing, broke)
		f.reason = plural(len(missing), "test of this lap is", "tests of this lap are") + " missing or skipped: " +
			some(missing)
	case len(failing) > 0:
		f.class, f.failing = session.ClassTargetFailing, slices.Concat(failing, broke)
		f.reason = fmt.Sprintf("still failing: %s", some(failing))
	case len(broke) > 0:
		f.class, f.failing, f.reason = session.ClassBrokeGreen, slices.Concat(broke, fresh), how
		if len(fresh) == 0 {
			f.retry = onlyFailing(l.now.Tests, broke)
		}
	case len(fresh) > 0:
		f.class, f.failing = session.ClassTargetFailing, fresh
		f.reason = plural(len(fresh), "new test of this lap fails", "new tests of this lap fail") + ": " + some(fresh)
	case bad(l.now.Tests[id]) && !l.known[id]:
		f = l.unexplained(f)
	default:
		f.verdict, f.class = session.Pass, session.ClassGreen
		if len(l.expected) > 0 { // they have names now
			f.targets = slices.Clone(l.targets)
			for _, unit := range l.expected {
				f.targets = append(f.targets, l.waited(unit)...)
			}
			f.targets = withParents(l.now.Tests, f.targets)
		}
		f.reason = "no passing test broke"
		if n := f.passing; n > 0 {
			f.reason = plural(n, "test of this lap passes", "tests of this lap pass") + "; no passing test broke"
		}
	}
	return f
}

// unexplained is the finding about a command that failed although no test did.
func (l *lap) unexplained(f finding) finding {
	f.class, f.failing = session.ClassCommandFailed, []session.TestID{gateID(l.gate)}
	f.reason = fmt.Sprintf("the command exited with code %d, but no test failed", l.exit)
	if l.now.Damaged != "" {
		f.reason = "the report may be incomplete: " + l.now.Damaged
	}
	return f
}

// missed looks for the lap's tests. It counts those that pass, and returns those that are gone or skipped, and those
// that fail.
func (l *lap) missed(f *finding) (missing, failing []session.TestID) {
	seen := map[session.TestID]bool{}
	look := func(id session.TestID) {
		if seen[id] {
			return
		}
		seen[id] = true
		s, ran := l.now.Tests[id]
		switch {
		case !ran && slices.Contains(l.gone, id):
		case !ran && l.about().failingBelow[id]: // it has parameters now
			failing = append(failing, id)
		case !ran && l.about().ranBelow[id]:
			f.passing++
		case !ran || s == session.TestSkip:
			missing = append(missing, id)
		case bad(s):
			failing = append(failing, id)
		default:
			f.passing++
		}
	}
	for _, id := range l.targets {
		look(id)
	}
	for _, unit := range l.expected {
		ids := l.waited(unit)
		if len(ids) == 0 {
			look(session.TestID(unit))
		}
		for _, id := range ids {
			look(id)
		}
	}
	return missing, failing
}

// newlyFailing are tests that nobody asked for and that fail: absent or skipped at the lap's start.
func (l *lap) newlyFailing() []session.TestID {
	var out []session.TestID
	for _, id := range sortedKeys(l.now.Tests) {
		was, had := l.start[id]
		if bad(l.now.Tests[id]) && (!had || was == session.TestSkip) && !l.known[id] && id != gateID(l.gate) &&
			!l.about().isTarget[id] && !l.hasFailingSubtest(id) {
			out = append(out, id)
		}
	}
	return out
}

// brokeGreen returns what passed at the lap's start and does not now, and says how. excused are failing tests that the
// attempt may have: they, what they took down, and what waits for a missing name, are left out.
func (l *lap) brokeGreen(b broken, excused []session.TestID) (ids []session.TestID, how string) {
	var failing, skipped, gone []session.TestID
	for _, id := range sortedKeys(l.start) {
		if l.start[id] != session.TestPass || l.known[id] || id == gateID(l.gate) || l.about().isTarget[id] {
			continue
		}
		s, ran := l.now.Tests[id]
		switch {
		case s == session.TestPass:
		case s == session.TestSkip:
			skipped = append(skipped, id)
		case !ran:
			switch {
			case slices.Contains(l.gone, id), l.retitled(id),
				l.about().ranBelow[id], l.mayBeGone(id, b, excused): // it may have parameters now, which are judged themselves
			case l.later:
				l.left = append(l.left, id)
			default:
				gone = append(gone, id)
			}
		case slices.Contains(excused, id), l.hasFailingSubtest(id), s == session.TestError && tookDown(l.now, id, excused):
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
			says = append(says, plural(len(part.ids), part.one, part.many)+": "+some(part.ids))
		}
	}
	return slices.Concat(failing, skipped, gone), strings.Join(says, "; ")
}

// mayBeGone reports whether a green test's absence says nothing: a subtest whose parent still stands, or a test of
// something that cannot be built yet.
func (l *lap) mayBeGone(id session.TestID, b broken, excused []session.TestID) bool {
	if p := report.Parent(id); p != "" {
		if _, had := l.start[p]; had {
			return true // the parent is judged itself
		}
		if l.about().ranBelow[p] {
			return true // another parameter of the same test ran
		}
	}
	for unit := range b.missing {
		if report.Under(id, unit) {
			return true
		}
	}
	if len(b.missing) > 0 && (notGo(id) || b.stoppedBuild(l.now)) { // later phases compare with the lap's start again
		return true
	}
	return tookDown(l.now, id, excused)
}

// retitled reports whether a green test passes under a longer title, and nothing but new tests came to what tests are
// and are run by: AVA puts the names of files before titles as soon as there are several files.
func (l *lap) retitled(id session.TestID) bool {
	for _, c := range l.files.changes {
		about := l.files.holdsTests(c) || testpaths.AboutTests(c.Path) || testpaths.IsScript(c.Path)
		if about && (c.Status != "A" || !testpaths.IsTest(c.Path)) {
			return false
		}
	}
	for other, s := range l.now.Tests {
		if _, had := l.start[other]; !had && s == session.TestPass && strings.HasSuffix(string(other), " › "+string(id)) {
			return true
		}
	}
	return false
}

// ranNothing reports whether no test ran at all: pytest stops before the first one when a file cannot be loaded.
func ranNothing(tests session.Tests, gate string) bool {
	for id, s := range tests {
		if s != session.TestError && id != gateID(gate) {
			return false
		}
	}
	return true
}

// stoppedBuild reports whether what waits for a missing name kept other units from being built too.
func (b broken) stoppedBuild(r *report.Report) bool {
	return slices.ContainsFunc(r.Broken, func(x report.Breakage) bool { return x.Build && b.missing[x.Unit] })
}

// tookDown reports whether one of the excused tests ended the process that the test would have run in.
func tookDown(r *report.Report, id session.TestID, excused []session.TestID) bool {
	pkg, _ := report.SplitGo(id)
	return pkg != "" && r.Crashed[pkg] && slices.ContainsFunc(excused, func(e session.TestID) bool {
		p, _ := report.SplitGo(e)
		return p == pkg
	})
}

// hasFailingSubtest reports whether a failing test fails because of its subtests, which are judged themselves.
func (l *lap) hasFailingSubtest(id session.TestID) bool {
	return bad(l.now.Tests[id]) && l.about().failingBelow[id]
}

// withParents adds the tests that the given subtests belong to.
func withParents(tests session.Tests, ids []session.TestID) []session.TestID {
	all := slices.Clone(ids)
	for _, id := range ids {
		for p := report.Parent(id); p != ""; p = report.Parent(p) {
			if _, ran := tests[p]; ran {
				all = append(all, p)
			}
		}
	}
	return sortedOnce(all)
}

// onlyFailing returns the tests if all of them ran and failed: those may be flaky. One that is gone or skipped is not.
func onlyFailing(tests session.Tests, ids []session.TestID) []session.TestID {
	for _, id := range ids {
		if !bad(tests[id]) {
			return nil
		}
	}
	return ids
}

func (l *lap) knownRed() []session.TestID {
	var out []session.TestID
	for _, id := range sortedKeys(l.now.Tests) {
		if bad(l.now.Tests[id]) && l.known[id] && !l.about().isTarget[id] {
			out = append(out, id)
		}
	}
	return out
}

// nothingRan is the finding about a run in which no test was reported. Neither red nor green can be told from it.
func (l *lap) nothingRan(b broken) (finding, bool) {
	if len(b.wrong) > 0 || len(b.missing) > 0 || count(l.now.Tests, l.gate).Total() > 0 {
		return finding{}, false
	}
	n := finding{class: session.ClassNoTests, reason: "the runner ran no test"}
	if l.exit != 0 && !l.now.NoTests {
		n.class, n.reason = session.ClassBuildBroken, fmt.Sprintf(
			"the command exited with code %d before it reported any test", l.exit)
	}
	if had := count(l.start, l.gate).Passed; had > 0 {
		n.reason += fmt.Sprintf("; %s at the start of the lap", plural(had, "passed", "passed"))
	}
	return n, true
}

func (l *lap) with(f, what finding) finding {
	f.class, f.reason = what.class, what.reason
	for id, s := range l.start {
		if s == session.TestPass && !l.known[id] {
			f.failing = append(f.failing, id)
		}
	}
	slices.Sort(f.failing)
	return f
}

// asOf is the same lap with the results of another run.
func (l *lap) asOf(run *gateRun) *lap {
	other := *l
	other.now, other.exit, other.index = run.report, run.exit, nil
	return &other
}

// plural is "1 test fails", "3 tests fail".
func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// some lists the first few of many.
func some[T ~string](names []T) string {
	const most = 3
	if len(names) > most {
		return some(names[:most]) + fmt.Sprintf(" and %d more", len(names)-most)
	}
	var text strings.Builder
	for i, n := range names {
		if i > 0 {
			text.WriteString(", ")
		}
		text.WriteString(string(n))
	}
	return text.String()
}

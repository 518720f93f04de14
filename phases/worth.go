package phases

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/wfs-dev/wfs/internal/experiment"
	"github.com/wfs-dev/wfs/internal/testpaths"
	"github.com/wfs-dev/wfs/phases/report"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

// altered are files of the attempt with some of their lines changed on purpose.
type altered struct {
	texts map[string][]byte
	other map[string][]byte  // the same, in another way: nil where there is none
	n     int                // changes
	ran   func(run *gateRun) // is told of each run; may be nil
	paths []string
}

// worth asks what the lap's tests notice: other expected values, and code that fails.
func (t *trials) worth(ctx context.Context, code bool) error {
	if len(t.tests) == 0 {
		t.tried(tryCanary, notTried, "no test of this lap has a known name")
		return nil
	}
	changes, err := t.Changes(ctx, t.r.LapTree, t.out.Tree)
	if err != nil {
		return err
	}
	tried := 0
	c := canary{passing: slices.Clone(t.tests)}
	for _, sort := range []experiment.Sort{experiment.Numbers, experiment.Others, experiment.All} {
		if sort == experiment.All && tried > 0 {
			break
		}
		turned, err := t.turned(ctx, changes, sort)
		if err != nil {
			return err
		}
		if turned.n == 0 {
			continue
		}
		tried += turned.n
		what := plural(turned.n, "expected value", "expected values")
		if sort != experiment.All { // else what was changed may as well be what is tried
			turned.ran = c.saw
		}
		if err := t.mustFail(ctx, tryCanary, turned, kindCannotFail,
			what+" changed"); err != nil || t.out.Verdict != session.Pass {
			return err
		}
	}
	if err := t.eachMustFail(ctx, changes, c); err != nil || t.out.Verdict != session.Pass {
		return err
	}
	if tried == 0 {
		t.tried(tryCanary, notTried, "the tests of this lap compare with no value that wfs could change")
	}
	if !code {
		return nil
	}
	hollow, why, err := t.hollow(ctx, changes)
	if err != nil {
		return err
	}
	if why != "" {
		t.tried(tryHollow, notTried, why)
	} else if err := t.mustFail(ctx, tryHollow, hollow, kindNotNeeded,
		fmt.Sprintf("%s made to fail", plural(hollow.n, "function", "functions"))); err != nil ||
		t.out.Verdict != session.Pass {
		return err
	}
	compares, err := t.literals(ctx, changes)
	if err != nil {
		return err
	}
	if compares == 0 || len(c.passing) == len(t.tests) { // beside tests with values others may look at effects alone
		if err := t.asksResults(ctx, changes, t.tests); err != nil || t.out.Verdict != session.Pass {
			return err
		}
	}
	if tried == 0 && len(t.r.Targets) == 0 {
		return t.noticed(ctx, changes)
	}
	return nil
}

// literals is how many values the lap's tests compare with.
func (t *trials) literals(ctx context.Context, changes []session.Change) (n int, err error) {
	for _, c := range changes {
		if c.Status == "D" || !testpaths.HoldsTests(c.Path) && !testpaths.MixesTests(c.Path) {
			continue
		}
		before, after, err := t.sides(ctx, t.r.LapTree, c)
		if err != nil {
			return 0, err
		}
		lines := from(experiment.Added(before, after), after, testpaths.TestsFrom(c.Path, after))
		_, more := experiment.Compared(c.Path, after, lines)
		n += more
	}
	return n, nil
}

// canary is what runs with other expected values have said.
type canary struct {
	passing []session.TestID // in all of them
	runs    int
}

func (c *canary) saw(run *gateRun) {
	c.runs++
	c.passing = slices.DeleteFunc(c.passing, func(id session.TestID) bool {
		return run.report.Tests[id] != session.TestPass
	})
}

// eachMustFail asks about each test of the lap by itself: one that compares with values, and passes with all of them
// changed, says nothing. Whoever works is told, and a person is asked then.
func (t *trials) eachMustFail(ctx context.Context, changes []session.Change, c canary) error {
	if c.runs == 0 || len(c.passing) == 0 {
		return nil
	}
	deaf, path, err := t.comparing(ctx, changes, c.passing)
	if err != nil || len(deaf) == 0 {
		return err
	}
	all, err := t.turned(ctx, changes, experiment.All)
	if err != nil {
		return err
	}
	tree, err := t.WithTexts(ctx, t.out.Tree, all.texts)
	if err != nil {
		return err
	}
	run, err := t.alter(ctx, tree, tryCanary, nil)
	if err != nil {
		return t.cannot(ctx, tryCanary, err)
	}
	deaf = slices.DeleteFunc(deaf, func(id session.TestID) bool { return run.report.Tests[id] != session.TestPass })
	if len(deaf) == 0 || !run.ran() || len(run.report.Broken) > 0 {
		return nil
	}
	says := fmt.Sprintf("with other expected values %s anyway: %s", plural(len(deaf), "test passes", "tests pass"),
		someNames(deaf))
	t.tried(tryCanary, fails, says)
	t.found(kindDeaf, path, string(deaf[0]), "a test of the lap cannot fail: "+says, says)
	t.asFrozen()
	return nil
}

// comparing are those of some tests that compare with values for certain, by the name that they have in the lap's
// tests, and a file that has one.
func (t *trials) comparing(ctx context.Context, changes []session.Change,
	ids []session.TestID) (list []session.TestID, path string, err error) {
	names := map[string][]session.TestID{}
	for _, id := range t.tests {
		names[report.Leaf(id)] = append(names[report.Leaf(id)], id)
	}
	for _, c := range changes {
		if c.Status == "D" || !isCode(c.Path) || !testpaths.HoldsTests(c.Path) {
			continue
		}
		before, after, err := t.sides(ctx, t.r.LapTree, c)
		if err != nil {
			return nil, "", err
		}
		asserted, _ := experiment.Compared(c.Path, after, experiment.Added(before, after))
		for name, all := range names {
			in := experiment.Named(c.Path, after, name)
			if !slices.ContainsFunc(slices.Collect(maps.Keys(asserted)), func(n int) bool { return in[n] }) ||
				slices.ContainsFunc(all, func(id session.TestID) bool { return !slices.Contains(ids, id) }) {
				continue
			}
			list, path = append(list, all...), c.Path
		}
	}
	return sortedTests(list), path, nil
}

// turned are the attempt's tests with other expected values in all that the lap has added.
func (t *trials) turned(ctx context.Context, changes []session.Change, sort experiment.Sort) (altered, error) {
	a := altered{texts: map[string][]byte{}}
	var named strings.Builder                  // what the code of the lap's tests says
	for _, data := range []bool{false, true} { // data only where the code of tests holds no values
		for _, c := range changes {
			mixed := testpaths.MixesTests(c.Path) && !testpaths.HoldsTests(c.Path)
			if c.Status == "D" || !testpaths.HoldsTests(c.Path) && !mixed || a.n > 0 && data {
				continue
			}
			before, after, err := t.sides(ctx, t.r.LapTree, c)
			if err != nil {
				return a, err
			}
			lines := experiment.Added(before, after)
			if mixed {
				lines = from(lines, after, testpaths.TestsFrom(c.Path, after))
			}
			text, n := after, 0
			code := isCode(c.Path)
			if code && !data {
				named.Write(after)
				text, n = experiment.Turn(c.Path, after, lines, sort)
			} else if !code && data && sort == experiment.All && strings.Contains(named.String(), path.Base(c.Path)) {
				text, n = experiment.TurnData(after, lines)
			}
			if n > 0 {
				a.texts[c.Path], a.n, a.paths = text, a.n+n, append(a.paths, c.Path)
			}
		}
	}
	return a, nil
}

// from are the lines from an offset on.
func from(lines experiment.Lines, text []byte, offset int) experiment.Lines {
	first := strings.Count(string(text[:offset]), "\n") + 1
	out := experiment.Lines{}
	for n := range lines {
		if n >= first {
			out[n] = true
		}
	}
	return out
}

// until are the lines before an offset.
func until(lines experiment.Lines, text []byte, offset int) experiment.Lines {
	last := strings.Count(string(text[:offset]), "\n") + 1
	out := experiment.Lines{}
	for n := range lines {
		if n < last || offset == len(text) {
			out[n] = true
		}
	}
	return out
}

// sides are the texts of a changed file in another state and now, as far as they are read.
func (t *trials) sides(ctx context.Context, was session.Tree, c session.Change) (before, after []byte, err error) {
	if c.Status != "A" {
		if before, err = t.Show(ctx, was, c.Path); err != nil {
			return nil, nil, err
		}
	}
	if c.Status != "D" {
		if after, err = t.Show(ctx, t.out.Tree, c.Path); err != nil {
			return nil, nil, err
		}
	}
	return before[:min(len(before), maxRead)], after[:min(len(after), maxRead)], nil
}

// codeLines are the lines of code that the lap added, by file, and whether there are other changed files that are
// handed over.
func (t *trials) codeLines(ctx context.Context,
	changes []session.Change) (lines map[string]experiment.Lines, texts map[string][]byte, others bool, err error) {
	lines, texts = map[string]experiment.Lines{}, map[string][]byte{}
	for _, c := range changes {
		switch {
		case c.Status == "D", ownFile(c.Path),
			testpaths.AboutTests(c.Path), testpaths.IsDocument(c.Path):
			continue
		case !isCode(c.Path):
			others = true
			continue
		}
		before, after, err := t.sides(ctx, t.r.LapTree, c)
		if err != nil {
			return nil, nil, false, err
		}
		added := until(experiment.Added(before, after), after, testpaths.TestsFrom(c.Path, after))
		if len(added) > 0 {
			lines[c.Path], texts[c.Path] = added, after
		}
	}
	return lines, texts, others, nil
}

// hollow is the attempt's code with every function that the lap has written or changed failing at once. Where much of
// the lap's code is in no function, or it changed data as well, the tests may need that instead, and nothing is tried.
func (t *trials) hollow(ctx context.Context, changes []session.Change) (altered, string, error) {
	lines, texts, others, err := t.codeLines(ctx, changes)
	a := altered{texts: map[string][]byte{}, other: map[string][]byte{}}
	if err != nil {
		return a, "", err
	}
	all, outside := 0, 0
	for _, path := range slices.Sorted(maps.Keys(lines)) {
		text, n, out := experiment.Hollow(path, texts[path], lines[path], false)
		all, outside = all+len(lines[path]), outside+len(out)
		if n > 0 {
			a.texts[path], a.n, a.paths = text, a.n+n, append(a.paths, path)
			a.other[path], _, _ = experiment.Hollow(path, texts[path], lines[path], true)
		}
	}
	switch {
	case all == 0:
		return a, "this lap wrote no code", nil
	case a.n == 0:
		return a, "this lap wrote no code in functions that wfs could make fail", nil
	case others || outside*4 > all:
		return a, "this lap changed more than functions", nil
	}
	return a, "", nil
}

// mustFail runs the lap's tests on the attempt's tree with something changed that they must notice. If all of them
// pass, twice, and where it can be changed in another way as well also with that, the judgement fails.
func (t *trials) mustFail(ctx context.Context, kind string, a altered, finding, what string) error {
	tree, err := t.WithTexts(ctx, t.out.Tree, a.texts)
	if err != nil {
		return err
	}
	t.say(fmt.Sprintf("gate %s with %s …", t.gate.Name, what))
	runs := []onTree{{tree, t.tests}, {tree, nil}} // then with all others, and nothing kept
	if len(a.other) > 0 && !maps.EqualFunc(a.other, a.texts, bytes.Equal) {
		other, err := t.WithTexts(ctx, t.out.Tree, a.other)
		if err != nil {
			return err
		}
		runs = append(runs, onTree{other, t.tests})
	}
	for again, r := range runs {
		run, err := t.alter(ctx, r.tree, kind, r.only)
		if err != nil {
			return t.cannot(ctx, kind, err)
		}
		if a.ran != nil {
			a.ran(run)
		}
		switch {
		case !run.ran() || run.leads != nil:
			t.tried(kind, notTried, "it could not be run: "+run.cannot("could not run").Error())
			return nil
		case !t.allPass(run), kind == tryCanary && again > 0 && !t.nothingFails(run): // a value may be an older test's
			t.tried(kind, holds, "the lap's tests fail with "+what+", as they should")
			return nil
		}
	}
	t.tried(kind, fails, "with "+what+" all of the lap's tests pass")
	about := "the lap's tests cannot fail"
	if finding == kindNotNeeded {
		about = "the lap's tests do not need its code"
	}
	says := fmt.Sprintf("with %s (%s) they still pass", what, some(a.paths))
	t.found(finding, a.paths[0], string(t.tests[0]), about+": "+says, says)
	t.asFrozen()
	return nil
}

// onTree is a run of the gate on a tree: of some tests, or of all.
type onTree struct {
	tree session.Tree
	only []session.TestID
}

// bound bounds a run on another tree, which may never end, by what the attempt's took.
func (t *trials) bound(most time.Duration) time.Duration {
	if ms := t.gateMillis(); ms > 0 {
		return min(most, time.Duration(ms)*5*time.Millisecond+longer)
	}
	return most
}

// longer is what a run with something changed gets beside five times what the attempt's took: it may have to build
// anew.
const longer = time.Minute

// alter runs the gate on a tree that was changed on purpose: these tests alone where that can be had, all of them anew
// where none are named.
func (t *trials) alter(ctx context.Context, tree session.Tree, name string, only []session.TestID) (*gateRun, error) {
	at := *t.Judge
	at.judged, at.trial = tree, name
	g := t.gate
	g.Where = workflows.Clean
	g.Timeout = t.bound(g.Timeout)
	again := len(only) == 0
	if !again {
		if narrow, ok := t.alone(g, only); ok {
			g.Run = narrow.Run
		}
	}
	run, err := at.runGate(ctx, g, t.r.RunDir, again)
	if err == nil {
		t.runs, t.spent = t.runs+1, t.spent+run.millis
	}
	return run, err
}

// allPass reports whether all tests of the lap pass in a run.
func (t *trials) allPass(run *gateRun) bool {
	for _, id := range t.tests {
		if run.report.Tests[id] != session.TestPass {
			return false
		}
	}
	return true
}

// nothingFails reports whether all that passed for the attempt passes in a run of everything.
func (t *trials) nothingFails(run *gateRun) bool {
	for id, s := range t.out.Evidence.Gates[t.gate.Name] {
		if s == session.TestPass && run.report.Tests[id] != session.TestPass {
			return false
		}
	}
	return true
}

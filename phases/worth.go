package phases

import (
	"context"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/internal/experiment"
	"github.com/wfs-dev/wfs/internal/testpaths"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

// altered are files of the attempt with some of their lines changed on purpose.
type altered struct {
	texts map[string][]byte
	n     int // changes
	paths []string
}

// worth asks what the lap's tests notice: other expected values, and code that fails.
func (t *trials) worth(ctx context.Context, code bool) error {
	if len(t.tests) == 0 {
		t.tried(tryCanary, notTried, "no test of this lap is known by name")
		return nil
	}
	changes, err := t.Changes(ctx, t.r.LapTree, t.out.Tree)
	if err != nil {
		return err
	}
	tried := 0
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
		if err := t.mustFail(ctx, tryCanary, turned, kindCannotFail,
			what+" of the lap's tests changed on purpose"); err != nil || t.out.Verdict != session.Pass {
			return err
		}
	}
	if tried == 0 {
		t.tried(tryCanary, notTried, "the tests of this lap compare with no value that could be changed")
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
		fmt.Sprintf("%s of this lap made to fail on purpose", plural(hollow.n, "function", "functions"))); err != nil ||
		t.out.Verdict != session.Pass {
		return err
	}
	if tried == 0 && len(t.r.Targets) == 0 {
		return t.noticed(ctx, changes)
	}
	return nil
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
	a := altered{texts: map[string][]byte{}}
	if err != nil {
		return a, "", err
	}
	all, outside := 0, 0
	for _, path := range slices.Sorted(maps.Keys(lines)) {
		text, n, out := experiment.Hollow(path, texts[path], lines[path])
		all, outside = all+len(lines[path]), outside+len(out)
		if n > 0 {
			a.texts[path], a.n, a.paths = text, a.n+n, append(a.paths, path)
		}
	}
	switch {
	case all == 0:
		return a, "this lap wrote no code", nil
	case a.n == 0:
		return a, "this lap wrote no code in functions that could be made to fail", nil
	case others || outside*4 > all:
		return a, "this lap changed more than functions", nil
	}
	return a, "", nil
}

// mustFail runs the lap's tests on the attempt's tree with something changed that they must notice. If all of them
// pass, twice, the judgement fails.
func (t *trials) mustFail(ctx context.Context, kind string, a altered, finding, what string) error {
	tree, err := t.WithTexts(ctx, t.out.Tree, a.texts)
	if err != nil {
		return err
	}
	t.say(fmt.Sprintf("gate %s with %s …", t.gate.Name, what))
	for again := range 2 {
		only := t.tests
		if again > 0 { // now with all others, and nothing kept
			only = nil
		}
		run, err := t.alter(ctx, tree, kind, only)
		if err != nil {
			return t.cannot(ctx, kind, err)
		}
		switch {
		case !run.ran() || run.leads != nil:
			t.tried(kind, notTried, "it could not be run: "+run.cannot("could not run").Error())
			return nil
		case !t.allPass(run), kind == tryCanary && again > 0 && !t.nothingFails(run): // a value may be an older test's
			t.tried(kind, holds, "with "+what+" the lap's tests fail, as they should")
			return nil
		}
	}
	t.tried(kind, fails, "with "+what+" all of the lap's tests pass")
	about := "the lap's tests cannot fail"
	if finding == kindNotNeeded {
		about = "the lap's tests do not need its code"
	}
	says := fmt.Sprintf("with %s (%s) they pass all the same", what, some(a.paths))
	t.found(finding, a.paths[0], string(t.tests[0]), about+": "+says, says)
	t.asFrozen()
	return nil
}

// alter runs the gate on a tree that was changed on purpose: these tests alone where that can be had, all of them anew
// where none are named.
func (t *trials) alter(ctx context.Context, tree session.Tree, name string, only []session.TestID) (*gateRun, error) {
	at := *t.Judge
	at.judged, at.trial = tree, name
	g := t.gate
	g.Where = workflows.Clean
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
		if run.report.tests[id] != session.TestPass {
			return false
		}
	}
	return true
}

// nothingFails reports whether all that passed for the attempt passes in a run of everything.
func (t *trials) nothingFails(run *gateRun) bool {
	for id, s := range t.out.Evidence.Gates[t.gate.Name] {
		if s == session.TestPass && run.report.tests[id] != session.TestPass {
			return false
		}
	}
	return true
}

package phases

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/wfs-dev/wfs/internal/experiment"
	"github.com/wfs-dev/wfs/internal/testpaths"
	"github.com/wfs-dev/wfs/phases/report"
	"github.com/wfs-dev/wfs/session"
)

// mostMutants bounds how many single changes are tried for one question, after other results. maxTrying bounds the time
// for them, in milliseconds of a gate's run: what does not fit is not tried, and that is said.
const (
	mostMutants = 4
	maxTrying   = 120_000
)

// mutants are changes of code: other results of all functions that have some lines, functions that have nothing's lines
// and return nothing, and single changes in these lines.
func mutants(lines, nothing map[string]experiment.Lines, texts map[string][]byte) (list []altered) {
	others, none := otherResults(lines, texts), allOf(experiment.Nothing, nothing, texts)
	none.says = "functions that return nothing"
	for _, a := range []altered{others, none} {
		if a.n > 0 {
			a.says = some(a.paths) + ": " + a.says
			list = append(list, a)
		}
	}
	most := len(list) + mostMutants
	for _, path := range sortedKeys(lines) {
		for _, m := range experiment.Mutants(path, texts[path], lines[path], max(1, mostMutants/len(lines))) {
			a := altered{says: fmt.Sprintf("%s:%d: %s → %s", path, m.Line, m.Was, m.Now)}
			a.add(path, m.Text, 1)
			list = append(list, a)
		}
	}
	return list[:min(len(list), most)]
}

// otherResults is code whose functions return something else.
func otherResults(lines map[string]experiment.Lines, texts map[string][]byte) altered {
	a := allOf(experiment.OtherResults, lines, texts)
	a.says = "other results of " + plural(a.n, "function", "functions")
	return a
}

// asksResults asks of tests that have not failed for other expected values whether one of them notices other results of
// the lap's functions that tests speak of. They need not where nothing that could be changed is returned while they
// run: then none would notice either that it raises there.
func (t *trials) asksResults(ctx context.Context, lap []file) error {
	lines, texts, _ := codeLines(lap)
	names := testWords(lap)
	for path, added := range lines { // what others return reaches no test as it is
		called := experiment.Called(path, texts[path], names)
		lines[path] = added.Only(func(n int) bool { return called[n] })
	}
	others := otherResults(lines, texts)
	if others.n == 0 {
		t.tried(tryResults, notTried, "this lap's functions return nothing that wfs could change")
		return nil
	}
	t.say("gate " + t.gate.Name + " with " + others.says + " …")
	deaf := slices.Clone(t.tests)
	for _, step := range []struct {
		altered
		notice bool
		only   []session.TestID
	}{
		{others, false, t.tests}, {allOf(experiment.RaisesThere, lines, texts), true, t.tests}, {others, false, nil},
	} {
		run, err := t.alterFiles(ctx, t.out.Tree, step.altered, tryResults, step.only)
		if err == nil && !run.ran() && step.only != nil { // runners do not find every name that they report
			run, err = t.alterFiles(ctx, t.out.Tree, step.altered, tryResults, nil)
		}
		if err != nil {
			return t.cannot(ctx, tryResults, err)
		}
		if !run.built() {
			t.tried(tryResults, notTried, "the lap's code does not build with "+others.says)
			return nil
		}
		deaf = slices.DeleteFunc(deaf, func(id session.TestID) bool { return run.passes(id) == step.notice })
		if len(deaf) == 0 || !step.notice && len(deaf) < len(t.tests) && step.only != nil { // one that notices is enough
			t.tried(tryResults, holds, "the lap's tests notice "+others.says)
			return nil
		}
	}
	says := fmt.Sprintf("with %s (%s) %s anyway: %s", others.says, some(others.paths),
		plural(len(deaf), "test passes", "tests pass"), some(deaf))
	t.tried(tryResults, fails, says)
	t.found(session.FoundDeaf, others.paths[0], string(deaf[0]), "the lap's tests check no result of its code: "+says, says)
	return nil
}

// noticed asks whether tests that were red only because something was missing notice anything about the code: of three
// or more single changes at least one.
func (t *trials) noticed(ctx context.Context, lap []file) error {
	lines, texts, _ := codeLines(lap)
	list := mutants(lines, nil, texts)
	switch {
	case len(list) < 3:
		t.tried(tryMutants, notTried, "this lap's code has too little that wfs could change")
		return nil
	case int64(len(list))*t.gateMillis() > maxTrying:
		t.tried(tryMutants, notTried, "the gate is too slow to run for each change")
		return nil
	}
	changed := plural(len(list), "change", "changes")
	t.say(fmt.Sprintf("gate %s with %s of the code …", t.gate.Name, changed))
	var says []string
	for _, a := range list {
		says = append(says, a.says)
		run, err := t.alterFiles(ctx, t.out.Tree, a, tryMutants, t.tests)
		if err != nil {
			return t.cannot(ctx, tryMutants, err)
		}
		if len(run.report.Broken) == 0 && (!run.ran() || !t.allPass(run)) {
			t.tried(tryMutants, holds, "the lap's tests notice changes to its code")
			return nil
		}
	}
	t.tried(tryMutants, fails, "the lap's tests notice none of "+changed+" to its code")
	same := fmt.Sprintf("with each of %s (%s) they still pass", changed, some(says))
	t.found(session.FoundNotNeeded, list[0].paths[0], string(t.tests[0]), "the lap's tests do not check its code: "+same, same)
	return nil
}

// asStrong reports whether the attempt's tests are worth those of a reference, some of which are gone: they speak of
// all values that those expected, and notice what those notice. false when there was nothing to try.
func (t *trials) asStrong(ctx context.Context, ref reference) (bool, error) {
	if value := lost(ref.files); value != "" {
		t.tried(tryMutants, notTried, "the tests no longer mention "+value)
		return false, nil
	}
	for _, f := range ref.files { // those run that stand in place of others: with other values something must fail
		a := turned([]file{f}, experiment.All)
		if a.n == 0 {
			continue
		}
		run, err := t.alterFiles(ctx, t.out.Tree, a, tryCanary, nil)
		if err != nil {
			return false, err
		}
		if run.ran() && t.nothingFails(run) {
			t.tried(tryCanary, fails, "with other expected values in "+f.Path+" everything passes: the file is not run")
			return false, nil
		}
	}
	result, _, err := t.weaker(ctx, ref.tree)
	return result == holds, err
}

// weaker asks whether the attempt's tests notice what those of another state notice: single changes of the
// functions that the edited lines of tests speak of. A test that has kept its name must notice it itself, or
// one that is new. Of a table any row will do: rows are often named by their place.
func (t *variants) weaker(ctx context.Context, was session.Tree) (result, says string, err error) {
	files, err := t.since(ctx, was)
	if err != nil {
		return "", "", err
	}
	aside, _ := asideOf(files)
	before, err := t.withTests(ctx, was, files, aside)
	if err != nil {
		return "", "", err
	}
	list, err := t.covered(ctx, editedWords(files))
	if err != nil {
		return "", "", err
	}
	result, says = notTried, "the edited tests mention nothing that wfs could change"
	if len(list) > 0 && int64(2*len(list))*t.gateMillis() <= maxTrying {
		t.say(fmt.Sprintf("gate %s with %s to the code that the edited tests cover …", t.gate.Name,
			plural(len(list), "change", "changes")))
		result, says, err = t.compareNotices(ctx, before, list)
	}
	if err == nil {
		t.tried(tryMutants, result, says)
	}
	return result, says, err
}

// covered are changes of the functions that have some names. Functions that hold nothing to be changed are
// asked about by what they call; helpers of tests speak of no function: then the lap's own code is changed.
func (t *variants) covered(ctx context.Context, names map[string]bool) ([]altered, error) {
	lap, err := t.since(ctx, t.r.LapTree)
	if err != nil {
		return nil, err
	}
	own, ownTexts, _ := codeLines(lap)
	for range 2 {
		lines, texts, err := t.functions(ctx, names)
		if err != nil {
			return nil, err
		}
		nothing := map[string]experiment.Lines{} // what the lap has not touched others may rest on
		for path, in := range own {
			nothing[path] = in.Only(func(n int) bool { return lines[path][n] })
		}
		if list := mutants(lines, nothing, texts); len(list) > 0 {
			return list, nil
		}
		for path, text := range texts {
			maps.Copy(names, experiment.Words(path, text, lines[path]))
		}
	}
	return mutants(own, own, ownTexts), nil
}

// compareNotices runs the tests of another state and those of now beside each change, until those of now miss what the
// others notice.
func (t *variants) compareNotices(ctx context.Context, was session.Tree, list []altered) (result, says string,
	err error) {
	noticed := 0
	for _, a := range list {
		old, err := t.alterFiles(ctx, was, a, tryMutants+"-frozen", nil)
		if err != nil {
			return "", "", err
		}
		before := t.notices(old)
		if len(before) == 0 || !old.built() {
			continue
		}
		now, err := t.alterFiles(ctx, t.out.Tree, a, tryMutants, nil)
		if err != nil {
			return "", "", err
		}
		if id := missedBy(before, t.notices(now), old, now); id != "" {
			return fails, fmt.Sprintf("%s fails with this change to the code as it was before, and passes as it is now: %s",
				id, a.says), nil
		}
		noticed++
	}
	if noticed == 0 {
		return notTried, "the previous tests noticed no change to the code that they cover", nil
	}
	return holds, fmt.Sprintf("the edited tests notice all %s to the code that the previous ones noticed",
		plural(noticed, "change", "changes")), nil
}

// missedBy is a test that noticed a change of the code and does not any more, though nothing else took its place; ""
// for none.
func missedBy(before, after []session.TestID, old, now *gateRun) session.TestID {
	if len(before) == 0 || slices.ContainsFunc(after, old.lacks) {
		return ""
	}
	tables := map[session.TestID]bool{}
	for _, id := range after {
		tables[table(id)] = true
	}
	for _, id := range before {
		if missed := len(after) == 0 || now.passes(id); missed && !tables[table(id)] {
			return id
		}
	}
	return ""
}

// table is the test of its own that a test is, or is a row of.
func table(id session.TestID) session.TestID {
	for p := report.Parent(id); p != ""; p = report.Parent(id) {
		id = p
	}
	return id
}

// notices are the tests that fail in a run.
func (t *variants) notices(run *gateRun) []session.TestID {
	return slices.DeleteFunc(sortedKeys(run.report.Tests), func(id session.TestID) bool {
		return !bad(run.report.Tests[id]) || slices.Contains(t.r.Known, id)
	})
}

// functions are the lines of all functions of the attempt's code that have one of some names.
func (t *variants) functions(ctx context.Context,
	names map[string]bool) (map[string]experiment.Lines, map[string][]byte, error) {
	lines, texts := map[string]experiment.Lines{}, map[string][]byte{}
	paths, err := t.Paths(ctx, t.out.Tree)
	if err != nil {
		return nil, nil, err
	}
	for _, path := range paths {
		if !isCode(path) || testpaths.HoldsTests(path) {
			continue
		}
		src, err := t.Show(ctx, t.out.Tree, path)
		if err != nil {
			return nil, nil, err
		}
		if in := inCode(path, src, experiment.Called(path, src, names)); len(in) > 0 && !testpaths.Asserts(path, src) {
			lines[path], texts[path] = in, src
		}
	}
	return lines, texts, nil
}

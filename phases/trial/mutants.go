package trial

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/wfs-dev/wfs/internal/experiment"
	"github.com/wfs-dev/wfs/internal/safetext"
	"github.com/wfs-dev/wfs/internal/testpaths"
	"github.com/wfs-dev/wfs/phases/gate"
	"github.com/wfs-dev/wfs/phases/report"
	"github.com/wfs-dev/wfs/session"
)

// mostMutants limits the single changes of code in one experiment, not counting changed results of functions.
// maxTrying limits the time that the gate may take to run with all of them, in milliseconds. If it would take longer,
// no change is tried.
const (
	mostMutants = 4
	maxTrying   = 120_000
)

// mutants returns changed versions of the code in texts. One version has other results of all functions around the
// given lines. One has functions around the lines in `nothing` that return nothing. The others have a single change in
// the given lines each.
func mutants(lines, nothing map[string]experiment.Lines, texts map[string][]byte) (list []altered) {
	others, none := otherResults(lines, texts), allOf(experiment.Nothing, nothing, texts)
	none.says = "functions that return nothing"
	for _, a := range []altered{others, none} {
		if a.N > 0 {
			a.says = safetext.Some(a.paths) + ": " + a.says
			list = append(list, a)
		}
	}
	most := len(list) + mostMutants
	for _, path := range report.SortedKeys(lines) {
		for _, m := range experiment.Mutants(path, texts[path], lines[path], max(1, mostMutants/len(lines))) {
			a := altered{says: fmt.Sprintf("%s:%d: %s → %s", path, m.Line, m.Was, m.Now)}
			a.add(path, m.Text, 1)
			list = append(list, a)
		}
	}
	return list[:min(len(list), most)]
}

// otherResults returns the code with other return values of the functions around the given lines.
func otherResults(lines map[string]experiment.Lines, texts map[string][]byte) altered {
	a := allOf(experiment.OtherResults, lines, texts)
	a.says = "other results of " + safetext.Plural(a.N, "function", "functions")
	return a
}

// asksResults checks that a test notices other results of those of the lap's functions that the tests name. It is for
// laps in which no test compares values, or none failed with other expected values. A test need not notice the result
// of a function that it does not call: this is so if it does not notice an exception in there either. It
// returns whether a test notices other results.
func (t lapTests) asksResults(ctx context.Context) (noticed bool, err error) {
	lines, texts, _ := codeLines(t.lap)
	names := testWords(t.lap)
	for path, added := range lines { // tests do not see the results of other functions directly
		called := experiment.Called(path, texts[path], names)
		lines[path] = added.Only(func(n int) bool { return called[n] })
	}
	others := otherResults(lines, texts)
	if others.N == 0 {
		t.Tried(tryResults, NotTried, "this lap's functions return nothing that wfs could change")
		return false, nil
	}
	t.Say("gate " + t.Gate.Name + " with " + others.says + " …")
	deaf := slices.Clone(t.Tests)
	for _, step := range []struct {
		altered
		notice bool
		only   []session.TestID
	}{
		{others, false, t.Tests}, {allOf(experiment.RaisesThere, lines, texts), true, t.Tests}, {others, false, nil},
	} {
		run, err := t.alterFiles(ctx, t.Out.Tree, step.altered, tryResults, step.only)
		if err == nil && !run.Ran() && step.only != nil { // this runner cannot run tests by reported name
			run, err = t.alterFiles(ctx, t.Out.Tree, step.altered, tryResults, nil)
		}
		if err != nil {
			return false, t.Cannot(ctx, tryResults, err)
		}
		if !run.Built() {
			t.Tried(tryResults, NotTried, "the lap's code does not build with "+others.says)
			return false, nil
		}
		deaf = slices.DeleteFunc(deaf, func(id session.TestID) bool { return run.Passes(id) == step.notice })
		if len(deaf) == 0 || !step.notice && len(deaf) < len(t.Tests) && step.only != nil { // one test is enough
			t.Tried(tryResults, Holds, "the lap's tests notice "+others.says)
			return !step.notice, nil
		}
	}
	says := fmt.Sprintf("with %s (%s) %s anyway: %s", others.says, safetext.Some(others.paths),
		safetext.Plural(len(deaf), "test passes", "tests pass"), safetext.Some(deaf))
	t.Tried(tryResults, Fails, says)
	t.found(session.FoundDeaf, others.paths[0], string(deaf[0]), "the lap's tests check no result of its code: "+says,
		says)
	return false, nil
}

const tooSlow = "the gate is too slow to run for each change"

// noticed checks tests that were red only because a name was missing. There must be three or more single changes of
// the code to try, and the tests must notice at least one of them.
func (t lapTests) noticed(ctx context.Context) error {
	lines, texts, _ := codeLines(t.lap)
	list := mutants(lines, nil, texts)
	switch {
	case len(list) < 3:
		t.Tried(TryMutants, NotTried, "this lap's code has too little that wfs could change")
		return nil
	case int64(len(list))*t.gateMillis() > maxTrying:
		t.Tried(TryMutants, NotTried, tooSlow)
		return nil
	}
	changed := safetext.Plural(len(list), "change", "changes")
	t.Say(fmt.Sprintf("gate %s with %s of the code …", t.Gate.Name, changed))
	var says []string
	for _, a := range list {
		says = append(says, a.says)
		run, err := t.alterFiles(ctx, t.Out.Tree, a, TryMutants, t.Tests)
		if err != nil {
			return t.Cannot(ctx, TryMutants, err)
		}
		if len(run.Report.Broken) == 0 && (!run.Ran() || !t.allPass(run)) {
			t.Tried(TryMutants, Holds, "the lap's tests notice changes to its code")
			return nil
		}
	}
	t.Tried(TryMutants, Fails, "the lap's tests notice none of "+changed+" to its code")
	same := fmt.Sprintf("with each of %s (%s) they still pass", changed, safetext.Some(says))
	t.found(session.FoundNotNeeded, list[0].paths[0], string(t.Tests[0]),
		"the lap's tests do not check its code: "+same, same)
	return nil
}

// asStrong reports whether the attempt's tests are as strong as the tests of a reference, some of which are missing.
// The attempt's tests must contain all values that the reference's expect, and notice all changes of code that the
// reference's notice. It returns false if there was nothing to try.
func (t *Trial) asStrong(ctx context.Context, ref reference) (bool, error) {
	if value := lost(ref.files); value != "" {
		t.Tried(TryMutants, NotTried, "the tests no longer mention "+value)
		return false, nil
	}
	// Check that each file is run at all: with other values in it some test must fail.
	for _, f := range ref.files {
		a := Turned([]File{f}, experiment.All)
		if a.N == 0 {
			continue
		}
		run, err := t.alterFiles(ctx, t.Out.Tree, a, tryCanary, nil)
		if err != nil {
			return false, err
		}
		if run.Ran() && t.nothingFails(run) {
			t.Tried(tryCanary, Fails, "with other expected values in "+f.Path+" everything passes: the file is not run")
			return false, nil
		}
	}
	result, _, err := t.Weaker(ctx, ref.tree)
	return result == Holds, err
}

// Weaker checks that the attempt's tests notice all single changes of code that the tests of another state notice. It
// changes functions that are named in the edited lines of tests. Each change must be noticed by the tests that noticed
// it before, if they still exist under this name, or by a new test. For a table it is enough if any of its rows
// notices, because rows are often named by their position.
func (t *Variants) Weaker(ctx context.Context, was session.Tree) (result, says string, err error) {
	files, err := t.Since(ctx, was)
	if err != nil {
		return "", "", err
	}
	aside, _ := AsideOf(files)
	before, err := t.WithTests(ctx, was, files, aside)
	if err != nil {
		return "", "", err
	}
	list, err := t.covered(ctx, editedWords(files))
	if err != nil {
		return "", "", err
	}
	result = NotTried
	switch {
	case len(list) == 0:
		says = "the edited tests mention nothing that wfs could change"
	case int64(2*len(list))*t.gateMillis() > maxTrying:
		says = tooSlow
	default:
		t.Say(fmt.Sprintf("gate %s with %s to the code that the edited tests cover …", t.Gate.Name,
			safetext.Plural(len(list), "change", "changes")))
		result, says, err = t.compareNotices(ctx, before, list)
	}
	if err == nil {
		t.Tried(TryMutants, result, says)
	}
	return result, says, err
}

// covered returns changes of the functions with the given names. If there is nothing to change in them, it tries the
// functions that they call, and then the lap's own code. This is needed for edits in helpers of tests, which name no
// function of the code.
func (t *Variants) covered(ctx context.Context, names map[string]bool) ([]altered, error) {
	lap, err := t.Since(ctx, t.Req.LapTree)
	if err != nil {
		return nil, err
	}
	own, ownTexts, _ := codeLines(lap)
	for range 2 {
		lines, texts, err := t.functions(ctx, names)
		if err != nil {
			return nil, err
		}
		nothing := map[string]experiment.Lines{} // other code may depend on functions that the lap did not change
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

// compareNotices runs the tests of the tree `was` and the attempt's tests with each change of the code. It stops at the
// first change that the former notice and the latter do not.
func (t *Variants) compareNotices(ctx context.Context, was session.Tree, list []altered) (result, says string,
	err error) {
	noticed := 0
	for _, a := range list {
		old, err := t.alterFiles(ctx, was, a, TryMutants+"-frozen", nil)
		if err != nil {
			return "", "", err
		}
		before := t.Notices(old)
		if len(before) == 0 || !old.Built() {
			continue
		}
		now, err := t.alterFiles(ctx, t.Out.Tree, a, TryMutants, nil)
		if err != nil {
			return "", "", err
		}
		if id := missedBy(before, t.Notices(now), old, now); id != "" {
			return Fails, fmt.Sprintf("%s fails with this change to the code as it was before, and passes as it is now: %s",
				id, a.says), nil
		}
		noticed++
	}
	if noticed == 0 {
		return NotTried, "the previous tests noticed no change to the code that they cover", nil
	}
	return Holds, fmt.Sprintf("the edited tests notice all %s to the code that the previous ones noticed",
		safetext.Plural(noticed, "change", "changes")), nil
}

// missedBy returns a test that noticed a change of the code before and does not notice it now; "" if there is none.
// `before` and `after` are the tests that notice the change in the runs `old` and `now`. If a new test notices it,
// nothing is missed.
func missedBy(before, after []session.TestID, old, now *gate.Run) session.TestID {
	if len(before) == 0 || slices.ContainsFunc(after, old.Lacks) {
		return ""
	}
	tables := map[session.TestID]bool{}
	for _, id := range after {
		tables[table(id)] = true
	}
	for _, id := range before {
		if missed := len(after) == 0 || now.Passes(id); missed && !tables[table(id)] {
			return id
		}
	}
	return ""
}

// table returns the top-level test that id is, or of which id is a row.
func table(id session.TestID) session.TestID {
	for p := report.Parent(id); p != ""; p = report.Parent(id) {
		id = p
	}
	return id
}

// Notices returns the tests that fail in a run, except those known to fail. On changed code, these are the tests that
// notice the change.
func (t *Variants) Notices(run *gate.Run) []session.TestID {
	return slices.DeleteFunc(report.SortedKeys(run.Report.Tests), func(id session.TestID) bool {
		return !report.Bad(run.Report.Tests[id]) || slices.Contains(t.Req.Known, id)
	})
}

// functions returns the lines of all functions with the given names in the attempt's code, by file, and the texts of
// these files.
func (t *Variants) functions(ctx context.Context,
	names map[string]bool) (map[string]experiment.Lines, map[string][]byte, error) {
	lines, texts := map[string]experiment.Lines{}, map[string][]byte{}
	paths, err := t.Paths(ctx, t.Out.Tree)
	if err != nil {
		return nil, nil, err
	}
	for _, path := range paths {
		if !report.IsCode(path) || testpaths.HoldsTests(path) {
			continue
		}
		src, err := t.Show(ctx, t.Out.Tree, path)
		if err != nil {
			return nil, nil, err
		}
		if in := inCode(path, src, experiment.Called(path, src, names)); len(in) > 0 && !testpaths.Asserts(path, src) {
			lines[path], texts[path] = in, src
		}
	}
	return lines, texts, nil
}

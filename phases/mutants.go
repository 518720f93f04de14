package phases

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

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

// mutants are changes of code, as trees: other results of all functions that have some lines, and then single changes
// in these lines. In one more those functions that have nothing's lines return nothing.
func (t *trials) mutants(ctx context.Context, tree session.Tree, lines map[string]experiment.Lines,
	texts map[string][]byte, nothing map[string]experiment.Lines) (trees []session.Tree, says []string, err error) {
	all := []altered{allOf(experiment.OtherResults, lines, texts), allOf(experiment.Nothing, nothing, texts)}
	words := []string{all[0].results(), "functions that return nothing"}
	for i, a := range all {
		if a.n == 0 {
			continue
		}
		changed, err := t.WithTexts(ctx, tree, a.texts)
		if err != nil {
			return nil, nil, err
		}
		trees, says = append(trees, changed), append(says, some(a.paths)+": "+words[i])
	}
	most := len(trees) + mostMutants
	for _, path := range slices.Sorted(maps.Keys(lines)) {
		for _, m := range experiment.Mutants(path, texts[path], lines[path], max(1, mostMutants/len(lines))) {
			if len(trees) >= most {
				return trees, says, nil
			}
			changed, err := t.WithTexts(ctx, tree, map[string][]byte{path: m.Text})
			if err != nil {
				return nil, nil, err
			}
			trees, says = append(trees, changed), append(says, fmt.Sprintf("%s:%d: %s → %s", path, m.Line, m.Was, m.Now))
		}
	}
	return trees, says, nil
}

// allOf makes a change to all files that have chosen lines.
func allOf(change func(file string, src []byte, lines experiment.Lines) ([]byte, int),
	lines map[string]experiment.Lines, texts map[string][]byte) altered {
	a := altered{texts: map[string][]byte{}}
	for _, path := range slices.Sorted(maps.Keys(lines)) {
		if text, n := change(path, texts[path], lines[path]); n > 0 {
			a.texts[path], a.n, a.paths = text, a.n+n, append(a.paths, path)
		}
	}
	return a
}

// results names what is changed.
func (a altered) results() string { return "other results of " + plural(a.n, "function", "functions") }

// asksResults asks of tests that have not failed for other expected values whether one of them notices other results of
// the lap's functions that tests speak of. They need not where nothing that could be changed is returned while they
// run: then none would notice either that it raises there.
func (t *trials) asksResults(ctx context.Context, changes []session.Change, tests []session.TestID) error {
	lines, texts, _, err := t.codeLines(ctx, changes)
	if err != nil || len(tests) == 0 {
		return err
	}
	names, err := t.testWords(ctx, changes)
	if err != nil {
		return err
	}
	for path, added := range lines { // what others return reaches no test as it is
		called := experiment.Called(path, texts[path], names)
		maps.DeleteFunc(added, func(n int, _ bool) bool { return !called[n] })
	}
	others := allOf(experiment.OtherResults, lines, texts)
	if others.n == 0 {
		t.tried(tryResults, notTried, "this lap's functions return nothing that wfs could change")
		return nil
	}
	t.say("gate " + t.gate.Name + " with " + others.results() + " …")
	deaf := slices.Clone(tests)
	for _, step := range []struct {
		altered
		notice bool
		only   []session.TestID
	}{
		{others, false, tests}, {allOf(experiment.RaisesThere, lines, texts), true, tests}, {others, false, nil},
	} {
		noticing, built, err := t.noticing(ctx, step.altered, step.only)
		if err != nil {
			return t.cannot(ctx, tryResults, err)
		}
		if !built {
			t.tried(tryResults, notTried, "the lap's code does not build with "+others.results())
			return nil
		}
		deaf = slices.DeleteFunc(deaf, func(id session.TestID) bool { return noticing[id] != step.notice })
		if len(deaf) == 0 || !step.notice && len(deaf) < len(tests) && step.only != nil { // one that notices is enough
			t.tried(tryResults, holds, "the lap's tests notice "+others.results())
			return nil
		}
	}
	says := fmt.Sprintf("with %s (%s) %s anyway: %s", others.results(), some(others.paths),
		plural(len(deaf), "test passes", "tests pass"), someNames(deaf))
	t.tried(tryResults, fails, says)
	t.found(kindDeaf, others.paths[0], string(deaf[0]), "the lap's tests check no result of its code: "+says, says)
	t.asFrozen()
	return nil
}

// testWords are the names in what the lap has added to tests.
func (t *trials) testWords(ctx context.Context, changes []session.Change) (map[string]bool, error) {
	names := map[string]bool{}
	for _, c := range changes {
		if c.Status == "D" || !testpaths.HoldsTests(c.Path) && !testpaths.MixesTests(c.Path) {
			continue
		}
		before, after, err := t.sides(ctx, t.r.LapTree, c)
		if err != nil {
			return nil, err
		}
		maps.Copy(names, experiment.Words(c.Path, after, from(experiment.Added(before, after), after,
			testpaths.TestsFrom(c.Path, after))))
	}
	return names, nil
}

// noticing are the tests that do not pass with something changed. built is false where that could not be found out.
func (t *trials) noticing(ctx context.Context, a altered,
	only []session.TestID) (tests map[session.TestID]bool, built bool, err error) {
	tree, err := t.WithTexts(ctx, t.out.Tree, a.texts)
	if err != nil {
		return nil, false, err
	}
	run, err := t.alter(ctx, tree, tryResults, only)
	if err == nil && !run.ran() && only != nil { // runners do not find every name that they report
		run, err = t.alter(ctx, tree, tryResults, nil)
	}
	if err != nil || !run.ran() || len(run.report.Broken) > 0 {
		return nil, false, err
	}
	tests = map[session.TestID]bool{}
	for _, id := range t.tests {
		tests[id] = run.report.Tests[id] != session.TestPass
	}
	return tests, true, nil
}

// noticed asks whether tests that were red only because something was missing notice anything about the code: of three
// or more single changes at least one.
func (t *trials) noticed(ctx context.Context, changes []session.Change) error {
	lines, texts, _, err := t.codeLines(ctx, changes)
	if err != nil {
		return err
	}
	trees, says, err := t.mutants(ctx, t.out.Tree, lines, texts, nil)
	if err != nil {
		return err
	}
	if len(trees) < 3 {
		t.tried(tryMutants, notTried, "this lap's code has too little that wfs could change")
		return nil
	}
	if int64(len(trees))*t.gateMillis() > maxTrying {
		t.tried(tryMutants, notTried, "the gate is too slow to run for each change")
		return nil
	}
	t.say(fmt.Sprintf("gate %s with %s of the code …", t.gate.Name, plural(len(trees), "change", "changes")))
	for _, tree := range trees {
		run, err := t.alter(ctx, tree, tryMutants, t.tests)
		if err != nil {
			return t.cannot(ctx, tryMutants, err)
		}
		if len(run.report.Broken) > 0 {
			continue // a change that cannot be built says nothing
		}
		if !run.ran() || !t.allPass(run) {
			t.tried(tryMutants, holds, "the lap's tests notice changes to its code")
			return nil
		}
	}
	changed := plural(len(trees), "change", "changes")
	t.tried(tryMutants, fails, "the lap's tests notice none of "+changed+" to its code")
	path, _, _ := strings.Cut(says[0], ":")
	same := fmt.Sprintf("with each of %s (%s) they still pass", changed, some(says))
	t.found(kindNotNeeded, path, string(t.tests[0]), "the lap's tests do not check its code: "+same, same)
	return nil
}

// gateMillis is how long the gate took.
func (t *trials) gateMillis() int64 {
	for _, g := range t.out.Gates {
		if g.Gate == t.gate.Name {
			return g.Millis
		}
	}
	return 0
}

// asStrong reports whether the attempt's tests are worth those of another state, some of which are gone: they speak of
// all values that those expected, and notice what those notice. false when there was nothing to try.
func (t *trials) asStrong(ctx context.Context, was session.Tree) (bool, error) {
	lost, err := t.lost(ctx, was)
	if err != nil {
		return false, err
	}
	if lost != "" {
		t.tried(tryMutants, notTried, "the tests no longer mention "+lost)
		return false, nil
	}
	if run, err := t.thoseThere(ctx, was); err != nil || !run {
		return false, err
	}
	result, _, err := t.weaker(ctx, was)
	return result == holds, err
}

// thoseThere reports whether the files of tests run in which the attempt wrote what stands in place of tests of another
// state: with other values in all of their new lines something must fail.
func (t *trials) thoseThere(ctx context.Context, was session.Tree) (bool, error) {
	changes, err := t.Changes(ctx, was, t.out.Tree)
	if err != nil {
		return false, err
	}
	at := *t
	at.r.LapTree = was
	for _, c := range changes {
		turned, err := at.turned(ctx, []session.Change{c}, experiment.All)
		if err != nil {
			return false, err
		}
		if turned.n == 0 {
			continue
		}
		tree, err := t.WithTexts(ctx, t.out.Tree, turned.texts)
		if err != nil {
			return false, err
		}
		run, err := t.alter(ctx, tree, tryCanary, nil)
		if err != nil {
			return false, err
		}
		if run.ran() && t.nothingFails(run) {
			t.tried(tryCanary, fails, "with other expected values in "+c.Path+" everything passes: the file is not run")
			return false, nil
		}
	}
	return true, nil
}

// weaker asks whether the attempt's tests notice what those of another state notice: single changes of the functions
// that the edited lines of tests speak of. A test that has kept its name must notice it itself, or one that is new. Of a
// table any row will do: rows are often named by their place.
func (t *trials) weaker(ctx context.Context, was session.Tree) (result, says string, err error) {
	pairs, err := t.pairs(ctx, was)
	if err != nil {
		return "", "", err
	}
	result, says = notTried, "the edited tests mention nothing that wfs could change"
	if len(pairs) > 0 && int64(2*len(pairs))*t.gateMillis() <= maxTrying {
		t.say(fmt.Sprintf("gate %s with %s to the code that the edited tests cover …", t.gate.Name,
			plural(len(pairs), "change", "changes")))
		result, says, err = t.compareNotices(ctx, pairs)
	}
	if err == nil {
		t.tried(tryMutants, result, says)
	}
	return result, says, err
}

// pair is one change of the code beside two states of tests.
type pair struct {
	was, now session.Tree
	says     string
}

// pairs are changes of the code that tests speak of which were edited since another state.
func (t *trials) pairs(ctx context.Context, was session.Tree) ([]pair, error) {
	changes, err := t.Changes(ctx, was, t.out.Tree)
	if err != nil {
		return nil, err
	}
	aside, _ := t.aside(ctx, was, changes)
	before, err := t.withTests(ctx, was, changes, aside)
	if err != nil {
		return nil, err
	}
	names, err := t.editedWords(ctx, was, changes)
	if err != nil {
		return nil, err
	}
	for try := range 3 {
		lines, texts, err := t.functions(ctx, names)
		if try == 2 { // helpers of tests speak of no function: the lap's own code
			lines, texts, err = t.lapCode(ctx)
		}
		if err != nil {
			return nil, err
		}
		own, _, err := t.lapCode(ctx) // what the lap has not touched others may rest on
		if err != nil {
			return nil, err
		}
		for path, in := range own {
			maps.DeleteFunc(in, func(n int, _ bool) bool { return !lines[path][n] })
		}
		trees, says, err := t.mutants(ctx, t.out.Tree, lines, texts, own)
		if err != nil {
			return nil, err
		}
		if len(trees) == 0 { // functions that hold nothing to be changed are asked about by what they call
			for path, text := range texts {
				maps.Copy(names, experiment.Words(path, text, lines[path]))
			}
			continue
		}
		olds, _, err := t.mutants(ctx, before, lines, texts, own)
		if err != nil {
			return nil, err
		}
		pairs := make([]pair, len(trees))
		for i := range trees {
			pairs[i] = pair{olds[i], trees[i], says[i]}
		}
		return pairs, nil
	}
	return nil, nil
}

// lapCode are the lines of code that the lap added, by file.
func (t *trials) lapCode(ctx context.Context) (map[string]experiment.Lines, map[string][]byte, error) {
	changes, err := t.Changes(ctx, t.r.LapTree, t.out.Tree)
	if err != nil {
		return nil, nil, err
	}
	lines, texts, _, err := t.codeLines(ctx, changes)
	return lines, texts, err
}

// compareNotices runs both states of tests beside each change, until the newer one misses what the older one notices.
func (t *trials) compareNotices(ctx context.Context, pairs []pair) (result, says string, err error) {
	noticed := 0
	for _, p := range pairs {
		old, err := t.alter(ctx, p.was, tryMutants+"-frozen", nil)
		if err != nil {
			return "", "", err
		}
		before := t.notices(old)
		if !old.ran() || len(before) == 0 || len(old.report.Broken) > 0 { // a change that cannot be built says nothing
			continue
		}
		now, err := t.alter(ctx, p.now, tryMutants, nil)
		if err != nil {
			return "", "", err
		}
		if id := missedBy(before, t.notices(now), old, now); id != "" {
			return fails, fmt.Sprintf("%s fails with this change to the code as it was before, and passes as it is now: %s",
				id, p.says), nil
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
	fresh := func(id session.TestID) bool { _, had := old.report.Tests[id]; return !had }
	if len(before) == 0 || slices.ContainsFunc(after, fresh) {
		return ""
	}
	tables := map[session.TestID]bool{}
	for _, id := range after {
		tables[table(id)] = true
	}
	for _, id := range before {
		s, ran := now.report.Tests[id]
		if missed := len(after) == 0 || ran && s == session.TestPass; missed && !tables[table(id)] {
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

// editedWords are the names in those lines of tests of another state that the attempt's do not have.
func (t *trials) editedWords(ctx context.Context, was session.Tree, changes []session.Change) (map[string]bool, error) {
	names := map[string]bool{}
	for _, c := range changes {
		if c.Status == "A" || !isCode(c.Path) || testpaths.TestsFrom(c.Path, nil) > 0 || !testpaths.HoldsTests(c.Path) &&
			!testpaths.MixesTests(c.Path) {
			continue
		}
		before, after, err := t.sides(ctx, was, c)
		if err != nil {
			return nil, err
		}
		maps.Copy(names, experiment.Words(c.Path, before, experiment.Added(after, before)))
	}
	return names, nil
}

// notices are the tests that fail in a run.
func (t *trials) notices(run *gateRun) []session.TestID {
	var ids []session.TestID
	for _, id := range sortedKeys(run.report.Tests) {
		if bad(run.report.Tests[id]) && !slices.Contains(t.r.Known, id) {
			ids = append(ids, id)
		}
	}
	return ids
}

// functions are the lines of all functions of the attempt's code that have one of some names.
func (t *trials) functions(ctx context.Context,
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
		if len(src) > maxRead || testpaths.Asserts(path, src) {
			continue
		}
		if in := until(experiment.Called(path, src, names), src, testpaths.TestsFrom(path, src)); len(in) > 0 {
			lines[path], texts[path] = in, src
		}
	}
	return lines, texts, nil
}

// lost is a value that edited lines of another state's tests expected and that the attempt's tests do not have
// anywhere, "" when there is none.
func (t *trials) lost(ctx context.Context, was session.Tree) (string, error) {
	changes, err := t.Changes(ctx, was, t.out.Tree)
	if err != nil {
		return "", err
	}
	wanted, have := map[string]bool{}, map[string]bool{}
	var data, code strings.Builder
	for _, c := range changes {
		if isCode(c.Path) && !testpaths.HoldsTests(c.Path) && !testpaths.MixesTests(c.Path) {
			continue
		}
		before, after, err := t.sides(ctx, was, c)
		if err != nil {
			return "", err
		}
		if !isCode(c.Path) { // tests may read data wherever it lies
			data.Write(after)
			continue
		}
		code.Write(after)
		maps.Copy(wanted, experiment.Expected(c.Path, before, experiment.Added(after, before)))
		maps.Copy(have, experiment.Values(c.Path, after))
	}
	for _, v := range slices.Sorted(maps.Keys(wanted)) {
		phrase := strings.ContainsAny(v, " :;,.|") && strings.Contains(code.String(), v) // a cell of a table in a text
		if !have[v] && !phrase && !strings.Contains(data.String(), v) {
			return v, nil
		}
	}
	return "", nil
}

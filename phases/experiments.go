package phases

import (
	"context"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/internal/experiment"
	"github.com/wfs-dev/wfs/internal/safetext"
	"github.com/wfs-dev/wfs/internal/tamper"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

// What experiments find, as kinds of findings.
const (
	kindOnlySo     = string(tamper.OnlySo)
	kindCannotFail = "tests_cannot_fail" // they pass with other expected values, too
	kindNotNeeded  = "code_not_needed"   // they pass although the code that the attempt wrote fails
)

// Experiments, by their names in logs and events.
const (
	tryFrozen  = "frozen_tests"
	tryCanary  = "canary"
	tryHollow  = "hollow"
	tryMutants = "mutants"
)

// Results of an experiment.
const (
	holds    = "holds"
	fails    = "fails"
	notTried = "not_tried"
)

// trials are the experiments with one attempt that passes. They run in a clean tree, on trees made from the attempt's:
// what they say is what happened, and not how the source reads.
type trials struct {
	*Judge
	r    session.JudgeRequest
	out  *session.Judgement
	gate workflows.Gate // whose tests the lap is about
	// tests are those of the lap that passed, by their ids of now.
	tests []session.TestID
	// asked is what the gate said of the code with the frozen tests, nil when it was not asked or could not say.
	asked   *session.GateResult
	ran     *gateRun
	with    session.Tree // that it ran on
	renamed bool         // nothing but names differs from the frozen tests
	runs    int
	spent   int64
}

// experiment tries what a judgement that passes is worth, and makes it fail where the experiments say so. grave: there are
// findings about changed tests that count unless the experiments acquit the attempt. An attempt that fails for nothing but
// tests that are gone is tried in the same way: they may have become others.
//
// merged are tests that are gone, and have by their words become a part of others: experiments must say so, too.
func (j *Judge) experiment(ctx context.Context, r session.JudgeRequest, out *session.Judgement, grave bool,
	merged []session.TestID) ([]Failure, error) {
	gone := goneOnly(out)
	if out.Verdict != session.Pass && len(gone) == 0 {
		return nil, nil
	}
	failed := *out
	if gone = append(gone, merged...); len(gone) > 0 {
		says := plural(len(gone), "test is gone", "tests are gone") + ": " + someNames(gone)
		if out.Verdict == session.Pass { // they are held against it unless experiments speak for it
			failed.Verdict, failed.Class, failed.Reason = session.Fail, session.ClassTargetMissing, says
		}
		passAll(out, says)
		out.Gone = gone
		if r.Approved {
			return nil, nil
		}
		failed.Question = &session.Question{Evidence: []string{failed.Reason}}
	}
	t, why := j.trials(r, out)
	if t != nil {
		var err error
		if why, err = j.noRoom(ctx, r); err != nil {
			return nil, err
		}
		if why != "" {
			t = nil
		}
	}
	if t == nil {
		switch {
		case len(gone) > 0:
			*out = failed
		case grave:
			holdAgainst(out)
			if why != "" {
				out.Reason += "; the code was not judged with " + testsOf(r) + ": " + why
			}
			(&trials{Judge: j, r: r, out: out}).asFrozen()
		case why != "":
			out.Experiments = append(out.Experiments, session.Experiment{Kind: tryFrozen, Result: notTried, Says: why})
		}
		return nil, nil
	}
	changed, failures, err := t.putBack(ctx, grave || len(gone) > 0)
	if err != nil || out.Verdict != session.Pass {
		if len(gone) > 0 && err == nil {
			*out = stillFails(failed, out)
			return nil, nil
		}
		return failures, err
	}
	if grave || len(gone) > 0 {
		acquitted, err := t.acquits(ctx, len(gone) > 0)
		if err != nil {
			return nil, err
		}
		if !acquitted && len(gone) > 0 {
			*out = stillFails(failed, out)
			return nil, nil
		}
		if !acquitted {
			holdAgainst(out)
			for _, x := range out.Experiments {
				if x.Kind == tryFrozen && x.Result != holds || x.Kind == tryMutants {
					out.Reason += "; " + x.Says
				}
			}
			if t.asked != nil && t.asked.Verdict == session.Pass {
				out.Reason += "; with " + testsOf(r) + " the code passes"
			}
			return t.asFrozen(), nil
		}
		for i := range out.Tampered {
			out.Tampered[i].Grave = false
		}
	}
	if makesPass := !mayRemove(r); makesPass || changed {
		if err := t.worth(ctx, makesPass); err != nil {
			return nil, err
		}
	}
	return nil, nil
}

// stillFails is a failed judgement with what experiments have said meanwhile.
func stillFails(failed session.Judgement, tried *session.Judgement) session.Judgement {
	failed.Experiments = tried.Experiments
	if n := len(failed.Experiments); n > 0 {
		failed.Reason += "; " + failed.Experiments[n-1].Says
	}
	return failed
}

// goneOnly are the tests for which a judgement fails, if it does for nothing but that they do not run any more.
func goneOnly(out *session.Judgement) []session.TestID {
	var gone []session.TestID
	for _, g := range out.Gates {
		switch {
		case g.Verdict == session.Pass:
			continue
		case g.Class != session.ClassTargetMissing && g.Class != session.ClassBrokeGreen:
			return nil
		}
		for _, id := range g.Failing {
			if _, ran := out.Evidence.Gates[g.Gate][id]; ran {
				return nil
			}
		}
		gone = append(gone, g.Failing...)
	}
	return gone
}

// passAll makes a judgement one that passes, with a word why.
func passAll(out *session.Judgement, why string) {
	out.Gates = slices.Clone(out.Gates)
	for i, g := range out.Gates {
		if g.Verdict != session.Pass {
			out.Gates[i].Verdict, out.Gates[i].Class, out.Gates[i].Reason = session.Pass, session.ClassGreen, why
			out.Gates[i].Failing, out.Gates[i].Fingerprint = nil, ""
		}
	}
	sumUp(out)
}

// trials prepares experiments. It returns nil where none are made, and why.
func (j *Judge) trials(r session.JudgeRequest, out *session.Judgement) (*trials, string) {
	policy := r.Plan.Workflow.TamperIn(&r.Phase)
	if r.Approved || r.Frozen == "" || r.Phase.WritesTests() || r.Plan.Workflow.Red() == nil ||
		policy != workflows.TamperStrict && policy != workflows.TamperReview {
		return nil, ""
	}
	at := slices.IndexFunc(r.Phase.Gates, func(g workflows.Gate) bool {
		return g.Runs() && g.Format.PerTest() && !g.MayChangeTree && g.Name == targetGate(r)
	})
	switch {
	case at < 0:
		return nil, "no gate with results by test judges here"
	case r.Plan.Unproven:
		return nil, "clean-proof is off"
	case j.Overlay == nil || j.Clean == nil || j.Changes == nil || j.Show == nil || j.WithTexts == nil:
		return nil, "there is no place for a clean tree"
	}
	t := &trials{Judge: j, r: r, out: out, gate: r.Phase.Gates[at]}
	start := r.LapStart.Gates[t.gate.Name]
	for id, s := range out.Evidence.Gates[t.gate.Name] {
		_, had := start[id]
		if s == session.TestPass && id != gateID(t.gate.Name) &&
			(!had || slices.Contains(r.Targets, id) ||
				slices.ContainsFunc(r.Expected, func(e string) bool { return matches(id, e) })) {
			t.tests = append(t.tests, id)
		}
	}
	slices.Sort(t.tests)
	return t, ""
}

// holdAgainst makes a judgement fail by the findings that it has.
func holdAgainst(out *session.Judgement) {
	grave := out.Grave()
	out.Question = asked(grave)
	out.Verdict, out.Class = session.Fail, session.ClassTampered
	out.Reason = fmt.Sprintf("tests were changed so that they ask for less: %s", tamperText(grave))
	switch {
	case session.AllOfCode(grave):
		out.Reason = fmt.Sprintf("the code seems to ask whether it is being tested: %s", tamperText(grave))
	case !slices.ContainsFunc(grave, func(t session.Tampering) bool { return t.Kind != string(tamper.TooMuch) }):
		out.Reason = fmt.Sprintf("so much of the tests was changed that it cannot be compared: %s", tamperText(grave))
	}
}

// asFrozen makes the judgement's results those of the code with the frozen tests: what the attempt's own say is worth
// nothing.
func (t *trials) asFrozen() []Failure {
	t.out.Gates, t.out.Evidence.Gates = nil, map[string]session.Tests{}
	if t.asked == nil {
		return nil
	}
	t.asked.TestsOf = t.r.FrozenAt
	t.out.Gates = []session.GateResult{*t.asked}
	t.out.Evidence.Tree, t.out.Evidence.Gates = t.with, map[string]session.Tests{t.gate.Name: t.ran.report.tests}
	return t.failures(*t.asked, t.ran)
}

// asked is the question that a person answers about findings, when whoever works insists.
func asked(grave []session.Tampering) *session.Question {
	q := &session.Question{}
	for _, t := range grave[:min(len(grave), session.MaxNamed)] {
		if !slices.Contains(q.Paths, t.Path) {
			q.Paths = append(q.Paths, t.Path)
		}
		q.Evidence = append(q.Evidence, safetext.Line(t.String(), maxShown))
	}
	return q
}

// tried enters what an experiment said.
func (t *trials) tried(kind, result, says string) {
	t.out.Experiments = append(t.out.Experiments,
		session.Experiment{Kind: kind, Result: result, Says: t.Secrets.String(says), Runs: t.runs, Millis: t.spent})
	t.runs, t.spent = 0, 0
}

// found makes the judgement fail by what an experiment said.
func (t *trials) found(kind, path, test, what, says string) {
	t.out.Tampered = append([]session.Tampering{{Kind: kind, Path: path, Test: t.Secrets.String(test),
		After: t.Secrets.String(says), Grave: true}}, t.out.Tampered...)
	t.out.Verdict, t.out.Class, t.out.Reason = session.Fail, session.ClassTampered, what+": "+t.Secrets.String(says)
	if kind == kindOnlySo {
		t.out.Question = asked(t.out.Grave())
	}
}

// judge runs the gate on a tree, and judges it with the tests that a request is about.
func (t *trials) judge(ctx context.Context, r session.JudgeRequest, tree session.Tree,
	name string) (session.GateResult, *gateRun, error) {
	var err error
	at := *t.Judge
	at.judged, at.Whole, at.trial = tree, nil, name // what lies beside the tree would bring new tests back
	r.Tree = tree
	if r.Changed, err = t.Changes(ctx, r.LapTree, tree); err != nil {
		return session.GateResult{}, nil, err
	}
	res, run, err := at.frozenGate(ctx, t.gate, r)
	if err == nil {
		t.runs, t.spent = t.runs+1, t.spent+run.millis
	}
	return res, run, err
}

// reference is a state whose tests an attempt's code must pass.
type reference struct {
	tree session.Tree
	says string               // whose tests they are
	r    session.JudgeRequest // what they are judged with
}

// references are the tests of the phase that wrote them, and those of the lap's start.
func (t *trials) references() []reference {
	list := []reference{{t.r.Frozen, testsOf(t.r), t.r}}
	if !mayRemove(t.r) && t.r.LapTree != "" && t.r.LapTree != t.r.Frozen {
		older := t.r
		older.Targets, older.Expected, older.FrozenAt = nil, nil, nil
		list = append(list, reference{t.r.LapTree, "the tests of this lap's start", older})
	}
	return list
}

// putBack runs the gate on the attempt's code with the tests, and what they are run by, as they were. It reports
// whether anything of that was changed since they were frozen. An attempt that fails so passes only with its own tests.
func (t *trials) putBack(ctx context.Context, grave bool) (changed bool, failures []Failure, err error) {
	seen := []session.Tree{t.out.Tree}
	for i, ref := range t.references() {
		changes, err := t.Changes(ctx, ref.tree, t.out.Tree)
		if err != nil {
			return changed, nil, err
		}
		aside, edited := t.aside(ctx, ref.tree, changes)
		if i == 0 {
			changed = len(aside) > 0
		}
		if len(aside) == 0 || i > 0 && !edited { // what only came since is judged with the newest
			continue
		}
		if mayRemove(t.r) && !edited {
			continue
		}
		tree, err := t.withTests(ctx, ref.tree, changes, aside)
		if err != nil {
			return changed, nil, err
		}
		if slices.Contains(seen, tree) {
			continue
		}
		seen = append(seen, tree)
		if tree == ref.tree && i > 0 {
			continue // it has no code of its own
		}
		t.say("gate " + t.gate.Name + " with " + ref.says + " …")
		res, run, err := t.judge(ctx, ref.r, tree, "frozen")
		if err != nil {
			return changed, nil, ctx.Err()
		}
		if why := couldNot(run, res); why != "" {
			t.tried(tryFrozen, notTried, "with "+ref.says+" it could not be judged: "+why)
			continue
		}
		if i == 0 {
			t.asked, t.ran, t.with = &res, run, tree
		}
		if res.Verdict == session.Pass {
			t.tried(tryFrozen, holds, "with "+ref.says+" the code passes")
			continue
		}
		if i > 0 {
			if holds, err := t.withoutBroken(ctx, ref, changes, aside, run); err != nil || holds {
				if err != nil {
					return changed, nil, ctx.Err()
				}
				continue
			}
		}
		result, excused, err := t.excused(ctx, ref, changes, aside)
		if err != nil {
			return changed, nil, err
		}
		if excused != "" {
			t.asked = nil
			t.tried(tryFrozen, result, excused)
			continue
		}
		t.tried(tryFrozen, fails, "with "+ref.says+" it fails: "+res.Reason)
		test := ""
		if len(res.Failing) > 0 {
			test = string(res.Failing[0])
		}
		if i > 0 && !grave {
			meant, err := t.meant(ctx, res.Failing)
			if err != nil {
				return changed, nil, ctx.Err()
			}
			if meant {
				t.tried(tryFrozen, holds, "the lap is about other behaviour than "+ref.says+" ask for")
				continue
			}
		}
		if !grave && (mayRemove(t.r) || i > 0 && t.maybeMeant(res.Failing)) {
			t.ask(aside, fmt.Sprintf("the code fails %s, which were changed or removed: %s", ref.says, res.Reason))
			return changed, nil, nil
		}
		if grave {
			holdAgainst(t.out)
			t.out.Reason += t.Secrets.String("; with " + ref.says + " the code fails gate " + t.gate.Name + ": " + res.Reason)
		} else {
			t.found(kindOnlySo, aside[0], test, "the tests pass only as they were changed",
				"with "+ref.says+" it fails: "+res.Reason)
		}
		t.asked, t.ran, t.with = &res, run, tree
		return changed, t.asFrozen(), nil
	}
	return changed, nil, nil
}

// meant reports whether all tests that fail as they were at the lap's start have been changed, and were red as they are now
// before the code was written: then it is what the lap is about.
func (t *trials) meant(ctx context.Context, failing []session.TestID) (bool, error) {
	for _, id := range failing {
		if !slices.Contains(t.r.Targets, id) {
			return false, nil
		}
	}
	tests := t.tests
	t.tests = nil
	run, err := t.alter(ctx, t.r.Frozen, "red", false)
	if t.tests = tests; err != nil {
		return false, err
	}
	for _, id := range failing {
		if !bad(run.report.tests[id]) {
			return false, nil
		}
	}
	return len(failing) > 0, nil
}

// maybeMeant reports whether all tests that fail are among those that the lap is about by name: they were changed where
// nothing could be built, so that nobody knows whether they were red as they are now.
func (t *trials) maybeMeant(failing []session.TestID) bool {
	return len(failing) > 0 && !slices.ContainsFunc(failing, func(id session.TestID) bool {
		return !slices.ContainsFunc(t.r.Expected, func(e string) bool { return matches(id, e) })
	})
}

// ask makes the judgement a question: only a person can tell.
func (t *trials) ask(paths []string, says string) {
	t.out.Verdict, t.out.Class, t.out.Reason = session.Blocked, session.ClassAsked, t.Secrets.String(says)
	t.out.Question = &session.Question{Paths: paths[:min(len(paths), session.MaxNamed)],
		Evidence: []string{t.Secrets.String(says)}}
}

// withoutBroken asks once more with those of the older files of tests left as the attempt has them that cannot be built
// with its code: what they are about has another shape now. It reports whether the code passes all others.
func (t *trials) withoutBroken(ctx context.Context, ref reference, changes []session.Change, aside []string,
	run *gateRun) (bool, error) {
	rest := slices.DeleteFunc(slices.Clone(aside), func(p string) bool {
		return slices.ContainsFunc(run.report.broken, func(b breakage) bool { return b.File != "" && sameFile(p, b.File) })
	})
	if len(rest) == len(aside) {
		return false, nil
	}
	if len(rest) > 0 {
		tree, err := t.withTests(ctx, ref.tree, changes, rest)
		if err != nil {
			return false, err
		}
		res, run, err := t.judge(ctx, ref.r, tree, "frozen-rest")
		if err != nil || couldNot(run, res) != "" || res.Verdict != session.Pass {
			return false, err
		}
	}
	t.tried(tryFrozen, holds, "with "+ref.says+" the code passes, but for files that do not fit it any more")
	return true, nil
}

// aside are the paths of changes that are tests, what they read, and what they are run by. edited reports whether any
// of them was there before.
func (t *trials) aside(ctx context.Context, was session.Tree, changes []session.Change) (paths []string, edited bool) {
	for _, c := range changes {
		switch {
		case strings.HasPrefix(c.Path, ".wfs/"), strings.HasPrefix(c.Path, ".workflow/"):
			continue
		case t.testsOrInstrument(ctx, was, c):
		case tamper.MixesTests(c.Path):
			before, _ := t.Show(ctx, was, c.Path)
			after, _ := t.Show(ctx, t.out.Tree, c.Path)
			if string(before[tamper.TestsFrom(c.Path, before):]) == string(after[tamper.TestsFrom(c.Path, after):]) {
				continue
			}
		default:
			continue
		}
		paths = append(paths, c.Path)
		edited = edited || c.Status != "A"
	}
	return paths, edited
}

// testsOrInstrument reports whether a changed path is a test, or says how tests are run. Of manifests only changes of
// what runs tests count: a dependency is part of the work.
func (t *trials) testsOrInstrument(ctx context.Context, was session.Tree, c session.Change) bool {
	if tamper.HoldsTests(c.Path) {
		return true
	}
	if !tamper.AboutTests(c.Path) && !(tamper.IsScript(c.Path) && c.Status != "A") && !t.namedByGate(c.Path) {
		return false
	}
	if !tamper.IsManifest(c.Path) || c.Status != "M" {
		return true
	}
	before, _ := t.Show(ctx, was, c.Path)
	after, _ := t.Show(ctx, t.out.Tree, c.Path)
	return tamper.RunnerKeysDiffer(c.Path, before, after)
}

// namedByGate reports whether a gate's command names a path.
func (t *trials) namedByGate(path string) bool {
	for _, g := range t.r.Phase.Gates {
		words := strings.FieldsFunc(g.Run.Text(), func(c rune) bool { return strings.ContainsRune(" \t\n\"'=;&|()", c) })
		if g.Runs() && slices.ContainsFunc(words, func(w string) bool { return strings.TrimPrefix(w, "./") == path }) {
			return true
		}
	}
	return false
}

// withTests is the attempt's tree with paths as another has them. Of files that hold code and tests only the tests are
// taken.
func (t *trials) withTests(ctx context.Context, from session.Tree, changes []session.Change,
	paths []string) (session.Tree, error) {
	texts := map[string][]byte{}
	var whole []string
	for _, p := range paths {
		if !tamper.MixesTests(p) || tamper.HoldsTests(p) {
			whole = append(whole, p)
			continue
		}
		before, err := t.Show(ctx, from, p)
		if err != nil {
			return "", err
		}
		after, err := t.Show(ctx, t.out.Tree, p)
		if err != nil {
			return "", err
		}
		texts[p] = slices.Concat(after[:tamper.TestsFrom(p, after)], before[tamper.TestsFrom(p, before):])
	}
	tree, err := t.Overlay(ctx, t.out.Tree, from, whole)
	if err != nil || len(texts) == 0 {
		return tree, err
	}
	return t.WithTexts(ctx, tree, texts)
}

// excused says why code need not pass the tests of a reference, "" when it must: nothing but names was changed; the
// attempt's own tree fails there too; or what it is run by had to change with it.
func (t *trials) excused(ctx context.Context, ref reference, changes []session.Change,
	aside []string) (result, says string, err error) {
	if only, err := t.onlyRenamed(ctx, ref.tree, changes, aside); err != nil {
		return "", "", err
	} else if only {
		t.renamed = t.renamed || ref.tree == t.r.Frozen
		return holds, "nothing but names differs from " + ref.says, nil
	}
	own, run, err := t.judge(ctx, t.r, t.out.Tree, "own")
	if err != nil {
		return "", "", ctx.Err()
	}
	if why := couldNot(run, own); why != "" || own.Verdict != session.Pass {
		return notTried, "in a clean tree the attempt's own tests do not pass either, so that nothing can be tried there", nil
	}
	return "", "", nil
}

// onlyRenamed reports whether the tests of two states of a project differ in nothing but names.
func (t *trials) onlyRenamed(ctx context.Context, was session.Tree, changes []session.Change,
	aside []string) (bool, error) {
	testsBefore, testsAfter, codeBefore, codeAfter := experiment.Files{}, experiment.Files{}, experiment.Files{},
		experiment.Files{}
	for _, c := range changes {
		if strings.HasPrefix(c.Path, ".wfs/") || strings.HasPrefix(c.Path, ".workflow/") {
			continue
		}
		before, after := codeBefore, codeAfter
		if slices.Contains(aside, c.Path) {
			if !tamper.HoldsTests(c.Path) {
				return false, nil
			}
			before, after = testsBefore, testsAfter
		}
		for _, side := range []struct {
			there bool
			tree  session.Tree
			files experiment.Files
		}{{c.Status != "A", was, before}, {c.Status != "D", t.out.Tree, after}} {
			if !side.there {
				continue
			}
			data, err := t.Show(ctx, side.tree, c.Path)
			if err != nil {
				return false, err
			}
			side.files[c.Path] = data[:min(len(data), maxRead)]
		}
	}
	if err := t.enteredWith(ctx, codeBefore, aside); err != nil {
		return false, err
	}
	return experiment.Renamed(testsBefore, testsAfter, codeBefore, codeAfter), nil
}

// enteredWith adds the code that the phase was entered with: what the lap has written since its tests were frozen may
// have another name now.
func (t *trials) enteredWith(ctx context.Context, code experiment.Files, aside []string) error {
	if t.r.VisitTree == "" {
		return nil
	}
	changes, err := t.Changes(ctx, t.r.VisitTree, t.out.Tree)
	if err != nil {
		return err
	}
	for _, c := range changes {
		if c.Status == "A" || code[c.Path] != nil || slices.Contains(aside, c.Path) {
			continue
		}
		if code[c.Path], err = t.Show(ctx, t.r.VisitTree, c.Path); err != nil {
			return err
		}
	}
	return nil
}

// acquits reports whether experiments say that changed tests ask for no less, whatever their text says: nothing but
// names differs, and they ran; or the code passes the tests as they were, and what those notice the changed ones
// notice, too.
func (t *trials) acquits(ctx context.Context, gone bool) (bool, error) {
	switch {
	case t.renamed && !gone:
		return true, nil
	case t.asked == nil || t.asked.Verdict != session.Pass:
		return false, nil
	}
	return t.asStrong(ctx)
}

// texts of the attempt's files with some lines changed, and what the lines were of.
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
			mixed := tamper.MixesTests(c.Path) && !tamper.HoldsTests(c.Path)
			if c.Status == "D" || !tamper.HoldsTests(c.Path) && !mixed || a.n > 0 && data {
				continue
			}
			before, after, err := t.bothSides(ctx, c)
			if err != nil {
				return a, err
			}
			lines := experiment.Added(before, after)
			if mixed {
				lines = from(lines, after, tamper.TestsFrom(c.Path, after))
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

// bothSides are the texts of a changed file at the lap's start and now.
func (t *trials) bothSides(ctx context.Context, c session.Change) (before, after []byte, err error) {
	if c.Status != "A" {
		if before, err = t.Show(ctx, t.r.LapTree, c.Path); err != nil {
			return nil, nil, err
		}
	}
	after, err = t.Show(ctx, t.out.Tree, c.Path)
	return before[:min(len(before), maxRead)], after[:min(len(after), maxRead)], err
}

// codeLines are the lines of code that the lap added, by file, and whether there are other changed files that are
// handed over.
func (t *trials) codeLines(ctx context.Context,
	changes []session.Change) (lines map[string]experiment.Lines, texts map[string][]byte, others bool, err error) {
	lines, texts = map[string]experiment.Lines{}, map[string][]byte{}
	for _, c := range changes {
		switch {
		case c.Status == "D", strings.HasPrefix(c.Path, ".wfs/"), strings.HasPrefix(c.Path, ".workflow/"),
			tamper.AboutTests(c.Path), tamper.IsDocument(c.Path):
			continue
		case !isCode(c.Path):
			others = true
			continue
		}
		before, after, err := t.bothSides(ctx, c)
		if err != nil {
			return nil, nil, false, err
		}
		added := until(experiment.Added(before, after), after, tamper.TestsFrom(c.Path, after))
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
		run, err := t.alter(ctx, tree, kind, again > 0)
		if err != nil {
			return ctx.Err()
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
	t.found(finding, a.paths[0], string(t.tests[0]), about,
		fmt.Sprintf("with %s (%s) they pass all the same", what, some(a.paths)))
	t.asFrozen()
	return nil
}

// alter runs the gate, or the lap's tests alone where that can be had, on a tree that was changed on purpose.
func (t *trials) alter(ctx context.Context, tree session.Tree, name string, again bool) (*gateRun, error) {
	at := *t.Judge
	at.judged, at.Whole, at.Results, at.trial = tree, nil, nil, name
	g := t.gate
	g.Where = workflows.Clean
	if narrow, ok := t.alone(g, t.tests); ok && !again {
		g.Run = narrow.Run
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

// mostMutants bounds how many single changes are tried for one question. maxTrying bounds the time for them, in
// milliseconds of a gate's run: what does not fit is not tried, and that is said.
const (
	mostMutants = 4
	maxTrying   = 120_000
)

// mutants are single changes of the lap's code, as trees.
func (t *trials) mutants(ctx context.Context, tree session.Tree, lines map[string]experiment.Lines,
	texts map[string][]byte) (trees []session.Tree, says []string, err error) {
	for _, path := range slices.Sorted(maps.Keys(lines)) {
		for _, m := range experiment.Mutants(path, texts[path], lines[path], max(1, mostMutants/len(lines))) {
			if len(trees) == mostMutants {
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

// noticed asks whether tests that were red only because something was missing notice anything about the code: of three
// or more single changes at least one.
func (t *trials) noticed(ctx context.Context, changes []session.Change) error {
	lines, texts, _, err := t.codeLines(ctx, changes)
	if err != nil {
		return err
	}
	trees, says, err := t.mutants(ctx, t.out.Tree, lines, texts)
	if err != nil {
		return err
	}
	if len(trees) < 3 {
		t.tried(tryMutants, notTried, "this lap's code has too little that could be changed on purpose")
		return nil
	}
	if int64(len(trees))*t.gateMillis() > maxTrying {
		t.tried(tryMutants, notTried, "the gate takes too long to be run for each change")
		return nil
	}
	t.say(fmt.Sprintf("gate %s with %s of the code …", t.gate.Name, plural(len(trees), "change", "changes")))
	for _, tree := range trees {
		run, err := t.alter(ctx, tree, tryMutants, false)
		if err != nil {
			return ctx.Err()
		}
		if !run.ran() || !t.allPass(run) {
			t.tried(tryMutants, holds, "the lap's tests notice when its code is changed")
			return nil
		}
	}
	t.tried(tryMutants, fails, "the lap's tests notice none of "+plural(len(trees), "change", "changes")+" of its code")
	t.found(kindNotNeeded, strings.SplitN(says[0], ":", 2)[0], string(t.tests[0]),
		"the lap's tests notice nothing about its code",
		fmt.Sprintf("with each of %s (%s) they pass all the same", plural(len(trees), "change", "changes"), some(says)))
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

// asStrong reports whether the attempt's tests notice what the frozen ones notice: single changes of the functions that
// the edited lines of tests speak of. A test that has kept its name must notice it itself. false when there was nothing
// to try.
func (t *trials) asStrong(ctx context.Context) (bool, error) {
	changes, err := t.Changes(ctx, t.r.Frozen, t.out.Tree)
	if err != nil {
		return false, err
	}
	names := map[string]bool{}
	for _, c := range changes {
		if c.Status == "A" || !isCode(c.Path) || tamper.TestsFrom(c.Path, nil) > 0 {
			continue
		}
		before, err := t.Show(ctx, t.r.Frozen, c.Path)
		if err != nil {
			return false, err
		}
		var after []byte
		if c.Status != "D" {
			if after, err = t.Show(ctx, t.out.Tree, c.Path); err != nil {
				return false, err
			}
		}
		maps.Copy(names, experiment.Words(c.Path, before, experiment.Added(after, before)))
	}
	if lost, err := t.lost(ctx, changes); err != nil || lost != "" {
		if lost != "" {
			t.tried(tryMutants, notTried, "the tests do not speak of "+lost+" any more")
		}
		return false, err
	}
	lines, texts, err := t.functions(ctx, names)
	if err != nil {
		return false, err
	}
	aside, _ := t.aside(ctx, t.r.Frozen, changes)
	frozen, err := t.withTests(ctx, t.r.Frozen, changes, aside)
	if err != nil {
		return false, err
	}
	trees, says, err := t.mutants(ctx, t.out.Tree, lines, texts)
	if err != nil || len(trees) == 0 || int64(2*len(trees))*t.gateMillis() > maxTrying {
		t.tried(tryMutants, notTried, "nothing that the edited tests speak of could be changed on purpose")
		return false, ctx.Err()
	}
	olds, _, err := t.mutants(ctx, frozen, lines, texts)
	if err != nil {
		return false, err
	}
	whole := t.tests
	t.tests = nil // everything is run
	defer func() { t.tests = whole }()
	t.say(fmt.Sprintf("gate %s with %s of the code that the edited tests are about …", t.gate.Name,
		plural(len(trees), "change", "changes")))
	noticed := 0
	for i := range trees {
		old, err := t.alter(ctx, olds[i], tryMutants+"-frozen", false)
		if err != nil {
			return false, ctx.Err()
		}
		notices := t.notices(old)
		if !old.ran() || len(notices) == 0 {
			continue
		}
		now, err := t.alter(ctx, trees[i], tryMutants, false)
		if err != nil {
			return false, ctx.Err()
		}
		none := len(t.notices(now)) == 0
		for _, id := range notices {
			if s, ran := now.report.tests[id]; none || ran && s == session.TestPass {
				t.tried(tryMutants, fails, fmt.Sprintf("%s notices %s as it was, and does not as it is now", id, says[i]))
				return false, nil
			}
		}
		noticed++
	}
	if noticed == 0 {
		t.tried(tryMutants, notTried, "the tests as they were noticed no change of the code that they are about")
		return false, nil
	}
	t.tried(tryMutants, holds, fmt.Sprintf("the edited tests notice all %s of the code that they noticed as they were",
		plural(noticed, "change", "changes")))
	return true, nil
}

// notices are the tests that fail in a run.
func (t *trials) notices(run *gateRun) []session.TestID {
	var ids []session.TestID
	for _, id := range sortedKeys(run.report.tests) {
		if bad(run.report.tests[id]) && !slices.Contains(t.r.Known, id) {
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
		if !isCode(path) || tamper.HoldsTests(path) {
			continue
		}
		src, err := t.Show(ctx, t.out.Tree, path)
		if err != nil {
			return nil, nil, err
		}
		if len(src) > maxRead {
			continue
		}
		if in := until(experiment.Called(path, src, names), src, tamper.TestsFrom(path, src)); len(in) > 0 {
			lines[path], texts[path] = in, src
		}
	}
	return lines, texts, nil
}

// lost is a value that edited lines of the frozen tests expected and that the attempt's tests do not have anywhere, ""
// when there is none.
func (t *trials) lost(ctx context.Context, changes []session.Change) (string, error) {
	wanted, have := map[string]bool{}, map[string]bool{}
	var data strings.Builder
	for _, c := range changes {
		from := tamper.TestsFrom(c.Path, nil)
		if !tamper.HoldsTests(c.Path) && !tamper.MixesTests(c.Path) || from > 0 {
			continue
		}
		var before, after []byte
		var err error
		if c.Status != "A" {
			if before, err = t.Show(ctx, t.r.Frozen, c.Path); err != nil {
				return "", err
			}
		}
		if c.Status != "D" {
			if after, err = t.Show(ctx, t.out.Tree, c.Path); err != nil {
				return "", err
			}
		}
		if !isCode(c.Path) {
			data.Write(after[:min(len(after), maxRead)])
			continue
		}
		maps.Copy(wanted, experiment.Expected(c.Path, before, experiment.Added(after, before)))
		maps.Copy(have, experiment.Values(c.Path, after))
	}
	for _, v := range slices.Sorted(maps.Keys(wanted)) {
		if !have[v] && !strings.Contains(data.String(), v) {
			return v, nil
		}
	}
	return "", nil
}

// Package trial tests a pass itself: with the tests as they were, with other expected values, with changed code.
package trial

import (
	"context"
	"slices"

	"github.com/wfs-dev/wfs/internal/experiment"
	"github.com/wfs-dev/wfs/internal/safetext"
	"github.com/wfs-dev/wfs/phases/gate"
	"github.com/wfs-dev/wfs/phases/process"
	"github.com/wfs-dev/wfs/phases/report"
	"github.com/wfs-dev/wfs/phases/verdict"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

// Experiments, by their names in logs and events.
const (
	TryFrozen  = "frozen_tests"
	tryCanary  = "canary"
	tryHollow  = "hollow"
	TryMutants = "mutants"
	tryResults = "results"
)

// Results of an experiment.
const (
	Holds    = "holds"
	Fails    = "fails"
	NotTried = "not_tried"
)

// Why code that fails tests as they were holds all the same.
const (
	renamed = "renamed" // nothing but names differs
	meant   = "meant"   // the lap is about other behaviour
	unfit   = "unfit"   // they cannot be built with it any more
)

// Variants runs a gate on variants of an attempt's tree, in a clean tree: what they say is what happened, and
// not how the source reads.
type Variants struct {
	*Bench
	Req  session.JudgeRequest
	Out  *session.Judgement
	Gate workflows.Gate // whose tests the lap is about
	// Tests are those of the lap that passed, by their ids of now.
	Tests []session.TestID
	runs  int
	spent int64
	files map[session.Tree][]File // see Since
}

// Trial are the experiments with one attempt that passes.
type Trial struct {
	Variants
	// asked is what the gate said of the code with the frozen tests, nil when it was not asked or could not say.
	asked *session.GateResult
	ran   *gate.Run
	with  session.Tree // that it ran on
	// gone: tests are gone, for which the attempt fails unless it is acquitted: what there is now is worth as much.
	gone, acquitted bool
}

// Experiment tries what a judgement that passes is worth, and makes it fail where the experiments say so. An attempt
// that fails for nothing but tests that are gone is tried in the same way: they may have become others.
func (b *Bench) Experiment(ctx context.Context, r session.JudgeRequest, out *session.Judgement) ([]report.Failure,
	error) {
	gone := goneOnly(out)
	if out.Verdict != session.Pass && len(gone) == 0 {
		return nil, nil
	}
	policy := r.Plan.Workflow.TamperIn(&r.Phase)
	if policy == workflows.TamperOff && len(gone) > 0 { // tests may be edited, and yet not vanish
		r.Frozen = r.LapTree
	}
	t, why, err := b.trials(ctx, r, out)
	if err != nil {
		return nil, err
	}
	if len(gone) > 0 {
		return tryGone(ctx, r, t, why, gone, out)
	}
	passed := *out
	failures, err := tryPassed(ctx, r, t, why)
	if policy == workflows.TamperWarn { // it is named, and no more
		passed.Tampered, passed.Experiments = out.Tampered, out.Experiments
		*out = passed
	}
	return failures, err
}

// tryPassed tries an attempt that passes.
func tryPassed(ctx context.Context, r session.JudgeRequest, t *Trial, why string) ([]report.Failure, error) {
	switch {
	case t == nil || r.Approved:
		return nil, nil
	case why != "":
		return nil, t.untried(ctx, why)
	}
	changed, failures, err := t.passesFrozen(ctx)
	if err != nil || t.Out.Verdict != session.Pass {
		return failures, err
	}
	return nil, t.tryTests(ctx, changed)
}

// tryGone tries an attempt that fails for nothing but tests that are gone. It passes if it is acquitted.
func tryGone(ctx context.Context, r session.JudgeRequest, t *Trial, why string, gone []session.TestID,
	out *session.Judgement) ([]report.Failure, error) {
	failed := *out
	failed.Question = &session.Question{Evidence: []string{failed.Reason}}
	passAll(out, safetext.Listed(gone, "test is gone", "tests are gone"))
	out.Gone = gone
	switch {
	case r.Approved:
		return nil, nil
	case t == nil || why != "":
		*out = failed
		return nil, nil
	}
	t.gone = true
	changed, failures, err := t.passesFrozen(ctx)
	switch {
	case err != nil:
		return nil, err
	case !t.acquitted && out.Class != session.ClassAsked:
		*out = stillFails(failed, out)
		return nil, nil
	case out.Verdict != session.Pass:
		return failures, nil
	}
	return nil, t.tryTests(ctx, changed)
}

// tryTests asks what the tests of an attempt are worth whose code passes the frozen ones.
func (t *Trial) tryTests(ctx context.Context, changed bool) error {
	t.nameFrozen()
	makesPass := !mayRemove(t.Req)
	if t.Req.Plan.Workflow.TamperIn(&t.Req.Phase) == workflows.TamperOff || !makesPass && !changed {
		return nil
	}
	return t.Worth(ctx, makesPass)
}

// nameFrozen takes tests out of the lap's that the frozen ones do not have: nobody expected them.
func (t *Trial) nameFrozen() {
	if t.asked == nil || t.asked.Verdict != session.Pass {
		return
	}
	for i, g := range t.Out.Gates {
		if g.Gate == t.Gate.Name {
			t.Out.Gates[i].Targets = slices.DeleteFunc(g.Targets, func(id session.TestID) bool { return !t.ran.Has(id) })
		}
	}
}

// untried judges an attempt by what it took away from tests, where nothing can be tried: it is told to put that back,
// or a person is asked.
func (t *Trial) untried(ctx context.Context, why string) error {
	t.Tried(TryFrozen, NotTried, why)
	files, err := t.Since(ctx, t.Req.Frozen)
	t.edited(files, why)
	return err
}

// edited holds it against an attempt that it took something away from tests, or changed how they are run, where nobody
// could ask what its code says to them as they were.
func (t *Trial) edited(files []File, why string) {
	for _, f := range slices.Backward(files) {
		if f.Aside && f.Status != "A" && (!report.IsCode(f.Path) || len(experiment.Added(f.After, f.Before)) > 0) {
			t.found(session.FoundEdited, f.Path, "",
				"the code could not be judged with "+testsOf(t.Req)+", which were changed: "+f.Path, why)
		}
	}
	t.Out.Tampered = t.Out.Tampered[:min(len(t.Out.Tampered), session.MaxNamed)]
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
			out.Gates[i].Failing, out.Gates[i].Fingerprint, out.Gates[i].FirstError = nil, "", ""
		}
	}
	SumUp(out)
}

// trials prepares experiments: nil where none belong. why is not "" where they do and cannot be made.
func (b *Bench) trials(ctx context.Context, r session.JudgeRequest,
	out *session.Judgement) (t *Trial, why string, err error) {
	if r.Frozen == "" || r.Phase.WritesTests() {
		return nil, "", nil
	}
	t = &Trial{Variants: Variants{Bench: b, Req: r, Out: out}}
	owner := targetGate(r)
	at := slices.IndexFunc(r.Phase.Gates, func(g workflows.Gate) bool {
		return g.Runs() && g.Format.PerTest() && !g.MayChangeTree && (owner == "" || g.Name == owner)
	})
	switch {
	case at < 0:
		return t, "no gate with per-test results judges here", nil
	case r.Plan.Unproven:
		return t, "clean-proof is off", nil
	}
	t.Gate = r.Phase.Gates[at]
	t.Tests = t.passing(out.Evidence.Gates[t.Gate.Name])
	why, err = b.NoRoom(ctx, r, t.Gate)
	return t, why, err
}

// passing are the tests of the lap that pass: those that it is about, and those that came in it.
func (t *Variants) passing(now session.Tests) []session.TestID {
	start := t.Req.LapStart.Gates[t.Gate.Name]
	return slices.DeleteFunc(report.SortedKeys(now), func(id session.TestID) bool {
		_, had := start[id]
		return now[id] != session.TestPass || id == report.GateID(t.Gate.Name) || had && !ofLap(t.Req, id)
	})
}

// triedLater reports whether the phase after one that writes tests is tried: whether its code passes older tests, and
// whether there are tests that are worth those that are gone.
func (b *Bench) triedLater(ctx context.Context, r session.JudgeRequest) (bool, error) {
	next := r.Plan.Workflow.Phase(r.Phase.On[workflows.Pass])
	if next == nil || r.Plan.Workflow.TamperIn(next) == workflows.TamperOff {
		return false, nil
	}
	r.Phase, r.Frozen = *next, r.Tree
	t, why, err := b.trials(ctx, r, &session.Judgement{Tree: r.Tree})
	return t != nil && why == "", err
}

// asFrozen makes the judgement's results those of the code with the frozen tests: what the attempt's own say is worth
// nothing.
func (t *Trial) asFrozen() []report.Failure {
	t.Out.Gates, t.Out.Evidence.Gates = nil, map[string]session.Tests{}
	if t.asked == nil {
		return nil
	}
	t.asked.TestsOf = t.Req.FrozenAt
	t.Out.Gates = []session.GateResult{*t.asked}
	t.Out.Evidence.Tree, t.Out.Evidence.Gates = t.with, map[string]session.Tests{t.Gate.Name: t.ran.Report.Tests}
	return verdict.Failures(*t.asked, t.ran)
}

// asked is the question that a person answers about findings, when whoever works insists.
func asked(grave []session.Tampering) *session.Question {
	q := &session.Question{}
	for _, t := range grave[:min(len(grave), session.MaxNamed)] {
		if !slices.Contains(q.Paths, t.Path) {
			q.Paths = append(q.Paths, t.Path)
		}
		q.Evidence = append(q.Evidence, process.Shown(t.String()))
	}
	return q
}

// now are the results of the attempt.
func (t *Variants) now() session.Tests { return t.Out.Evidence.Gates[t.Gate.Name] }

// count enters the cost of a run, nil for none.
func (t *Variants) count(run *gate.Run) {
	if run != nil {
		t.runs, t.spent = t.runs+1, t.spent+run.Millis
	}
}

// Tried enters what an experiment said.
func (t *Variants) Tried(kind, result, says string) {
	t.Out.Experiments = append(t.Out.Experiments,
		session.Experiment{Kind: kind, Result: result, Says: t.Secrets.String(says), Runs: t.runs, Millis: t.spent})
	t.runs, t.spent = 0, 0
}

// Cannot enters that an experiment could not be made at all. Only ctx makes an error of that.
func (t *Variants) Cannot(ctx context.Context, kind string, err error) error {
	if ctx.Err() == nil {
		t.Tried(kind, NotTried, "it could not be tried: "+process.Reason(err))
	}
	return ctx.Err()
}

// found makes the judgement fail by what an experiment said. why is told with the verdict, says with the finding. Its
// results are then those of the code with the frozen tests; it returns what those printed that failed.
func (t *Trial) found(kind, path, test, why, says string) []report.Failure {
	t.Out.Tampered = append([]session.Tampering{{Kind: kind, Path: path, Test: t.Secrets.String(test),
		After: t.Secrets.String(says), Grave: true}}, t.Out.Tampered...)
	t.Out.Verdict, t.Out.Class, t.Out.Reason = session.Fail, session.ClassTampered, t.Secrets.String(why)
	if kind != session.FoundCannotFail && kind != session.FoundNotNeeded {
		t.Out.Question = asked(t.Out.Grave())
	}
	return t.asFrozen()
}

// Judge runs the gate on a tree, and judges it with the tests that a request is about.
func (t *Variants) Judge(ctx context.Context, r session.JudgeRequest, tree session.Tree,
	name string) (session.GateResult, *gate.Run, error) {
	var err error
	r.Tree = tree
	if r.Changed, err = t.Changes(ctx, r.LapTree, tree); err != nil {
		return session.GateResult{}, nil, err
	}
	g := t.Gate
	g.Where, g.Timeout = workflows.Clean, t.bound(g.Timeout)
	res, run, err := t.JudgeGate(ctx, g, gate.On{Tree: tree, Dir: r.RunDir, Name: name}, r, t.Files(ctx, r))
	t.count(run)
	return res, run, err
}

// ask makes the judgement a question: only a person can tell.
func (t *Trial) ask(paths []string, says string) {
	t.Out.Verdict, t.Out.Class, t.Out.Reason = session.Blocked, session.ClassAsked, t.Secrets.String(says)
	t.Out.Question = &session.Question{Paths: paths[:min(len(paths), session.MaxNamed)],
		Evidence: []string{t.Secrets.String(says)}}
}

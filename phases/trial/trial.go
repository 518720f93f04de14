// Package trial checks by experiments whether an attempt really passes. It runs the attempt's code with the tests as
// they were before, and the attempt's tests with other expected values and with changed code.
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

// Kinds of experiments, as logs and events name them.
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

// Further results: the code fails the tests of an earlier state, but for a reason that does not count against the
// attempt.
const (
	renamed = "renamed" // only names differ
	meant   = "meant"   // the lap is about other behaviour
	unfit   = "unfit"   // the tests no longer build with the code
)

// Variants runs a gate on changed copies of an attempt's tree, in a clean checkout. It reports how the tests really
// behave there; it does not guess from the source.
type Variants struct {
	*Bench
	Req  session.JudgeRequest
	Out  *session.Judgement
	Gate workflows.Gate // the gate whose tests the lap is about
	// Tests lists the ids of the lap's tests that passed in the attempt.
	Tests []session.TestID
	runs  int
	spent int64
	files map[session.Tree][]File // the results of Since, by its argument
}

// Trial makes experiments with one attempt that passed.
type Trial struct {
	Variants
	// asked is the gate's result for the attempt's code with the frozen tests (the tests as the phase that wrote them
	// left them). It is nil if there was no such run, or if the run could not be judged.
	asked *session.GateResult
	ran   *gate.Run
	with  session.Tree // the tree of the run in ran
	// gone is set if tests are missing. Such an attempt fails unless acquitted is set as well, which means that its
	// tests are as strong as the missing ones.
	gone, acquitted bool
}

// Experiment makes experiments with an attempt that passed, and fails it if its tests were weakened or check nothing.
// It also tries an attempt that fails only because tests are missing, since other tests may have replaced them. It
// returns the output of failing tests of the run that decided.
func (b *Bench) Experiment(ctx context.Context, r session.JudgeRequest, out *session.Judgement) ([]report.Failure,
	error) {
	gone := goneOnly(out)
	if out.Verdict != session.Pass && len(gone) == 0 {
		return nil, nil
	}
	policy := r.Plan.Workflow.TamperIn(&r.Phase)
	if policy == workflows.TamperOff && len(gone) > 0 { // editing tests is allowed, removing them is not
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
	if policy == workflows.TamperWarn { // report the finding, but let the attempt pass
		passed.Tampered, passed.Experiments = out.Tampered, out.Experiments
		*out = passed
	}
	return failures, err
}

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

// tryGone makes the experiments with an attempt that fails only because tests are missing. The attempt passes if its
// other tests turn out to be as strong as the missing ones.
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

// tryTests checks the attempt's tests themselves, after its code passed the frozen tests. `changed` says whether the
// attempt changed tests.
func (t *Trial) tryTests(ctx context.Context, changed bool) error {
	t.nameFrozen()
	makesPass := !mayRemove(t.Req)
	if t.Req.Plan.Workflow.TamperIn(&t.Req.Phase) == workflows.TamperOff || !makesPass && !changed {
		return nil
	}
	return t.Worth(ctx, makesPass)
}

// nameFrozen removes from the lap's targets all tests that the frozen tests do not have. The lap did not require these
// tests, since they came later.
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

// untried judges an attempt for which no experiment can run, by the lines that it removed from tests. If there are
// any, the attempt fails: the agent must restore them, or a person decides.
func (t *Trial) untried(ctx context.Context, why string) error {
	t.Tried(TryFrozen, NotTried, why)
	files, err := t.Since(ctx, t.Req.Frozen)
	t.edited(files, why)
	return err
}

// edited records a finding for each test file that lost lines and for each changed test setting. It is for attempts
// whose code could not be run with the previous tests.
func (t *Trial) edited(files []File, why string) {
	for _, f := range slices.Backward(files) {
		if f.Aside && f.Status != "A" && (!report.IsCode(f.Path) || len(experiment.Added(f.After, f.Before)) > 0) {
			t.found(session.FoundEdited, f.Path, "",
				"the code could not be judged with "+testsOf(t.Req)+", which were changed: "+f.Path, why)
		}
	}
	t.Out.Tampered = t.Out.Tampered[:min(len(t.Out.Tampered), session.MaxNamed)]
}

// stillFails returns the failed judgement, completed by the experiments made since. The text of the last experiment is
// appended to its reason.
func stillFails(failed session.Judgement, tried *session.Judgement) session.Judgement {
	failed.Experiments = tried.Experiments
	if n := len(failed.Experiments); n > 0 {
		failed.Reason += "; " + failed.Experiments[n-1].Says
	}
	return failed
}

// goneOnly returns the missing tests if the judgement fails only because of them, else nil.
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

// passAll makes a judgement and its failed gates pass. `why` becomes the reason of these gates.
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

// trials prepares the experiments. t is nil if the phase needs none. If it needs them and they cannot run, `why` is the
// reason.
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

// passing returns the lap's tests that pass: its targets, and tests that were absent at the lap's start.
func (t *Variants) passing(now session.Tests) []session.TestID {
	start := t.Req.LapStart.Gates[t.Gate.Name]
	return slices.DeleteFunc(report.SortedKeys(now), func(id session.TestID) bool {
		_, had := start[id]
		return now[id] != session.TestPass || id == report.GateID(t.Gate.Name) || had && !ofLap(t.Req, id)
	})
}

// triedLater reports whether the phase that follows a phase which writes tests makes experiments. These will check that
// the code passes the older tests, and that new tests are as strong as missing ones, so the phase itself need not.
func (b *Bench) triedLater(ctx context.Context, r session.JudgeRequest) (bool, error) {
	next := r.Plan.Workflow.Phase(r.Phase.On[workflows.Pass])
	if next == nil || r.Plan.Workflow.TamperIn(next) == workflows.TamperOff {
		return false, nil
	}
	r.Phase, r.Frozen = *next, r.Tree
	t, why, err := b.trials(ctx, r, &session.Judgement{Tree: r.Tree})
	return t != nil && why == "", err
}

// asFrozen replaces the judgement's results by those of the attempt's code with the frozen tests, because the results
// with the attempt's own tests prove nothing. It returns the output of failing tests of that run.
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

// asked returns a question to a person about findings. It is asked only if the agent insists on its changes of tests.
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

func (t *Variants) now() session.Tests { return t.Out.Evidence.Gates[t.Gate.Name] }

// count adds the duration of a run to the cost of the current experiment. The run may be nil.
func (t *Variants) count(run *gate.Run) {
	if run != nil {
		t.runs, t.spent = t.runs+1, t.spent+run.Millis
	}
}

// Tried records the result of an experiment and the cost of its runs.
func (t *Variants) Tried(kind, result, says string) {
	t.Out.Experiments = append(t.Out.Experiments,
		session.Experiment{Kind: kind, Result: result, Says: t.Secrets.String(says), Runs: t.runs, Millis: t.spent})
	t.runs, t.spent = 0, 0
}

// Cannot records that an experiment could not run because of err. It returns an error only if ctx has ended.
func (t *Variants) Cannot(ctx context.Context, kind string, err error) error {
	if ctx.Err() == nil {
		t.Tried(kind, NotTried, "it could not be tried: "+process.Reason(err))
	}
	return ctx.Err()
}

// found makes the judgement fail because of a finding. `why` becomes the reason of the verdict, `says` the text of the
// finding. The judgement's results become those of the attempt's code with the frozen tests, and found returns the
// output of the tests that fail there.
func (t *Trial) found(kind, path, test, why, says string) []report.Failure {
	t.Out.Tampered = append([]session.Tampering{{Kind: kind, Path: path, Test: t.Secrets.String(test),
		After: t.Secrets.String(says), Grave: true}}, t.Out.Tampered...)
	t.Out.Verdict, t.Out.Class, t.Out.Reason = session.Fail, session.ClassTampered, t.Secrets.String(why)
	if kind != session.FoundCannotFail && kind != session.FoundNotNeeded {
		t.Out.Question = asked(t.Out.Grave())
	}
	return t.asFrozen()
}

// Judge runs the gate on a tree in a clean checkout and judges the results as for request r. `name` is for the names
// of logs.
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

// ask turns the judgement into a question to a person, for cases that wfs cannot decide.
func (t *Trial) ask(paths []string, says string) {
	t.Out.Verdict, t.Out.Class, t.Out.Reason = session.Blocked, session.ClassAsked, t.Secrets.String(says)
	t.Out.Question = &session.Question{Paths: paths[:min(len(paths), session.MaxNamed)],
		Evidence: []string{t.Secrets.String(says)}}
}

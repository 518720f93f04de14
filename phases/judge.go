// Package phases judges one attempt: it applies guards, runs gates, interprets their results and makes experiments.
// It also runs gates on the base beforehand, and proves the finished work.
package phases

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/internal/safetext"
	"github.com/wfs-dev/wfs/phases/gate"
	"github.com/wfs-dev/wfs/phases/process"
	"github.com/wfs-dev/wfs/phases/report"
	"github.com/wfs-dev/wfs/phases/trial"
	"github.com/wfs-dev/wfs/phases/verdict"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
	"github.com/wfs-dev/wfs/workflows/measure"
)

// Judge applies guards and runs gates in a work tree, and judges the results.
type Judge struct {
	trial.Bench
	// Dirty returns the tree of the work tree as it is now. It shows whether a gate changed files.
	Dirty func(ctx context.Context) (session.Tree, error)
	// Links returns the symbolic links of a tree, by path, with their targets.
	Links func(ctx context.Context, tree session.Tree) (map[string]string, error)
	// Bare reports whether a clean checkout of the tree has all files of the work tree. May be nil if that cannot be
	// found out.
	Bare func(ctx context.Context, tree session.Tree) (bool, error)
	// Cold is like Clean, but without files that gates built in earlier checkouts. It is nil if there is no place for
	// such a checkout.
	Cold func(ctx context.Context, tree session.Tree) (session.CleanTree, error)
}

// Judge decides whether an attempt did what its phase asks for. Bad work is a verdict, not an error. An error means
// that it could not decide: a gate could not be started or observed, the work tree could not be read, or ctx ended.
func (j *Judge) Judge(ctx context.Context, r session.JudgeRequest) (session.Judgement, error) {
	out := session.Judgement{Tree: r.Tree, Verdict: session.Pass, Class: session.ClassGreen, Reason: "no gate judged it",
		Evidence: session.Evidence{Tree: r.Tree, Gates: map[string]session.Tests{}}}
	if class, why, paths := j.forbidden(ctx, r); class != "" {
		out.Verdict, out.Class, out.Reason, out.Guarded = session.Fail, class, why, paths
		j.keepFailures(r.RunDir, nil)
		return out, nil
	}
	r.Phase.Gates, out.NotRun = due(r)
	// The results of tests of a gate that does not run stay as they were at the lap's start.
	for _, n := range out.NotRun {
		j.Say("gate " + n.Gate + " not run: " + n.Why)
		out.Evidence.Gates[n.Gate] = trial.StartOf(r, n.Gate)
	}
	if err := j.ChoosePlaces(ctx, &r); err != nil {
		return session.Judgement{}, err
	}
	failures, err := j.runGates(ctx, r, &out)
	if err != nil {
		return session.Judgement{}, err
	}
	if out.Class == session.ClassAsked {
		return out, nil
	}
	oneIsRed(out.Gates)
	trial.SumUp(&out)
	out.Shown, out.Ticked = shown(r, out.Evidence), j.ticked(r)
	nothingAdded(r, &out)
	with, err := j.Experiment(ctx, r, &out)
	if err != nil {
		return session.Judgement{}, err
	}
	if out.Class == session.ClassTampered {
		failures = with
	}
	j.keepFailures(r.RunDir, failures)
	return out, nil
}

// runGates runs the phase's gates, records their results in `out`, and returns the output of failing tests. If the
// packages that a gate needs in a clean checkout have changed, the judgement becomes a question to a person.
func (j *Judge) runGates(ctx context.Context, r session.JudgeRequest, out *session.Judgement) ([]report.Failure,
	error) {
	files := j.Files(ctx, r)
	var failures []report.Failure
	for _, g := range inRunningOrder(r.Phase.Gates) {
		if !g.Runs() {
			out.Gates = append(out.Gates, j.look(ctx, g, r))
			continue
		}
		res, run, err := j.runGate(ctx, g, r, files, out)
		if errors.Is(err, session.ErrOtherPackages) {
			out.Verdict, out.Class, out.Reason = session.Blocked, session.ClassAsked, otherPackages(g.Name, noCopy)
			out.Question = &session.Question{Evidence: []string{out.Reason}, Packages: true}
			out.Gates = nil // no gate has judged
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		var said []report.Failure
		if res.Class != session.ClassNumber { // no test is to blame
			said = verdict.Failures(res, run)
		}
		if res.Verdict != session.Pass && len(said) > 0 {
			res.FirstError = report.FirstError(j.Secrets.String(said[0].Message))
		}
		out.Gates, failures = append(out.Gates, res), append(failures, said...)
		out.Evidence.Gates[g.Name] = run.Report.Tests
		if res.Verdict == session.Blocked {
			break // later gates could not judge either, or would judge another tree
		}
	}
	out.Evidence.Tree = out.Tree
	place := func(res session.GateResult) int {
		return slices.IndexFunc(r.Phase.Gates, func(g workflows.Gate) bool { return g.Name == res.Gate })
	}
	slices.SortStableFunc(out.Gates, func(a, b session.GateResult) int { return place(a) - place(b) })
	return failures, nil
}

// runGate runs a gate on the judgement's tree. If the gate may change the tree, the changed tree becomes the
// judgement's.
func (j *Judge) runGate(ctx context.Context, g workflows.Gate, r session.JudgeRequest, files *verdict.Files,
	out *session.Judgement) (res session.GateResult, run *gate.Run, err error) {
	at, err := j.withoutCode(ctx, g, r)
	if err != nil {
		return res, nil, err
	}
	j.Say("gate " + g.Name + " …")
	if res, run, err = at.JudgeGate(ctx, g, gate.On{Tree: out.Tree, Dir: r.RunDir}, r, files); err != nil {
		return res, nil, err
	}
	if res.Verdict == session.Fail && g.Where == workflows.Clean {
		missed := j.missed(ctx, out.Tree, run, res.Class)
		if res.Reason += missed.text; missed.packages { // a person is asked if the agent insists
			out.Question = &session.Question{Evidence: []string{res.Reason}, Packages: true}
		}
	}
	if lacks := lacking(g, &res, r.BaseNumbers[g.Name]); res.Verdict == session.Pass && lacks != "" {
		res.Verdict, res.Class, res.Reason = session.Fail, session.ClassNumber, lacks
		res.Fingerprint = verdict.Fingerprint(res.Class, nil, map[session.TestID]string{report.GateID(g.Name): lacks})
	}
	tree, err := j.Dirty(ctx)
	if err == nil && tree != out.Tree && !g.MayChangeTree {
		res.Verdict, res.Class = session.Blocked, session.ClassGateChangedTree
		res.Reason = j.changedTree(ctx, out.Tree, tree)
	} else if err == nil {
		out.Tree = tree
	}
	return res, run, err
}

// lacking returns a sentence about the first requirement on a gate's numbers that they do not meet; "" for none. It
// adds those that cannot be judged to the result.
func lacking(g workflows.Gate, res *session.GateResult, base map[string]float64) string {
	for _, text := range g.Require {
		required, _ := measure.Parse(text)
		if lacks := required.Lacks(res.Numbers, base); lacks != "" {
			return lacks
		}
		if required.Unjudged(base) {
			res.Unjudged = append(res.Unjudged, text)
		}
	}
	return ""
}

// nothingAdded completes the reason for the agent if a lap's first phase fails because no test was added or changed.
func nothingAdded(r session.JudgeRequest, out *session.Judgement) {
	w := r.Plan.Workflow
	if out.Class != session.ClassNothingAdded || w.Laps == nil || r.Phase.Name != w.LapStart() {
		return
	}
	for _, c := range r.Own {
		if isWork(c.Path, r) {
			out.Beside = append(out.Beside, c.Path)
		}
	}
	switch {
	case r.NothingLeft == "":
		out.Reason += ", and the agent named no existing test that covers it"
	case len(out.Beside) > 0:
		out.Reason += ", and nothing_left requires that nothing changed: restore " + safetext.Some(out.Beside)
		out.Beside = out.Beside[:min(len(out.Beside), session.MaxNamed)]
	}
}

// forbidden returns the reason why an attempt fails before any gate runs: it changed paths that its phase may not
// change, made a link that points outside the work tree, or wrote a key. class is "" if there is no such reason.
func (j *Judge) forbidden(ctx context.Context, r session.JudgeRequest) (class session.Class, why string,
	paths []string) {
	if paths := guarded(r.Phase.Guards, r.Visit); len(paths) > 0 {
		return session.ClassGuard, fmt.Sprintf("phase %s may not change %s", r.Phase.Name, safetext.Some(paths)),
			paths[:min(len(paths), session.MaxNamed)]
	}
	if path, to := j.leadsOut(ctx, r); path != "" {
		return session.ClassGuard, fmt.Sprintf(
			"%s is a link to %s, outside the work tree: it would be broken for everyone else",
			path, j.Secrets.String(process.Shown(to))), []string{path}
	}
	var names []string
	for _, s := range r.Given {
		names = append(names, fmt.Sprintf("%s (%s)", s.Path, s.Why))
	}
	if len(names) > 0 {
		return session.ClassKey, "the attempt wrote a key: remove it from " + safetext.Some(names) +
			"; if it is not a real key: wfs allow FILE", nil
	}
	return "", "", nil
}

// leadsOut looks for a code file that became a link in this lap and points outside the work tree. It returns the path
// and the target of the link, or "" and "".
func (j *Judge) leadsOut(ctx context.Context, r session.JudgeRequest) (path, to string) {
	links, err := j.Links(ctx, r.Tree)
	if err != nil || r.Approved {
		return "", ""
	}
	for _, c := range r.Changed {
		if to, is := links[c.Path]; is && report.IsCode(c.Path) && c.Status != "D" &&
			(strings.HasPrefix(to, "/") || !filepath.IsLocal(filepath.Join(filepath.Dir(c.Path), to))) {
			return c.Path, to
		}
	}
	return "", ""
}

// inRunningOrder returns the gates with those first that may change the tree, so that the others judge the resulting
// tree.
func inRunningOrder(gates []workflows.Gate) []workflows.Gate {
	still := func(g workflows.Gate) bool { return !g.MayChangeTree }
	moving := func(g workflows.Gate) bool { return g.MayChangeTree }
	return append(slices.DeleteFunc(slices.Clone(gates), still), slices.DeleteFunc(slices.Clone(gates), moving)...)
}

// oneIsRed changes gates that expect red and saw no new test to passed, if another gate saw a new test fail.
func oneIsRed(results []session.GateResult) {
	red := func(g session.GateResult) bool { return g.Expect == string(workflows.ExpectRed) }
	seen := slices.ContainsFunc(results, func(g session.GateResult) bool { return red(g) && g.Verdict == session.Pass })
	for i := range results {
		g := &results[i]
		if seen && red(*g) && (g.Class == session.ClassNothingAdded || g.Class == session.ClassNoTests && g.Exit == 0) {
			g.Verdict, g.Class, g.Reason, g.Fingerprint = session.Pass, session.ClassGreen, "no passing test broke", ""
		}
	}
}

// shown returns the existing test that, according to the agent, covers the item already. It returns "" unless this
// test passed at the lap's start and passes now. If the agent's name for the test matches several, all of them must.
// Gates without per-test results cannot confirm it.
func shown(r session.JudgeRequest, now session.Evidence) session.TestID {
	for _, g := range r.Phase.Gates {
		if r.NothingLeft == "" || g.Expect != workflows.ExpectRed {
			continue
		}
		start, tests := trial.StartOf(r, g.Name), now.Gates[g.Name]
		named := slices.DeleteFunc(report.SortedKeys(tests), func(id session.TestID) bool {
			_, short := report.SplitGo(id)
			return id == report.GateID(g.Name) || short != r.NothingLeft && !verdict.Matches(id, r.NothingLeft)
		})
		if len(named) > 0 && !slices.ContainsFunc(named, func(id session.TestID) bool {
			return tests[id] != session.TestPass || start[id] != session.TestPass || slices.Contains(r.Known, id)
		}) {
			return named[0]
		}
	}
	return ""
}

func (j *Judge) keepFailures(runDir string, list []report.Failure) {
	if err := report.WriteFailures(runDir, list, j.Secrets); err != nil {
		j.Say("could not save the output of the failing tests: " + err.Error())
	}
}

// changedTree returns a sentence with the files that changed while a gate ran.
func (j *Judge) changedTree(ctx context.Context, from, to session.Tree) string {
	what := "files that git does not ignore"
	if changes := j.changesOf(ctx, from, to); len(changes) > 0 {
		paths := make([]string, len(changes))
		for i, c := range changes {
			paths[i] = c.Path
		}
		what = safetext.Some(paths)
	}
	return "the work tree changed while it ran: " + what
}

// changesOf returns the differences between two trees, or none if the trees cannot be read.
func (j *Judge) changesOf(ctx context.Context, from, to session.Tree) []session.Change {
	changes, err := j.Changes(ctx, from, to)
	if err != nil {
		return nil
	}
	return changes
}

package phases

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/internal/proc"
	"github.com/wfs-dev/wfs/internal/safetext"
	"github.com/wfs-dev/wfs/phases/report"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

// Judge runs guards and gates in a work tree and says what they mean.
type Judge struct {
	Bench
	// Dirty returns the work tree's present tree, to see whether a gate changed it.
	Dirty func(ctx context.Context) (session.Tree, error)
	// Links are the symbolic links of a tree, and what they say.
	Links func(ctx context.Context, tree session.Tree) (map[string]string, error)
	// Bare reports whether the work tree has nothing that the clean tree of a tree lacks. nil: it is not asked.
	Bare func(ctx context.Context, tree session.Tree) (bool, error)
	// Cold is Clean without what gates built there before, nil where that cannot be had.
	Cold func(ctx context.Context, tree session.Tree) (session.CleanTree, error)
}

// Judge says whether an attempt did what its phase asks for. Bad work is a verdict; an error means that it could not be
// found out: a gate could not be watched, the work tree not be read, or ctx ended it.
func (j *Judge) Judge(ctx context.Context, r session.JudgeRequest) (session.Judgement, error) {
	out := session.Judgement{Tree: r.Tree, Verdict: session.Pass, Class: session.ClassGreen, Reason: "no gate judged it",
		Evidence: session.Evidence{Tree: r.Tree, Gates: map[string]session.Tests{}}}
	if class, why, paths := j.forbidden(ctx, r); class != "" {
		out.Verdict, out.Class, out.Reason, out.Guarded = session.Fail, class, why, paths
		j.keepFailures(r.RunDir, nil)
		return out, nil
	}
	files := j.lapFiles(ctx, r)
	var failures []report.Failure
	results := map[string]session.GateResult{}
	r.Phase.Gates, out.NotRun = due(r)
	for _, n := range out.NotRun { // what is known of its tests stays known
		j.say("gate " + n.Gate + " not run: " + n.Why)
		out.Evidence.Gates[n.Gate] = startOf(r, n.Gate)
	}
	if err := j.choosePlaces(ctx, &r); err != nil {
		return session.Judgement{}, err
	}
	for _, g := range inRunningOrder(r.Phase.Gates) {
		if !g.Runs() {
			results[g.Name] = j.look(g, r)
			continue
		}
		j.judged = out.Tree
		at, err := j.withoutCode(ctx, g, r)
		if err != nil {
			return session.Judgement{}, err
		}
		j.say("gate " + g.Name + " …")
		res, run, err := at.judgeGate(ctx, g, r, files)
		if errors.Is(err, session.ErrOtherPackages) {
			out.Verdict, out.Class, out.Reason = session.Blocked, session.ClassAsked, otherPackages(g.Name, noCopy)
			out.Question = &session.Question{Evidence: []string{out.Reason}, Packages: true}
			return out, nil
		}
		if err != nil {
			return session.Judgement{}, err
		}
		if res.Verdict == session.Fail && g.Where == workflows.Clean {
			missed := j.missed(ctx, out.Tree, run, res.Class)
			if res.Reason += missed.text; missed.packages { // who insists is asked about
				out.Question = &session.Question{Evidence: []string{res.Reason}, Packages: true}
			}
		}
		tree, err := j.Dirty(ctx)
		if err != nil {
			return session.Judgement{}, err
		}
		if tree != out.Tree && !g.MayChangeTree {
			res.Verdict, res.Class = session.Blocked, session.ClassGateChangedTree
			res.Reason = j.changedTree(ctx, out.Tree, tree)
		} else {
			out.Tree = tree
		}
		said := failuresOf(res, run)
		if res.Verdict != session.Pass && len(said) > 0 {
			res.FirstError = report.FirstError(j.Secrets.String(said[0].Message))
		}
		results[g.Name] = res
		out.Evidence.Gates[g.Name] = run.report.Tests
		failures = append(failures, said...)
		if res.Verdict == session.Blocked {
			break // what follows could not be judged either, or on another tree
		}
	}
	out.Evidence.Tree = out.Tree
	for _, g := range r.Phase.Gates {
		if res, ok := results[g.Name]; ok {
			out.Gates = append(out.Gates, res)
		}
	}
	oneIsRed(out.Gates)
	sumUp(&out)
	out.Shown, out.Ticked = shown(r, out.Evidence), j.ticked(r)
	if w := r.Plan.Workflow; out.Class == session.ClassNothingAdded && w.Laps != nil && r.Phase.Name == w.Start {
		for _, c := range r.Own {
			if isWork(c.Path, r) {
				out.Beside = append(out.Beside, c.Path)
			}
		}
		switch {
		case r.NothingLeft == "":
			out.Reason += ", and the agent named no existing test that covers it"
		case len(out.Beside) > 0:
			out.Reason += ", and nothing_left requires that nothing changed: restore " + some(out.Beside)
			out.Beside = out.Beside[:min(len(out.Beside), session.MaxNamed)]
		}
	}
	with, err := j.experiment(ctx, r, &out)
	if err != nil {
		return session.Judgement{}, err
	}
	if out.Class == session.ClassTampered {
		failures = with
	}
	j.keepFailures(r.RunDir, failures)
	return out, nil
}

// forbidden says what an attempt has done for which it fails before any gate runs: it changed paths that are not for
// its phase, made a link that leads out of the work tree, or wrote a key. class is "" when it has not.
func (j *Judge) forbidden(ctx context.Context, r session.JudgeRequest) (class session.Class, why string,
	paths []string) {
	if paths := guarded(r.Phase.Guards, r.Visit); len(paths) > 0 {
		return session.ClassGuard, fmt.Sprintf("phase %s may not change %s", r.Phase.Name, some(paths)),
			paths[:min(len(paths), session.MaxNamed)]
	}
	if path, to := j.leadsOut(ctx, r); path != "" {
		return session.ClassGuard, fmt.Sprintf(
			"%s is a link to %s, outside the work tree: it would be broken for everyone else",
			path, j.Secrets.String(safetext.Line(to, maxShown))), []string{path}
	}
	var names []string
	for _, s := range r.Given {
		names = append(names, fmt.Sprintf("%s (%s)", s.Path, s.Why))
	}
	if len(names) > 0 {
		return session.ClassKey, "the attempt wrote a key: remove it from " + some(names) +
			"; if it is not a real key: wfs allow FILE", nil
	}
	return "", "", nil
}

// leadsOut is a file of code that was made a link in this lap and leads out of the work tree, and where to. "" without
// one.
func (j *Judge) leadsOut(ctx context.Context, r session.JudgeRequest) (path, to string) {
	links, err := j.Links(ctx, r.Tree)
	if err != nil || r.Approved {
		return "", ""
	}
	for _, c := range r.Changed {
		if to, is := links[c.Path]; is && isCode(c.Path) && c.Status != "D" &&
			(strings.HasPrefix(to, "/") || !filepath.IsLocal(filepath.Join(filepath.Dir(c.Path), to))) {
			return c.Path, to
		}
	}
	return "", ""
}

// inRunningOrder puts gates that may change the tree first: the others then judge the tree that they left.
func inRunningOrder(gates []workflows.Gate) []workflows.Gate {
	still := func(g workflows.Gate) bool { return !g.MayChangeTree }
	moving := func(g workflows.Gate) bool { return g.MayChangeTree }
	return append(slices.DeleteFunc(slices.Clone(gates), still), slices.DeleteFunc(slices.Clone(gates), moving)...)
}

// oneIsRed takes a gate that expects red and saw nothing new for passed when the new test is another one's.
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

// shown is the test that the run named as showing what is wanted, if it was there at the lap's start and passed
// then and now. Where several are meant all of them do. Gates that cannot tell tests apart show nothing.
func shown(r session.JudgeRequest, now session.Evidence) session.TestID {
	for _, g := range r.Phase.Gates {
		if r.NothingLeft == "" || g.Expect != workflows.ExpectRed {
			continue
		}
		start := startOf(r, g.Name)
		var named []session.TestID
		for _, id := range sortedKeys(now.Gates[g.Name]) {
			if _, short := report.SplitGo(id); id != gateID(g.Name) && (short == r.NothingLeft || matches(id, r.NothingLeft)) {
				named = append(named, id)
			}
		}
		if len(named) > 0 && !slices.ContainsFunc(named, func(id session.TestID) bool {
			return now.Gates[g.Name][id] != session.TestPass || start[id] != session.TestPass || slices.Contains(r.Known, id)
		}) {
			return named[0]
		}
	}
	return ""
}

// sumUp takes the judgement's verdict from its gates: the worst decides, the first of those speaks.
func sumUp(out *session.Judgement) {
	rank := func(v session.Verdict) int {
		return slices.Index([]session.Verdict{session.Pass, session.Fail, session.Blocked}, v)
	}
	for i, g := range out.Gates {
		// What passes by a look at the tree alone says less than what ran.
		looked := i > 0 && rank(g.Verdict) == rank(out.Verdict) && out.Gates[i-1].Where == session.InTree
		if i == 0 || rank(g.Verdict) > rank(out.Verdict) || looked && g.Verdict == session.Pass {
			out.Verdict, out.Class, out.Reason = g.Verdict, g.Class, g.Reason
			if g.Verdict != session.Pass {
				out.Reason = g.Spoken()
			}
		}
		// A phase that passes because tests fail as intended says so, whichever gate came first.
		if out.Verdict == session.Pass && g.Expect == string(workflows.ExpectRed) {
			out.Class, out.Reason = g.Class, g.Reason
		}
	}
}

// judgeGate runs one gate and judges its results. What is flaky is found out by further runs on the same tree.
func (b *Bench) judgeGate(ctx context.Context, g workflows.Gate, r session.JudgeRequest,
	files *lapFiles) (session.GateResult, *gateRun, error) {
	run, err := b.runGate(ctx, g, r.RunDir, b.anew)
	if err != nil {
		return session.GateResult{}, nil, err
	}
	l := newLap(run, startOf(r, g.Name), r.Known, files)
	l.gone = r.Gone
	if owner := targetGate(r); owner == "" || owner == g.Name {
		l.targets, l.expected = r.Targets, r.Expected
	}
	f, err := doubts{b, g, r, l, run}.settled(ctx)
	if err != nil {
		return session.GateResult{}, nil, err
	}
	return f.result(run), run, nil
}

// startOf are a gate's results at the lap's start, else on the base.
func startOf(r session.JudgeRequest, gate string) session.Tests {
	if tests := r.LapStart.Gates[gate]; tests != nil {
		return tests
	}
	return r.Baseline.Gates[gate]
}

// targetGate names the gate whose tests a lap is about; others with results by test know nothing of them.
func targetGate(r session.JudgeRequest) string { return cmp.Or(r.TargetsOf, redGate(r.Plan.Workflow)) }

// redGate names the first gate that expects red.
func redGate(w workflows.Workflow) string {
	for _, p := range w.Phases {
		for _, g := range p.Gates {
			if g.Expect == workflows.ExpectRed {
				return g.Name
			}
		}
	}
	return ""
}

// passedAgain takes the second run's word for tests that failed in the first, and returns those that passed in it.
func (l *lap) passedAgain(failed []session.TestID, again *gateRun) []session.TestID {
	if !again.ran() || again.changed != "" {
		return nil
	}
	var flaky []session.TestID
	for _, id := range failed {
		if again.report.Tests[id] != session.TestPass {
			continue
		}
		flaky = append(flaky, id)
		l.now.Tests[id] = session.TestPass
		// Their parents failed with them; they passed in the second run as well if nothing else fails below them.
		for p := report.Parent(id); p != "" && again.report.Tests[p] == session.TestPass; p = report.Parent(p) {
			l.now.Tests[p] = session.TestPass
		}
	}
	l.index = nil
	return flaky
}

// judge says what a run means, before anything is known about the tree that it left.
func (l *lap) judge(g *gateRun) finding {
	could := finding{verdict: session.Blocked, class: session.ClassInfraError}
	switch {
	case g.Astray() != "": // it was not on the base, so that the attempt is the likelier cause
		f := finding{verdict: session.Fail, class: session.ClassLeadsBack, failing: []session.TestID{gateID(g.gate.Name)},
			reason: g.Astray()}
		if g.leads == nil {
			f.class = session.ClassRoomChanged
		}
		return f
	case g.ended == proc.Timeout:
		// It ran in time on the base, so that the attempt is the likelier cause. It is neither red nor green.
		return finding{verdict: session.Fail, class: session.ClassTimeout, failing: []session.TestID{gateID(g.gate.Name)},
			reason: fmt.Sprintf("the command did not finish within %s", g.gate.Timeout)}
	case g.ended == proc.NotStarted:
		could.reason = "the command could not be started"
		return could
	case !g.ran():
		could.reason = cmp.Or(g.notInstalled(), fmt.Sprintf("the command could not run (exit code %d)", g.exit))
		return could
	case g.gate.Format.PerTest() && g.exit != 0 && len(g.report.Tests) == 0 && g.toolMissing() != "":
		could.reason = cmp.Or(g.notInstalled(), "the command could not run: "+g.toolMissing())
		return could
	case !g.gate.Format.PerTest() && g.gate.Expect == workflows.ExpectRed:
		could.reason = "its output has no per-test results, so wfs cannot see whether a new test fails"
		return could
	case !g.gate.Format.PerTest():
		return byExit(g, l.known[gateID(l.gate)])
	case g.gate.Expect == workflows.ExpectRed:
		return judgeRed(l)
	}
	return judgeGreen(l)
}

func byExit(g *gateRun, known bool) finding {
	id := gateID(g.gate.Name)
	switch {
	case g.exit == 0:
		return finding{verdict: session.Pass, class: session.ClassGreen, reason: "the command exited with code 0"}
	case known:
		// One exit code cannot tell the session's failures from older ones, so nothing was shown: not green, and the
		// agent may well be able to mend it.
		return finding{verdict: session.Fail, class: session.ClassCommandFailed, knownRed: []session.TestID{id},
			reason: fmt.Sprintf("the command exited with code %d, as it did before the session began", g.exit)}
	}
	return finding{verdict: session.Fail, class: session.ClassCommandFailed, failing: []session.TestID{id},
		reason: fmt.Sprintf("the command exited with code %d", g.exit)}
}

// result is a finding about a run as the session keeps it.
func (f finding) result(g *gateRun) session.GateResult {
	r := session.GateResult{Gate: g.gate.Name, Where: string(cmp.Or(g.gate.Where, workflows.InPlace)),
		Expect: string(g.gate.Expect), Verdict: f.verdict, Class: f.class,
		Reason: f.reason, Exit: g.exit, Millis: g.millis, Counts: countApart(g.report.Tests, f.flaky, g.gate.Name),
		Failing:  named(f.failing),
		KnownRed: named(f.knownRed), Flaky: named(f.flaky), Targets: f.targets, Expected: f.expected, Passing: f.passing}
	if f.verdict != session.Pass {
		r.Fingerprint = fingerprint(f.class, f.failing, g.report.Messages)
	}
	return r
}

// lacks reports whether a test did not run.
func (g *gateRun) lacks(id session.TestID) bool { return !g.has(id) }

func (g *gateRun) has(id session.TestID) bool { _, ran := g.report.Tests[id]; return ran }

func named(ids []session.TestID) []session.TestID {
	ids = sortedOnce(slices.Clone(ids))
	return ids[:min(len(ids), session.MaxNamed)]
}

// failuresOf are what a gate's failing tests printed, those that are held against the attempt first.
func failuresOf(res session.GateResult, run *gateRun) []report.Failure {
	var out []report.Failure
	add := func(id session.TestID) {
		if s := run.report.Tests[id]; !slices.ContainsFunc(out, func(f report.Failure) bool { return f.Test == id }) {
			message := run.report.Messages[id]
			if s == "" {
				s = session.TestError
				if run.exit == 0 { // otherwise what the gate printed may say why
					message = "It did not run."
				}
			}
			out = append(out, report.Failure{Gate: res.Gate, Test: id, Status: s, Message: message, Log: run.log})
		}
	}
	for _, id := range res.Failing {
		add(id)
	}
	switch res.Class {
	case session.ClassNothingAdded, session.ClassUnexpectedGreen:
		return out // the reason says it all; what a green run prints would only distract
	}
	if res.Verdict != session.Pass && len(out) == 0 {
		out = append(out, report.Failure{Gate: res.Gate, Test: gateID(res.Gate), Status: session.TestError,
			Message: strings.Join(run.quoted(), "\n"), Log: run.log})
	}
	if len(out) > 0 && out[0].Message == "" {
		out[0].Message = strings.Join(run.quoted(), "\n")
	}
	return out
}

// quoted is what a gate printed last, or why it could not be started.
func (g *gateRun) quoted() []string {
	if g.started != "" {
		return append(slices.Clone(g.printed), g.started)
	}
	return g.printed
}

func (j *Judge) keepFailures(runDir string, list []report.Failure) {
	if err := report.WriteFailures(runDir, list, j.Secrets); err != nil {
		j.say("could not save the output of the failing tests: " + err.Error())
	}
}

// changedTree says what changed while a gate ran.
func (j *Judge) changedTree(ctx context.Context, from, to session.Tree) string {
	what := "files that git does not ignore"
	if changes := j.changesOf(ctx, from, to); len(changes) > 0 {
		paths := make([]string, len(changes))
		for i, c := range changes {
			paths[i] = c.Path
		}
		what = some(paths)
	}
	return "the work tree changed while it ran: " + what
}

// changesOf lists what differs, nothing when that cannot be found out.
func (j *Judge) changesOf(ctx context.Context, from, to session.Tree) []session.Change {
	changes, err := j.Changes(ctx, from, to)
	if err != nil {
		return nil
	}
	return changes
}

func (j *GateRunner) say(line string) {
	if j.Report != nil {
		j.Report(j.Secrets.String(line))
	}
}

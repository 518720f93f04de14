package phases

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/internal/holdout"
	"github.com/wfs-dev/wfs/internal/proc"
	"github.com/wfs-dev/wfs/internal/testpaths"
	"github.com/wfs-dev/wfs/phases/report"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

// Holdout runs gates in a clean tree with hold-out tests put over it, which is what Clean makes here. Known are
// tests whose failures say nothing, LapStart what the gates said without those files, when that is known.
// RunDir is a directory that whoever works is not told of: it holds what the gates print.
//
// notes are for the person alone: they name tests. On the base, where nothing is done yet, they name what waits for
// something that does not exist, and what fails for a reason of its own. Only ctx makes an error.
func (j *Judge) Holdout(ctx context.Context, r session.JudgeRequest, laid holdout.Pack,
	base bool) (out session.HoldoutResult, notes []string, err error) {
	h := &heldRun{j: j, laid: laid, base: base, replaced: map[string]bool{}}
	for _, f := range laid {
		old, err := j.Show(ctx, r.Tree, f.Path)
		h.replaced[f.Path] = err == nil && old != nil
	}
	out = session.HoldoutResult{Tree: r.Tree, Digest: r.Plan.Holdout.Digest}
	j.judged = r.Tree
	cannot := func(gate, why string) (session.HoldoutResult, []string, error) {
		out.Verdict, out.Reason = session.Blocked, "the hold-out tests could not run: gate "+gate+": "+why
		return out, h.notes, nil
	}
	asked := false
	for _, g := range r.Phase.Gates {
		if !g.Runs() || g.MayChangeTree {
			continue
		}
		asked = true
		g.Where, g.Expect, g.Stable = workflows.Clean, workflows.ExpectPass, 0
		j.say("gate " + g.Name + " with hold-out tests …")
		run, err := j.runGate(ctx, g, r.RunDir, false)
		if ctx.Err() != nil {
			return out, nil, ctx.Err()
		}
		if err != nil {
			return cannot(g.Name, reason(err))
		}
		out.Millis += run.millis
		if why := heldCannot(run); why != "" {
			return cannot(g.Name, why)
		}
		if err := h.judge(ctx, g, r, run, &out); err != nil {
			return out, nil, err
		}
	}
	if !asked {
		out.Verdict, out.Reason = session.Blocked, "the hold-out tests could not run: no gate runs a command"
		return out, nil, nil
	}
	out.NotRun = len(h.silent)
	for _, path := range h.silent {
		h.notes = append(h.notes, "no test of "+path+" ran")
	}
	out.Concludes()
	if r.Plan.Holdout.Reveal == workflows.RevealNames {
		out.Failing = named(h.failing)
	}
	j.keepFailures(r.RunDir, h.failures)
	return out, h.notes, nil
}

// heldCannot says why a run with hold-out tests says nothing about the tree, in words that quote nothing. A
// gate that does not end has judged: it ended without those files.
func heldCannot(g *gateRun) string {
	switch {
	case g.changed != "":
		return "the command changed installed packages"
	case g.leads != nil:
		return g.Astray()
	case g.ended == proc.NotStarted:
		return "the command could not be started"
	case g.ended != proc.Timeout && !g.ran():
		return fmt.Sprintf("the command could not run (exit code %d)", g.exit)
	case g.gate.Format.PerTest() && g.exit != 0 && len(g.report.Tests) == 0 && g.toolMissing() != "":
		return "the command could not run: what it needs is not installed"
	}
	return ""
}

// heldRun collects what several gates said with hold-out tests.
type heldRun struct {
	j        *Judge
	laid     holdout.Pack
	base     bool
	replaced map[string]bool // files of the tree that hold-out tests stand in place of

	failing  []session.TestID
	failures []report.Failure
	silent   []string // files whose tests no gate ran
	asked    bool     // silent is what the gates so far left over
	notes    []string
}

// judge counts what one gate said. What fails is run once more, and counts if it fails again.
func (h *heldRun) judge(ctx context.Context, g workflows.Gate, r session.JudgeRequest, run *gateRun,
	out *session.HoldoutResult) error {
	if run.ended == proc.Timeout || !g.Format.PerTest() {
		if run.ended == proc.Exited && run.exit == 0 {
			out.Passed++
			return nil
		}
		out.Failed++
		if h.base && run.ended == proc.Timeout {
			h.notes = append(h.notes, fmt.Sprintf("gate %s does not finish within %s with the hold-out tests", g.Name,
				g.Timeout))
		}
		h.fails(run, gateID(g.Name))
		return nil
	}
	plain := r.LapStart.Gates[g.Name]
	l := newLap(run, plain, r.Known, &lapFiles{now: func(string) []byte { return nil }})
	own := h.owned(run, plain)
	bad := h.bad(l, own)
	if len(bad) > 0 && !h.base {
		again, err := h.j.runGate(ctx, g, r.RunDir, true)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err == nil { // what is flaky is not held against anybody
			l.passedAgain(bad, again)
			bad = slices.DeleteFunc(bad, run.passes)
		}
	}
	if len(run.report.Tests) == 0 && run.exit != 0 && !run.report.NoTests { // it ended before it reported any
		bad = append(bad, gateID(g.Name))
	}
	for id, s := range run.report.Tests {
		if s == session.TestPass && (own[id] != "" || len(plain) > 0 && plain[id] == "") {
			out.Passed++
		}
	}
	out.Failed += len(bad)
	h.fails(run, bad...)
	h.left(run, own)
	return nil
}

func (h *heldRun) fails(run *gateRun, ids ...session.TestID) {
	h.failing = append(h.failing, ids...)
	res := session.GateResult{Gate: run.gate.Name, Verdict: session.Fail, Failing: ids}
	if len(ids) > 0 {
		h.failures = append(h.failures, failuresOf(res, run)...)
	}
}

// bad are the tests that fail and are not excused, without those that fail because of their subtests. On the
// base what fails is wanted, and what fails for a reason of its own is noted.
func (h *heldRun) bad(l *lap, own map[session.TestID]string) []session.TestID {
	var list []session.TestID
	for _, id := range sortedKeys(l.now.Tests) {
		s := l.now.Tests[id]
		if !bad(s) || l.known[id] || l.hasFailingSubtest(id) || id == gateID(l.gate) && len(list) > 0 {
			continue
		}
		list = append(list, id)
		if _, had := l.start[id]; h.base && had && l.start[id] == session.TestPass && own[id] == "" && !l.now.IsBroken(id) {
			h.notes = append(h.notes, string(id)+" passes on the base, and fails together with the hold-out tests")
		}
	}
	for _, b := range l.now.Broken {
		if !h.base || l.known[b.Unit] || bad(l.start[b.Unit]) {
			continue
		}
		what := cmp.Or(b.File, string(b.Unit))
		if b.Missing != "" { // what the work is to make, or a library that nobody has installed: a person can tell
			h.notes = append(h.notes, what+" cannot run: "+b.Missing+" is not defined yet")
			continue
		}
		lines := strings.Split(strings.TrimSpace(b.Message), "\n")
		why := lines[0]
		if last := lines[len(lines)-1]; strings.Contains(last, "Error") { // Python's tracebacks end with what they are about
			why = last
		}
		h.notes = append(h.notes, what+" has an error of its own: "+why)
	}
	return list
}

// owned are the tests of a run that hold-out files bring, and the file. Those that ran without them are others of the
// same name, unless the file stands in place of another.
func (h *heldRun) owned(run *gateRun, plain session.Tests) map[session.TestID]string {
	own := map[session.TestID]string{}
	for _, f := range h.laid {
		for id := range run.report.Tests {
			if _, had := plain[id]; had && !h.replaced[f.Path] {
				continue
			}
			pkg, _ := report.SplitGo(id)
			isGo := strings.HasSuffix(f.Path, "_test.go")
			where := run.report.Files[id]
			if isGo != (pkg != "") || isGo && !inPackage(f.Path, pkg) || where != "" && !report.SameFile(f.Path, where) {
				continue
			}
			if report.SameFile(f.Path, where) || belongs(id, f.Path) ||
				slices.ContainsFunc(declaredNames(id), func(n string) bool { return hasWord(f.Data, n) }) {
				own[id] = f.Path
			}
		}
	}
	return own
}

// left finds the files with tests none of which any gate so far has run. What cannot be built or loaded has
// been counted.
func (h *heldRun) left(run *gateRun, own map[session.TestID]string) {
	var silent []string
	for _, f := range h.laid {
		if h.asked && !slices.Contains(h.silent, f.Path) {
			continue // another gate ran it
		}
		ran := !testpaths.IsTest(f.Path)
		for id, path := range own {
			ran = ran || path == f.Path && run.report.Tests[id] != session.TestSkip
		}
		for _, b := range run.report.Broken {
			ran = ran || b.Build || b.File != "" && report.SameFile(f.Path, b.File) || strings.HasSuffix(f.Path, ".go") &&
				inPackage(f.Path, string(b.Unit))
		}
		if !ran && !(len(run.report.Tests) == 0 && run.exit != 0) {
			silent = append(silent, f.Path)
		}
	}
	h.silent, h.asked = silent, true
}

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
	"github.com/wfs-dev/wfs/phases/gate"
	"github.com/wfs-dev/wfs/phases/process"
	"github.com/wfs-dev/wfs/phases/report"
	"github.com/wfs-dev/wfs/phases/verdict"
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
	j.Judged = r.Tree
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
		j.Say("gate " + g.Name + " with hold-out tests …")
		run, err := j.Run(ctx, g, r.RunDir, false)
		if ctx.Err() != nil {
			return out, nil, ctx.Err()
		}
		if err != nil {
			return cannot(g.Name, process.Reason(err))
		}
		out.Millis += run.Millis
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
		out.Failing = verdict.Named(h.failing)
	}
	j.keepFailures(r.RunDir, h.failures)
	return out, h.notes, nil
}

// heldCannot says why a run with hold-out tests says nothing about the tree, in words that quote nothing. A
// gate that does not end has judged: it ended without those files.
func heldCannot(g *gate.Run) string {
	switch {
	case g.Changed != "":
		return "the command changed installed packages"
	case g.Leads != nil:
		return g.Astray()
	case g.Ended == proc.NotStarted:
		return "the command could not be started"
	case g.Ended != proc.Timeout && !g.Ran():
		return fmt.Sprintf("the command could not run (exit code %d)", g.Exit)
	case g.Gate.Format.PerTest() && g.Exit != 0 && len(g.Report.Tests) == 0 && g.ToolMissing() != "":
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
func (h *heldRun) judge(ctx context.Context, g workflows.Gate, r session.JudgeRequest, run *gate.Run,
	out *session.HoldoutResult) error {
	if run.Ended == proc.Timeout || !g.Format.PerTest() {
		if run.Ended == proc.Exited && run.Exit == 0 {
			out.Passed++
			return nil
		}
		out.Failed++
		if h.base && run.Ended == proc.Timeout {
			h.notes = append(h.notes, fmt.Sprintf("gate %s does not finish within %s with the hold-out tests", g.Name,
				g.Timeout))
		}
		h.fails(run, report.GateID(g.Name))
		return nil
	}
	plain := r.LapStart.Gates[g.Name]
	l := verdict.New(run, plain, r.Known, &verdict.Files{Now: func(string) []byte { return nil }})
	own := h.owned(run, plain)
	bad := h.bad(l, own)
	if len(bad) > 0 && !h.base {
		again, err := h.j.Run(ctx, g, r.RunDir, true)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err == nil { // what is flaky is not held against anybody
			l.PassedAgain(bad, again)
			bad = slices.DeleteFunc(bad, run.Passes)
		}
	}
	if len(run.Report.Tests) == 0 && run.Exit != 0 && !run.Report.NoTests { // it ended before it reported any
		bad = append(bad, report.GateID(g.Name))
	}
	for id, s := range run.Report.Tests {
		if s == session.TestPass && (own[id] != "" || len(plain) > 0 && plain[id] == "") {
			out.Passed++
		}
	}
	out.Failed += len(bad)
	h.fails(run, bad...)
	h.left(run, own)
	return nil
}

func (h *heldRun) fails(run *gate.Run, ids ...session.TestID) {
	h.failing = append(h.failing, ids...)
	res := session.GateResult{Gate: run.Gate.Name, Verdict: session.Fail, Failing: ids}
	if len(ids) > 0 {
		h.failures = append(h.failures, verdict.Failures(res, run)...)
	}
}

// bad are the tests that fail and are not excused, without those that fail because of their subtests. On the
// base what fails is wanted, and what fails for a reason of its own is noted.
func (h *heldRun) bad(l *verdict.Lap, own map[session.TestID]string) []session.TestID {
	var list []session.TestID
	for _, id := range report.SortedKeys(l.Now.Tests) {
		s := l.Now.Tests[id]
		if !report.Bad(s) || l.Known[id] || l.HasFailingSubtest(id) || id == report.GateID(l.Gate) && len(list) > 0 {
			continue
		}
		list = append(list, id)
		if _, had := l.Start[id]; h.base && had && l.Start[id] == session.TestPass && own[id] == "" && !l.Now.IsBroken(id) {
			h.notes = append(h.notes, string(id)+" passes on the base, and fails together with the hold-out tests")
		}
	}
	for _, b := range l.Now.Broken {
		if !h.base || l.Known[b.Unit] || report.Bad(l.Start[b.Unit]) {
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
func (h *heldRun) owned(run *gate.Run, plain session.Tests) map[session.TestID]string {
	own := map[session.TestID]string{}
	for _, f := range h.laid {
		for id := range run.Report.Tests {
			if _, had := plain[id]; had && !h.replaced[f.Path] {
				continue
			}
			pkg, _ := report.SplitGo(id)
			isGo := strings.HasSuffix(f.Path, "_test.go")
			where := run.Report.Files[id]
			if isGo != (pkg != "") || isGo && !verdict.InPackage(f.Path, pkg) || where != "" && !report.SameFile(f.Path, where) {
				continue
			}
			if report.SameFile(f.Path, where) || verdict.Belongs(id, f.Path) ||
				slices.ContainsFunc(verdict.DeclaredNames(id), func(n string) bool { return verdict.HasWord(f.Data, n) }) {
				own[id] = f.Path
			}
		}
	}
	return own
}

// left finds the files with tests none of which any gate so far has run. What cannot be built or loaded has
// been counted.
func (h *heldRun) left(run *gate.Run, own map[session.TestID]string) {
	var silent []string
	for _, f := range h.laid {
		if h.asked && !slices.Contains(h.silent, f.Path) {
			continue // another gate ran it
		}
		ran := !testpaths.IsTest(f.Path)
		for id, path := range own {
			ran = ran || path == f.Path && run.Report.Tests[id] != session.TestSkip
		}
		for _, b := range run.Report.Broken {
			ran = ran || b.Build || b.File != "" && report.SameFile(f.Path, b.File) || strings.HasSuffix(f.Path, ".go") &&
				verdict.InPackage(f.Path, string(b.Unit))
		}
		if !ran && !(len(run.Report.Tests) == 0 && run.Exit != 0) {
			silent = append(silent, f.Path)
		}
	}
	h.silent, h.asked = silent, true
}

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

// Holdout runs gates in a clean checkout with hold-out tests on top; Clean must return such a checkout. In r, Known
// are tests whose failures are ignored, and LapStart has the gates' results without the hold-out files, if known.
// RunDir is a directory that the agent does not know: it receives the gates' output.
//
// notes are for the user only, because they name tests. On the base, where nothing is done yet, they name definitions
// that hold-out tests wait for, and tests that fail for another reason. An error means that ctx has ended.
func (j *Judge) Holdout(ctx context.Context, r session.JudgeRequest, laid holdout.Pack,
	base bool) (out session.HoldoutResult, notes []string, err error) {
	h := &heldRun{j: j, r: r, laid: laid, base: base, replaced: map[string]bool{},
		out: session.HoldoutResult{Tree: r.Tree, Digest: r.Plan.Holdout.Digest}}
	for _, f := range laid {
		old, err := j.Show(ctx, r.Tree, f.Path)
		h.replaced[f.Path] = err == nil && old != nil
	}
	gates := slices.DeleteFunc(slices.Clone(r.Phase.Gates), func(g workflows.Gate) bool {
		return !g.Runs() || g.MayChangeTree
	})
	cannot := "no gate runs a command"
	for _, g := range gates {
		if cannot, err = h.run(ctx, g); err != nil {
			return h.out, nil, err
		} else if cannot != "" {
			cannot = "gate " + g.Name + ": " + cannot
			break
		}
	}
	if cannot != "" {
		h.out.Verdict, h.out.Reason = session.Blocked, "the hold-out tests could not run: "+cannot
		return h.out, h.notes, nil
	}
	h.out.NotRun = len(h.silent)
	for _, path := range h.silent {
		h.notes = append(h.notes, "no test of "+path+" ran")
	}
	h.out.Concludes()
	if r.Plan.Holdout.Reveal == workflows.RevealNames {
		h.out.Failing = verdict.Named(h.failing)
	}
	j.keepFailures(r.RunDir, h.failures)
	return h.out, h.notes, nil
}

// run runs one gate. cannot is the reason if the gate cannot judge.
func (h *heldRun) run(ctx context.Context, g workflows.Gate) (cannot string, err error) {
	g.Where, g.Expect, g.Stable = workflows.Clean, workflows.ExpectPass, 0
	h.j.Say("gate " + g.Name + " with hold-out tests …")
	run, err := h.j.Run(ctx, g, gate.On{Tree: h.r.Tree, Dir: h.r.RunDir})
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	if err != nil {
		return process.Reason(err), nil
	}
	h.out.Millis += run.Millis
	if why := heldCannot(run); why != "" {
		return why, nil
	}
	return "", h.judge(ctx, g, run)
}

// heldCannot says why a run with hold-out tests proves nothing, without quoting output. A timeout is a result:
// without the hold-out files the gate finished in time.
func heldCannot(g *gate.Run) string {
	switch {
	case g.Changed != "":
		return "the command changed installed packages"
	case g.Leads != nil:
		return g.Astray()
	case g.Unable() != "":
		return "the command " + g.Unable()
	case g.Silent() && g.ToolMissing() != "":
		return "the command could not run: what it needs is not installed"
	}
	return ""
}

// heldRun collects the results of several gates with hold-out tests.
type heldRun struct {
	j        *Judge
	r        session.JudgeRequest
	laid     holdout.Pack
	base     bool
	replaced map[string]bool // files of the tree that hold-out tests replace

	out      session.HoldoutResult
	failing  []session.TestID
	failures []report.Failure
	silent   []string // files whose tests no gate has run so far
	asked    bool     // a gate with per-test results has run
	notes    []string
}

// judge counts the results of one gate. Failing tests run once more, and count if they fail again.
func (h *heldRun) judge(ctx context.Context, g workflows.Gate, run *gate.Run) error {
	if run.Ended == proc.Timeout || !g.Format.PerTest() {
		h.byExit(g, run)
		return nil
	}
	plain := h.r.LapStart.Gates[g.Name]
	l := verdict.New(run, plain, h.r.Known, &verdict.Files{Now: func(string) []byte { return nil }})
	own := h.owned(run, plain)
	bad := failingOnce(l)
	if h.base {
		h.noteBase(l, bad, own)
	} else if len(bad) > 0 {
		again, err := h.j.Run(ctx, g, gate.On{Tree: h.r.Tree, Dir: h.r.RunDir, Anew: true})
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err == nil { // flaky tests are ignored
			l.PassedAgain(bad, again)
			bad = slices.DeleteFunc(bad, run.Passes)
		}
	}
	if run.Silent() && !run.Report.NoTests { // it ended before it reported a test
		bad = append(bad, report.GateID(g.Name))
	}
	for id := range run.Report.Tests {
		if run.Passes(id) && (own[id] != "" || len(plain) > 0 && plain[id] == "") {
			h.out.Passed++
		}
	}
	h.out.Failed += len(bad)
	h.fails(run, bad...)
	h.left(run, own)
	return nil
}

// byExit counts a gate whose per-test results are unknown.
func (h *heldRun) byExit(g workflows.Gate, run *gate.Run) {
	if run.Ended == proc.Exited && run.Exit == 0 {
		h.out.Passed++
		return
	}
	h.out.Failed++
	if h.base && run.Ended == proc.Timeout {
		h.notes = append(h.notes, fmt.Sprintf("gate %s does not finish within %s with the hold-out tests", g.Name,
			g.Timeout))
	}
	h.fails(run, report.GateID(g.Name))
}

func (h *heldRun) fails(run *gate.Run, ids ...session.TestID) {
	h.failing = append(h.failing, ids...)
	res := session.GateResult{Gate: run.Gate.Name, Verdict: session.Fail, Failing: ids}
	if len(ids) > 0 {
		h.failures = append(h.failures, verdict.Failures(res, run)...)
	}
}

// failingOnce returns the tests that fail unexpectedly, without those that fail only because of their subtests.
func failingOnce(l *verdict.Lap) []session.TestID {
	var list []session.TestID
	for _, id := range report.SortedKeys(l.Now.Tests) {
		explained := l.HasFailingSubtest(id) || id == report.GateID(l.Gate) && len(list) > 0
		if report.Bad(l.Now.Tests[id]) && !l.Known[id] && !explained {
			list = append(list, id)
		}
	}
	return list
}

// noteBase notes oddities on the base, where hold-out tests should fail: other tests that fail together with them,
// and files that cannot be built or loaded.
func (h *heldRun) noteBase(l *verdict.Lap, bad []session.TestID, own map[session.TestID]string) {
	for _, id := range bad {
		if l.Start[id] == session.TestPass && own[id] == "" && !l.Now.IsBroken(id) {
			h.notes = append(h.notes, string(id)+" passes on the base, and fails together with the hold-out tests")
		}
	}
	for _, b := range l.Now.Broken {
		if l.Known[b.Unit] || report.Bad(l.Start[b.Unit]) {
			continue
		}
		what := cmp.Or(b.File, string(b.Unit))
		if b.Missing != "" { // code still to be written, or a library not installed: a person can tell
			h.notes = append(h.notes, what+" cannot run: "+b.Missing+" is not defined yet")
			continue
		}
		lines := strings.Split(strings.TrimSpace(b.Message), "\n")
		why := lines[0]
		if last := lines[len(lines)-1]; strings.Contains(last, "Error") { // Python tracebacks end with the error
			why = last
		}
		h.notes = append(h.notes, what+" has an error of its own: "+why)
	}
}

// owned maps tests of a run to the hold-out file that contains them. A test that also ran without the files is
// another one of that name, unless the hold-out file replaces a file.
func (h *heldRun) owned(run *gate.Run, plain session.Tests) map[session.TestID]string {
	own := map[session.TestID]string{}
	for _, f := range h.laid {
		for id := range run.Report.Tests {
			if _, had := plain[id]; (!had || h.replaced[f.Path]) && brings(f, id, run.Report.Files[id]) {
				own[id] = f.Path
			}
		}
	}
	return own
}

// brings reports whether a hold-out file contains a test, given the test's id and the file that the runner reports.
func brings(f holdout.File, id session.TestID, where string) bool {
	pkg, _ := report.SplitGo(id)
	isGo := strings.HasSuffix(f.Path, "_test.go")
	switch {
	case isGo != (pkg != ""), isGo && !verdict.InPackage(f.Path, pkg):
		return false
	case where != "":
		return report.SameFile(f.Path, where)
	}
	return verdict.Belongs(id, f.Path) ||
		slices.ContainsFunc(verdict.DeclaredNames(id), func(n string) bool { return verdict.HasWord(f.Data, n) })
}

// left removes from silent the files with tests that a gate has run. Files that did not build or load were counted
// already.
func (h *heldRun) left(run *gate.Run, own map[session.TestID]string) {
	for _, f := range h.laid {
		if !h.asked && testpaths.IsTest(f.Path) {
			h.silent = append(h.silent, f.Path)
		}
	}
	h.asked = true
	h.silent = slices.DeleteFunc(h.silent, func(path string) bool {
		for id, of := range own {
			if of == path && run.Report.Tests[id] != session.TestSkip {
				return true
			}
		}
		return run.Silent() || slices.ContainsFunc(run.Report.Broken,
			func(b report.Breakage) bool { return mayHold(b, path) })
	})
}

// mayHold reports whether a file may belong to a unit that could not be built or loaded.
func mayHold(b report.Breakage, path string) bool {
	return b.Build || b.File != "" && report.SameFile(path, b.File) ||
		strings.HasSuffix(path, ".go") && verdict.InPackage(path, string(b.Unit))
}

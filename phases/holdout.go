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

// Holdout runs gates in a clean checkout to which the hold-out tests have been added. These are tests that the agent
// does not know. Clean must return such a checkout. In r, Known lists tests whose failures are ignored, LapStart has
// the gates' results without the hold-out files, if known, and RunDir is a directory for the gates' output that the
// agent does not know.
//
// notes are for the user only, because they name tests. If `base` is set, the tree is the base, where the hold-out
// tests should fail: the notes then name definitions that hold-out tests need and that do not exist yet, and tests
// that fail for another reason. An error means that ctx has ended.
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

// run runs one gate with the hold-out tests. If the gate cannot judge, `cannot` is the reason, else "".
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

// heldCannot returns the reason why a run with hold-out tests proves nothing; "" if it is a result. It quotes no
// output. A timeout is a result, because the gate finished in time without the hold-out files.
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
	replaced map[string]bool // paths of hold-out files that replace a file of the tree

	out      session.HoldoutResult
	failing  []session.TestID
	failures []report.Failure
	silent   []string // hold-out files of which no test has run so far
	asked    bool     // set once a gate with per-test results has run
	notes    []string
}

// judge counts the results of one gate. Failing tests run once more, and count only if they fail again.
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
		if err == nil { // tests that pass now are flaky, and ignored
			l.PassedAgain(bad, again)
			bad = slices.DeleteFunc(bad, run.Passes)
		}
	}
	if run.Silent() && !run.Report.NoTests { // the runner failed before it reported a test
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

// byExit counts a gate by its exit code, as one passing or failing test, because its per-test results are unknown.
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

// failingOnce returns the tests that fail unexpectedly. It leaves out tests that fail only because their subtests fail.
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

// noteBase adds notes about the run on the base, where hold-out tests should fail because their code is missing. It
// notes other tests that fail only if the hold-out tests are there, and hold-out files that cannot be built or loaded.
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
		// The name may be code that is still to be written, or a library that is not installed. A person can tell.
		if b.Missing != "" {
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

// owned maps each hold-out test of a run to the path of its hold-out file. A test that also ran without the hold-out
// files is another test with the same name, unless the hold-out file replaces a file of the tree.
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

// brings reports whether a hold-out file contains a test. `where` is the file of the test according to the runner, ""
// if unknown.
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

// left removes from h.silent the hold-out files of which a test has run in this gate. It also removes files that could
// not be built or loaded, because they were counted as failures already.
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

// mayHold reports whether a file may be part of a unit that could not be built or loaded.
func mayHold(b report.Breakage, path string) bool {
	return b.Build || b.File != "" && report.SameFile(path, b.File) ||
		strings.HasSuffix(path, ".go") && verdict.InPackage(path, string(b.Unit))
}

package phases

import (
	"context"
	"fmt"
	"slices"

	"github.com/wfs-dev/wfs/internal/tamper"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

// withFrozen says what the frozen tests say of the code of an attempt that changed them: gates run on its tree with those
// tests put over it. The attempt has failed whatever they say; who goes on learns whether the code is right. The reason of
// the judgement tells it, or why nobody could ask. Only ctx makes an error.
func (j *Judge) withFrozen(ctx context.Context, r session.JudgeRequest, out *session.Judgement, rep tamper.Report) ([]Failure, error) {
	failures, says, err := j.askFrozen(ctx, r, out, rep)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		out.Gates, out.Evidence.Gates, failures = nil, map[string]session.Tests{}, nil
		says = "what " + testsOf(r) + " say of the code could not be found out: " + reason(err)
	}
	out.Reason += "; " + says
	return failures, nil
}

func (j *Judge) askFrozen(ctx context.Context, r session.JudgeRequest, out *session.Judgement, rep tamper.Report) ([]Failure, string, error) {
	not := func(why string) ([]Failure, string, error) {
		return nil, "the code was not judged with " + testsOf(r) + ": " + why, nil
	}
	switch {
	case r.Plan.Unproven:
		return not("clean-proof is off")
	case j.Overlay == nil || j.Clean == nil:
		return not("there is no place for a clean tree")
	}
	changes, err := j.Changes(ctx, r.Frozen, r.Tree)
	if err != nil {
		return nil, "", err
	}
	paths, mixed := frozenPaths(changes, rep)
	if mixed != "" {
		return not("what was changed in " + mixed + " is not only tests")
	}
	tree, err := j.Overlay(ctx, r.Tree, r.Frozen, paths)
	if err != nil {
		return nil, "", err
	}
	if tree == r.Frozen {
		return nil, "nothing but tests was changed: with " + testsOf(r) + " the code is what it was there", nil
	}
	r.Tree = tree
	if r.Changed, err = j.Changes(ctx, r.LapTree, tree); err != nil {
		return nil, "", err
	}
	at := *j
	at.judged = tree
	var failures []Failure
	says, missed, failed := "with "+testsOf(r)+" the code passes", "", false
	for _, g := range r.Phase.Gates {
		if !g.Runs() || g.MayChangeTree {
			continue
		}
		j.say("gate " + g.Name + " with " + testsOf(r) + " …")
		res, run, err := at.frozenGate(ctx, g, r)
		if err != nil {
			return nil, "", err
		}
		if why := couldNot(run, res); why != "" {
			missed = "; gate " + g.Name + " could not judge them: " + why
			continue
		}
		res.TestsOf = r.FrozenAt
		out.Gates = append(out.Gates, res)
		out.Evidence.Tree, out.Evidence.Gates[g.Name] = tree, run.report.tests
		failures = append(failures, j.failures(res, run)...)
		if res.Verdict != session.Pass && !failed {
			failed = true
			says = "with " + testsOf(r) + " the code fails gate " + g.Name + ": " + res.Reason
		}
	}
	if len(out.Gates) == 0 {
		says = "nothing is known of the code with " + testsOf(r)
	}
	return failures, says + missed, nil
}

// frozenGate runs one gate in the clean tree of the tree with frozen tests. One that runs in place otherwise, and fails, may
// want what lies in the work tree beside the tree.
func (j *Judge) frozenGate(ctx context.Context, g workflows.Gate, r session.JudgeRequest) (session.GateResult, *gateRun, error) {
	inPlace := g.Where != workflows.Clean
	g.Where = workflows.Clean
	run := func(j *Judge) (session.GateResult, *gateRun, error) {
		files := j.lapFiles(ctx, r)
		if shown := j.shown(ctx, r.Tree); shown != nil {
			files.now = func(path string) []byte { data, _ := shown(path); return data }
		}
		return j.judgeGate(ctx, g, r, files)
	}
	res, done, err := run(j)
	if err != nil || res.Verdict == session.Pass || !inPlace || j.Whole == nil {
		if err == nil {
			j.keep(done.key, done, done.found)
		}
		return res, done, err
	}
	whole := *j
	whole.Clean = j.Whole
	again, second, err := run(&whole)
	if err != nil {
		return res, done, nil // what is known is the first
	}
	if _, err := j.Clean(ctx, r.Tree); err != nil { // what was brought may be secret
		return res, done, err
	}
	return again, second, nil
}

// frozenPaths are the paths that are put back before an attempt that changed tests is judged: all that hold tests or what
// those read, and of what says how they are run that which was found. mixed is a file in which something was found and that
// holds more than tests: with it put back the code would not be the attempt's.
func frozenPaths(changes []session.Change, rep tamper.Report) (paths []string, mixed string) {
	for _, c := range changes {
		if tamper.HoldsTests(c.Path) {
			paths = append(paths, c.Path)
		}
	}
	for _, f := range rep.Findings {
		switch {
		case !f.Grave, slices.Contains(paths, f.Path):
		case tamper.AboutTests(f.Path), f.Kind == tamper.Gate:
			paths = append(paths, f.Path)
		default:
			return nil, f.Path
		}
	}
	return paths, ""
}

// testsOf names the frozen tests.
func testsOf(r session.JudgeRequest) string {
	if r.FrozenAt == nil {
		return "the tests as they were"
	}
	return fmt.Sprintf("the tests of checkpoint %d", *r.FrozenAt)
}

package phases

import (
	"context"
	"slices"

	"github.com/wfs-dev/wfs/internal/testpaths"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

// withOldTests runs a gate on the code of an attempt that writes tests, with the tests as they were at the lap's start.
// What fails there was broken by the code. What fails only with the tests of now asks for something else since they
// were changed. nil where that cannot be tried.
func (j *Judge) withOldTests(ctx context.Context, g workflows.Gate, r session.JudgeRequest) (*gateRun, error) {
	if r.Plan.Unproven {
		return nil, nil
	}
	if why, err := j.noRoom(ctx, r, g); err != nil || why != "" {
		return nil, err
	}
	was := lapStart(r)
	t := &trials{Judge: j, r: r, out: &session.Judgement{Tree: r.Tree}, gate: g}
	files, err := t.since(ctx, was)
	if err != nil {
		return nil, err
	}
	paths, _ := asideOf(files)
	for _, f := range files { // data may be what tests read, wherever it lies
		if !f.aside && !isCode(f.Path) && !testpaths.IsManifest(f.Path) && !testpaths.IsDocument(f.Path) {
			paths = append(paths, f.Path)
		}
	}
	tree, err := t.withTests(ctx, was, files, paths)
	if err != nil {
		return nil, err
	}
	j.say("gate " + g.Name + " with the former tests …")
	run, err := t.alter(ctx, tree, "older", nil)
	if err != nil || !run.ran() {
		return nil, ctx.Err()
	}
	return run, nil
}

// asChanged judges RED anew where older tests fail, or cannot be built: by those that pass with the code as it is, and
// the tests as they were, the attempt has done what RED asks for.
func (j *Judge) asChanged(ctx context.Context, g workflows.Gate, r session.JudgeRequest, l *lap, run *gateRun,
	f finding, failing []session.TestID) (finding, error) {
	if g.Expect != workflows.ExpectRed || len(failing)+len(f.expected) == 0 {
		return f, nil
	}
	if l.files.onlyTests() {
		if len(failing) == 0 {
			return f, nil
		}
		l.different = failing
		return run.judge(l), nil
	}
	old, err := j.withOldTests(ctx, g, r)
	if err != nil || old == nil {
		return f, err
	}
	l.old = old.report
	l.different = slices.DeleteFunc(slices.Clone(failing), func(id session.TestID) bool {
		return old.report.tests[id] != session.TestPass
	})
	return run.judge(l), nil
}

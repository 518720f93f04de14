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
func (d doubts) withOldTests(ctx context.Context) (*gateRun, error) {
	if d.r.Plan.Unproven {
		return nil, nil
	}
	if why, err := d.noRoom(ctx, d.r, d.gate); err != nil || why != "" {
		return nil, err
	}
	was := lapStart(d.r)
	t := &variants{Bench: d.Bench, r: d.r, out: &session.Judgement{Tree: d.r.Tree}, gate: d.gate}
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
	d.say("gate " + d.gate.Name + " with the former tests …")
	run, err := t.alter(ctx, tree, "older", nil)
	if err != nil || !run.ran() {
		return nil, ctx.Err()
	}
	return run, nil
}

// asChanged judges RED anew where older tests fail, or cannot be built: by those that pass with the code as it is, and
// the tests as they were, the attempt has done what RED asks for.
func (d doubts) asChanged(ctx context.Context, f finding, failing []session.TestID) (finding, error) {
	if d.gate.Expect != workflows.ExpectRed || len(failing)+len(f.expected) == 0 {
		return f, nil
	}
	if d.lap.files.onlyTests() {
		if len(failing) > 0 {
			d.lap.different = failing
			f = d.lap.judge(d.run)
		}
		return f, nil
	}
	old, err := d.withOldTests(ctx)
	if err != nil || old == nil {
		return f, err
	}
	d.lap.old = old.report
	d.lap.different = slices.DeleteFunc(slices.Clone(failing), func(id session.TestID) bool { return !old.passes(id) })
	return d.lap.judge(d.run), nil
}

package trial

import (
	"context"

	"github.com/wfs-dev/wfs/internal/testpaths"
	"github.com/wfs-dev/wfs/phases/gate"
	"github.com/wfs-dev/wfs/phases/report"
	"github.com/wfs-dev/wfs/phases/verdict"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

// withOldTests runs a gate on the code of an attempt that writes tests, but with the tests of the lap's start. Tests
// that fail there were broken by the code. Tests that pass there, and fail in their present version, expect something
// else now. It returns nil if the gate cannot run.
func (d doubts) withOldTests(ctx context.Context) (*gate.Run, error) {
	if d.r.Plan.Unproven {
		return nil, nil
	}
	if why, err := d.NoRoom(ctx, d.r, d.gate); err != nil || why != "" {
		return nil, err
	}
	was := lapStart(d.r)
	t := &Variants{Bench: d.Bench, Req: d.r, Out: &session.Judgement{Tree: d.r.Tree}, Gate: d.gate}
	files, err := t.Since(ctx, was)
	if err != nil {
		return nil, err
	}
	paths, _ := AsideOf(files)
	for _, f := range files { // tests may read data from any path
		if !f.Aside && !report.IsCode(f.Path) && !testpaths.IsManifest(f.Path) && !testpaths.IsDocument(f.Path) {
			paths = append(paths, f.Path)
		}
	}
	tree, err := t.WithTests(ctx, was, files, paths)
	if err != nil {
		return nil, err
	}
	d.Say("gate " + d.gate.Name + " with the former tests …")
	run, err := t.Alter(ctx, tree, "older", nil)
	if err != nil || !run.Ran() {
		return nil, ctx.Err()
	}
	return run, nil
}

// asChanged judges a run again in which older tests fail or do not build, if the gate expects red. If the previous
// version of such a test passes with the attempt's code, the test was changed on purpose, as the phase requires. If the
// previous version fails too though no code changed, or nothing changed that the test may use, it fails by chance: it
// neither is the failing test that the phase requires, nor broken.
func (d doubts) asChanged(ctx context.Context, f verdict.Finding, failing []session.TestID) (verdict.Finding, error) {
	onlyTests := d.lap.Files.OnlyTests()
	if d.gate.Expect != workflows.ExpectRed || len(failing) == 0 && (onlyTests || len(f.Expected) == 0) {
		return f, nil
	}
	old, err := d.withOldTests(ctx)
	if err != nil || old == nil && !onlyTests {
		return f, err
	}
	if old != nil {
		d.lap.Old = old.Report
	}
	for _, id := range failing {
		switch passes := old == nil || old.Passes(id); {
		case passes && !d.lap.Files.Elsewhere(id, d.lap.Now.Files[id]):
			d.lap.Different = append(d.lap.Different, id)
		case passes || onlyTests:
			d.lap.Excused = append(d.lap.Excused, id)
		}
	}
	f = d.lap.Judge(d.run)
	f.Flaky = d.lap.Excused
	return f, nil
}

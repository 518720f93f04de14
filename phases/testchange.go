package phases

import (
	"context"

	"github.com/wfs-dev/wfs/internal/testpaths"
	"github.com/wfs-dev/wfs/phases/trial"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

// withoutCode returns the bench for a gate that expects red after the work went back to change a test. The code for
// the previous test would make the changed one pass at once, so the tests run on the tree of the lap's start. Without
// a place for that, it returns the judge's own bench.
func (j *Judge) withoutCode(ctx context.Context, g workflows.Gate, r session.JudgeRequest) (*trial.Bench, error) {
	if !r.TestChange || g.Expect != workflows.ExpectRed || j.Clean == nil || r.LapTree == "" {
		return &j.Bench, nil
	}
	var paths []string
	for _, c := range r.Changed {
		if testpaths.AboutTests(c.Path) {
			paths = append(paths, c.Path)
		}
	}
	tree, err := j.Overlay(ctx, r.LapTree, r.Tree, paths)
	if err != nil {
		return nil, err
	}
	at, c, err := j.In(ctx, tree)
	if err != nil || c.LeadsBack != nil {
		return &j.Bench, ctx.Err()
	}
	there := j.Bench
	there.Runner = *at
	return &there, nil
}

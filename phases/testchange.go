package phases

import (
	"context"

	"github.com/wfs-dev/wfs/internal/testpaths"
	"github.com/wfs-dev/wfs/phases/trial"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

// withoutCode returns the bench on which to run a gate that expects red after a later phase sent the work back to
// change a test. With the code that was written for the previous test, the changed test would pass at once. So the
// gate runs on the code of the lap's start with the present tests, in a clean checkout. For all other gates, or if
// there is no clean checkout, it returns the judge's own bench.
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

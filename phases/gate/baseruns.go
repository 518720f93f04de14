package gate

import (
	"context"

	"github.com/wfs-dev/wfs/internal/proc"
	"github.com/wfs-dev/wfs/phases/report"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

// BaseRuns caches those runs of gates on a base in which all tests passed.
type BaseRuns interface {
	Read(ctx context.Context, g workflows.Gate, tree session.Tree) *BaseRun
	Write(ctx context.Context, g workflows.Gate, tree session.Tree, run BaseRun)
}

// BaseRun is a cached run. Alone is set if the gate ran in a clean checkout and need not run in the work tree as well,
// because the work tree has nothing that could change the result.
type BaseRun struct {
	Alone  bool          `json:"alone,omitempty"`
	Millis int64         `json:"millis"`
	Tests  session.Tests `json:"tests"`
	// numbers that the gate read
	Numbers map[string]float64 `json:"numbers,omitempty"`
}

// Recall returns the cached run of a gate on a tree; nil if there is none. It ignores a cached run in which a test
// failed: a test that fails on the base may fail later, too, and a test that failed once by chance would keep this
// permission.
func (j *Rooms) Recall(ctx context.Context, g workflows.Gate, tree session.Tree) *Run {
	if j.Runs == nil {
		return nil
	}
	known := j.Runs.Read(ctx, g, tree)
	if known == nil || !passes(known.Tests) {
		return nil
	}
	run := &Run{Gate: g, Ended: proc.Exited, Millis: known.Millis, Report: report.New(), Cached: true,
		Alone: known.Alone, Numbers: known.Numbers}
	run.Report.Tests = known.Tests
	return run
}

// Remember caches a run on a tree if everything passed in it.
func (j *Rooms) Remember(ctx context.Context, tree session.Tree, run *Run) {
	if j.Runs != nil && !run.Cached && run.Ran() && run.Exit == 0 && passes(run.Report.Tests) {
		j.Runs.Write(ctx, run.Gate, tree, BaseRun{Alone: run.Alone, Millis: run.Millis, Tests: run.Report.Tests,
			Numbers: run.Numbers})
	}
}

func passes(tests session.Tests) bool {
	c := tests.Count()
	return c.Passed > 0 && c.Passed+c.Skipped == c.Total()
}

package gate

import (
	"context"

	"github.com/wfs-dev/wfs/internal/proc"
	"github.com/wfs-dev/wfs/phases/report"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

// BaseRuns remember what gates said about a base on which all their tests passed.
type BaseRuns interface {
	Read(ctx context.Context, g workflows.Gate, tree session.Tree) *BaseRun
	Write(ctx context.Context, g workflows.Gate, tree session.Tree, run BaseRun)
}

// BaseRun is a gate's run in which everything passed. Alone says that nothing else can be found out in the work tree.
type BaseRun struct {
	Alone  bool          `json:"alone,omitempty"`
	Millis int64         `json:"millis"`
	Tests  session.Tests `json:"tests"`
}

// Recall returns a remembered run of a gate, nil when there is none. One with a test that does not pass is not
// believed: it would excuse the test for good.
func (j *Rooms) Recall(ctx context.Context, g workflows.Gate, tree session.Tree) *Run {
	if j.Runs == nil {
		return nil
	}
	known := j.Runs.Read(ctx, g, tree)
	if known == nil || !passes(known.Tests) {
		return nil
	}
	run := &Run{Gate: g, Ended: proc.Exited, Millis: known.Millis, Report: report.New(), Cached: true,
		Alone: known.Alone}
	run.Report.Tests = known.Tests
	return run
}

// Remember keeps a run in which everything passed.
func (j *Rooms) Remember(ctx context.Context, tree session.Tree, run *Run) {
	if j.Runs != nil && !run.Cached && run.Ran() && run.Exit == 0 && passes(run.Report.Tests) {
		j.Runs.Write(ctx, run.Gate, tree, BaseRun{Alone: run.Alone, Millis: run.Millis, Tests: run.Report.Tests})
	}
}

func passes(tests session.Tests) bool {
	c := tests.Count()
	return c.Passed > 0 && c.Passed+c.Skipped == c.Total()
}

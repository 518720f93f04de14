package trial

import (
	"context"
	"fmt"
	"slices"

	"github.com/wfs-dev/wfs/internal/safetext"
	"github.com/wfs-dev/wfs/phases/gate"
	"github.com/wfs-dev/wfs/phases/report"
	"github.com/wfs-dev/wfs/phases/verdict"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

// doubts judges a run of a gate. If the run's meaning is in doubt, it makes further runs.
type doubts struct {
	*Bench
	gate workflows.Gate
	on   gate.On // for further runs: Anew is set
	r    session.JudgeRequest
	lap  *verdict.Lap
	run  *gate.Run
}

// settled judges the run after as many further runs as it needs.
func (d doubts) settled(ctx context.Context) (f verdict.Finding, err error) {
	f = d.lap.Judge(d.run)
	if f.Class == session.ClassBrokeGreen && d.gate.Expect == workflows.ExpectRed &&
		slices.ContainsFunc(f.Failing, d.run.Lacks) {
		if d.lap.Later, err = d.triedLater(ctx, d.r); err != nil {
			return f, err
		}
		f = d.lap.Judge(d.run)
	}
	if len(f.Retry) > 0 {
		f, err = d.again(ctx, f)
	} else if len(f.Expected) > 0 {
		f, err = d.asChanged(ctx, f, nil)
	}
	if err != nil {
		return f, err
	}
	return d.stable(ctx, f)
}

// again decides whether tests that passed before and fail now are broken or flaky, by running them again. If possible
// it first runs these tests alone: a test that fails there is broken, which saves a full run. A test that passes alone
// must also pass together with the others.
func (d doubts) again(ctx context.Context, f verdict.Finding) (verdict.Finding, error) {
	doubtful := f.Retry
	if narrow, ok := d.Alone(d.gate, doubtful); ok {
		d.Say(fmt.Sprintf("gate %s, alone: %s", d.gate.Name, safetext.Some(doubtful)))
		only, err := d.Run(ctx, narrow, d.on)
		if err != nil {
			return f, err
		}
		if broken := failing(only, doubtful); len(broken) > 0 {
			return d.asChanged(ctx, f, broken) // broken tests decide, whether or not the others are flaky
		}
	}
	d.Say(fmt.Sprintf("gate %s again: %s", d.gate.Name, safetext.Some(doubtful)))
	all, err := d.Run(ctx, d.gate, d.on)
	if err != nil {
		return f, err
	}
	flaky := d.lap.PassedAgain(doubtful, all)
	if len(flaky) > 0 {
		f = d.lap.Judge(d.run)
	}
	f, err = d.asChanged(ctx, f, failing(all, doubtful))
	f.Flaky = append(flaky, f.Flaky...)
	return f, err
}

// failing returns those of the ids that fail in a run.
func failing(run *gate.Run, ids []session.TestID) (out []session.TestID) {
	for _, id := range ids {
		if run.Ran() && report.Bad(run.Report.Tests[id]) {
			out = append(out, id)
		}
	}
	return out
}

// stable runs a passing gate as often as the gate requires. A test that does not pass each time is flaky. If the test
// passed at the lap's start, it is only reported. If it is new or a target of the lap, the gate fails.
func (d doubts) stable(ctx context.Context, f verdict.Finding) (verdict.Finding, error) {
	g, l, run := d.gate, d.lap, d.run
	for n := 2; n <= g.Stable && f.Verdict == session.Pass && g.Expect != workflows.ExpectRed; n++ {
		d.Say(fmt.Sprintf("gate %s, run %d of %d …", g.Name, n, g.Stable))
		next, err := d.Run(ctx, g, d.on)
		if err != nil {
			return f, err
		}
		run.Millis += next.Millis
		said := l.AsOf(next).Judge(next)
		if said.Verdict == session.Blocked {
			return said, nil
		}
		if said.Verdict == session.Pass {
			continue
		}
		var held, named []session.TestID
		for _, id := range said.Failing {
			switch before, had := l.Start[id]; {
			case had && before == session.TestPass && !l.IsTargeted(id):
				named = append(named, id)
			default:
				held = append(held, id)
			}
		}
		f.Flaky = report.SortedOnce(append(f.Flaky, said.Failing...))
		if len(held) > 0 || len(named) == 0 {
			f.Verdict, f.Class, f.Failing = session.Fail, session.ClassFlaky, held
			f.Reason = fmt.Sprintf("run %d of %d on the same files had another result: %s", n, g.Stable, said.Reason)
			f.Passing = min(f.Passing, said.Passing)
			run.KeepMessages(next)
		}
	}
	return f, nil
}

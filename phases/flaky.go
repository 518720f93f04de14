package phases

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

// doubts are a gate's run as further runs settle what it means.
type doubts struct {
	*Bench
	gate workflows.Gate
	r    session.JudgeRequest
	lap  *lap
	run  *gateRun
}

// settled says what the run means, after as many further ones as that takes.
func (d doubts) settled(ctx context.Context) (f finding, err error) {
	f = d.lap.judge(d.run)
	if f.class == session.ClassBrokeGreen && d.gate.Expect == workflows.ExpectRed &&
		slices.ContainsFunc(f.failing, d.run.lacks) {
		if d.lap.later, err = d.triedLater(ctx, d.r); err != nil {
			return f, err
		}
		f = d.lap.judge(d.run)
	}
	if len(f.retry) > 0 {
		f, err = d.again(ctx, f)
	} else if len(f.expected) > 0 {
		f, err = d.asChanged(ctx, f, nil)
	}
	if err != nil {
		return f, err
	}
	return d.stable(ctx, f)
}

// again runs tests that were green before and fail, to tell those that are broken from those that do now this and now
// that. Alone first, where that can be had: what fails there is broken, and costs no further run of everything. What
// passes alone must pass beside the others too.
func (d doubts) again(ctx context.Context, f finding) (finding, error) {
	doubtful := f.retry
	if narrow, ok := d.alone(d.gate, doubtful); ok {
		d.say(fmt.Sprintf("gate %s, alone: %s", d.gate.Name, some(doubtful)))
		only, err := d.runGate(ctx, narrow, d.r.RunDir, true)
		if err != nil {
			return f, err
		}
		if broken := failing(only, doubtful); len(broken) > 0 {
			return d.asChanged(ctx, f, broken) // the others do not matter any more
		}
	}
	d.say(fmt.Sprintf("gate %s again: %s", d.gate.Name, some(doubtful)))
	all, err := d.runGate(ctx, d.gate, d.r.RunDir, true)
	if err != nil {
		return f, err
	}
	flaky := d.lap.passedAgain(doubtful, all)
	if len(flaky) > 0 {
		f = d.lap.judge(d.run)
	}
	f, err = d.asChanged(ctx, f, failing(all, doubtful))
	f.flaky = flaky
	return f, err
}

// failing are those of some tests that fail in a run.
func failing(run *gateRun, ids []session.TestID) (out []session.TestID) {
	for _, id := range ids {
		if run.ran() && bad(run.report.Tests[id]) {
			out = append(out, id)
		}
	}
	return out
}

// stable runs a gate that has passed as often as it asks for. A test that does not pass each time is flaky. It is named
// when it was there at the lap's start; one of the lap, or a new one, has not passed.
func (d doubts) stable(ctx context.Context, f finding) (finding, error) {
	g, l, run := d.gate, d.lap, d.run
	for n := 2; n <= g.Stable && f.verdict == session.Pass && g.Expect != workflows.ExpectRed; n++ {
		d.say(fmt.Sprintf("gate %s, run %d of %d …", g.Name, n, g.Stable))
		next, err := d.runGate(ctx, g, d.r.RunDir, true)
		if err != nil {
			return f, err
		}
		run.millis += next.millis
		said := l.asOf(next).judge(next)
		if said.verdict == session.Blocked {
			return said, nil
		}
		if said.verdict == session.Pass {
			continue
		}
		var held, named []session.TestID
		for _, id := range said.failing {
			switch before, had := l.start[id]; {
			case had && before == session.TestPass && !l.isTargeted(id):
				named = append(named, id)
			default:
				held = append(held, id)
			}
		}
		f.flaky = sortedOnce(append(f.flaky, said.failing...))
		if len(held) > 0 || len(named) == 0 {
			f.verdict, f.class, f.failing = session.Fail, session.ClassFlaky, held
			f.reason = fmt.Sprintf("run %d of %d on the same files had another result: %s", n, g.Stable, said.reason)
			f.passing = min(f.passing, said.passing)
			run.keepMessages(next)
		}
	}
	return f, nil
}

// isTargeted reports whether a test is one of the lap's, by its id or in what waited for code.
func (l *lap) isTargeted(id session.TestID) bool {
	return l.about().isTarget[id] || slices.ContainsFunc(l.expected, func(unit string) bool { return belongs(id, unit) })
}

// keepMessages takes over what a later run's failing tests printed.
func (g *gateRun) keepMessages(later *gateRun) {
	for id, text := range later.report.Messages {
		g.report.Say(id, text)
	}
}

// countApart sums a run up. What is flaky is counted apart: it has not passed, whatever it did in the end.
func countApart(tests session.Tests, flaky []session.TestID, gate string) session.Counts {
	all := count(tests, gate)
	if len(flaky) == 0 {
		return all
	}
	sure := maps.Clone(tests)
	for _, id := range flaky {
		delete(sure, id)
	}
	c := count(sure, gate)
	c.Flaky = all.Total() - c.Total()
	return c
}

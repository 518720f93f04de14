package verdict

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/internal/proc"
	"github.com/wfs-dev/wfs/phases/gate"
	"github.com/wfs-dev/wfs/phases/report"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

// CountApart counts the results of a run. It counts flaky tests only as flaky: even if they passed in the end, they
// did not pass reliably.
func CountApart(tests session.Tests, flaky []session.TestID, gate string) session.Counts {
	all := report.Count(tests, gate)
	if len(flaky) == 0 {
		return all
	}
	sure := maps.Clone(tests)
	for _, id := range flaky {
		delete(sure, id)
	}
	c := report.Count(sure, gate)
	c.Flaky = all.Total() - c.Total()
	return c
}

// Result returns the finding about run g as the record that the session stores.
func (f Finding) Result(g *gate.Run) session.GateResult {
	r := session.GateResult{Gate: g.Gate.Name, Where: string(cmp.Or(g.Gate.Where, workflows.InPlace)),
		Expect: string(g.Gate.Expect), Verdict: f.Verdict, Class: f.Class,
		Reason: f.Reason, Exit: g.Exit, Millis: g.Millis, Counts: CountApart(g.Report.Tests, f.Flaky, g.Gate.Name),
		Failing:  Named(f.Failing),
		KnownRed: Named(f.KnownRed), Flaky: Named(f.Flaky), Targets: f.targets, Expected: f.Expected, Passing: f.Passing,
		Numbers: g.Numbers}
	if f.Verdict != session.Pass {
		r.Fingerprint = Fingerprint(f.Class, f.Failing, g.Report.Messages)
	}
	return r
}

// Named returns the tests that a session stores by name: sorted, without duplicates, at most session.MaxNamed.
func Named(ids []session.TestID) []session.TestID {
	ids = report.SortedOnce(slices.Clone(ids))
	return ids[:min(len(ids), session.MaxNamed)]
}

// Failures returns the output of a gate's failing tests. The first ones are the tests that count against the attempt.
func Failures(res session.GateResult, run *gate.Run) []report.Failure {
	var out []report.Failure
	add := func(id session.TestID) {
		if s := run.Report.Tests[id]; !slices.ContainsFunc(out, func(f report.Failure) bool { return f.Test == id }) {
			message := run.Report.Messages[id]
			if s == "" {
				s = session.TestError
				if run.Exit == 0 { // with another exit code the gate's output may say why
					message = "It did not run."
				}
			}
			out = append(out, report.Failure{Gate: res.Gate, Test: id, Status: s, Message: message, Log: run.Log})
		}
	}
	for _, id := range res.Failing {
		add(id)
	}
	switch res.Class {
	case session.ClassNothingAdded, session.ClassUnexpectedGreen:
		return out // the reason is enough; output of passing tests would distract
	}
	if res.Verdict != session.Pass && len(out) == 0 {
		out = append(out, report.Failure{Gate: res.Gate, Test: report.GateID(res.Gate), Status: session.TestError,
			Message: strings.Join(run.Quoted(), "\n"), Log: run.Log})
	}
	if len(out) > 0 && out[0].Message == "" {
		out[0].Message = strings.Join(run.Quoted(), "\n")
	}
	return out
}

// CouldNot returns the reason why a result in a clean checkout proves nothing about the tree; "" if the result is
// valid.
func CouldNot(run *gate.Run, res session.GateResult) string {
	switch {
	case run.Astray() != "", res.Verdict == session.Blocked, run.Ended == proc.Timeout:
		return res.Reason
	}
	return ""
}

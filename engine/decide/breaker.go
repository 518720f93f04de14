package decide

import (
	"fmt"
	"slices"

	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

// BreakerState is the state of the circuit breaker, which stops a phase whose attempts make no progress. It applies to
// the current visit: the attempts in a row at one phase.
type BreakerState string

const (
	BreakerClosed   BreakerState = "closed"
	BreakerHalfOpen BreakerState = "half-open" // one more attempt, told to change its approach: see halfOpen
	BreakerOpen     BreakerState = "open"      // no more attempts
)

const (
	// maxDenied limits the attempts in a row that changed nothing because the agent lacked a permission. A tool call that
	// was refused twice stays refused, since no user is there to permit it.
	maxDenied = 2
	// maxCircles limits how often an attempt may produce the same files as an earlier attempt. Undoing a mistake once is
	// honest work.
	maxCircles = 2
)

// Trip computes the breaker's state from a phase's limits and the visit so far; it is pure. `reason` says which limit
// has opened the breaker, "" for other states. Half-open comes one attempt before open, and never at the first attempt.
func Trip(l workflows.Limits, v session.Visit) (state BreakerState, reason string) {
	l = withDefaults(l)
	stale := maxStale(l)
	switch {
	case v.Denied >= maxDenied:
		return BreakerOpen, fmt.Sprintf("%d attempts in a row changed nothing: the agent's commands were not permitted",
			v.Denied)
	// attempts that completed tasks do not count: a list may have more tasks than that
	case v.Attempts-v.Fewer >= l.Attempts:
		return BreakerOpen, fmt.Sprintf("%d attempts without passing this phase", v.Attempts)
	case v.NoProgress >= l.NoProgress:
		return BreakerOpen, fmt.Sprintf("%d attempts in a row without progress%s", v.NoProgress, idle(v))
	case v.SameFailure >= l.SameFailure:
		return BreakerOpen, fmt.Sprintf("%d attempts in a row failed in the same way", v.SameFailure)
	case v.Circles >= maxCircles:
		return BreakerOpen, fmt.Sprintf("going in circles: %d attempts produced the same files as an earlier one", v.Circles)
	case v.Stale >= stale:
		return BreakerOpen, fmt.Sprintf("%d attempts in a row failed in new ways without getting further", v.Stale)
	case v.Attempts > 0 && (v.NoProgress >= max(l.NoProgress-1, 1) || v.SameFailure >= max(l.SameFailure-1, 1)),
		v.Circles >= maxCircles-1, v.Stale >= stale-1:
		return BreakerHalfOpen, ""
	}
	return BreakerClosed, ""
}

// idle returns the end of a reason: how many of the last attempts without progress did not even change a file, "" for
// none.
func idle(v session.Visit) string {
	switch n := min(v.Idle, v.NoProgress); {
	case n == 0:
		return ""
	case n == v.NoProgress:
		return ": they changed nothing"
	default:
		return fmt.Sprintf(": the last %d changed nothing", n)
	}
}

// maxStale returns how many attempts in a row may fail in new ways without progress. That is twice as many as may make
// no progress at all, since a changing failure is a sign of work, and at least three more.
func maxStale(l workflows.Limits) int { return max(2*l.NoProgress, l.NoProgress+3) }

func withDefaults(l workflows.Limits) workflows.Limits {
	d := workflows.DefaultLimits
	fill := func(n *int, def int) {
		if *n <= 0 {
			*n = def
		}
	}
	fill(&l.Attempts, d.Attempts)
	fill(&l.NoProgress, d.NoProgress)
	fill(&l.SameFailure, d.SameFailure)
	fill(&l.FailedRuns, d.FailedRuns)
	return l
}

// stepOf returns the kind of progress of an attempt, "" for none. It is StepAhead if the attempt's tree fulfils more
// than any earlier tree of this visit, or passes. It is StepMoved if the tree and the failure are new in this visit and
// no test fails that passed before. It is StepLooked if the agent only read files, which counts once per visit.
func stepOf(s *session.Session, j *session.Judgement) session.Step {
	v, run := &s.Visit, s.Open.Run
	switch {
	case j.Verdict == session.Pass:
		return session.StepAhead
	case j.Tree == s.Open.Tree:
		if run != nil && run.Tools > 0 && run.Denials == 0 && !run.Done && v.Looked < maxLooks {
			return session.StepLooked
		}
		return ""
	case v.Known(j.Tree):
		return ""
	}
	seen := slices.Contains(v.Seen, j.Fingerprint())
	r := j.Reached()
	if seen { // the same tests fail as before: tests that the agent added and that pass are no progress
		r.Tests = 0
	}
	switch {
	case (v.Attempts > 0 || r.Targets > 0) && r.Beyond(reached(v)):
		return session.StepAhead
	case !seen && !breaksMore(v, j):
		return session.StepMoved
	}
	return ""
}

// maxLooks is how many attempts of one visit may read without changing files.
const maxLooks = 1

// reached returns the best result of a visit. Best counts as well as High, because an older wfs recorded only Best.
func reached(v *session.Visit) session.Reached {
	r := v.High
	r.Targets = max(r.Targets, v.Best)
	return r
}

// breaksMore reports whether tests fail that did not fail before at this visit. It returns false if tests could not be
// built, because it is unknown then which would fail, and in a phase that expects failing tests, because new failures
// are wanted there.
func breaksMore(v *session.Visit, j *session.Judgement) bool {
	switch j.Class {
	case session.ClassBrokeGreen, session.ClassTargetFailing, session.ClassTargetMissing:
	default:
		return false
	}
	if v.Attempts == 0 || !v.High.Ran || j.Red() != nil {
		return false
	}
	ids, all := j.Failing()
	return all && slices.ContainsFunc(ids, func(id session.TestID) bool { return !slices.Contains(v.Failing, id) })
}

// tripped returns the block of a session whose breaker is open for the reason `why`, with the evidence for the user.
func tripped(s *session.Session, why string) session.BlockedBy {
	evidence := []string{fmt.Sprintf("%s: %s", s.Phase, why)}
	// a reviewer must not change files, so "changed nothing" would be no reason
	if s.Last != nil && s.Last.Class == session.ClassNoReview {
		evidence[0] = fmt.Sprintf("%s: %d attempts without a verdict", s.Phase, s.Visit.Attempts)
	}
	if s.Last != nil {
		evidence = append(evidence, "last: "+s.Last.Reason)
	}
	if s.Review != nil {
		evidence = append(evidence, "the reviewer sent it back"+remarks(s.Review))
	}
	hint := `wfs run --note "what to do differently"`
	if r := s.LastResult; r != nil && (r.Outcome == session.OutcomeDenied || s.Visit.Denied > 0) {
		evidence = append(evidence, "in the last attempt "+Denied(*r)+
			"; add what it needs to agent: allow: in the configuration, then:")
		hint = s.Repin(r.Agent) + " && wfs run"
	}
	return Blocked(session.BlockBreaker, hint, evidence...)
}

// halfOpen returns the phase for the next attempt. With a half-open breaker this attempt is the last, and the workflow
// may name another agent for it. The second result is the name of that agent, "" for the phase's own.
func halfOpen(ph *workflows.Phase, state BreakerState) (*workflows.Phase, string) {
	if state != BreakerHalfOpen {
		return ph, ""
	}
	return By(ph, ph.HalfOpen), ph.HalfOpen
}

// PhaseOf returns the phase of an attempt, with the agent of that attempt. It returns nil if the workflow has no such
// phase.
func PhaseOf(p *workflows.Plan, a session.AttemptStarted) *workflows.Phase {
	if ph := p.Workflow.Phase(a.Phase); ph != nil {
		return By(ph, a.Agent)
	}
	return nil
}

// By returns the phase with the named agent in place of the phase's own agent; "" keeps the phase's own.
func By(ph *workflows.Phase, agent string) *workflows.Phase {
	if agent == "" {
		return ph
	}
	other := *ph
	other.Run.Name = agent
	return &other
}

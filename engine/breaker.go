package engine

import (
	"fmt"

	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

// BreakerState is the circuit breaker's state for the present visit of a phase.
type BreakerState string

const (
	BreakerClosed   BreakerState = "closed"
	BreakerHalfOpen BreakerState = "half-open" // one more attempt, told to take another way
	BreakerOpen     BreakerState = "open"      // stop
)

// Trip is the breaker: a pure function of a phase's limits and of what happened since the phase was entered. reason
// says which limit was met. Half-open comes one attempt before open, and never at the first attempt.
func Trip(l workflows.Limits, v session.Visit) (state BreakerState, reason string) {
	l = withDefaults(l)
	switch {
	case v.Attempts >= l.Attempts:
		return BreakerOpen, fmt.Sprintf("%d attempts at this phase without passing it", v.Attempts)
	case v.NoProgress >= l.NoProgress:
		return BreakerOpen, fmt.Sprintf("%d attempts in a row without progress", v.NoProgress)
	case v.SameFailure >= l.SameFailure:
		return BreakerOpen, fmt.Sprintf("%d attempts in a row failed in the same way", v.SameFailure)
	case v.Attempts > 0 && (v.NoProgress >= max(l.NoProgress-1, 1) || v.SameFailure >= max(l.SameFailure-1, 1)):
		return BreakerHalfOpen, ""
	}
	return BreakerClosed, ""
}

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

// progress reports whether an attempt came closer: it passed, more of the lap's tests pass than ever at this visit, or
// it failed on a tree and in a way that this visit has not seen.
func progress(s *session.Session, j *session.Judgement) bool {
	switch v := s.Visit; {
	case j.Verdict == session.Pass:
		return true
	case j.Tree == s.Open.Tree || contains(v.Trees, j.Tree):
		return false
	case j.Passing() > v.Best:
		return true
	default:
		return !contains(v.Seen, j.Fingerprint())
	}
}

func contains[T comparable](list []T, x T) bool {
	for _, y := range list {
		if x == y {
			return true
		}
	}
	return false
}

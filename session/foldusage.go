package session

import (
	"slices"
	"time"
)

// use counts what an attempt, or a run of it, used up.
func use(s *Session, at time.Time, phase PhaseName, lap int, u Usage) {
	s.Use(at, phase, lap, u)
	s.CostUSD = s.Used.USD.USD()
}

// maxWarned bounds the memory of warnings.
const maxWarned = 50

// applyUsage folds the events of this file. It reports false for others.
func (s *Session) applyUsage(e Event) bool {
	switch b := e.Body.(type) {
	case UsageFound:
		if s.Open == nil || s.Open.RunID != b.RunID || s.Open.Run != nil || s.Open.Found {
			return true // counted already
		}
		open := *s.Open
		open.Found = true
		s.Open = &open
		// else its next run would count this one again
		if c := s.Visit.Conversation; c != nil && c.Total != (Total{}) && !open.HalfOpen {
			again := *c
			again.Total.CostUSD += b.USD.USD()
			again.Total.Tokens = Usage{Tokens: c.Total.Tokens}.Plus(b.Usage).Tokens
			s.Visit.Conversation = &again
		}
		s.Visit.Conversation = b.conversation(s.Visit.Conversation)
		use(s, e.At, open.Phase, open.Lap, b.Usage)
		s.Spent.RunMillis += b.Millis
	case BudgetSet:
		s.Budget = b.Budget.Over(s.Budget)
		if s.Status == StatusBlocked && s.Blocked.Reason == BlockBudget {
			s.Status, s.Blocked, s.Why = StatusPaused, nil, "the budget was set"
		}
		s.hear(b.Request)
	case BudgetWarned:
		warned := append(slices.Clone(s.Warned), b.Key)
		s.Warned = warned[max(0, len(warned)-maxWarned):]
	default:
		return false
	}
	return true
}

// ran counts the run of an attempt.
func (s *Session) ran(e Event, open *Open, b RunEnded) {
	if open.Runner == "person" {
		return
	}
	u := b.Usage()
	if open.Runner != "command" && b.Worked() {
		u.Runs = 1
		if u.USD > 0 {
			u.Priced = 1
		}
	}
	use(s, e.At, open.Phase, open.Lap, u)
	s.Priced(b.Agent, b.Model, u)
	s.hinders(b.RunResult, b.Tree != open.Tree)
	s.LastResult = &b.RunResult
}

// waitsHindered remembers how long runs are waited for that the provider did not let work.
func (s *Session) waitsHindered(b Waiting) {
	switch b.Cause {
	case CauseLimit, CauseRateLimited, CauseOverloaded:
	default:
		return
	}
	if s.Hindered != nil {
		h := *s.Hindered
		h.Waited += max(0, b.Longest)
		s.Hindered = &h
	}
}

// hinders notes whether a run was hindered.
func (s *Session) hinders(r RunResult, changed bool) {
	switch r.Outcome {
	case OutcomeLimit, OutcomeRateLimited, OutcomeOverloaded:
	case OutcomeInterrupted: // says nothing about them
		return
	default:
		s.Hindered = nil
		return
	}
	h := Hindered{Outcome: r.Outcome}
	if s.Hindered != nil && !changed {
		h = *s.Hindered
		h.Outcome = r.Outcome
	}
	h.Runs++
	s.Hindered = &h
}

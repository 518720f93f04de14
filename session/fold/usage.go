package fold

import (
	"slices"
	"time"

	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/session/cost"
)

// use adds usage to the session's account, and updates the total cost.
func use(s *session.Session, at time.Time, phase session.PhaseName, lap int, u cost.Usage) {
	s.Use(at, phase, lap, u)
	s.CostUSD = s.Used.USD.USD()
}

// used folds the usage of runs that were cut off, and changes and warnings of budgets.
func used(s *session.Session, e session.Event) (bool, error) {
	switch b := e.Body.(type) {
	case session.UsageFound:
		usageFound(s, e, b)
	case session.BudgetSet:
		s.Budget = b.Budget.Over(s.Budget)
		if s.Status == session.StatusBlocked && s.Blocked.Reason == session.BlockBudget {
			s.Status, s.Blocked, s.Why = session.StatusPaused, nil, "the budget was set"
		}
		hear(s, b.Request)
	case session.BudgetWarned:
		warned := append(slices.Clone(s.Warned), b.Key)
		s.Warned = warned[max(0, len(warned)-maxWarned):]
	default:
		return false, nil
	}
	return true, nil
}

func usageFound(s *session.Session, e session.Event, b session.UsageFound) {
	if s.Open == nil || s.Open.RunID != b.RunID || s.Open.Run != nil || s.Open.Found {
		return // the usage of this run is already counted
	}
	open := *s.Open
	open.Found = true
	s.Open = &open
	// the agent reports totals of a conversation: without this, the next run would count this run's usage again
	if c := s.Visit.Conversation; c != nil && c.Total != (cost.Total{}) && !open.HalfOpen {
		again := *c
		again.Total.CostUSD += b.USD.USD()
		again.Total.Tokens = cost.Usage{Tokens: c.Total.Tokens}.Plus(b.Usage).Tokens
		s.Visit.Conversation = &again
	}
	s.Visit.Conversation = conversationFound(&b, s.Visit.Conversation)
	use(s, e.At, open.Phase, open.Lap, b.Usage)
	s.Spent.RunMillis += b.Millis
}

// maxWarned is the maximum length of Warned.
const maxWarned = 50

// runEnded adds the usage of an attempt's run to the account.
func runEnded(s *session.Session, e session.Event, open *session.Open, b session.RunEnded) {
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
	hinders(s, b.RunResult, b.Tree != open.Tree)
	s.LastResult = &b.RunResult
}

// waitsHindered adds up the time that the session waits because the provider or the network stopped its runs.
func waitsHindered(s *session.Session, b session.Waiting) {
	switch b.Cause {
	case session.CauseLimit, session.CauseRateLimited, session.CauseOverloaded:
	default:
		return
	}
	if s.Hindered != nil {
		h := *s.Hindered
		h.Waited += max(0, b.Longest)
		s.Hindered = &h
	}
}

// limited remembers the usage limit of an agent in place of its former one.
func limited(s *session.Session, l *session.Limit) {
	if l == nil {
		return
	}
	limits := []session.Limit{*l}
	for _, old := range s.Limits {
		if old.Agent != l.Agent {
			limits = append(limits, old)
		}
	}
	s.Limits = limits
}

// hinders counts a run that the provider or the network stopped. Any other end of a run resets the count, as do changed
// files.
func hinders(s *session.Session, r session.RunResult, changed bool) {
	switch r.Outcome {
	case session.OutcomeLimit, session.OutcomeRateLimited, session.OutcomeOverloaded:
	case session.OutcomeInterrupted: // an interruption says nothing about the provider or the network
		return
	default:
		s.Hindered = nil
		return
	}
	h := session.Hindered{Outcome: r.Outcome}
	if s.Hindered != nil && !changed {
		h = *s.Hindered
		h.Outcome = r.Outcome
	}
	h.Runs++
	s.Hindered = &h
}

package decide

import (
	"cmp"
	"slices"
	"time"

	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

// shortWait is how long a usage limit may last without another agent working meanwhile.
const shortWait = 2 * time.Minute

// Instead returns the usage limit because of which the next attempt is made by the agent that `on-limit` names. It
// returns nil if the phase's own agent works, or must be waited for.
func Instead(s *session.Session, p *workflows.Plan, f Facts) *session.Limit {
	ph := p.Workflow.Phase(s.Phase)
	if ph == nil || !ph.Run.Agent || f.Woken {
		return nil
	}
	state, _ := Trip(ph.Limits, s.Visit)
	own, other := either(p, ph, state == BreakerHalfOpen)
	if l := limitOf(s, own, f.Now); l != nil && other != "" && limitOf(s, other, f.Now) == nil {
		return l
	}
	return nil
}

// either returns the names of the agent of an attempt at a phase, and of the one that works at its usage limit; "" for
// none.
func either(p *workflows.Plan, ph *workflows.Phase, half bool) (own, other string) {
	if half {
		ph = By(ph, ph.HalfOpen)
	}
	return cmp.Or(ph.Run.Name, p.Agent.Use, "agent"), p.AgentOf(ph).OnLimit.Agent
}

// limitOf returns the usage limit of an agent that is not over yet, nil for none.
func limitOf(s *session.Session, agent string, now time.Time) *session.Limit {
	at := slices.IndexFunc(s.Limits, func(l session.Limit) bool { return l.Agent == agent && l.Until > now.Unix() })
	if at < 0 {
		return nil
	}
	l := s.Limits[at]
	return &l
}

// limited records in a wait which agent has reached a usage limit, if `on-limit` names another. If that one is limited
// too, the wait ends with the earlier limit.
func limited(s *session.Session, p *workflows.Plan, f Facts, w *session.Waiting) {
	ph := p.Workflow.Phase(s.Open.Phase)
	if ph == nil {
		return
	}
	own, other := either(p, ph, s.Open.HalfOpen)
	if other == "" {
		return
	}
	if s.Open.Limited != nil {
		own, other = other, own
	}
	w.Limited = &session.Limit{Agent: own, Until: w.Until}
	if l := limitOf(s, other, f.Now); l != nil && l.Until < w.Until {
		w.Until = l.Until
		w.Longest = max(1, w.Until-f.Now.Unix())
	}
}

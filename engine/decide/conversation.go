package decide

import (
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

// Conversation returns the conversation that the agent of an attempt may resume. The last attempt before a phase is
// given up starts a new one, because the old one has failed so far.
func Conversation(s *session.Session, p *workflows.Plan, a session.AttemptStarted) *session.Conversation {
	if ph := p.Workflow.Phase(a.Phase); ph == nil || a.HalfOpen || p.AgentOf(ph).Fresh {
		return nil
	}
	return s.Visit.Conversation
}

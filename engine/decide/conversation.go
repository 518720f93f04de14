package decide

import (
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

// Conversation returns the conversation that the agent of an attempt may resume, nil if it has to start a new one. The
// last attempt before the breaker opens starts a new conversation, because the old one has led to no success so far.
// An agent that works because of another's usage limit starts one too.
func Conversation(s *session.Session, p *workflows.Plan, a session.AttemptStarted) *session.Conversation {
	if ph := p.Workflow.Phase(a.Phase); ph == nil || a.HalfOpen || a.Limited != nil || p.AgentOf(ph).Fresh {
		return nil
	}
	return s.Visit.Conversation
}

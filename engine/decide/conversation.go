package decide

import (
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

// Conversation is what the agent of an attempt may go on with. The last try before a phase is given up begins
// anew: what was thought so far has led nowhere.
func Conversation(s *session.Session, p *workflows.Plan, a session.AttemptStarted) *session.Conversation {
	if ph := p.Workflow.Phase(a.Phase); ph == nil || a.HalfOpen || p.AgentOf(ph).Fresh {
		return nil
	}
	return s.Visit.Conversation
}

package engine

import (
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

// conversation is what the agent of the open attempt may go on with. The last try before a phase is given up begins anew:
// what was thought so far has led nowhere.
func (h *Hand) conversation(ph *workflows.Phase) *session.Conversation {
	if h.S.Open.HalfOpen || h.Plan.AgentOf(ph).Fresh {
		return nil
	}
	return h.S.Visit.Conversation
}

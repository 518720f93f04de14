package session

// conversation is what the next attempt at a visit may go on with after a run, nil for nothing: a conversation that led
// to a failure, to silence or to its own end is not gone on with.
func (r *RunResult) conversation(before *Conversation) *Conversation {
	if r.Agent == "" {
		return before // nobody with a memory
	}
	switch r.Outcome {
	case OutcomeFailed, OutcomeNotStarted, OutcomeIdle, OutcomeHung, OutcomeConfig, OutcomeTooLong, OutcomeRefused, OutcomeNoResult:
		return nil
	}
	if r.Conversation == "" {
		return before
	}
	c := Conversation{ID: r.Conversation, Agent: r.Agent, Version: r.AgentVersion, Place: r.Place, Total: r.Total}
	if before != nil && before.ID == c.ID && c.Total == (Total{}) { // it was ended before it could tell
		c.Total = before.Total
	}
	return &c
}

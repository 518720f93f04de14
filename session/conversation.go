package session

import (
	"iter"
	"math"
	"slices"
)

// conversation is what the next attempt at a visit may go on with after a run, nil for nothing: a conversation that led
// to a failure, to silence or to its own end is not gone on with.
func (r *RunResult) conversation(before *Conversation) *Conversation {
	if r.Agent == "" {
		return before // nobody with a memory
	}
	switch r.Outcome {
	case OutcomeFailed, OutcomeNotStarted, OutcomeIdle, OutcomeHung, OutcomeConfig, OutcomeTooLong, OutcomeRefused,
		OutcomeNoResult:
		return nil
	}
	if r.Conversation == "" {
		if before == nil {
			return nil
		}
		c := *before
		c.Ended = r.Outcome
		return &c
	}
	c := Conversation{ID: r.Conversation, Agent: r.Agent, Version: r.AgentVersion, Place: r.Place, Ended: r.Outcome,
		Total: r.Total}
	if before != nil && before.ID == c.ID && c.Total == (Total{}) { // it was ended before it could tell
		c.Total = before.Total
		if c.Total != (Total{}) { // else its next run would count this one again
			u := r.Usage()
			c.Total = Total{CostUSD: c.Total.CostUSD + u.USD.USD(), Tokens: Usage{Tokens: c.Total.Tokens}.Plus(u).Tokens}
		}
	}
	return &c
}

// conversation is what the next attempt may go on with after a run whose end nobody saw. What the conversation
// had used up before that run stays known.
func (u *UsageFound) conversation(before *Conversation) *Conversation {
	if u.Conversation == nil {
		return before
	}
	c := *u.Conversation
	if before != nil && before.ID == c.ID {
		c.Total = before.Total
		if c.Version == "" {
			c.Version = before.Version
		}
	}
	return &c
}

// Way is how the session came to where it stands: its checkpoints from the first one on, without those that it
// went back behind. A fork begins with those of the other session, whose numbers are 0.
func (s *Session) Way() []Checkpoint {
	var way []Checkpoint
	for c := range s.Back() {
		way = append(way, *c)
	}
	slices.Reverse(way)
	return way
}

// Back are the checkpoints of Way, the newest first.
func (s *Session) Back() iter.Seq[*Checkpoint] {
	return func(yield func(*Checkpoint) bool) {
		for n, below := s.Current, 0; s.At(n) != nil; n = below {
			if !yield(s.At(n)) {
				return
			}
			if below = s.At(n).On; below >= n {
				break
			}
		}
		if s.Fork == nil {
			return
		}
		for _, c := range slices.Backward(s.Fork.Line) {
			if !yield(&c) {
				return
			}
		}
	}
}

// Judged is the newest checkpoint of an attempt on that way, nil for none.
func (s *Session) Judged() *Checkpoint { return s.JudgedBefore(math.MaxInt) }

// JudgedBefore is the newest attempt before a checkpoint on the present line; nil for none.
func (s *Session) JudgedBefore(number int) *Checkpoint {
	for c := range s.Back() {
		if c.Trigger == TriggerAttempt && c.Number < number {
			return c
		}
	}
	return nil
}

// SentBack reports whether a reviewer or a person rejected the work, and it has passed no phase since.
func (s *Session) SentBack() bool {
	for c := range s.Back() {
		if c.Class == ClassRejected || c.Verdict == Pass {
			return c.Class == ClassRejected
		}
	}
	return false
}

// Package views sorts the events of a session into lists that answer one question each: what was decided, what went
// wrong, what it cost, which tools were used, what repeats.
package views

import (
	"time"

	"github.com/wfs-dev/wfs/session"
)

// Place says where in a session something happened.
type Place struct {
	Seq     int64             `json:"seq"` // number of the event
	At      time.Time         `json:"at"`
	Phase   session.PhaseName `json:"phase,omitempty"`
	Lap     int               `json:"lap"`
	Attempt int               `json:"attempt,omitempty"` // number of the attempt since the session entered the phase
	// number of the first checkpoint made afterwards, none if there is none yet
	Checkpoint *int `json:"checkpoint,omitempty"`
	// the session has gone back since, to before that checkpoint
	Left bool `json:"left,omitempty"`
}

// Fact is an event that took effect, with its place.
type Fact struct {
	Place
	Body   session.Body
	person bool // the attempt is a person's answer
}

// Facts returns the events that took effect, with their places. The events are all events of session s, oldest first.
func Facts(s *session.Session, events []session.Event) []Fact {
	onWay := OnWay(s)
	var facts []Fact
	var at Fact
	var next session.Decided
	since := 0 // the first fact after the last checkpoint
	for i, e := range events {
		if e.Kind().IsTurn() && i+1 < len(events) && events[i+1].Kind() == session.KindDropped {
			continue
		}
		if _, ok := e.Body.(session.Dropped); ok && i > 0 {
			if _, ok := events[i-1].Body.(session.DeleteStarted); ok { // the session was restored
				continue
			}
		}
		at.Seq, at.At, at.Body = e.Seq, e.At.UTC(), e.Body
		switch b := e.Body.(type) {
		case session.Created:
			at.Phase = b.Start
			if at.Lap = 1; b.First != "" {
				at.Phase, at.Lap = b.First, 0
			}
		case session.AttemptStarted:
			at.Phase, at.Lap, at.Attempt, at.person = b.Phase, b.Lap, b.Attempt, b.Runner == "person"
		case session.Decided:
			next = b
		}
		facts = append(facts, at)
		switch b := e.Body.(type) {
		case session.PhaseMoved:
			at.Phase, at.Lap, at.Attempt = b.To, b.Lap, 0
		case session.Moved:
			if c := s.At(b.To); c != nil {
				at.Phase, at.Lap, at.Attempt = c.Next, c.NextLap, 0
			}
		case session.Checkpointed:
			for k := range facts[since:] {
				f := &facts[since+k]
				f.Checkpoint, f.Left = &b.Number, !onWay[b.Number]
			}
			if since = len(facts); b.Trigger == session.TriggerAttempt {
				at.Phase, at.Lap, at.Attempt, at.person = next.Next, next.NextLap, 0, false
			}
		}
	}
	return facts
}

// OnWay has the numbers of the checkpoints that lead to the current one.
func OnWay(s *session.Session) map[int]bool {
	numbers := map[int]bool{}
	for c := range s.Back() {
		numbers[c.Number] = true
	}
	return numbers
}

// LeadingTo returns the facts between the checkpoint before number n and checkpoint n.
func LeadingTo(facts []Fact, n int) (some []Fact) {
	for _, f := range facts {
		if f.Checkpoint != nil && *f.Checkpoint == n {
			some = append(some, f)
		}
	}
	return some
}

// Kind returns the kind of the event.
func (f Fact) Kind() session.Kind { return session.Event{Body: f.Body}.Kind() }

// Package fold computes the state of a session from its events. It is a pure function of the events.
package fold

import (
	"fmt"
	"slices"

	"github.com/wfs-dev/wfs/session"
)

// Fold returns the state of a session after all its events, in their order. The first event must be Created.
func Fold(events []session.Event) (session.Session, error) { return Extend(session.Session{}, events) }

// Extend folds further events into a session. It returns a new value, and does not change anything that s shares with
// other values. A turn right before a Dropped event never happened, so Extend skips it. Sequence numbers must have no
// gaps.
func Extend(s session.Session, events []session.Event) (session.Session, error) {
	// with no spare capacity, the first append copies the list, so that s keeps its own
	s.Checkpoints = slices.Clip(s.Checkpoints)
	for i, e := range events {
		if e.Seq != s.Seq+1 {
			return s, fmt.Errorf("event %d follows event %d", e.Seq, s.Seq)
		}
		s.Seq, s.UpdatedAt = e.Seq, e.At.Unix()
		if dropped := i+1 < len(events) && events[i+1].Kind() == session.KindDropped; dropped && e.Kind().IsTurn() {
			continue
		}
		err := mayFollow(&s, e.Kind())
		if err == nil {
			err = apply(&s, e)
		}
		if err != nil {
			return s, fmt.Errorf("event %d: %w", e.Seq, err)
		}
		driven(&s, e)
	}
	return s, nil
}

// parts has functions that each fold the events about one subject. A function reports whether the event belongs to its
// subject.
var parts = []func(s *session.Session, e session.Event) (known bool, err error){
	inAttempt, betweenAttempts, byPeople, operations, records, used,
}

func apply(s *session.Session, e session.Event) error {
	// notes are possible at any time, so they do not follow from the checkpoint
	if k := e.Kind(); k != session.KindCheckpointed && k != session.KindNoted && k != session.KindAnswered {
		s.Conclude = false
	}
	for _, part := range parts {
		if known, err := part(s, e); known {
			return err
		}
	}
	return fmt.Errorf("%w: event kind %q", session.ErrNewer, e.Kind())
}

// betweenAttempts folds the events at the start of a session, and at the start and end of a `wfs run`.
func betweenAttempts(s *session.Session, e session.Event) (bool, error) {
	switch b := e.Body.(type) {
	case session.Created:
		return true, created(s, e, b)
	case session.Baseline:
		s.Base0 = &b
	case session.Driving:
		driving(s, e, b)
	case session.Interrupted:
		s.Status, s.Why = session.StatusInterrupted, b.Why
		if !b.Unjudged {
			s.Open = nil
		}
		hear(s, b.Request)
	case session.Paused:
		waited(s, e.At.Unix())
		s.Status, s.Why, s.Open = session.StatusPaused, b.Why, nil
		hear(s, b.Request)
	case session.Waiting:
		waited(s, e.At.Unix())
		s.Status, s.Waiting, s.Open = session.StatusWaiting, &b, nil
		if b.Reason == session.WaitLimit {
			s.Spent.Since = e.At.Unix()
			waitsHindered(s, b)
			limited(s, b.Limited)
		}
	case session.BlockedBy:
		s.Status, s.Blocked, s.Open, s.Reworded = session.StatusBlocked, &b, nil, false
	default:
		return false, nil
	}
	return true, nil
}

func created(s *session.Session, e session.Event, b session.Created) error {
	s.Version, s.Folded, s.Created, s.CreatedAt = session.SessionVersion, session.FoldVersion, b, e.At.Unix()
	s.Status, s.Phase, s.Lap, s.Current = session.StatusCreated, b.Start, 1, -1
	if b.First != "" {
		s.Phase, s.Lap = b.First, 0
	}
	if i := b.Imported; i != nil {
		s.Notes = append(s.Notes, i.Note)
		for _, p := range i.Unjudged {
			s.SkippedPhases = append(s.SkippedPhases, session.SkippedPhase{Phase: p, Lap: s.Lap, Before: true,
				Why: fmt.Sprintf("done before wfs, says %s", i.From)})
		}
		s.Phase = i.Phase
	}
	if b.Fork == nil {
		return nil
	}
	if len(b.Fork.Line) == 0 {
		return fmt.Errorf("a fork of no checkpoint")
	}
	s.Settlements = b.Fork.Settlements
	standAt(s, tip(b.Fork))
	return nil
}

// byPeople folds messages and decisions of a person that move no files.
func byPeople(s *session.Session, e session.Event) (bool, error) {
	switch b := e.Body.(type) {
	case session.Noted:
		noted(s, b)
		hear(s, b.Request)
	case session.Agreed:
		agreed(s, b.By)
		approvedDone(s, b.By == "person")
	case session.Allowed:
		allowed(s, b)
		hear(s, b.Request)
	case session.BreakerReset:
		s.Visit, s.Blocked = session.Visit{Tree: s.Visit.Tree, Recovered: s.Visit.Recovered}, nil
		if s.Status == session.StatusBlocked {
			s.Status, s.Why = session.StatusPaused, "breaker reset"
		}
	case session.PhaseMoved:
		phaseMoved(s, b)
	default:
		return false, nil
	}
	return true, nil
}

// operations folds events that move files and branches.
func operations(s *session.Session, e session.Event) (bool, error) {
	switch b := e.Body.(type) {
	case session.MoveStarted:
		s.Moving = &b
	case session.Moved:
		return true, moved(s, b)
	case session.FinishStarted:
		s.Finishing = &b
	case session.Finished:
		s.Finishing, s.Finished, s.Status = nil, &b, session.StatusFinished
		proven(s, b.Proof)
		heldOut(s, b.Holdout)
	case session.DeleteStarted:
		s.Deleting = &b
	case session.Dropped:
		s.Finishing, s.Deleting = nil, nil
		if b.Move {
			s.Moving = nil
		}
	default:
		return false, nil
	}
	return true, nil
}

// BuildsOn returns, for each checkpoint except the first, the number of the checkpoint that it was made on. `events`
// must be all events of the session.
func BuildsOn(events []session.Event) map[int]int {
	below := map[int]int{}
	current := -1
	for i, e := range events {
		if e.Kind().IsTurn() && i+1 < len(events) && events[i+1].Kind() == session.KindDropped {
			continue
		}
		switch b := e.Body.(type) {
		case session.Checkpointed:
			if current >= 0 {
				below[b.Number] = current
			}
			current = b.Number
		case session.Moved:
			if b.To >= 0 {
				current = b.To
			}
		}
	}
	return below
}

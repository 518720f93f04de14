// Package fold turns the events of a session into what is true of it. It is a pure function of the events.
package fold

import (
	"fmt"
	"slices"

	"github.com/wfs-dev/wfs/session"
)

// Fold returns what is true after all events of a session, in order. The first must be Created.
func Fold(events []session.Event) (session.Session, error) { return Extend(session.Session{}, events) }

// Extend folds further events into a session. It changes nothing that s shares with others. A turn that stands before
// a Dropped event never happened and is passed over. Sequence numbers must follow each other without a gap.
func Extend(s session.Session, events []session.Event) (session.Session, error) {
	s.Checkpoints = slices.Clip(s.Checkpoints) // the first new one is appended to a copy, and the others to that
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

func apply(s *session.Session, e session.Event) error {
	// a note may come at any time
	if k := e.Kind(); k != session.KindCheckpointed && k != session.KindNoted && k != session.KindAnswered {
		s.Conclude = false
	}
	switch b := e.Body.(type) {
	case session.Created:
		s.Version, s.Folded, s.Created, s.CreatedAt = session.SessionVersion, session.FoldVersion, b, e.At.Unix()
		s.Status, s.Phase, s.Lap, s.Current = session.StatusCreated, b.Start, 1, -1
		if b.Fork != nil {
			if len(b.Fork.Line) == 0 {
				return fmt.Errorf("a fork of no checkpoint")
			}
			s.Settlements = b.Fork.Settlements
			standAt(s, tip(b.Fork))
		}
	case session.Baseline:
		s.Base0 = &b
	case session.Driving:
		driving(s, e, b)
	case session.AttemptStarted:
		waited(s, e.At.Unix())
		s.Status, s.Waiting, s.Runs, s.Started = session.StatusRunning, nil, s.Runs+1, b.RunID
		s.Phase, s.Lap = b.Phase, b.Lap // finished work that was edited goes back to a phase to be judged
		if s.Visit.Tree == "" {
			s.Visit.Tree = b.Tree
		}
		s.Open = &session.Open{AttemptStarted: b, Told: len(s.Notes), Said: len(s.Said)}
		if b.Runner == "agent" {
			s.Called(e.At)
		}
	case session.Strayed:
		strayed(s, b)
	case session.RunEnded, session.Judged, session.Reopened, session.Decided:
		applyOpen(s, e)
	case session.Checkpointed:
		return checkpointed(s, e, b)
	case session.Voided:
		s.Open, s.Failed, s.Why = nil, s.Failed+1, b.Why
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
		}
	case session.BlockedBy:
		s.Status, s.Blocked, s.Open, s.Reworded = session.StatusBlocked, &b, nil, false
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
	case session.MoveStarted:
		s.Moving = &b
	case session.Moved:
		return moved(s, b)
	case session.FinishStarted:
		s.Finishing = &b
	case session.Finished:
		s.Finishing, s.Finished, s.Status = nil, &b, session.StatusFinished
		proven(s, b.Proof)
		heldOut(s, b.Holdout)
	case session.Dropped:
		s.Finishing, s.Deleting = nil, nil
		if b.Move {
			s.Moving = nil
		}
	default:
		if !applyRecord(s, b) && !applyUsage(s, e) {
			return fmt.Errorf("%w: event kind %q", session.ErrNewer, e.Kind())
		}
	}
	return nil
}

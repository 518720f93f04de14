package fold

import (
	"slices"

	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/session/items"
	"github.com/wfs-dev/wfs/workflows"
)

// settle records that a lap or an item ended without a judgement, at the current checkpoint.
func settle(s *session.Session, e session.Settlement) {
	e.Checkpoint = s.Current
	s.Settlements = append(slices.Clip(s.Settlements), e)
}

// complete ends the work. If a part of the work was not judged, the session waits for a person's approval first.
func complete(s *session.Session) {
	s.Phase, s.Status, s.Why, s.Waiting = workflows.Done, session.StatusCompleted, "", nil
	if ask := items.Unjudged(s); ask != "" {
		s.Status, s.Waiting = session.StatusWaiting, &session.Waiting{Reason: session.WaitHuman, Ask: ask, Agree: true}
	}
}

// agreed folds the approval of an agent's statement that nothing is left to do: the item of the current lap is done, or
// the whole work.
func agreed(s *session.Session, by string) {
	if s.Phase == workflows.Done {
		settle(s, session.Settlement{State: session.ItemAgreed, By: by})
		for _, item := range items.Open(s) {
			settle(s, session.Settlement{Item: item.Number, State: session.ItemAgreed, Test: item.Test, By: by})
		}
		complete(s)
		return
	}
	e := session.Settlement{Item: s.Lap, State: session.ItemAgreed, By: by}
	if s.Last != nil {
		e.Test = s.Last.Shown
	}
	switch {
	case by == "person":
	case e.Test != "":
		e.State = session.ItemShown
	default:
		e.State, e.By = session.ItemSkipped, "agent"
	}
	settle(s, e)
	s.Waiting, s.Why, s.Visit, s.Targets, s.Expected = nil, "", session.Visit{}, nil, nil
	thaw(s)
	s.Rounds, s.Review, s.Said = nil, nil, nil
	if c := s.At(s.Current); c != nil {
		s.LapTree = c.Tree
	}
	if n := items.Next(s); n > 0 {
		s.Lap, s.Phase, s.Status = n, s.Start, session.StatusPaused
		return
	}
	if s.Then != "" {
		s.Phase, s.Lap = items.AfterLaps(s, s.Items)
		s.Status = session.StatusPaused
		return
	}
	complete(s)
}

// skippedLap returns the settlement of a lap whose last phase a person skips: delivered if the lap's tests had passed
// before, skipped otherwise.
func skippedLap(s *session.Session) session.Settlement {
	c := s.At(s.Current)
	if c != nil && c.Green && c.Lap == s.Lap && len(s.Targets)+len(s.Expected) > 0 {
		return session.Settlement{Item: s.Lap, State: session.ItemDelivered}
	}
	return session.Settlement{Item: s.Lap, State: session.ItemSkipped, By: "person"}
}

package fold

import (
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/session/items"
)

// driving folds the start of a `wfs run`. It clears the reason for which the session was blocked.
func driving(s *session.Session, e session.Event, b session.Driving) {
	if s.Status == session.StatusBlocked { // a person has seen why the session was blocked, so counting starts again
		s.Hindered = nil
	}
	s.Blocked, s.Why, s.Failed, s.Reworded = nil, "", 0, false
	s.Drive = &session.Drive{At: e.At.Unix(), Laps: items.LapsDone(s), Tries: s.Tries, Refuted: len(s.StillRefuted()),
		Checkpoints: len(s.Checkpoints), Used: s.Used}
	// the limit is the provider's, so the wait continues
	if s.Waiting != nil && s.Waiting.Reason == session.WaitLimit && !b.Now {
		s.Status, s.Spent.Since = session.StatusWaiting, e.At.Unix()
		return
	}
	s.Status, s.Waiting, s.Spent.Since = session.StatusRunning, nil, 0
	if b.Now {
		s.Limits = nil
	}
}

// driven records the time at which the newest `wfs run` seems to have ended. It clears that time if the run continues.
func driven(s *session.Session, e session.Event) {
	if s.Drive == nil {
		return
	}
	d := *s.Drive // change a copy: the caller's session may share the old value
	switch b := e.Body.(type) {
	case session.AttemptStarted:
		if b.Runner == "person" && d.Ended > 0 { // a person's answer does not continue the run
			return
		}
		d.Ended = 0
	case session.Paused, session.Interrupted, session.Waiting, session.BlockedBy, session.Checkpointed, session.Agreed:
		if s.Status == session.StatusRunning || d.Ended > 0 {
			return
		}
		d.Ended = e.At.Unix()
	default:
		return
	}
	s.Drive = &d
}

// waited ends the wait until a limit resets, if there is one, and adds its duration. Time after the limit has reset
// does not count.
func waited(s *session.Session, now int64) {
	if s.Spent.Since > 0 && s.Waiting != nil {
		s.Spent.Waited += max(0, min(now, s.Waiting.Until)-s.Spent.Since)
	}
	s.Spent.Since = 0
}

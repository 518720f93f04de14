package fold

import "github.com/wfs-dev/wfs/session"

// driving folds the start of a run.
func driving(s *session.Session, e session.Event, b session.Driving) {
	if s.Status == session.StatusBlocked { // a person has looked at it
		s.Hindered = nil
	}
	s.Blocked, s.Why, s.Failed, s.Reworded = nil, "", 0, false
	s.Drive = &session.Drive{At: e.At.Unix(), Laps: s.LapsDone(), Tries: s.Tries, Refuted: len(s.StillRefuted()),
		Checkpoints: len(s.Checkpoints), Used: s.Used}
	if s.Waiting != nil && s.Waiting.Reason == session.WaitLimit && !b.Now { // the wait continues in any process
		s.Status, s.Spent.Since = session.StatusWaiting, e.At.Unix()
		return
	}
	s.Status, s.Waiting, s.Spent.Since = session.StatusRunning, nil, 0
}

// driven records the time when the newest run seems to end, and clears it if that run continues.
func driven(s *session.Session, e session.Event) {
	if s.Drive == nil {
		return
	}
	d := *s.Drive // the caller's session may share the old one
	switch b := e.Body.(type) {
	case session.AttemptStarted:
		if b.Runner == "person" && d.Ended > 0 { // an answer is not a run
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

// waited ends a wait for a limit, if there is one. Time after the end of the limit does not count as waiting.
func waited(s *session.Session, now int64) {
	if s.Spent.Since > 0 && s.Waiting != nil {
		s.Spent.Waited += max(0, min(now, s.Waiting.Until)-s.Spent.Since)
	}
	s.Spent.Since = 0
}

package session

// driving begins a run.
func (s *Session) driving(e Event, b Driving) {
	if s.Status == StatusBlocked { // a person has looked at it
		s.Hindered = nil
	}
	s.Blocked, s.Why, s.Failed, s.Reworded = nil, "", 0, false
	s.Drive = &Drive{At: e.At.Unix(), Laps: s.LapsDone(), Tries: s.Tries, Refuted: len(s.StillRefuted()),
		Checkpoints: len(s.Checkpoints), Used: s.Used}
	if s.Waiting != nil && s.Waiting.Reason == WaitLimit && !b.Now { // it is waited for, whoever drives
		s.Status, s.Spent.Since = StatusWaiting, e.At.Unix()
		return
	}
	s.Status, s.Waiting, s.Spent.Since = StatusRunning, nil, 0
}

// driven notes when the newest run seems to end, and takes it back when that run goes on.
func (s *Session) driven(e Event) {
	if s.Drive == nil {
		return
	}
	d := *s.Drive // the caller's session may share the old one
	switch b := e.Body.(type) {
	case AttemptStarted:
		if b.Runner == "person" && d.Ended > 0 { // somebody's answer is no run
			return
		}
		d.Ended = 0
	case Paused, Interrupted, Waiting, BlockedBy, Checkpointed, Agreed:
		if s.Status == StatusRunning || d.Ended > 0 {
			return
		}
		d.Ended = e.At.Unix()
	default:
		return
	}
	s.Drive = &d
}

// waited ends a wait for a limit, if there is one. What is waited longer than the limit lasts is nobody's driving.
func (s *Session) waited(now int64) {
	if s.Spent.Since > 0 && s.Waiting != nil {
		s.Spent.Waited += max(0, min(now, s.Waiting.Until)-s.Spent.Since)
	}
	s.Spent.Since = 0
}

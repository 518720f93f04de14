package session

import (
	"slices"

	"github.com/wfs-dev/wfs/workflows"
)

// Said is what a person said that stays in every brief for a while: the answer to an agent's question until its
// lap ends, and why work was sent back until the phase that sent it back is passed.
type Said struct {
	Text string    `json:"text"`           // the message
	Ask  string    `json:"ask,omitempty"`  // the agent's question that it answers
	From PhaseName `json:"from,omitempty"` // the phase that the work was sent back from
	Told bool      `json:"told,omitempty"` // its text was in the brief of a judged attempt
}

// noted folds a note. One that may not be from a person answers nothing.
func (s *Session) noted(b Noted) {
	if b.Meanwhile {
		s.Meanwhile = append(slices.Clip(s.Meanwhile), b.Text)
		return
	}
	if !s.said(b) {
		s.Notes = append(slices.Clip(s.Notes), b.Text)
	}
	s.heardWhileAsked(b)
	// yes and no are other words
	if w := s.Waiting; b.Request != "" && s.Status == StatusWaiting && w.Reason == WaitHuman && !w.Agree && !w.Approve {
		s.Status, s.Waiting, s.Why = StatusPaused, nil, "answered"
	}
}

// AsksMore reports whether a note waits for the next attempt.
func (s *Session) AsksMore() bool { return len(s.Notes)+len(s.Meanwhile) > 0 }

// said keeps a note that is more than a word for the next attempt, and reports whether it is.
func (s *Session) said(b Noted) bool {
	w := s.Waiting
	switch {
	case b.Back && s.Open != nil:
		s.keepSaid(Said{Text: b.Text, From: s.Open.Phase})
	case b.Back:
		s.keepSaid(Said{Text: b.Text, From: s.Phase})
	case s.Status == StatusWaiting && w != nil && w.Reason == WaitHuman && !w.Agree && !w.Approve:
		s.keepSaid(Said{Text: b.Text, Ask: w.Ask})
	default:
		return false
	}
	return true
}

func (s *Session) keepSaid(x Said) { s.Said = append(slices.Clip(s.Said), x) }

// dropSaid forgets what was said about work that was sent back from a phase.
func (s *Session) dropSaid(from PhaseName) {
	s.Said = slices.DeleteFunc(slices.Clone(s.Said), func(x Said) bool { return x.From == from })
}

// toldSaid folds the end of an attempt into what was said: its brief held what was there when it began.
func (s *Session) toldSaid(open *Open, d *Decided) {
	s.Said = slices.Clone(s.Said)
	for i := range s.Said[:min(open.Said, len(s.Said))] {
		s.Said[i].Told = s.Said[i].Told || open.Runner != "person"
	}
	if d.Verdict == Pass && !d.NothingLeft {
		s.dropSaid(open.Phase)
	}
	if d.LapEnded || d.Next == workflows.Done {
		s.Said = nil
	}
}

// ledSaid folds a person's decision to go on elsewhere: why it goes back is told there.
func (s *Session) ledSaid(b PhaseMoved) {
	known := slices.ContainsFunc(s.Said, func(x Said) bool { return x.From == b.From && !x.Told })
	switch {
	case b.Skip && (b.NewLap || b.To == workflows.Done):
		s.Said = nil
	case b.Skip:
		s.dropSaid(b.From)
	case b.Why != "" && !known:
		s.keepSaid(Said{Text: b.Why, From: b.From})
	}
}

// approvedDone forgets what a person said with the yes that completes the work: it asks for nothing more.
func (s *Session) approvedDone(yes bool) {
	if yes && s.Phase == workflows.Done {
		s.Notes, s.Meanwhile = nil, nil
	}
}

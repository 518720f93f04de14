package fold

import (
	"maps"
	"slices"

	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

// noted folds a note. A note that may not be from a person answers no question.
func noted(s *session.Session, b session.Noted) {
	if b.Meanwhile {
		s.Meanwhile = append(slices.Clip(s.Meanwhile), b.Text)
		return
	}
	if !keptAsSaid(s, b) {
		s.Notes = append(slices.Clip(s.Notes), b.Text)
	}
	heardWhileAsked(s, b)
	// these wait for approve or reject
	if w := s.Waiting; b.Request != "" && s.Status == session.StatusWaiting && w.Reason == session.WaitHuman &&
		!w.Agree && !w.Approve {
		s.Status, s.Waiting, s.Why = session.StatusPaused, nil, "answered"
	}
}

// keptAsSaid keeps a note in Said if it is more than a message for the next attempt, and reports whether it is.
func keptAsSaid(s *session.Session, b session.Noted) bool {
	w := s.Waiting
	switch {
	case b.Back && s.Open != nil:
		keepSaid(s, session.Said{Text: b.Text, From: s.Open.Phase})
	case b.Back:
		keepSaid(s, session.Said{Text: b.Text, From: s.Phase})
	case s.Status == session.StatusWaiting && w != nil && w.Reason == session.WaitHuman && !w.Agree && !w.Approve:
		keepSaid(s, session.Said{Text: b.Text, Ask: w.Ask})
	default:
		return false
	}
	return true
}

func keepSaid(s *session.Session, x session.Said) { s.Said = append(slices.Clip(s.Said), x) }

// dropSaid removes the messages about work that a phase sent back.
func dropSaid(s *session.Session, from session.PhaseName) {
	s.Said = slices.DeleteFunc(slices.Clone(s.Said), func(x session.Said) bool { return x.From == from })
}

// toldSaid updates the messages after an attempt. The brief held those that existed when it began.
func toldSaid(s *session.Session, open *session.Open, d *session.Decided) {
	s.Said = slices.Clone(s.Said)
	for i := range s.Said[:min(open.Said, len(s.Said))] {
		s.Said[i].Told = s.Said[i].Told || open.Runner != "person"
	}
	if d.Verdict == session.Pass && !d.NothingLeft {
		dropSaid(s, open.Phase)
	}
	if d.LapEnded || d.Next == workflows.Done {
		s.Said = nil
	}
}

// ledSaid folds the reason of a person's decision to continue in another phase. The reason of a step back is kept for
// the briefs there.
func ledSaid(s *session.Session, b session.PhaseMoved) {
	known := slices.ContainsFunc(s.Said, func(x session.Said) bool { return x.From == b.From && !x.Told })
	switch {
	case b.Skip && (b.NewLap || b.To == workflows.Done):
		s.Said = nil
	case b.Skip:
		dropSaid(s, b.From)
	case b.Why != "" && !known:
		keepSaid(s, session.Said{Text: b.Why, From: b.From})
	}
}

// approvedDone drops pending notes when a person's approval completes the work: they request no more work.
func approvedDone(s *session.Session, yes bool) {
	if yes && s.Phase == workflows.Done {
		s.Notes, s.Meanwhile = nil, nil
	}
}

// heardWhileAsked folds a note that a person typed instead of the approval or rejection that the session waits for: the
// agent continues, with that note.
func heardWhileAsked(s *session.Session, b session.Noted) {
	if w := s.Waiting; b.Request == "" && s.Status == session.StatusWaiting && w != nil && w.Approve {
		s.Rounds, s.Visit.Unsigned = nil, 0
	}
}

// hear records a request that became an event, so that it is not read twice if its file still exists.
func hear(s *session.Session, request string) {
	if request == "" {
		return
	}
	heard := append(s.Heard[:len(s.Heard):len(s.Heard)], request)
	s.Heard = heard[max(0, len(heard)-maxHeard):]
}

// maxHeard bounds the length of Heard. A request's file is deleted right after its event is durable, and before
// anything else, so a single entry would be enough.
const maxHeard = 16

// reviewed folds an attempt's effect on reviews: a reviewer's rejection is counted, and kept until it is answered. An
// approval, a person's answer or the end of a lap ends the rounds.
func reviewed(s *session.Session, open *session.Open, d *session.Decided) {
	switch {
	case open.Runner == "person" || d.LapEnded || d.Class == session.ClassReviewed:
		s.Rounds, s.Review = nil, nil
	case d.Class == session.ClassRejected && open.Run != nil && open.Run.Review != nil:
		s.Rounds = maps.Clone(s.Rounds)
		if s.Rounds == nil {
			s.Rounds = map[session.PhaseName]int{}
		}
		s.Rounds[open.Phase]++
		s.Review = open.Run.Review
	}
}

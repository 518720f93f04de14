package fold

import (
	"maps"
	"slices"

	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/session/items"
	"github.com/wfs-dev/wfs/workflows"
)

// noted folds a note. It may be the answer to a question of the agent, but only if it is certainly from a person.
func noted(s *session.Session, b session.Noted) {
	if b.Given && s.Open != nil { // among those that its brief had, which its conclusion drops
		open := *s.Open
		s.Meanwhile = slices.Insert(slices.Clone(s.Meanwhile), min(open.Meanwhile, len(s.Meanwhile)), b.Text)
		open.Meanwhile++
		s.Open = &open
		return
	}
	if b.Meanwhile {
		s.Meanwhile = append(slices.Clip(s.Meanwhile), b.Text)
		return
	}
	if !keptAsSaid(s, b) {
		s.Notes = append(slices.Clip(s.Notes), b.Text)
	}
	heardWhileAsked(s, b)
	// the session then continues, unless it waits for `wfs approve` or `wfs reject`
	if w := s.Waiting; b.Request != "" && s.Status == session.StatusWaiting && w.Reason == session.WaitHuman &&
		!w.Agree && !w.Approve {
		s.Status, s.Waiting, s.Why = session.StatusPaused, nil, "answered"
	}
}

// keptAsSaid adds a note to Said if it must stay in more than one brief: as a rejection reason, or as the answer to a
// question. It reports whether it did.
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

// dropSaid removes the messages that came when the work was sent back from a phase.
func dropSaid(s *session.Session, from session.PhaseName) {
	s.Said = slices.DeleteFunc(slices.Clone(s.Said), func(x session.Said) bool { return x.From == from })
}

// toldSaid updates Said after an attempt. The messages that existed when the attempt began were in its brief.
func toldSaid(s *session.Session, open *session.Open, d *session.Decided) {
	s.Said = slices.Clone(s.Said)
	for i := range s.Said[:min(open.Said, len(s.Said))] {
		s.Said[i].Told = s.Said[i].Told || open.Runner != "person"
	}
	if d.Verdict == session.Pass && !d.NothingLeft {
		dropSaid(s, open.Phase)
	}
	if d.LapEnded && !items.After(s, open.Lap) || d.Next == workflows.Done {
		s.Said = nil
	}
}

// ledSaid folds the reason of a person's decision to continue in another phase. If the work goes back, the reason is
// kept for the briefs of the phases that follow.
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

// approvedDone drops pending notes if a person's approval completes the work: notes from before it request no more
// work.
func approvedDone(s *session.Session, yes bool) {
	if yes && s.Phase == workflows.Done {
		s.Notes, s.Meanwhile = nil, nil
	}
}

// heardWhileAsked folds a note that a person typed although the session waits for an approval or a rejection: the agent
// continues with that note, and the counts of review rounds start again.
func heardWhileAsked(s *session.Session, b session.Noted) {
	if w := s.Waiting; b.Request == "" && s.Status == session.StatusWaiting && w != nil && w.Approve {
		s.Rounds, s.Visit.Unsigned = nil, 0
	}
}

// hear records the id of a request that became an event. The request is then not read twice if its file still exists.
func hear(s *session.Session, request string) {
	if request == "" {
		return
	}
	heard := append(s.Heard[:len(s.Heard):len(s.Heard)], request)
	s.Heard = heard[max(0, len(heard)-maxHeard):]
}

// maxHeard is the maximum length of Heard. One entry would be enough: a request's file is deleted right after its event
// is durable, before wfs does anything else.
const maxHeard = 16

// reviewed folds an attempt's effect on reviews. A reviewer's rejection is counted, and kept until an attempt answers
// it. An approval, a person's answer, or the end of a lap resets the count; the end of work that was sent back from after
// the laps does not, because the review is still to come.
func reviewed(s *session.Session, open *session.Open, d *session.Decided) {
	switch {
	case open.Runner == "person" || d.LapEnded && !items.After(s, open.Lap) || d.Class == session.ClassReviewed:
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

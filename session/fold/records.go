package fold

import (
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/session/oplog"
	"github.com/wfs-dev/wfs/workflows"
)

// records folds changes of a session's description, status or plan, which change no file of the work tree.
func records(s *session.Session, e session.Event) (bool, error) {
	switch b := e.Body.(type) {
	case session.Abandoned:
		s.Status, s.Why, s.Open, s.Abandoned = session.StatusAbandoned, b.Reason, nil, &b
	case session.Revived:
		s.Status, s.Why = b.Status, b.Why
	case session.Renamed:
		s.Title = b.Title
	case session.Edited:
		edited(s, b)
	case session.Repinned:
		repinned(s, b)
	case session.TakenBack:
		oplog.Restore(s, b.Former)
	case session.Answered:
	default:
		return false, nil
	}
	return true, nil
}

func edited(s *session.Session, b session.Edited) {
	s.Visit.Conversation = nil // the conversation was about the former goal or spec
	s.Reworded = s.Status == session.StatusBlocked
	if b.Goal != "" {
		s.Goal = b.Goal
	}
	if !b.Spec {
		return
	}
	s.Items, s.SpecPath, s.SpecDigest = b.Items, b.SpecPath, b.SpecDigest
	if b.Left != "" {
		thaw(s)
		s.Said, s.Review, s.Rounds, s.Failed = nil, nil, nil, 0
	}
	// the checklist has become longer or shorter: the current lap ends, or a new one begins
	if b.Phase != s.Phase || b.Lap != s.Lap || b.Left != "" {
		s.Phase, s.Lap, s.Visit, s.Targets, s.Expected, s.Waiting, s.Blocked = b.Phase, b.Lap, session.Visit{}, nil, nil,
			nil, nil
		if c := s.At(s.Current); c != nil {
			s.LapTree = c.Tree
		}
		s.Status, s.Why = session.StatusPaused, "the checklist was edited"
	}
	if s.Phase == workflows.Done {
		complete(s)
	}
}

func repinned(s *session.Session, b session.Repinned) {
	s.Workflow, s.Start, s.Then, s.Laps, s.PlanDigest, s.Agent, s.AgentTyped = b.Workflow, b.Start, b.Then, b.Laps,
		b.PlanDigest, b.Agent, b.AgentTyped
	if s.Lap == 0 && b.Phase == b.Start { // the new workflow has nothing before its laps
		s.Lap = 1
	}
	// the agent and the gates may be others now, so the counts of the visit do not apply to them
	s.Visit = session.Visit{Tree: s.Visit.Tree, Recovered: s.Visit.Recovered}
	if b.Phase != s.Phase {
		s.Visit = session.Visit{}
	}
	over := s.Status == session.StatusBlocked || s.Status == session.StatusCompleted && b.Phase != workflows.Done
	// a question belonged to the former phase, and a limit perhaps to another agent
	if w := s.Waiting; w != nil && (w.Approve || w.Reason == session.WaitLimit || b.Phase != s.Phase) {
		s.Waiting, over = nil, true
	}
	s.Phase, s.Failed, s.Blocked, s.Hindered = b.Phase, 0, nil, nil
	if b.Baseline {
		s.Base0 = nil
	}
	if over {
		s.Status, s.Why = session.StatusPaused, "configuration updated"
	}
}

func allowed(s *session.Session, b session.Allowed) {
	g := session.Guard{Allowed: s.Allowed}
	for _, p := range b.Paths {
		if b.Revoked {
			g = g.Revoke(p)
		} else {
			g = g.Allow(p)
		}
	}
	s.Allowed = g.Allowed
}

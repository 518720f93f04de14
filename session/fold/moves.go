package fold

import (
	"cmp"
	"fmt"

	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/session/cost"
	"github.com/wfs-dev/wfs/session/items"
	"github.com/wfs-dev/wfs/session/oplog"
	"github.com/wfs-dev/wfs/workflows"
)

// phaseMoved folds a person's decision to continue in another phase. It records skipped phases, so that `wfs finish`
// can report them.
func phaseMoved(s *session.Session, b session.PhaseMoved) {
	s.Waiting, s.Blocked, s.Visit, s.Failed, s.Rounds = nil, nil, session.Visit{}, 0, nil
	if b.Skip {
		s.Review = nil
	}
	if b.NewLap {
		if b.Skip {
			settle(s, skippedLap(s))
		}
		s.Targets, s.Expected = nil, nil
		if c := s.At(s.Current); c != nil {
			s.LapTree = c.Tree
		}
	}
	if b.Skip {
		skip(s, b)
	}
	ledTo(s, b)
	ledSaid(s, b)
	s.Phase, s.Lap = b.To, b.Lap
	s.Status, s.Why = session.StatusPaused, "moved to "+string(b.To)
	switch {
	case b.To == workflows.Done:
		complete(s)
	case b.Ask != "":
		s.Status, s.Waiting = session.StatusWaiting, &session.Waiting{Reason: session.WaitHuman, Ask: b.Ask,
			Approve: true}
	}
}

// skip records that a person left a phase as if it had passed. If the phase was skipped before in this lap and no new
// reason is given, the earlier reason stays.
func skip(s *session.Session, b session.PhaseMoved) {
	p := session.SkippedPhase{Phase: b.From, Lap: s.Lap, Why: b.Why, Anyway: b.Anyway}
	for _, before := range s.SkippedPhases {
		if before.Phase == p.Phase && before.Lap == p.Lap {
			p.Why = cmp.Or(p.Why, before.Why)
		}
	}
	s.SkippedPhases = append(skippedBut(s, p.Phase, p.Lap), p)
}

func moved(s *session.Session, b session.Moved) error {
	s.Moving = nil
	if b.To >= 0 {
		c := s.At(b.To)
		if c == nil {
			return fmt.Errorf("moved to checkpoint %d, which does not exist", b.To)
		}
		if c.Number != s.Current { // the results of later judgements are about other files than the current ones
			s.Last, s.LastGates, s.NotRun, s.LastRun = nil, nil, nil, ""
		}
		s.Current, s.Tampered = c.Number, nil
		s.Open, s.Waiting, s.Blocked, s.Visit, s.Failed = nil, nil, nil, session.Visit{}, 0
		standAt(s, c)
		if b.Since != "" {
			s.Visit.Tree, s.Visit.Recovered = b.Since, b.Turn.Tree
		}
		s.Rounds = nil
		if s.Phase != workflows.Done {
			s.Status, s.Why = session.StatusPaused, fmt.Sprintf("at checkpoint %d", c.Number)
		}
	}
	if b.Status != "" {
		s.Status, s.Why = b.Status, b.Summary
	}
	if b.Former != nil {
		oplog.Restore(s, *b.Former)
	}
	return nil
}

// standAt sets the session to the phase, lap and terms that followed a checkpoint.
func standAt(s *session.Session, c *session.Checkpoint) {
	s.Phase, s.Lap, s.Terms = c.Next, c.NextLap, c.Terms
	if s.Phase == workflows.Done {
		complete(s)
	}
}

// ForkAt returns the part of the session's history that a fork of one of its checkpoints continues.
func ForkAt(s *session.Session, number int) (*session.Fork, error) {
	then := *s
	if err := moved(&then, session.Moved{MoveStarted: session.MoveStarted{To: number}}); err != nil {
		return nil, err
	}
	var f session.Fork
	f.Line = then.Way()
	for _, e := range then.Settlements {
		now := items.State(&then, e.Item, f.Line)
		if e.Item == 0 && e.Checkpoint == number ||
			e.Item > 0 && now.State == e.State && now.Checkpoint == e.Checkpoint {
			e.Checkpoint = 0
			f.Settlements = append(f.Settlements, e)
		}
	}
	for i := range f.Line {
		c := &f.Line[i]
		c.Number, c.Used = 0, cost.Usage{}
		if i < len(f.Line)-1 {
			c.Targets, c.Expected, c.Skipped, c.HeldOut = nil, nil, nil, nil
		}
	}
	return &f, nil
}

func tip(f *session.Fork) *session.Checkpoint { return &f.Line[len(f.Line)-1] }

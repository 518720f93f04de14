package fold

import (
	"fmt"
	"slices"

	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/session/cost"
	"github.com/wfs-dev/wfs/workflows"
)

// applyOpen folds what happens inside an attempt.
func applyOpen(s *session.Session, e session.Event) {
	open := *s.Open // a copy: the caller's session may share the old one
	switch b := e.Body.(type) {
	case session.RunEnded:
		open.Run, open.After = &b.RunResult, b.Tree
		s.Visit.Conversation = conversationAfter(&b.RunResult, s.Visit.Conversation)
		s.Spent.RunMillis += b.Millis
		runEnded(s, e, &open, b)
	case session.Judged:
		open.Judgement = &b.Judgement
		measured(s, b.Gates)
		foundFlaky(s, &b.Judgement)
		proven(s, b.Proof)
		heldOut(s, b.Holdout)
		var millis int64
		for _, g := range b.Gates {
			millis += g.Millis
		}
		s.Spent.GateMillis += millis
		use(s, e.At, open.Phase, open.Lap, cost.Usage{Millis: max(0, millis)})
	case session.Reopened:
		open.Judgement, open.Decided = nil, nil
	case session.Decided:
		open.Decided = &b
	}
	s.Open = &open
}

func checkpointed(s *session.Session, e session.Event, b session.Checkpointed) error {
	if want := s.NextNumber(); b.Number != want {
		return fmt.Errorf("checkpoint %d where %d was due", b.Number, want)
	}
	if s.LapTree == "" {
		s.LapTree = b.Tree
	}
	c := session.Checkpoint{
		Number: b.Number, At: e.At.Unix(), Trigger: b.Trigger, Code: b.Code, Tree: b.Tree,
		Phase: b.Phase, Lap: b.Lap, Attempt: b.Attempt, Verdict: b.Verdict, Class: b.Class, Summary: b.Summary,
		On:         max(0, s.Current),
		Incomplete: len(b.Skipped)+len(b.HeldOut) > 0, Skipped: b.Skipped[:min(len(b.Skipped), session.MaxNamed)],
		HeldOut: b.HeldOut, Deleted: b.Deleted,
	}
	if b.Trigger == session.TriggerAttempt {
		if s.Open == nil || s.Open.Decided == nil {
			return fmt.Errorf("checkpoint %d of an attempt that was not decided", b.Number)
		}
		c.Green = b.Verdict == session.Pass && !redByDesign(s.Open.Judgement)
		if j := s.Open.Judgement; c.Green && j != nil && j.Ungated {
			prev := s.At(s.Current)
			c.Green = prev != nil && prev.Tree == b.Tree && prev.Green
		}
		if s.Open.Runner != "person" && b.Class != session.ClassAsked {
			use(s, e.At, s.Open.Phase, s.Open.Lap, cost.Usage{Attempts: 1})
		}
		closeAttempt(s, &c)
		s.Conclude = true
	} else {
		prev := s.At(s.Current)
		if s.Fork != nil && b.Trigger == session.TriggerBirth {
			prev = tip(s.Fork)
		}
		if prev != nil && prev.Tree == b.Tree {
			c.Green = prev.Green // the same tree, judged already
		}
		s.Open = nil
		if b.Trigger == session.TriggerManual {
			s.Visit.Tree = "" // what a person has kept, the person has allowed
			kept(s, b.Tree)
		}
	}
	c.Next, c.NextLap, c.Terms = s.Phase, s.Lap, s.Terms
	c.Used = s.Kept(c.Phase, c.Lap)
	s.Checkpoints = append(s.Checkpoints, c)
	s.Current, s.Keep = c.Number, nil
	if s.Phase == workflows.Done && b.Trigger == session.TriggerAttempt {
		complete(s)
	}
	return nil
}

// redByDesign reports whether a gate passed because tests fail, as RED wants it.
func redByDesign(j *session.Judgement) bool {
	return j != nil && slices.ContainsFunc(j.Gates, func(g session.GateResult) bool {
		return g.Class == session.ClassTargetFailed || g.Class == session.ClassMissingSymbol
	})
}

// closeAttempt folds the open attempt's conclusion into the session and moves it to its next phase.
func closeAttempt(s *session.Session, c *session.Checkpoint) {
	open, d := s.Open, s.Open.Decided
	s.Open, c.Approve, c.TooSmall = nil, d.Approve, d.TooSmall
	asked := d.Class == session.ClassAsked
	if c.Claimed = asked && open.Run != nil && open.Run.Done; !asked {
		s.Tries++ // a question is counted with its answer
	}
	answersClaim(s, open, d, c)
	s.Failed = 0
	s.Last, s.LastRun = d, open.RunID
	s.Notes = slices.Clone(s.Notes[min(open.Told, len(s.Notes)):])
	s.Meanwhile = slices.Clone(s.Meanwhile[min(open.AttemptStarted.Meanwhile, len(s.Meanwhile)):])
	if open.Claimed() {
		s.Claims++
		if d.Refuted {
			r := session.Refuted{Checkpoint: c.Number, Phase: c.Phase, Lap: c.Lap, Reason: d.Reason}
			if open.Judgement != nil {
				r.Fingerprint = failing(open.Judgement.Gates)
			}
			s.Refuted = append(slices.Clip(s.Refuted), r)
		}
	}
	fingerprint := ""
	if open.Judgement != nil {
		s.LastGates, s.NotRun = open.Judgement.Gates, open.Judgement.NotRun
		if g := open.Judgement.Red(); g != nil && d.Verdict == session.Pass && !d.NothingLeft {
			s.Targets, s.Expected, s.TargetsOf = g.Targets, g.Expected, g.Gate
		} else if g := open.Judgement.Built(); g != nil && d.Verdict == session.Pass {
			s.Targets, s.Expected, s.TargetsOf = g.Targets, nil, g.Gate
		}
		if d.Verdict == session.Pass {
			s.Gone = append(slices.Clip(s.Gone), open.Judgement.Gone...)
		}
		fingerprint = open.Judgement.Fingerprint()
		c.Ticked = open.Judgement.Ticked
	}
	if d.Verdict == session.Pass && !d.NothingLeft {
		s.SkippedPhases = skippedBut(s, open.Phase, open.Lap)
	}
	toldSaid(s, open, d)
	reviewed(s, open, d)
	allowedFindings(s, open, d, c)
	froze(s, open, d, c)
	if d.LapEnded {
		s.LapTree, s.Targets, s.Expected = c.Tree, nil, nil
	}
	switch {
	case d.Next != s.Phase || d.LapEnded:
		s.Visit = session.Visit{}
	case asked:
	case open.Runner == "person": // it says nothing about who works there
		s.Visit.Attempts, s.Visit.Unsigned = s.Visit.Attempts+1, 0
	default:
		s.Visit = after(s.Visit, open, d, fingerprint, c.Number)
	}
	s.Phase, s.Lap = d.Next, d.NextLap
	approvedDone(s, open.Run != nil && open.Run.Approved)
}

// skippedBut are the phases that a person skipped, but for one of a lap: it has passed since, or is skipped anew.
func skippedBut(s *session.Session, phase session.PhaseName, lap int) []session.SkippedPhase {
	return slices.DeleteFunc(slices.Clone(s.SkippedPhases),
		func(p session.SkippedPhase) bool { return p.Phase == phase && p.Lap == lap })
}

package fold

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/session/cost"
	"github.com/wfs-dev/wfs/workflows"
)

// inAttempt folds the events from the start of an attempt to its checkpoint. It reports whether e is one of them.
func inAttempt(s *session.Session, e session.Event) (bool, error) {
	switch b := e.Body.(type) {
	case session.AttemptStarted:
		waited(s, e.At.Unix())
		if s.Waiting != nil && s.Waiting.Limited != nil && b.Limited == nil {
			s.Limits = nil // the limit is over, or a person has ended the wait
		}
		s.Status, s.Waiting, s.Runs, s.Started = session.StatusRunning, nil, s.Runs+1, b.RunID
		// an attempt may be in another phase than before: finished work that a person edited returns to a phase to be
		// judged
		s.Phase, s.Lap = b.Phase, b.Lap
		if s.Visit.Tree == "" {
			s.Visit.Tree = b.Tree
		}
		s.Open = &session.Open{AttemptStarted: b, Told: len(s.Notes), Said: len(s.Said)}
		if b.Runner == "agent" {
			s.Called(e.At)
		}
	case session.Strayed:
		strayed(s, b)
	case session.RunEnded, session.Judged, session.Reopened, session.Decided:
		applyOpen(s, e)
	case session.Checkpointed:
		return true, checkpointed(s, e, b)
	case session.Voided:
		s.Open, s.Failed, s.Why = nil, s.Failed+1, b.Why
	default:
		return false, nil
	}
	return true, nil
}

// applyOpen folds an event that belongs to the open attempt.
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
	attempt := b.Trigger == session.TriggerAttempt
	if attempt && (s.Open == nil || s.Open.Decided == nil) {
		return fmt.Errorf("checkpoint %d of an attempt that was not decided", b.Number)
	}
	s.LapTree = cmp.Or(s.LapTree, b.Tree)
	c := session.Checkpoint{
		Number: b.Number, At: e.At.Unix(), Trigger: b.Trigger, Code: b.Code, Tree: b.Tree,
		Phase: b.Phase, Lap: b.Lap, Attempt: b.Attempt, Verdict: b.Verdict, Class: b.Class, Summary: b.Summary,
		On:         max(0, s.Current),
		Incomplete: len(b.Skipped)+len(b.HeldOut) > 0, Skipped: b.Skipped[:min(len(b.Skipped), session.MaxNamed)],
		HeldOut: b.HeldOut, Deleted: b.Deleted,
	}
	c.Green = isGreen(s, b)
	if attempt {
		closeAttempt(s, e, &c)
		s.Conclude = true
	} else {
		s.Open = nil
		if b.Trigger == session.TriggerManual {
			s.Visit.Tree = "" // by making this checkpoint, the person allowed its changes
			kept(s, b.Tree)
		}
	}
	c.Next, c.NextLap, c.Terms = s.Phase, s.Lap, s.Terms
	c.Used = s.Kept(c.Phase, c.Lap)
	s.Checkpoints = append(s.Checkpoints, c)
	s.Current, s.Keep = c.Number, nil
	if s.Phase == workflows.Done && attempt {
		complete(s)
	}
	return nil
}

// isGreen reports whether a checkpoint's gates passed and no test failed. If no gate ran for the checkpoint, the answer
// is that of the previous checkpoint if both have the same tree, and false otherwise.
func isGreen(s *session.Session, b session.Checkpointed) bool {
	prev := s.At(s.Current)
	if s.Fork != nil && b.Trigger == session.TriggerBirth {
		prev = tip(s.Fork)
	}
	before := prev != nil && prev.Tree == b.Tree && prev.Green
	if b.Trigger != session.TriggerAttempt {
		return before
	}
	j := s.Open.Judgement
	passed := b.Verdict == session.Pass && !redByDesign(j)
	return passed && (before || j == nil || !j.Ungated)
}

// redByDesign reports whether a gate passed because tests fail, as RED requires.
func redByDesign(j *session.Judgement) bool {
	return j != nil && slices.ContainsFunc(j.Gates, func(g session.GateResult) bool {
		return g.Class == session.ClassTargetFailed || g.Class == session.ClassMissingSymbol
	})
}

// closeAttempt folds the conclusion of the open attempt into the session and moves the session to the next phase.
func closeAttempt(s *session.Session, e session.Event, c *session.Checkpoint) {
	open, d := s.Open, s.Open.Decided
	asked := d.Class == session.ClassAsked
	s.Open, c.Approve, c.TooSmall = nil, d.Approve, d.TooSmall
	// an attempt that ends with a question for a person is counted when the person has answered
	if c.Claimed = asked && open.Run != nil && open.Run.Done; !asked {
		s.Tries++
	}
	if open.Runner != "person" && c.Class != session.ClassAsked {
		use(s, e.At, open.Phase, open.Lap, cost.Usage{Attempts: 1})
	}
	answersClaim(s, open, d, c)
	s.Failed = 0
	s.Last, s.LastRun = d, open.RunID
	s.Notes = slices.Clone(s.Notes[min(open.Told, len(s.Notes)):])
	s.Meanwhile = slices.Clone(s.Meanwhile[min(open.AttemptStarted.Meanwhile, len(s.Meanwhile)):])
	claimed(s, open, d, c)
	if j := open.Judgement; j != nil {
		s.LastGates, s.NotRun, c.Ticked = j.Gates, j.NotRun, j.Ticked
		foundTests(s, j, d)
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
	s.Visit = visitAfter(s, open, d, c.Number)
	s.Phase, s.Lap = d.Next, d.NextLap
	approvedDone(s, open.Approved())
}

// claimed counts the agent's claim that it is done, if wfs checked it, and records it if the gates contradict it.
func claimed(s *session.Session, open *session.Open, d *session.Decided, c *session.Checkpoint) {
	if !open.Claimed() {
		return
	}
	s.Claims++
	if d.Refuted {
		r := session.Refuted{Checkpoint: c.Number, Phase: c.Phase, Lap: c.Lap, Reason: d.Reason}
		if open.Judgement != nil {
			r.Fingerprint = failing(open.Judgement.Gates)
		}
		s.Refuted = append(slices.Clip(s.Refuted), r)
	}
}

// foundTests records, after an attempt that passed, which tests belong to the lap and which may be missing.
func foundTests(s *session.Session, j *session.Judgement, d *session.Decided) {
	if d.Verdict != session.Pass {
		return
	}
	if g := j.Red(); g != nil && !d.NothingLeft {
		s.Targets, s.Expected, s.TargetsOf = g.Targets, g.Expected, g.Gate
	} else if g := j.Built(); g != nil {
		s.Targets, s.Expected, s.TargetsOf = g.Targets, nil, g.Gate
	}
	s.Gone = append(slices.Clip(s.Gone), j.Gone...)
}

// skippedBut returns the session's skipped phases except one, which has passed since or is skipped again.
func skippedBut(s *session.Session, phase session.PhaseName, lap int) []session.SkippedPhase {
	return slices.DeleteFunc(slices.Clone(s.SkippedPhases),
		func(p session.SkippedPhase) bool { return p.Phase == phase && p.Lap == lap })
}

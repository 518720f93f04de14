package session

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/wfs-dev/wfs/workflows"
)

// FoldVersion is what a session.json says that made it. It grows with each change of what the same events fold
// to, and a session.json with another one is folded anew.
const FoldVersion = 6

// UpToDate reports whether a session was folded as this wfs folds events.
func (s *Session) UpToDate() bool { return s.Version == SessionVersion && s.Folded == FoldVersion }

// Fold returns what is true after all events of a session, in order. The first must be Created.
func Fold(events []Event) (Session, error) { return Extend(Session{}, events) }

// Extend folds further events into a session. It changes nothing that s shares with others. A turn that stands before
// a Dropped event never happened and is passed over. Sequence numbers must follow each other without a gap.
func Extend(s Session, events []Event) (Session, error) {
	s.Checkpoints = slices.Clip(s.Checkpoints) // the first new one is appended to a copy, and the others to that
	for i, e := range events {
		if e.Seq != s.Seq+1 {
			return s, fmt.Errorf("event %d follows event %d", e.Seq, s.Seq)
		}
		s.Seq, s.UpdatedAt = e.Seq, e.At.Unix()
		if dropped := i+1 < len(events) && events[i+1].Kind() == KindDropped; dropped && e.Kind().IsTurn() {
			continue
		}
		err := s.mayFollow(e.Kind())
		if err == nil {
			err = s.apply(e)
		}
		if err != nil {
			return s, fmt.Errorf("event %d: %w", e.Seq, err)
		}
		s.driven(e)
	}
	return s, nil
}

func (s *Session) apply(e Event) error {
	if k := e.Kind(); k != KindCheckpointed && k != KindNoted && k != KindAnswered { // a note may come at any time
		s.Conclude = false
	}
	switch b := e.Body.(type) {
	case Created:
		s.Version, s.Folded, s.Created, s.CreatedAt = SessionVersion, FoldVersion, b, e.At.Unix()
		s.Status, s.Phase, s.Lap, s.Current = StatusCreated, b.Start, 1, -1
		if b.Fork != nil {
			if len(b.Fork.Line) == 0 {
				return fmt.Errorf("a fork of no checkpoint")
			}
			s.Settlements = b.Fork.Settlements
			s.standAt(b.Fork.at())
		}
	case Baseline:
		s.Base0 = &b
	case Driving:
		s.driving(e, b)
	case AttemptStarted:
		s.waited(e.At.Unix())
		s.Status, s.Waiting, s.Runs, s.Started = StatusRunning, nil, s.Runs+1, b.RunID
		s.Phase, s.Lap = b.Phase, b.Lap // finished work that was edited goes back to a phase to be judged
		if s.Visit.Tree == "" {
			s.Visit.Tree = b.Tree
		}
		s.Open = &Open{AttemptStarted: b, Told: len(s.Notes), Said: len(s.Said)}
		if b.Runner == "agent" {
			s.Called(e.At)
		}
	case Strayed:
		s.strayed(b)
	case RunEnded, Judged, Reopened, Decided:
		s.applyOpen(e)
	case Checkpointed:
		return s.checkpointed(e, b)
	case Voided:
		s.Open, s.Failed, s.Why = nil, s.Failed+1, b.Why
	case Interrupted:
		s.Status, s.Why = StatusInterrupted, b.Why
		if !b.Unjudged {
			s.Open = nil
		}
		s.hear(b.Request)
	case Paused:
		s.waited(e.At.Unix())
		s.Status, s.Why, s.Open = StatusPaused, b.Why, nil
		s.hear(b.Request)
	case Waiting:
		s.waited(e.At.Unix())
		s.Status, s.Waiting, s.Open = StatusWaiting, &b, nil
		if b.Reason == WaitLimit {
			s.Spent.Since = e.At.Unix()
			s.waitsHindered(b)
		}
	case BlockedBy:
		s.Status, s.Blocked, s.Open, s.Reworded = StatusBlocked, &b, nil, false
	case Noted:
		s.noted(b)
		s.hear(b.Request)
	case Agreed:
		s.agreed(b.By)
		s.approvedDone(b.By == "person")
	case Allowed:
		s.allowed(b)
		s.hear(b.Request)
	case BreakerReset:
		s.Visit, s.Blocked = Visit{Tree: s.Visit.Tree, Recovered: s.Visit.Recovered}, nil
		if s.Status == StatusBlocked {
			s.Status, s.Why = StatusPaused, "breaker reset"
		}
	case PhaseMoved:
		s.phaseMoved(b)
	case MoveStarted:
		s.Moving = &b
	case Moved:
		return s.moved(b)
	case FinishStarted:
		s.Finishing = &b
	case Finished:
		s.Finishing, s.Finished, s.Status = nil, &b, StatusFinished
		s.proven(b.Proof)
		s.heldOut(b.Holdout)
	case Dropped:
		s.Finishing, s.Deleting = nil, nil
		if b.Move {
			s.Moving = nil
		}
	default:
		if !s.applyRecord(b) && !s.applyUsage(e) {
			return fmt.Errorf("%w: event kind %q", ErrNewer, e.Kind())
		}
	}
	return nil
}

// applyOpen folds what happens inside an attempt.
func (s *Session) applyOpen(e Event) {
	open := *s.Open // a copy: the caller's session may share the old one
	switch b := e.Body.(type) {
	case RunEnded:
		open.Run, open.After = &b.RunResult, b.Tree
		s.Visit.Conversation = b.conversation(s.Visit.Conversation)
		s.Spent.RunMillis += b.Millis
		s.ran(e, &open, b)
	case Judged:
		open.Judgement = &b.Judgement
		s.measured(b.Gates)
		s.foundFlaky(&b.Judgement)
		s.proven(b.Proof)
		s.heldOut(b.Holdout)
		var millis int64
		for _, g := range b.Gates {
			millis += g.Millis
		}
		s.Spent.GateMillis += millis
		use(s, e.At, open.Phase, open.Lap, Usage{Millis: max(0, millis)})
	case Reopened:
		open.Judgement, open.Decided = nil, nil
	case Decided:
		open.Decided = &b
	}
	s.Open = &open
}

func (s *Session) checkpointed(e Event, b Checkpointed) error {
	if want := s.NextNumber(); b.Number != want {
		return fmt.Errorf("checkpoint %d where %d was due", b.Number, want)
	}
	if s.LapTree == "" {
		s.LapTree = b.Tree
	}
	c := Checkpoint{
		Number: b.Number, At: e.At.Unix(), Trigger: b.Trigger, Code: b.Code, Tree: b.Tree,
		Phase: b.Phase, Lap: b.Lap, Attempt: b.Attempt, Verdict: b.Verdict, Class: b.Class, Summary: b.Summary,
		On:         max(0, s.Current),
		Incomplete: len(b.Skipped)+len(b.HeldOut) > 0, Skipped: b.Skipped[:min(len(b.Skipped), MaxNamed)],
		HeldOut: b.HeldOut, Deleted: b.Deleted,
	}
	if b.Trigger == TriggerAttempt {
		if s.Open == nil || s.Open.Decided == nil {
			return fmt.Errorf("checkpoint %d of an attempt that was not decided", b.Number)
		}
		c.Green = b.Verdict == Pass && !redByDesign(s.Open.Judgement)
		if j := s.Open.Judgement; c.Green && j != nil && j.Ungated {
			prev := s.At(s.Current)
			c.Green = prev != nil && prev.Tree == b.Tree && prev.Green
		}
		if s.Open.Runner != "person" && b.Class != ClassAsked {
			use(s, e.At, s.Open.Phase, s.Open.Lap, Usage{Attempts: 1})
		}
		s.closeAttempt(&c)
		s.Conclude = true
	} else {
		prev := s.At(s.Current)
		if s.Fork != nil && b.Trigger == TriggerBirth {
			prev = s.Fork.at()
		}
		if prev != nil && prev.Tree == b.Tree {
			c.Green = prev.Green // the same tree, judged already
		}
		s.Open = nil
		if b.Trigger == TriggerManual {
			s.Visit.Tree = "" // what a person has kept, the person has allowed
			s.kept(b.Tree)
		}
	}
	c.Next, c.NextLap, c.Terms = s.Phase, s.Lap, s.Terms
	c.Used = s.Kept(c.Phase, c.Lap)
	s.Checkpoints = append(s.Checkpoints, c)
	s.Current, s.Keep = c.Number, nil
	if s.Phase == workflows.Done && b.Trigger == TriggerAttempt {
		s.complete()
	}
	return nil
}

// redByDesign reports whether a gate passed because tests fail, as RED wants it.
func redByDesign(j *Judgement) bool {
	return j != nil && slices.ContainsFunc(j.Gates, func(g GateResult) bool {
		return g.Class == ClassTargetFailed || g.Class == ClassMissingSymbol
	})
}

// closeAttempt folds the open attempt's conclusion into the session and moves it to its next phase.
func (s *Session) closeAttempt(c *Checkpoint) {
	open, d := s.Open, s.Open.Decided
	s.Open, c.Approve, c.TooSmall = nil, d.Approve, d.TooSmall
	asked := d.Class == ClassAsked
	if c.Claimed = asked && open.Run != nil && open.Run.Done; !asked {
		s.Tries++ // a question is counted with its answer
	}
	s.answersClaim(open, d, c)
	s.Failed = 0
	s.Last, s.LastRun = d, open.RunID
	s.Notes = slices.Clone(s.Notes[min(open.Told, len(s.Notes)):])
	s.Meanwhile = slices.Clone(s.Meanwhile[min(open.AttemptStarted.Meanwhile, len(s.Meanwhile)):])
	if open.Claimed() {
		s.Claims++
		if d.Refuted {
			r := Refuted{Checkpoint: c.Number, Phase: c.Phase, Lap: c.Lap, Reason: d.Reason}
			if open.Judgement != nil {
				r.Fingerprint = failing(open.Judgement.Gates)
			}
			s.Refuted = append(slices.Clip(s.Refuted), r)
		}
	}
	fingerprint := ""
	if open.Judgement != nil {
		s.LastGates, s.NotRun = open.Judgement.Gates, open.Judgement.NotRun
		if g := open.Judgement.Red(); g != nil && d.Verdict == Pass && !d.NothingLeft {
			s.Targets, s.Expected, s.TargetsOf = g.Targets, g.Expected, g.Gate
		} else if g := open.Judgement.Built(); g != nil && d.Verdict == Pass {
			s.Targets, s.Expected, s.TargetsOf = g.Targets, nil, g.Gate
		}
		if d.Verdict == Pass {
			s.Gone = append(slices.Clip(s.Gone), open.Judgement.Gone...)
		}
		fingerprint = open.Judgement.Fingerprint()
		c.Ticked = open.Judgement.Ticked
	}
	if d.Verdict == Pass && !d.NothingLeft {
		s.SkippedPhases = s.skippedBut(open.Phase, open.Lap)
	}
	s.toldSaid(open, d)
	s.reviewed(open, d)
	s.allowedFindings(open, d, c)
	s.froze(open, d, c)
	if d.LapEnded {
		s.LapTree, s.Targets, s.Expected = c.Tree, nil, nil
	}
	switch {
	case d.Next != s.Phase || d.LapEnded:
		s.Visit = Visit{}
	case asked:
	case open.Runner == "person": // it says nothing about who works there
		s.Visit.Attempts, s.Visit.Unsigned = s.Visit.Attempts+1, 0
	default:
		s.Visit = s.Visit.after(open, d, fingerprint, c.Number)
	}
	s.Phase, s.Lap = d.Next, d.NextLap
	s.approvedDone(open.Run != nil && open.Run.Approved)
}

// skippedBut are the phases that a person skipped, but for one of a lap: it has passed since, or is skipped anew.
func (s *Session) skippedBut(phase PhaseName, lap int) []SkippedPhase {
	return slices.DeleteFunc(slices.Clone(s.SkippedPhases),
		func(p SkippedPhase) bool { return p.Phase == phase && p.Lap == lap })
}

// Less reports whether less was done than was agreed: items are open, or a person skipped phases.
func (s *Session) Less() bool { return len(s.OpenItems())+len(s.SkippedPhases) > 0 }

// phaseMoved folds a person's decision to go on elsewhere. What was forward is told when the work is handed over.
func (s *Session) phaseMoved(b PhaseMoved) {
	s.Waiting, s.Blocked, s.Visit, s.Failed, s.Rounds = nil, nil, Visit{}, 0, nil
	if b.Skip {
		s.Review = nil
	}
	if b.NewLap {
		if b.Skip {
			s.settle(s.skippedLap())
		}
		s.Targets, s.Expected = nil, nil
		if c := s.At(s.Current); c != nil {
			s.LapTree = c.Tree
		}
	}
	if b.Skip {
		p := SkippedPhase{Phase: b.From, Lap: s.Lap, Why: b.Why, Anyway: b.Anyway}
		for _, before := range s.SkippedPhases {
			if before.Phase == p.Phase && before.Lap == p.Lap {
				p.Why = cmp.Or(p.Why, before.Why)
			}
		}
		s.SkippedPhases = append(s.skippedBut(p.Phase, p.Lap), p)
	}
	s.ledTo(b)
	s.ledSaid(b)
	s.Phase, s.Lap = b.To, b.Lap
	s.Status, s.Why = StatusPaused, "moved to "+string(b.To)
	switch {
	case b.To == workflows.Done:
		s.complete()
	case b.Ask != "":
		s.Status, s.Waiting = StatusWaiting, &Waiting{Reason: WaitHuman, Ask: b.Ask, Approve: true}
	}
}

func (s *Session) moved(b Moved) error {
	s.Moving = nil
	if b.To >= 0 {
		c := s.At(b.To)
		if c == nil {
			return fmt.Errorf("moved to checkpoint %d, which does not exist", b.To)
		}
		if c.Number != s.Current { // what was found out since is about other files than those that are here now
			s.Last, s.LastGates, s.NotRun, s.LastRun = nil, nil, nil, ""
		}
		s.Current, s.Tampered = c.Number, nil
		s.Open, s.Waiting, s.Blocked, s.Visit, s.Failed = nil, nil, nil, Visit{}, 0
		s.standAt(c)
		if b.Since != "" {
			s.Visit.Tree, s.Visit.Recovered = b.Since, b.Turn.Tree
		}
		s.Rounds = nil
		if s.Phase != workflows.Done {
			s.Status, s.Why = StatusPaused, fmt.Sprintf("at checkpoint %d", c.Number)
		}
	}
	if b.Status != "" {
		s.Status, s.Why = b.Status, b.Summary
	}
	if b.Former != nil {
		s.bringBack(*b.Former)
	}
	return nil
}

// standAt returns to where a checkpoint led.
func (s *Session) standAt(c *Checkpoint) {
	s.Phase, s.Lap, s.Terms = c.Next, c.NextLap, c.Terms
	if s.Phase == workflows.Done {
		s.complete()
	}
}

// At returns the checkpoint with a number, or nil.
func (s *Session) At(number int) *Checkpoint {
	if number < 0 || number >= len(s.Checkpoints) {
		return nil
	}
	return &s.Checkpoints[number] // numbers are never reused and never left out, so they are indexes
}

// NextNumber is the number of the next checkpoint.
func (s *Session) NextNumber() int { return len(s.Checkpoints) }

// Branch is the full name of the session's branch.
func (s *Session) Branch() string { return BranchOf(s.ID) }

// Item returns the checklist item of the present lap, "" without a checklist, or where all of it is worked on at once.
func (s *Session) Item() string {
	if !s.Laps || s.Lap < 1 || s.Lap > len(s.Items) {
		return ""
	}
	return s.Items[s.Lap-1]
}

// LapName is "lap 2/5" with a checklist, "lap 2" without, "" in a workflow without laps.
func (s *Session) LapName(lap int) string {
	switch {
	case !s.Laps:
		return ""
	case len(s.Items) > 0:
		return fmt.Sprintf("lap %d/%d", lap, len(s.Items))
	}
	return fmt.Sprintf("lap %d", lap)
}

// Names of refs. The prefix is the same in every repository.
const (
	BranchPrefix = "refs/heads/wfs/"
	RefPrefix    = "refs/wfs/"
)

// BranchOf, LedgerOf name a session's refs.
func BranchOf(id ID) string { return BranchPrefix + string(id) }

// LedgerOf names the ref of a session's ledger.
func LedgerOf(id ID) string { return RefPrefix + string(id) + "/ledger" }

// RescueOf names the ref of a rescue by its number.
func RescueOf(id ID, number string) string { return RefPrefix + string(id) + "/rescue/" + number }

// AutoOf names the ref of a session's newest auto-save.
func AutoOf(id ID) string { return RefPrefix + string(id) + "/auto" }

// LapsDone is how many laps have ended.
func (s *Session) LapsDone() int {
	if s.Phase == workflows.Done {
		return s.Lap
	}
	return s.Lap - 1
}

package session

import (
	"iter"
	"math"
	"slices"
)

// At returns the checkpoint with a number, nil if there is none.
func (s *Session) At(number int) *Checkpoint {
	if number < 0 || number >= len(s.Checkpoints) {
		return nil
	}
	return &s.Checkpoints[number] // numbers are never reused or left out, so a number is an index
}

// NextNumber returns the number that the next checkpoint will get.
func (s *Session) NextNumber() int { return len(s.Checkpoints) }

// Item returns the checklist item of the current lap, "" without a checklist or in a workflow without laps.
func (s *Session) Item() string {
	if !s.Laps || s.Lap < 1 || s.Lap > len(s.Items) {
		return ""
	}
	return s.Items[s.Lap-1]
}

// Way returns the line of checkpoints that leads to the current one, the oldest first. Checkpoints that the session
// left by going back to an earlier one are not in it. The line of a fork begins with the checkpoints of the other
// session, whose numbers are 0.
func (s *Session) Way() []Checkpoint {
	way := make([]Checkpoint, 0, s.Current+1) // a checkpoint is large: growing costs as much as the rest
	for c := range s.Back() {
		way = append(way, *c)
	}
	slices.Reverse(way)
	return way
}

// Back iterates over the checkpoints of Way, the newest first.
func (s *Session) Back() iter.Seq[*Checkpoint] {
	return func(yield func(*Checkpoint) bool) {
		for n, below := s.Current, 0; s.At(n) != nil; n = below {
			if !yield(s.At(n)) {
				return
			}
			if below = s.At(n).On; below >= n {
				break
			}
		}
		if s.Fork == nil {
			return
		}
		for _, c := range slices.Backward(s.Fork.Line) {
			if !yield(&c) {
				return
			}
		}
	}
}

// Judged returns the newest checkpoint of an attempt on the current line, nil for none.
func (s *Session) Judged() *Checkpoint { return s.JudgedBefore(math.MaxInt) }

// JudgedBefore returns the newest checkpoint of an attempt with a smaller number, on the current line, nil for none.
func (s *Session) JudgedBefore(number int) *Checkpoint {
	for c := range s.Back() {
		if c.Trigger == TriggerAttempt && c.Number < number {
			return c
		}
	}
	return nil
}

// SentBack reports whether a reviewer or a person rejected the work, and no phase has passed since.
func (s *Session) SentBack() bool {
	for c := range s.Back() {
		if c.Class == ClassRejected || c.Verdict == Pass {
			return c.Class == ClassRejected
		}
	}
	return false
}

// FlakyTests returns all tests that had different results on the same files, on the base or later, sorted. Verdicts
// ignore only the tests that were flaky on the base.
func (s *Session) FlakyTests() []TestID {
	all := slices.Clone(s.Flaky)
	if s.Base0 != nil {
		all = append(all, s.Base0.Flaky...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// StillRefuted returns the claims that the gates contradicted, except claims that a person approved on the current line
// of checkpoints.
func (s *Session) StillRefuted() []Refuted {
	way := s.Way()
	return slices.DeleteFunc(slices.Clone(s.Refuted), func(r Refuted) bool {
		return r.Approved > 0 && slices.ContainsFunc(way, func(c Checkpoint) bool { return c.Number == r.Approved })
	})
}

// TestsAt returns the checkpoint that ended the phase that wrote the frozen tests, nil for none.
func (s *Session) TestsAt() *Checkpoint {
	for i, c := range s.Checkpoints {
		if s.Frozen != "" && c.Tree == s.Frozen && c.Verdict == Pass && c.Next != c.Phase {
			return &s.Checkpoints[i]
		}
	}
	return nil
}

// Having returns the number of the newest checkpoint that has this tree, nil for none.
func (s *Session) Having(t Tree) *int {
	for _, c := range slices.Backward(s.Checkpoints) {
		if t != "" && c.Tree == t {
			return &c.Number
		}
	}
	return nil
}

// TamperedOn returns findings about tests on the current line of checkpoints, of checkpoints that passed nevertheless:
// because the findings are minor, or because a person approved them.
func (s *Session) TamperedOn() []Tampering {
	var out []Tampering
	seen := map[Tampering]bool{}
	for _, c := range s.Way() {
		for _, t := range c.Tampered {
			if c.Verdict == Pass && !seen[t] {
				seen[t] = true
				out = append(out, t)
			}
		}
	}
	return out
}

// Untouched returns the newest tree of this visit that a person edited; without such edits, the tree at the start of
// the visit. All changes since that tree are from attempts.
func (s *Session) Untouched() Tree {
	attempts := 0
	for c := range s.Back() {
		switch {
		case c.Class == ClassAsked: // not an attempt of the visit
		case c.Trigger == TriggerAttempt && attempts == s.Visit.Attempts: // this attempt belongs to an earlier visit
			return s.Visit.Tree
		case c.Trigger == TriggerAttempt:
			attempts++
		case c.Trigger == TriggerFound || c.Trigger == TriggerSwitch || c.Trigger == TriggerHook:
			return c.Tree
		}
	}
	return s.Visit.Tree
}

// Furthest returns the checkpoint of the attempt that got furthest at this visit, nil if the newest attempt got as far.
func (s *Session) Furthest() *Checkpoint {
	best := s.At(s.Visit.BestAt)
	if best == nil || best.Number == 0 || best.Number >= s.Current || s.Last == nil {
		return nil
	}
	newest := Judgement{Class: s.Last.Class, Gates: s.LastGates, Holdout: s.HoldoutAt(s.Current)}
	if !newest.Reached().Less(s.Visit.BestHas) {
		return nil
	}
	return best
}

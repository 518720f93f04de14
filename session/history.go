package session

import (
	"fmt"
	"iter"
	"math"
	"slices"

	"github.com/wfs-dev/wfs/workflows"
)

// At returns the checkpoint with a number, or nil.
func (s *Session) At(number int) *Checkpoint {
	if number < 0 || number >= len(s.Checkpoints) {
		return nil
	}
	return &s.Checkpoints[number] // numbers are never reused and never left out, so they are indexes
}

// NextNumber is the number of the next checkpoint.
func (s *Session) NextNumber() int { return len(s.Checkpoints) }

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

// LapsDone is how many laps have ended.
func (s *Session) LapsDone() int {
	if s.Phase == workflows.Done {
		return s.Lap
	}
	return s.Lap - 1
}

// Way is how the session came to where it stands: its checkpoints from the first one on, without those that it
// went back behind. A fork begins with those of the other session, whose numbers are 0.
func (s *Session) Way() []Checkpoint {
	var way []Checkpoint
	for c := range s.Back() {
		way = append(way, *c)
	}
	slices.Reverse(way)
	return way
}

// Back are the checkpoints of Way, the newest first.
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

// Judged is the newest checkpoint of an attempt on that way, nil for none.
func (s *Session) Judged() *Checkpoint { return s.JudgedBefore(math.MaxInt) }

// JudgedBefore is the newest attempt before a checkpoint on the present line; nil for none.
func (s *Session) JudgedBefore(number int) *Checkpoint {
	for c := range s.Back() {
		if c.Trigger == TriggerAttempt && c.Number < number {
			return c
		}
	}
	return nil
}

// SentBack reports whether a reviewer or a person rejected the work, and it has passed no phase since.
func (s *Session) SentBack() bool {
	for c := range s.Back() {
		if c.Class == ClassRejected || c.Verdict == Pass {
			return c.Class == ClassRejected
		}
	}
	return false
}

// FlakyTests are all tests that did now this and now that on the same files: on the base, where they are not
// held against anybody, or later. Sorted.
func (s *Session) FlakyTests() []TestID {
	all := slices.Clone(s.Flaky)
	if s.Base0 != nil {
		all = append(all, s.Base0.Flaky...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// StillRefuted are the claims that the facts contradicted, but for those of the present line of checkpoints that a
// person has said yes to.
func (s *Session) StillRefuted() []Refuted {
	way := s.Way()
	return slices.DeleteFunc(slices.Clone(s.Refuted), func(r Refuted) bool {
		return r.Approved > 0 && slices.ContainsFunc(way, func(c Checkpoint) bool { return c.Number == r.Approved })
	})
}

// TestsAt is the checkpoint of the phase that wrote the tests which the work is held to, nil for none.
func (s *Session) TestsAt() *Checkpoint {
	for i, c := range s.Checkpoints {
		if s.Frozen != "" && c.Tree == s.Frozen && c.Verdict == Pass && c.Next != c.Phase {
			return &s.Checkpoints[i]
		}
	}
	return nil
}

// Having is the newest checkpoint with a tree, nil when there is none.
func (s *Session) Having(t Tree) *int {
	for _, c := range slices.Backward(s.Checkpoints) {
		if t != "" && c.Tree == t {
			return &c.Number
		}
	}
	return nil
}

// TamperedOn are the findings of the checkpoints that the present one stands on and that were passed with them:
// what was only named, or what a person has approved.
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

// Untouched is the tree with the newest edits of people at this visit, what it began with when there are none:
// attempts made what came after it.
func (s *Session) Untouched() Tree {
	attempts := 0
	for c := range s.Back() {
		switch {
		case c.Class == ClassAsked: // it is no attempt of the visit's
		case c.Trigger == TriggerAttempt && attempts == s.Visit.Attempts: // of an earlier visit
			return s.Visit.Tree
		case c.Trigger == TriggerAttempt:
			attempts++
		case c.Trigger == TriggerFound || c.Trigger == TriggerSwitch || c.Trigger == TriggerHook:
			return c.Tree
		}
	}
	return s.Visit.Tree
}

// Furthest is the checkpoint of the attempt at this visit that got further than the newest one, nil when none did.
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

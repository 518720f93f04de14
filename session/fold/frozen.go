package fold

import (
	"cmp"
	"slices"

	"github.com/wfs-dev/wfs/session"
)

// froze folds what an attempt's checkpoint says about the tests that are frozen: RED freezes them, and what a
// person has approved is frozen in their place. A lap's end lets them go.
func froze(s *session.Session, open *session.Open, d *session.Decided, c *session.Checkpoint) {
	if open.Judgement != nil {
		judgedTests(s, open.Judgement, d, c)
	}
	if open.Approved() && s.Frozen != "" {
		s.Frozen = c.Tree
	}
	if d.Class == session.ClassTestChange && d.Next != s.Phase {
		s.TestChanges++
		s.TestChange = open.Run.TestChange
	}
	if d.LapEnded {
		thaw(s)
	}
	if d.Next != s.Phase {
		s.Tampered = nil
	}
}

// judgedTests folds what a judgement says about the tests.
func judgedTests(s *session.Session, j *session.Judgement, d *session.Decided, c *session.Checkpoint) {
	if j.Red() != nil && d.Verdict == session.Pass && !d.NothingLeft {
		s.Frozen, s.TestChange = c.Tree, ""
	}
	grave := j.Grave()
	c.Tampered = slices.Clip(grave[:min(len(grave), maxKept)])
	if len(j.Tampered) > 0 || d.Class != session.ClassRejected {
		s.Tampered = j.Tampered
	}
}

// kept folds a checkpoint of a person's: what it holds of tests, the person has allowed.
func kept(s *session.Session, tree session.Tree) {
	if s.Frozen != "" {
		s.Frozen = tree
	}
}

// ledTo folds a person's decision to go on in another phase: the tests are those that are there now, unless it
// went back to change them.
func ledTo(s *session.Session, b session.PhaseMoved) {
	s.Tampered = nil
	c := s.At(s.Current)
	switch {
	case b.NewLap:
		thaw(s)
	case b.Tests && s.Frozen != "":
		s.TestChange = cmp.Or(b.Why, "a person sent the work back")
	case b.Skip && c != nil:
		s.Frozen = c.Tree
	}
}

// thaw lets frozen tests go.
func thaw(s *session.Session) {
	s.Frozen, s.TestChange, s.TestChanges, s.Tampered, s.Gone = "", "", 0, nil, nil
}

// maxKept is how many findings a checkpoint carries. Its judgement has up to MaxNamed.
const maxKept = 10

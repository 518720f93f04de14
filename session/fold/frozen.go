package fold

import (
	"cmp"
	"slices"

	"github.com/wfs-dev/wfs/session"
)

// froze folds how an attempt's checkpoint changes the frozen tests, the tests that later attempts may not weaken. A
// pass of RED freezes the tests. If a person approves changed tests, these are frozen in their place. The end of a lap
// unfreezes them.
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

// judgedTests folds the findings about tests of a judgement, and freezes the tests after a pass of RED.
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

// kept folds a checkpoint that a person made. By making it, the person has allowed its tests, so they become the frozen
// ones.
func kept(s *session.Session, tree session.Tree) {
	if s.Frozen != "" {
		s.Frozen = tree
	}
}

// ledTo folds how a person's decision to continue in another phase changes the frozen tests. The current tests become
// the frozen ones, unless the work goes back in order to change tests.
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

// thaw unfreezes the tests, and clears everything that is recorded about them.
func thaw(s *session.Session) {
	s.Frozen, s.TestChange, s.TestChanges, s.Tampered, s.Gone = "", "", 0, nil, nil
}

// maxKept is the maximum number of findings about tests that a checkpoint has. Its judgement has up to MaxNamed.
const maxKept = 10

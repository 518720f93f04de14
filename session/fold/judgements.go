package fold

import (
	"slices"

	"github.com/wfs-dev/wfs/session"
)

// foundFlaky adds the flaky tests of a judgement to the session's list. That list is only for display: if verdicts
// ignored these tests, an attempt could escape a test by making it flaky.
func foundFlaky(s *session.Session, j *session.Judgement) {
	all := slices.Clone(s.Flaky)
	for _, g := range j.Gates {
		all = append(all, g.Flaky...)
	}
	slices.Sort(all)
	all = slices.Compact(all)
	s.Flaky = all[:min(len(all), session.MaxNamed)]
}

// heldOut folds a result of hold-out tests, if there is one.
func heldOut(s *session.Session, r *session.HoldoutResult) {
	if r != nil {
		s.Holdout = r
	}
}

// proven folds a proof, if there is one.
func proven(s *session.Session, p *session.Proof) {
	if p == nil {
		return
	}
	s.Proof = p
	measured(s, p.Gates)
}

// measured counts the results of gates that ran a command, and the cached results among them.
func measured(s *session.Session, gates []session.GateResult) {
	for _, g := range gates {
		if g.Where != session.InTree {
			s.GateRuns++
		}
		if g.Cached {
			s.GatesCached++
		}
	}
}

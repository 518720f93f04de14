package session

import (
	"slices"
	"strings"
)

// StillRefuted are the claims that the facts contradicted, but for those of the present line of checkpoints that a
// person has said yes to.
func (s *Session) StillRefuted() []Refuted {
	way := s.Way()
	return slices.DeleteFunc(slices.Clone(s.Refuted), func(r Refuted) bool {
		return r.Approved > 0 && slices.ContainsFunc(way, func(c Checkpoint) bool { return c.Number == r.Approved })
	})
}

// approve notes at which checkpoint a person said yes to what claims were refuted for.
func (s *Session) approve(at *Checkpoint, refutedFor func(Refuted) bool) {
	s.Refuted = slices.Clone(s.Refuted)
	for i, r := range s.Refuted {
		if refutedFor(r) {
			s.Refuted[i].Approved = at.Number
		}
	}
}

// answersClaim folds a person's answer to a question about an attempt, which becomes checkpoint c: whether its agent's
// claim to be done was true is known only now.
func (s *Session) answersClaim(open *Open, d *Decided, c *Checkpoint) {
	asked := s.asked()
	if asked == nil || d.Verdict == Blocked || open.Run == nil || !open.Run.Approved && !open.Run.Rejected {
		return
	}
	if what := failing(s.LastGates); d.Verdict == Pass && what != "" { // who insists was refuted for the same before
		s.approve(c, func(r Refuted) bool {
			return r.Fingerprint == what && r.Phase == asked.Phase && r.Lap == asked.Lap
		})
	}
	if !asked.Claimed {
		return
	}
	of := func(r Refuted) bool { return r.Checkpoint == asked.Number }
	answered := slices.ContainsFunc(s.Checkpoints, func(later Checkpoint) bool { // before an undo
		return later.On == asked.Number && later.Trigger == TriggerAttempt && later.Class != ClassAsked
	})
	if !answered {
		s.Claims++
	}
	switch {
	case d.Verdict == Pass:
		s.approve(c, of)
	case !slices.ContainsFunc(s.Refuted, of):
		s.Refuted = append(slices.Clip(s.Refuted), Refuted{Checkpoint: asked.Number, Phase: asked.Phase, Lap: asked.Lap,
			Reason: d.Reason})
	}
}

// failing is a fingerprint of all gates that did not pass, "" for none.
func failing(gates []GateResult) string {
	var list []string
	for _, g := range gates {
		if g.Verdict != Pass {
			list = append(list, g.Gate+":"+g.Fingerprint)
		}
	}
	return strings.Join(list, " ")
}

// asked is the checkpoint of the newest attempt if a person is asked about that, nil otherwise.
func (s *Session) asked() *Checkpoint {
	if c := s.Judged(); c != nil && c.Class == ClassAsked {
		return c
	}
	return nil
}

// allowedFindings folds a person's yes to what was found in tests, packages or code: claims that were refuted for that,
// and for nothing else, were true.
func (s *Session) allowedFindings(open *Open, d *Decided, c *Checkpoint) {
	if open.Run == nil || !open.Run.Approved || d.Verdict != Pass {
		return
	}
	allowed := slices.Clone(s.Tampered) // which the person was shown
	if open.Judgement != nil {
		allowed = append(allowed, open.Judgement.Tampered...)
	}
	same := func(t Tampering) bool {
		return slices.ContainsFunc(allowed, func(a Tampering) bool {
			return a.Kind == t.Kind && a.Path == t.Path && a.Test == t.Test
		})
	}
	s.approve(c, func(r Refuted) bool {
		was := s.At(r.Checkpoint)
		return was != nil && was.Class == ClassTampered && was.Phase == open.Phase && was.Lap == open.Lap &&
			!slices.ContainsFunc(was.Tampered, func(t Tampering) bool { return !same(t) })
	})
}

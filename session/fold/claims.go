package fold

import (
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/session"
)

// answersClaim folds a person's answer to the question about an earlier attempt. The answer becomes checkpoint c. Only
// the answer shows whether the agent's claim to be done was true.
func answersClaim(s *session.Session, open *session.Open, d *session.Decided, c *session.Checkpoint) {
	asked := asked(s)
	if asked == nil || d.Verdict == session.Blocked || !open.Answered() {
		return
	}
	// the agent made the same claim before, and it was refuted for the same failure: the person's yes makes that claim
	// true as well
	if what := failing(s.LastGates); d.Verdict == session.Pass && what != "" {
		approve(s, c, func(r session.Refuted) bool {
			return r.Fingerprint == what && r.Phase == asked.Phase && r.Lap == asked.Lap
		})
	}
	if asked.Claimed {
		countAnswer(s, asked, d.Verdict == session.Pass, c, d.Reason)
	}
}

// countAnswer counts the claim that the question was about. `yes` says that the claim was true.
func countAnswer(s *session.Session, asked *session.Checkpoint, yes bool, c *session.Checkpoint, reason string) {
	of := func(r session.Refuted) bool { return r.Checkpoint == asked.Number }
	// the question was answered before, and that answer was undone
	answered := slices.ContainsFunc(s.Checkpoints, func(later session.Checkpoint) bool {
		return later.On == asked.Number && later.Trigger == session.TriggerAttempt && later.Class != session.ClassAsked
	})
	if !answered {
		s.Claims++
	}
	if yes {
		approve(s, c, of)
	} else if !slices.ContainsFunc(s.Refuted, of) {
		s.Refuted = append(slices.Clip(s.Refuted),
			session.Refuted{Checkpoint: asked.Number, Phase: asked.Phase, Lap: asked.Lap, Reason: reason})
	}
}

// approve records that the claims selected by `refutedFor` are true, because a person approved the findings against
// them at this checkpoint.
func approve(s *session.Session, at *session.Checkpoint, refutedFor func(session.Refuted) bool) {
	s.Refuted = slices.Clone(s.Refuted)
	for i, r := range s.Refuted {
		if refutedFor(r) {
			s.Refuted[i].Approved = at.Number
		}
	}
}

// asked returns the checkpoint of the newest attempt if a person must answer a question about it, nil otherwise.
func asked(s *session.Session) *session.Checkpoint {
	if c := s.Judged(); c != nil && c.Class == session.ClassAsked {
		return c
	}
	return nil
}

// allowedFindings folds a person's approval of findings in tests, packages or code: claims that were refuted only
// because of these findings were true.
func allowedFindings(s *session.Session, open *session.Open, d *session.Decided, c *session.Checkpoint) {
	if !open.Approved() || d.Verdict != session.Pass {
		return
	}
	allowed := slices.Clone(s.Tampered) // the findings that the person saw
	if open.Judgement != nil {
		allowed = append(allowed, open.Judgement.Tampered...)
	}
	same := func(t session.Tampering) bool {
		return slices.ContainsFunc(allowed, func(a session.Tampering) bool {
			return a.Kind == t.Kind && a.Path == t.Path && a.Test == t.Test
		})
	}
	approve(s, c, func(r session.Refuted) bool {
		was := s.At(r.Checkpoint)
		return was != nil && was.Class == session.ClassTampered && was.Phase == open.Phase && was.Lap == open.Lap &&
			!slices.ContainsFunc(was.Tampered, func(t session.Tampering) bool { return !same(t) })
	})
}

// failing returns a fingerprint to compare failures: it is the same if the same gates failed in the same way. It is ""
// if all gates passed.
func failing(gates []session.GateResult) string {
	var list []string
	for _, g := range gates {
		if g.Verdict != session.Pass {
			list = append(list, g.Gate+":"+g.Fingerprint)
		}
	}
	return strings.Join(list, " ")
}

package cmd

import (
	"strings"

	"github.com/wfs-dev/wfs/session"
)

// proofOf is what is known of the present checkpoint's tree alone, nil when that is nothing.
func proofOf(s *session.Session) *session.Proof { return proofAt(s, s.Current) }

func proofAt(s *session.Session, checkpoint int) *session.Proof {
	c := s.At(checkpoint)
	if c == nil || s.Proof == nil || s.Proof.Tree != c.Tree {
		return nil
	}
	return s.Proof
}

// proofLine says what a proof found.
func proofLine(p *session.Proof) string {
	if p.Verdict == session.Pass {
		return p.Reason
	}
	return "clean checkout: " + p.Why()
}

// unprovenGate is what a line about completed work ends with when a gate could not prove it, "" when there is no such
// gate.
func unprovenGate(p *session.Proof) string {
	if p == nil || p.Verdict == session.Pass {
		return ""
	}
	gate, _, _ := strings.Cut(p.Why(), ":")
	return "; not tested in a clean checkout: " + gate
}

// remedies are what can be done about files that a tree lacks.
const remedies = "allow them (git add -f FILE, or wfs allow FILE), name them in clean-provide of the configuration, or set clean-proof: off there (then wfs edit --reload)"

// sayProof tells of a proof unless it is in order.
func (a *app) sayProof(say func(string, ...any), p *session.Proof) {
	if p == nil || p.Verdict == session.Pass {
		return
	}
	say("%s", proofLine(p))
	if len(p.Lacks) > 0 {
		say("  %s", remedies)
	}
}

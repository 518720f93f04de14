package session

import "slices"

// Question is what only a person can tell of work that was judged: it goes with ClassAsked. The sentence that is asked is
// the judgement's reason.
type Question struct {
	Paths    []string `json:"paths,omitempty"`    // that it is about, at most MaxNamed
	Evidence []string `json:"evidence,omitempty"` // lines for whoever answers
}

func (q *Question) worded(f func(string) string) *Question {
	if q == nil {
		return nil
	}
	c := Question{Paths: q.Paths}
	for _, line := range q.Evidence {
		c.Evidence = append(c.Evidence, f(line))
	}
	return &c
}

// answersClaim folds a person's answer to a question about an attempt: whether its agent's claim to be done was true is
// known only now.
func (s *Session) answersClaim(open *Open, d *Decided) {
	if open.Run == nil || !open.Run.Approved && !open.Run.Rejected || d.Verdict == Blocked {
		return
	}
	for _, c := range slices.Backward(s.Way()) {
		if c.Trigger != TriggerAttempt {
			continue
		}
		counted := slices.ContainsFunc(s.Checkpoints, func(later Checkpoint) bool { // before an undo
			return later.On == c.Number && (later.Class == ClassApproved || later.Class == ClassRejected)
		})
		if c.Class != ClassAsked || !c.Claimed || counted {
			return
		}
		s.Claims++
		if d.Verdict == Fail {
			s.Refuted = append(slices.Clip(s.Refuted), Refuted{Checkpoint: c.Number, Phase: c.Phase, Lap: c.Lap, Reason: d.Reason})
		}
		return
	}
}

package session

import "slices"

// Worded returns the body with every text that people, agents or gates wrote put through f: what takes secrets out stands
// before the journal. Names, paths, ids and the pinned plan stay as they are, since things are found by them.
func Worded(b Body, f func(string) string) Body {
	all := func(texts []string) []string {
		var out []string
		for _, s := range texts {
			out = append(out, f(s))
		}
		return out
	}
	switch b := b.(type) {
	case Created:
		b.Goal = f(b.Goal)
		return b
	case Baseline:
		b.Gates = wordedGates(b.Gates, f)
		return b
	case RunEnded:
		b.Note, b.Ask, b.Message, b.Review = f(b.Note), f(b.Ask), f(b.Message), b.Review.worded(f)
		b.TestChange, b.NothingLeft = f(b.TestChange), f(b.NothingLeft)
		b.Refused = slices.Clone(b.Refused)
		for i := range b.Refused {
			b.Refused[i].Text, b.Refused[i].Whole = f(b.Refused[i].Text), f(b.Refused[i].Whole)
		}
		return b
	case Judged:
		b.Reason, b.Gates = f(b.Reason), wordedGates(b.Gates, f)
		b.Tampered = quoted(b.Tampered, f)
		b.Question = b.Question.worded(f)
		return b
	case Reopened:
		b.Why = f(b.Why)
		return b
	case Decided:
		b.Reason, b.Question = f(b.Reason), b.Question.worded(f)
		return b
	case Checkpointed:
		b.Summary = f(b.Summary)
		return b
	case Voided:
		b.Why = f(b.Why)
		return b
	case Interrupted:
		b.Why = f(b.Why)
		return b
	case Paused:
		b.Why = f(b.Why)
		return b
	case Waiting:
		b.Why, b.Ask, b.Question = f(b.Why), f(b.Ask), b.Question.worded(f)
		return b
	case BlockedBy:
		b.Evidence, b.Hint = all(b.Evidence), f(b.Hint)
		return b
	case Noted:
		b.Text = f(b.Text)
		return b
	case PhaseMoved:
		b.Why, b.Ask = f(b.Why), f(b.Ask)
		return b
	case Finished:
		b.Anyway = f(b.Anyway)
		return b
	case Dropped:
		b.Why = f(b.Why)
		return b
	case Answered:
		b.Summary = f(b.Summary)
		return b
	case Abandoned:
		b.Reason = f(b.Reason)
		return b
	case Revived:
		b.Why = f(b.Why)
		return b
	case Renamed:
		b.Title = f(b.Title)
		return b
	case Edited:
		b.Goal, b.Changes = f(b.Goal), all(b.Changes)
		return b
	case Repinned:
		b.Changes = all(b.Changes)
		return b
	}
	return b
}

func wordedGates(gates []GateResult, f func(string) string) []GateResult {
	var out []GateResult
	for _, g := range gates {
		g.Reason = f(g.Reason)
		out = append(out, g)
	}
	return out
}

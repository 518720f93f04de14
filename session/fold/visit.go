package fold

import (
	"slices"

	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/session/cost"
)

// visitAfter returns the state of the visit (the attempts at one phase in a row) after an attempt. `checkpoint` is the
// number of the attempt's checkpoint. If the attempt leaves the phase or ends the lap, the visit is empty.
func visitAfter(s *session.Session, open *session.Open, d *session.Decided, checkpoint int) session.Visit {
	v := s.Visit
	switch {
	case d.Next != s.Phase || d.LapEnded:
		return session.Visit{}
	case d.Class == session.ClassAsked:
	case open.Runner == "person": // a person's answer says nothing about the agent of the phase
		v.Attempts, v.Unsigned = v.Attempts+1, 0
	default:
		return after(v, open, d, checkpoint)
	}
	return v
}

// after returns the state of the visit after one more attempt of an agent.
func after(v session.Visit, open *session.Open, d *session.Decided, checkpoint int) session.Visit {
	j, fingerprint := open.Judgement, ""
	if j != nil {
		fingerprint = j.Fingerprint()
	}
	v.Attempts++
	if d.Step == session.StepLooked {
		v.Looked++
	} else {
		v = counted(v, d, fingerprint)
	}
	v.Fingerprint = fingerprint
	if fingerprint != "" && !slices.Contains(v.Seen, fingerprint) {
		v.Seen = append(slices.Clip(v.Seen), fingerprint)
	}
	if j == nil {
		return v
	}
	v.Tampered, v.Again = v.Tampered+1, false
	if d.Class != session.ClassTampered {
		v.Tampered = 0
	} else {
		v = found(v, j.Grave())
	}
	return got(left(v, open, d), j, checkpoint)
}

// left counts attempts in a row that changed no files, and attempts that returned to the files of an earlier attempt.
func left(v session.Visit, open *session.Open, d *session.Decided) session.Visit {
	tree := open.Judgement.Tree
	unchanged := tree == open.Tree
	switch {
	case d.Step == session.StepAhead, d.Step == session.StepUnsigned:
		v.Circles = 0
	case !unchanged && v.Known(tree):
		v.Circles++
	}
	v.Idle++
	if !unchanged {
		v.Idle = 0
	}
	v.Denied++
	if !unchanged || open.Run == nil || open.Run.Denials <= 0 {
		v.Denied = 0
	}
	if !slices.Contains(v.Trees, tree) {
		v.Trees = append(slices.Clip(v.Trees), tree)
	}
	return v
}

// got records how far an attempt got, and which of its tests failed.
func got(v session.Visit, j *session.Judgement, checkpoint int) session.Visit {
	v.Best = max(v.Best, j.Passing())
	r := j.Reached()
	if r.LeavesLess(v.High) {
		v.Fewer++
	}
	if v.High = v.High.Most(r); v.BestAt == 0 || v.BestHas.Less(r) {
		v.BestAt, v.BestHas = checkpoint, r
	}
	ids, _ := j.Failing()
	for _, id := range ids {
		if len(v.Failing) < maxFailing && !slices.Contains(v.Failing, id) {
			v.Failing = append(slices.Clip(v.Failing), id)
		}
	}
	return v
}

// found adds an attempt's findings about tests to the visit. It records whether an earlier attempt had one of them.
func found(v session.Visit, list []session.Tampering) session.Visit {
	told := v.Found
	for _, t := range list {
		key := t.Kind + " " + t.Path + " " + t.Test
		v.Again = v.Again || slices.Contains(told, key)
		if len(v.Found) < maxFailing && !slices.Contains(v.Found, key) {
			v.Found = append(slices.Clip(v.Found), key)
		}
	}
	return v
}

// counted updates the numbers of attempts in a row without progress or with the same failure.
func counted(v session.Visit, d *session.Decided, fingerprint string) session.Visit {
	v.NoProgress++
	if d.Progress {
		v.NoProgress = 0
	}
	switch {
	case d.Step == session.StepAhead, d.Step == session.StepUnsigned:
		v.Stale = 0
	case d.Step == "" && d.Progress: // an older wfs wrote the event, and did not record the kind of progress
	default:
		v.Stale++
	}
	v.Unsigned++
	if d.Step != session.StepUnsigned {
		v.Unsigned = 0
	}
	switch {
	case d.Step == session.StepAhead: // the attempt got further, so an equal failure before it does not matter
		v.SameFailure = 0
	case fingerprint != "" && fingerprint == v.Fingerprint:
		v.SameFailure++
	default:
		v.SameFailure = 1
	}
	return v
}

// maxFailing is the maximum length of Visit.Failing and Visit.Found.
const maxFailing = 4 * session.MaxNamed

// conversationAfter returns the conversation that the next attempt of the visit may continue after a run, nil for none.
// A conversation is not continued if its last run failed, hung, gave no result, or reached the end of its context.
func conversationAfter(r *session.RunResult, before *session.Conversation) *session.Conversation {
	if r.Agent == "" {
		return before // the run was not of an agent that has conversations
	}
	switch r.Outcome {
	case session.OutcomeFailed, session.OutcomeNotStarted, session.OutcomeIdle, session.OutcomeHung,
		session.OutcomeConfig, session.OutcomeTooLong, session.OutcomeRefused,
		session.OutcomeNoResult:
		return nil
	}
	if r.Conversation == "" {
		if before == nil {
			return nil
		}
		c := *before
		c.Ended = r.Outcome
		return &c
	}
	c := session.Conversation{ID: r.Conversation, Agent: r.Agent, Version: r.AgentVersion, Place: r.Place,
		Ended: r.Outcome,
		Total: r.Total}
	// the run ended before it could report the total
	if before != nil && before.ID == c.ID && c.Total == (cost.Total{}) {
		c.Total = before.Total
		if c.Total != (cost.Total{}) { // without this, the next run would count this run's usage again
			u := r.Usage()
			c.Total = cost.Total{CostUSD: c.Total.CostUSD + u.USD.USD(),
				Tokens: cost.Usage{Tokens: c.Total.Tokens}.Plus(u).Tokens}
		}
	}
	return &c
}

// conversationFound returns the conversation that the next attempt may continue after a run that was cut off. Its total
// is the one from before that run.
func conversationFound(u *session.UsageFound, before *session.Conversation) *session.Conversation {
	if u.Conversation == nil {
		return before
	}
	c := *u.Conversation
	if before != nil && before.ID == c.ID {
		c.Total = before.Total
		if c.Version == "" {
			c.Version = before.Version
		}
	}
	return &c
}

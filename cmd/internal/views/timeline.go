package views

import (
	"cmp"
	"slices"

	"github.com/wfs-dev/wfs/session"
)

// Visit is a stay in one phase: what happened from the moment when the session entered the phase until it left it.
type Visit struct {
	Phase   session.PhaseName `json:"phase"`
	Lap     int               `json:"lap"`
	Entries []Entry           `json:"entries"`
}

// Entry is one line of a time line: either an attempt, or a decision outside of attempts.
type Entry struct {
	Place
	Attempt  *Attempt  `json:"attempt,omitempty"`
	Decision *Decision `json:"decision,omitempty"`
}

// Timeline returns what happened in a session, oldest first. The verdict of an attempt stands with the attempt, not as
// a decision of its own.
func Timeline(facts []Fact) []Visit {
	var entries []Entry
	attempts := Attempts(facts)
	for i := range attempts {
		entries = append(entries, Entry{Place: attempts[i].Place, Attempt: &attempts[i]})
	}
	for _, f := range facts {
		if _, verdict := f.Body.(session.Decided); verdict && !f.person {
			continue
		}
		if by, what, why := decision(f); what != "" {
			at := f.Place
			switch f.Body.(type) {
			case session.Created, session.Decided: // these make a checkpoint
			default:
				at.Checkpoint = nil
			}
			entries = append(entries, Entry{Place: at, Decision: &Decision{at, by, what, why}})
		}
	}
	slices.SortStableFunc(entries, func(x, y Entry) int { return cmp.Compare(x.Seq, y.Seq) })
	var visits []Visit
	for _, e := range entries {
		if n := len(visits); n == 0 || visits[n-1].Phase != e.Phase || visits[n-1].Lap != e.Lap {
			visits = append(visits, Visit{Phase: e.Phase, Lap: e.Lap})
		}
		v := &visits[len(visits)-1]
		v.Entries = append(v.Entries, e)
	}
	return visits
}

// Newest takes all but the newest `most` entries out of a time line. It returns the rest, and how many it took.
func Newest(visits []Visit, most int) (newest []Visit, older int) {
	for _, v := range visits {
		older += len(v.Entries)
	}
	older = max(0, older-most)
	for drop := older; drop > 0; {
		n := min(drop, len(visits[0].Entries))
		if visits[0].Entries = visits[0].Entries[n:]; len(visits[0].Entries) == 0 {
			visits = visits[1:]
		}
		drop -= n
	}
	return visits, older
}

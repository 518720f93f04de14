package views

import (
	"fmt"
	"strings"

	"github.com/wfs-dev/wfs/cmd/internal/present"
	"github.com/wfs-dev/wfs/session"
)

// Error is something that went wrong.
type Error struct {
	Place
	// `run` (a run of the agent failed), `attempt` (an attempt did not pass), `claim` (an attempt did not pass although
	// the agent said that it is done), `limit`, `interrupted`, `blocked`, `outside` (a run changed refs or files
	// outside its session), `budget`, `dropped` (an operation failed and was taken back)
	Kind  string        `json:"kind"`
	Class session.Class `json:"class,omitempty"` // of an attempt
	Text  string        `json:"text"`
}

// Errors returns everything that went wrong, oldest first.
func Errors(facts []Fact) []Error {
	list := []Error{}
	var judged session.Judged
	for _, f := range facts {
		e := Error{Place: f.Place, Text: present.EventText(f.Body)}
		switch b := f.Body.(type) {
		case session.RunEnded:
			if !troubled(b.RunResult) {
				continue
			}
			e.Kind, e.Text = "run", present.RanAs(b.RunResult)
		case session.Judged:
			judged = b
			continue
		case session.Decided:
			if b.Verdict == session.Pass || b.Class == session.ClassAsked || b.Class == session.ClassUnsigned {
				continue
			}
			if e.Kind = "attempt"; b.Refuted {
				e.Kind = "claim"
			}
			e.Class, e.Text = b.Class, b.Reason
			for _, g := range judged.Gates {
				if g.Verdict != session.Pass && g.FirstError != "" {
					e.Text += fmt.Sprintf(" (%s: %s)", g.Gate, g.FirstError)
				}
			}
		case session.Waiting:
			if b.Reason != session.WaitLimit || b.Cause == session.CauseAsked {
				continue
			}
			e.Kind = "limit"
		case session.Interrupted:
			e.Kind = "interrupted"
		case session.BlockedBy:
			e.Kind = "blocked"
		case session.Strayed:
			if b.Empty() {
				continue
			}
			e.Kind, e.Text = "outside", strings.Join(present.Strayed(b), "; ")
		case session.BudgetWarned:
			e.Kind = "budget"
		case session.Dropped:
			e.Kind = "dropped"
		default:
			continue
		}
		list = append(list, e)
	}
	return list
}

// troubled reports whether a run failed. Limits are not among the failures: the session then waits, which is listed.
func troubled(r session.RunResult) bool {
	switch r.Outcome {
	case session.OutcomeOK, session.OutcomeWait, session.OutcomeAsk, session.OutcomeInterrupted, session.OutcomeLimit,
		session.OutcomeRateLimited, session.OutcomeOverloaded:
		return false
	}
	return true
}

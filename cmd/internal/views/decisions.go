package views

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/wfs-dev/wfs/cmd/internal/present"
	"github.com/wfs-dev/wfs/session"
)

// Decision is something that wfs, a reviewer or a person decided.
type Decision struct {
	Place
	By   string `json:"by"`            // `wfs`, `reviewer`, `person`, `auto`, or `somebody` during a run
	What string `json:"what"`          // in a few words
	Why  string `json:"why,omitempty"` // the reason, or the person's text
}

// Decisions returns all decisions, oldest first.
func Decisions(facts []Fact) []Decision {
	list := []Decision{}
	for _, f := range facts {
		if by, what, why := decision(f); what != "" {
			list = append(list, Decision{f.Place, by, what, why})
		}
	}
	return list
}

func decision(f Fact) (by, what, why string) {
	const wfs, person = "wfs", "person"
	why = present.EventText(f.Body)
	switch b := f.Body.(type) {
	case session.Created:
		what = "new session, workflow " + b.Workflow
		if b.Temporary {
			what += ", temporary"
		}
		return person, what, b.Goal
	case session.AttemptStarted:
		switch {
		case b.Limited != nil:
			return wfs, "another agent", present.Substitute(b)
		case b.HalfOpen:
			return wfs, "one more attempt", "the breaker asks for another approach"
		}
	case session.Decided:
		return decided(f, b)
	case session.Waiting:
		if b.Reason == session.WaitLimit {
			return wfs, "wait", why
		}
		return wfs, "ask a person", why
	case session.BlockedBy:
		return wfs, "stop", why
	case session.Agreed:
		return b.By, "the work is done", ""
	case session.Noted:
		if by = person; b.Meanwhile {
			by = "somebody"
		}
		if what = "note"; b.Back {
			what = "reject"
		}
		return by, what, b.Text
	case session.Allowed:
		if what = "allow"; b.Revoked {
			what = "no longer allow"
		}
		return person, what + " " + strings.Join(b.Paths, ", "), ""
	case session.BreakerReset:
		return person, "reset the breaker", ""
	case session.BudgetSet:
		caps, _ := json.Marshal(b.Budget)
		return person, "set the budget", strings.NewReplacer(`"`, "", "{", "", "}", "", ",", ", ").Replace(string(caps))
	case session.PhaseMoved:
		if what = fmt.Sprintf("%s → %s", b.From, b.To); b.Skip {
			what = "skip " + what
		}
		return person, what, b.Why
	case session.Moved:
		if b.How == session.MoveNew {
			break // the session's creation is listed
		}
		return person, b.Summary, ""
	case session.Finished:
		return person, "finish", cmp.Or(b.Anyway, why)
	case session.TakenBack:
		return person, b.Summary, ""
	case session.Abandoned, session.Revived, session.Renamed, session.Edited, session.Repinned:
		kind := string(f.Kind())
		return person, strings.ReplaceAll(kind, "_", " "), why
	}
	return "", "", ""
}

// decided describes the decision after a judgement.
func decided(f Fact, b session.Decided) (by, what, why string) {
	switch by = "wfs"; {
	case f.person && (b.Class == session.ClassApproved || b.Class == session.ClassRejected):
		by = "person"
	case b.Class == session.ClassReviewed, b.Class == session.ClassRejected:
		by = "reviewer"
	}
	what = string(b.Verdict)
	if b.Next != f.Phase || b.NextLap != f.Lap {
		what += " → " + string(b.Next)
	}
	if why = b.Reason; b.Refuted {
		why += " (the agent had said that it is done)"
	}
	if b.TooSmall != "" {
		why += fmt.Sprintf(" (%s left out: little code)", b.TooSmall)
	}
	return by, what, why
}

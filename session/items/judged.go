package items

import (
	"fmt"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

// Approval is the approval of a phase's work, on the current line of checkpoints.
type Approval struct {
	Phase      session.PhaseName `json:"phase"`
	Lap        int               `json:"lap"`
	Checkpoint int               `json:"checkpoint"`
	By         string            `json:"by"` // "person" or "reviewer"
}

// Approvals returns the approvals by people and reviewers, the newest one for each phase and lap. Later work in the
// phase, or in a phase that leads to it, invalidates an approval. Edits of a person after the end of the work do not,
// if the gates pass.
func Approvals(s *session.Session, w *workflows.Workflow) []Approval {
	var all []Approval
	for _, c := range s.Way() {
		passed := c.Verdict == session.Pass
		by := map[session.Class]string{session.ClassApproved: "person", session.ClassReviewed: "reviewer"}[c.Class]
		if c.Trigger == session.TriggerAttempt {
			edited := by == "" && passed && approves(w.Phase(c.Phase))
			all = slices.DeleteFunc(all, func(a Approval) bool {
				return a.Lap == c.Lap && (a.Phase == c.Phase && !edited || w.LeadsTo(c.Phase, a.Phase))
			})
		}
		if by != "" && passed {
			all = append(all, Approval{Phase: c.Phase, Lap: c.Lap, Checkpoint: c.Number, By: by})
		}
	}
	return all
}

// approves reports whether a phase consists of the approval of a person or a reviewer.
func approves(p *workflows.Phase) bool { return p != nil && (p.Run.Human || p.Review != nil) }

// Unjudged returns the question to ask about parts of finished work that were not judged, "" if all parts were judged.
func Unjudged(s *session.Session) string {
	items := States(s)
	if open := slices.DeleteFunc(slices.Clone(items), Item.Settled); len(open) > 0 {
		return askOpen(open, len(items))
	}
	if unapproved(s) {
		return "no gate judges this work: look at it, then approve or reject it"
	}
	way := s.Way()
	said := slices.ContainsFunc(s.Settlements,
		func(e session.Settlement) bool { return e.State == session.ItemAgreed && on(e, way) })
	if said || !s.Laps || slices.ContainsFunc(items, func(i Item) bool { return i.State != session.ItemShown }) ||
		LapsJudged(s) > 0 {
		return ""
	}
	return askNothingDone(s)
}

// askNothingDone returns the question to ask if nothing in the session was judged.
func askNothingDone(s *session.Session) string {
	if len(s.Items) > 0 {
		return "nothing was done in this session: the agent says that existing tests show every item. Is the work done?"
	}
	if n := len(s.SkippedPhases); n > 0 {
		did := "a person skipped %s"
		switch last := s.SkippedPhases[n-1]; {
		case last.Anyway:
			did = "a person let %s pass"
		case last.Before:
			did = "%s was done before it"
		}
		return fmt.Sprintf("nothing was judged in this session: "+did+". Is the work done?", s.SkippedPhases[n-1].Phase)
	}
	return "nothing was done in this session, and the agent says that nothing is left. Is the work done?"
}

// askOpen returns the question to ask about open items. `all` is the number of all items.
func askOpen(open []Item, all int) string {
	n := len(open)
	says := make([]string, 0, n)
	for _, item := range open[:min(n, 5)] {
		says = append(says, fmt.Sprintf("%q (%s)", item.Text, item.Says()))
	}
	if n > 5 {
		says = append(says, fmt.Sprintf("and %d more", n-5))
	}
	was, is := "were not judged", "Are they done anyway?"
	if n == 1 {
		was, is = "was not judged", "Is it done anyway?"
	}
	return fmt.Sprintf("%d of %d items %s: %s. %s", n, all, was, strings.Join(says, ", "), is)
}

// LapsJudged returns the number of laps on the current line of checkpoints that ended with a judgement.
func LapsJudged(s *session.Session) int {
	way, n := s.Way(), 0
	for i, c := range way {
		if endsLap(s, c.Lap, way[:i+1]) {
			n++
		}
	}
	return n
}

// unapproved reports whether work on this line of checkpoints was judged by no gate, and was not approved since.
func unapproved(s *session.Session) bool {
	way := s.Way()
	for i, c := range slices.Backward(way) {
		switch {
		case c.Class == session.ClassApproved:
			return false
		case c.Approve:
			return !slices.ContainsFunc(s.Settlements,
				func(e session.Settlement) bool {
					return e.Item == 0 && e.State == session.ItemAgreed && on(e, way[i:])
				})
		}
	}
	return false
}

// ApprovedInTheEnd reports whether a person approved the whole work when it ended at this checkpoint.
func ApprovedInTheEnd(s *session.Session, checkpoint int) bool {
	return slices.ContainsFunc(s.Settlements, func(e session.Settlement) bool {
		return e.Item == 0 && e.State == session.ItemAgreed && e.By == "person" && e.Checkpoint == checkpoint
	})
}

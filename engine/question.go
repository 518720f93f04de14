package engine

import (
	"fmt"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

// asks makes a question of what was done to tests, where the workflow leaves that to a person.
func asks(p *workflows.Plan, ph *workflows.Phase, j *session.Judgement) {
	if j.Class != session.ClassTampered || p.Workflow.TamperIn(ph) != workflows.TamperReview {
		return
	}
	j.Verdict, j.Class, j.Question = session.Blocked, session.ClassAsked, &session.Question{}
	for _, t := range j.Grave() {
		q := j.Question
		if !slices.Contains(q.Paths, t.Path) {
			q.Paths = append(q.Paths, t.Path)
		}
		q.Evidence = append(q.Evidence, oneLine(t.String(), 300))
	}
}

// saysNo reports whether a gate did not pass.
func saysNo(gates []session.GateResult) bool {
	return slices.ContainsFunc(gates, func(g session.GateResult) bool { return g.Verdict != session.Pass })
}

// waitsForAnswer is the wait for a person's answer to what the newest judgement asks.
func waitsForAnswer(s *session.Session) session.Waiting {
	reason := strings.TrimSpace(s.Last.Reason)
	if !strings.HasSuffix(reason, "?") {
		reason = strings.TrimSuffix(reason, ".") + ". Is that right (approve), or what is to be done (reject)?"
	}
	return session.Waiting{Reason: session.WaitHuman, Approve: true, Ask: fmt.Sprintf("%s: %s", s.Phase, reason), Question: s.Last.Question}
}

// askAgain lets a session wait for an answer when its run died before it could.
func (h *Hand) askAgain() error {
	if h.S.Open != nil || !h.S.Conclude || h.S.Last == nil || h.S.Last.Class != session.ClassAsked {
		return nil
	}
	return h.append(waitsForAnswer(&h.S))
}

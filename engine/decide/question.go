package decide

import (
	"fmt"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/internal/safetext"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

// Asks turns the judgement of an attempt that weakened tests into a question to a person, if the workflow lets a person
// decide about that.
func Asks(p *workflows.Plan, ph *workflows.Phase, j *session.Judgement) {
	if j.Class != session.ClassTampered || p.Workflow.TamperIn(ph) != workflows.TamperReview {
		return
	}
	j.Verdict, j.Class, j.Question = session.Blocked, session.ClassAsked, &session.Question{Evidence: findings(j)}
	for _, t := range j.Grave() {
		q := j.Question
		if !slices.Contains(q.Paths, t.Path) {
			q.Paths = append(q.Paths, t.Path)
		}
	}
}

// Insists decides whether a failed judgement that has a question is asked. The first time, the attempt fails without
// the question, and the next brief explains the failure. If an attempt of the same visit has failed in the same way
// before, the agent insists on its change and may be right, so the question goes to a person.
func Insists(s *session.Session, j *session.Judgement) {
	if j.Verdict != session.Fail || j.Question == nil {
		return
	}
	if !slices.Contains(s.Visit.Seen, j.Fingerprint()) {
		j.Question = nil
		return
	}
	j.Verdict, j.Class = session.Blocked, session.ClassAsked
}

// SaysNo reports whether a gate did not pass.
func SaysNo(gates []session.GateResult) bool {
	return slices.ContainsFunc(gates, func(g session.GateResult) bool { return g.Verdict != session.Pass })
}

// WaitsForAnswer returns the event by which the session waits for a person's answer to the question of its newest
// judgement.
func WaitsForAnswer(s *session.Session) session.Waiting {
	reason := strings.TrimSpace(s.Last.Reason)
	if !strings.HasSuffix(reason, "?") {
		reason = strings.TrimSuffix(reason, ".") + ". Is that right (approve), or what should change (reject)?"
	}
	w := Asking(fmt.Sprintf("%s: %s", s.Phase, reason))
	w.Question = s.Last.Question
	return w
}

// findings lists the grave findings of a judgement, one per line.
func findings(j *session.Judgement) (lines []string) {
	for _, t := range j.Grave() {
		lines = append(lines, safetext.OneLine(t.String(), 300))
	}
	return lines
}

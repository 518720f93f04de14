package decide

import (
	"fmt"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

// Asks makes a question of what was done to tests, where the workflow leaves that to a person.
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

// Insists makes a question of a finding that whoever works was told of before at this visit and did not take back: it
// may be right. The first time it fails the attempt, without a person.
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

// WaitsForAnswer is the wait for a person's answer to what the newest judgement asks.
func WaitsForAnswer(s *session.Session) session.Waiting {
	reason := strings.TrimSpace(s.Last.Reason)
	if !strings.HasSuffix(reason, "?") {
		reason = strings.TrimSuffix(reason, ".") + ". Is that right (approve), or what should change (reject)?"
	}
	w := Asking(fmt.Sprintf("%s: %s", s.Phase, reason))
	w.Question = s.Last.Question
	return w
}

// findings are what is held against a judged tree, in lines.
func findings(j *session.Judgement) (lines []string) {
	for _, t := range j.Grave() {
		lines = append(lines, session.OneLine(t.String(), 300))
	}
	return lines
}

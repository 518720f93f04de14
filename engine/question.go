package engine

import (
	"context"
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
	j.Verdict, j.Class, j.Question = session.Blocked, session.ClassAsked, &session.Question{Evidence: findings(j)}
	for _, t := range j.Grave() {
		q := j.Question
		if !slices.Contains(q.Paths, t.Path) {
			q.Paths = append(q.Paths, t.Path)
		}
	}
}

// insists makes a question of a finding that whoever works was told of before at this visit and did not take back: it
// may be right. The first time it fails the attempt, without a person.
func insists(s *session.Session, j *session.Judgement) {
	if j.Verdict != session.Fail || j.Question == nil {
		return
	}
	if !slices.Contains(s.Visit.Seen, j.Fingerprint()) {
		j.Question = nil
		return
	}
	j.Verdict, j.Class = session.Blocked, session.ClassAsked
}

// saysNo reports whether a gate did not pass.
func saysNo(gates []session.GateResult) bool {
	return slices.ContainsFunc(gates, func(g session.GateResult) bool { return g.Verdict != session.Pass })
}

// waitsForAnswer is the wait for a person's answer to what the newest judgement asks.
func waitsForAnswer(s *session.Session) session.Waiting {
	reason := strings.TrimSpace(s.Last.Reason)
	if !strings.HasSuffix(reason, "?") {
		reason = strings.TrimSuffix(reason, ".") + ". Is that right (approve), or what should change (reject)?"
	}
	return session.Waiting{Reason: session.WaitHuman, Approve: true, Ask: fmt.Sprintf("%s: %s", s.Phase, reason),
		Question: s.Last.Question}
}

// askAgain lets a session wait for an answer when its run died before it could.
func (h *Hand) askAgain() error {
	if h.S.Open != nil || !h.S.Conclude || h.S.Last == nil || h.S.Last.Class != session.ClassAsked {
		return nil
	}
	return h.append(waitsForAnswer(&h.S))
}

// asksForBranch makes a question of a judgement for which tests are gone because the branch, and the files with it, was
// taken back while the attempt ran: a person may have done that.
func (h *Hand) asksForBranch(ctx context.Context, o *session.Open, j *session.Judgement) error {
	if o.Runner == runnerPerson || j.Class != session.ClassTampered && j.Class != session.ClassTargetMissing {
		return nil
	}
	tip, err := h.e.Store.Ref(ctx, h.S.Branch())
	if err != nil {
		return err
	}
	way := h.S.Way()
	at := slices.IndexFunc(way, func(c session.Checkpoint) bool { return c.Code == tip })
	if at < 0 || at == len(way)-1 {
		return nil
	}
	was := h.S.At(h.S.Current)
	lost, err := h.e.Store.Changes(ctx, way[at].Tree, was.Tree)
	if err != nil {
		return err
	}
	changed, err := h.e.Store.Changes(ctx, was.Tree, j.Tree)
	if err != nil {
		return err
	}
	q := &session.Question{}
	for _, c := range changed {
		if slices.ContainsFunc(lost, func(l session.Change) bool { return l.Path == c.Path }) &&
			len(q.Paths) < session.MaxNamed {
			q.Paths = append(q.Paths, c.Path)
		}
	}
	if len(q.Paths) == 0 {
		return nil
	}
	q.Evidence = append([]string{fmt.Sprintf("wfs resume %s@%d brings back what was there", h.ID, was.Number),
		oneLine(j.Reason, 300)}, findings(j)...)
	j.Verdict, j.Class, j.Question = session.Blocked, session.ClassAsked, q
	j.Reason = fmt.Sprintf("the branch and its files were reset to checkpoint %d while the attempt ran, by you or by the agent", way[at].Number)
	return nil
}

// findings are what is held against a judged tree, in lines.
func findings(j *session.Judgement) (lines []string) {
	for _, t := range j.Grave() {
		lines = append(lines, oneLine(t.String(), 300))
	}
	return lines
}

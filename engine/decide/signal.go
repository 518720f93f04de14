package decide

import (
	"fmt"
	"strings"

	"github.com/wfs-dev/wfs/internal/safetext"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

// maxUnsigned limits the attempts in a row that pass all gates although the agent did not report that it is done. Then
// a person is asked. The first attempt may forget the report, the second one is reminded, and one is spare.
const maxUnsigned = 3

// heard applies the agent's report to a decision: in phases that pass only if the agent reports that it is done, or
// only if it does not report that it is not done (`signal` in the workflow), and in reviews. It returns true if the
// report decides the next phase. It ignores attempts of a person, because the judgement contains the person's answer
// already.
func heard(s *session.Session, ph *workflows.Phase, d *session.Decided) bool {
	o := s.Open
	if ph == nil || o.Runner == RunnerPerson || o.Run == nil {
		return false
	}
	if ph.Review != nil {
		return reviewed(s, ph, d)
	}
	if d.Verdict != session.Pass {
		return false
	}
	switch {
	case ph.Signal == workflows.SignalRequired && !o.Run.Done:
		d.Reason = "the gates pass, but the agent did not report that the work is done"
		if o.Run.NotDone {
			d.Reason = "the gates pass, but the agent reports that the work is not done yet"
		}
	case ph.Signal == workflows.SignalVeto && o.Run.Unread:
		d.Reason = "the gates pass, but wfs " + o.Run.Note
	case ph.Signal == workflows.SignalVeto && o.Run.NotDone:
		d.Reason = "the gates pass, but the agent reports that the work is not done yet"
	default:
		return false
	}
	// The work has not failed, so the session stays in this phase, whatever phase follows a failure.
	d.Verdict, d.Class, d.Step, d.Progress, d.Next = session.Fail, session.ClassUnsigned, session.StepUnsigned, true,
		s.Phase
	return true
}

// reviewed concludes a review. Failing gates outweigh the reviewer's approval. A review without a verdict, or with
// changed files, is repeated. If the work was sent back as often as allowed, the phase does not change, and a person
// decides. The result is true if the next phase is decided, as in heard.
func reviewed(s *session.Session, ph *workflows.Phase, d *session.Decided) bool {
	v := s.Open.Run.Review
	switch {
	case d.Class == session.ClassGuard || d.Class == session.ClassKey:
		return true
	case d.Verdict != session.Pass:
		return false
	case v == nil:
		d.Verdict, d.Class, d.Reason = session.Fail, session.ClassNoReview, "the reviewer gave no verdict"
		d.Step = stepOf(s, &session.Judgement{Tree: s.Open.Judgement.Tree, Verdict: session.Fail, Class: d.Class})
		d.Progress = d.Step != ""
		return true
	case v.Verdict == session.Approve:
		d.Class, d.Reason = session.ClassReviewed, "the reviewer approves"+remarks(v)
		return false
	}
	d.Verdict, d.Class, d.Reason, d.Step = session.Fail, session.ClassRejected, "the reviewer rejects it"+
		remarks(v), session.StepMoved
	d.Progress = true
	return s.Rounds[s.Open.Phase]+1 >= ph.Review.Rounds
}

func remarks(v *session.Review) string {
	n := len(v.Findings) + v.More
	if n == 0 {
		return ""
	}
	f := v.Findings[0]
	at := f.Path
	if at != "" && f.Line > 0 {
		at = fmt.Sprintf("%s:%d", at, f.Line)
	}
	if at != "" {
		at += ": "
	}
	return fmt.Sprintf(", %d %s: %s", n, safetext.Word(n, "finding", "findings"), safetext.OneLine(at+f.What, 200))
}

// asksPerson returns the question to a person that stops the current phase, although an agent works in it; "" for none.
func asksPerson(s *session.Session, ph *workflows.Phase) string {
	switch n := s.Rounds[s.Phase]; {
	case ph.Review != nil && n >= ph.Review.Rounds:
		ask := fmt.Sprintf("%s: the work was sent back %d %s", s.Phase, n, safetext.Word(n, "time", "times"))
		if s.Last != nil && s.Last.Class == session.ClassRejected {
			ask += "; at last " + strings.TrimPrefix(s.Last.Reason, "the reviewer rejects it, ")
		}
		return ask + ". Is it good as it is (approve), or what should change (reject)?"
	case s.Visit.Unsigned >= maxUnsigned:
		return fmt.Sprintf("%s: the gates pass, but in %d attempts the agent did not report that the work is done. Is it?", s.Phase, s.Visit.Unsigned)
	}
	return ""
}

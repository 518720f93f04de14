package present

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/wfs-dev/wfs/engine/decide"
	"github.com/wfs-dev/wfs/internal/safetext"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/session/items"
	"github.com/wfs-dev/wfs/workflows"
)

// Unjudged reports whether the work was completed and then edited: no gate has judged the current checkpoint yet.
func Unjudged(s *session.Session) bool {
	c := s.At(s.Current)
	return s.Status == session.StatusCompleted && c != nil && !c.Green
}

// WithoutVerdict names the phases that a person skipped, and those that passed without a verdict. It returns "" if
// there are none.
func WithoutVerdict(phases []session.SkippedPhase) string {
	var skipped, passed []string
	for _, p := range phases {
		list := &skipped
		if p.Unjudged() {
			list = &passed
		}
		if !slices.Contains(*list, string(p.Phase)) {
			*list = append(*list, string(p.Phase))
		}
	}
	text := ""
	if len(skipped) > 0 {
		text = strings.Join(skipped, ", ") + " skipped"
	}
	if len(passed) > 0 {
		text += ", and " + strings.Join(passed, ", ") + " not judged"
	}
	return strings.TrimPrefix(text, ", and ")
}

// Stands describes a session's state in one line.
func Stands(s *session.Session) string {
	switch {
	case s.Status == session.StatusCompleted:
		return completed(s)
	case s.Status == session.StatusFinished:
		return "finished: handed over on " + ShortRef(s.Finished.Branch)
	case s.Status == session.StatusAbandoned:
		return strings.TrimSuffix("abandoned: "+s.Why, ": ")
	case s.Status == session.StatusWaiting && s.Phase == workflows.Done:
		return "waiting for you, at the end of the work"
	}
	line := string(s.Status) + " in " + string(s.Phase)
	if s.Status == session.StatusCreated {
		line = "created, to begin with " + string(s.Phase)
	}
	if lap := items.LapName(s, s.Lap); lap != "" {
		line += ", " + lap
	}
	n := s.Visit.Attempts
	if c := s.At(s.Current); c != nil && s.Status == session.StatusWaiting && c.Phase == s.Phase && c.Lap == s.Lap {
		n = max(n, c.Attempt) // the attempt in question is counted only after the answer
	}
	if n > 0 {
		line += ", " + N(n, "attempt") + " so far"
	}
	if s.Open != nil && s.Open.Limited != nil {
		line += "; " + Substitute(s.Open.AttemptStarted)
	}
	if s.Why != "" && s.Status != session.StatusBlocked { // the evidence of a blocked session says why in detail
		line += " (" + s.Why + ")"
	}
	return line
}

// completed describes the state of a completed session.
func completed(s *session.Session) string {
	text := "completed: all that was requested is done, and all gates pass"
	switch skipped, did := WithoutVerdict(s.SkippedPhases), itemsDid(items.States(s)); {
	case Unjudged(s):
		return fmt.Sprintf("completed, and edited since: checkpoint %d is not judged yet", s.Current)
	case s.AsksMore():
		return "completed, and a note wants more"
	case skipped != "":
		text = "completed, with " + skipped
	case did != "":
		text = "completed: " + did
	case items.ApprovedInTheEnd(s, s.Current):
		text = "completed: a person approved the work"
	}
	return text + unprovenGate(ProofOf(s))
}

// itemsDid counts the items by outcome: delivered, skipped and so on. It returns "" if all were delivered.
func itemsDid(items []items.Item) string {
	n := map[session.ItemState]int{}
	for _, item := range items {
		n[item.State]++
	}
	if n[session.ItemDelivered] == len(items) {
		return ""
	}
	var p Parts
	for _, x := range []struct {
		state session.ItemState
		says  string
	}{{session.ItemDelivered, "delivered"}, {session.ItemShown, "shown by tests written before"}, {session.ItemAgreed,
		"as a person said"},
		{session.ItemSkipped, "skipped"}, {session.ItemOpen, "open"}} {
		p.Add(n[x.state] > 0, "%d %s", n[x.state], x.says)
	}
	done := len(items) - n[session.ItemSkipped] - n[session.ItemOpen]
	return fmt.Sprintf("%d of %d items done: %s", done, len(items), strings.Join(p, ", "))
}

// StoppedHere returns the lines of WhyStopped, with one exception: if the session was blocked because HEAD had left its
// branch, and HEAD is back, it says only that HEAD is back.
func StoppedHere(s *session.Session, now time.Time, current bool) []string {
	if current && s.Status == session.StatusBlocked && s.Blocked.Hint == "wfs resume "+string(s.ID) {
		return []string{"HEAD is back on " + strings.TrimPrefix(s.Branch(), "refs/heads/")}
	}
	return WhyStopped(s, now)
}

// WhyStopped explains, in lines, why a session does not continue without the user. It returns nil if there is nothing
// to explain.
func WhyStopped(s *session.Session, now time.Time) []string {
	switch {
	case s.Status == session.StatusBlocked:
		return append([]string{"blocked, " + blockedWords[s.Blocked.Reason] + ":"}, s.Blocked.Evidence...)
	case s.Status == session.StatusWaiting && s.Waiting.Reason == session.WaitLimit:
		p := Parts{WaitingFor(s.Waiting, now)}
		p.Add(s.Waiting.Why != "", "%s", s.Waiting.Why)
		return p
	case s.Status == session.StatusWaiting:
		return append([]string{"waiting for you: " + s.Waiting.Ask}, QuestionLines(s.Waiting.Question, s.Waiting.Ask)...)
	case s.Status == session.StatusInterrupted && decide.JudgedNext(s):
		return []string{fmt.Sprintf("attempt %d at %s has run and is not judged yet: the next wfs run judges it first, without another run",
			s.Open.Attempt, s.Open.Phase)}
	}
	return nil
}

// QuestionLines lists the paths and the evidence that help to answer a question. It leaves out evidence that the
// question's text `ask` already contains.
func QuestionLines(q *session.Question, ask string) []string {
	if q == nil {
		return nil
	}
	var p Parts
	p.Add(len(q.Paths) > 0, "about: %s", safetext.First(q.Paths, 10, ", "))
	for _, line := range q.Evidence {
		p.Add(!strings.Contains(ask, line), "%s", line)
	}
	return p
}

// WaitingFor says why a session waits and until when, with the remaining time in parentheses.
func WaitingFor(w *session.Waiting, now time.Time) string {
	words := "over"
	if left := unix(w.Until).Sub(now); left > 0 {
		words = Lasting(left)
	}
	return WaitingUntil(w, now) + " (" + words + ")"
}

// WaitingUntil says why a session waits and until when.
func WaitingUntil(w *session.Waiting, now time.Time) string {
	what, format := "waiting for a limit until", " 15:04 UTC"
	switch w.Cause {
	case session.CauseCalls:
		what = "waiting for the limit of calls per hour until"
	case session.CauseRateLimited, session.CauseOverloaded:
		what = "waiting to try again at"
	}
	if unix(w.Until).Sub(now).Abs() > 20*time.Hour {
		format = " 2006-01-02 15:04 UTC"
	}
	return what + unix(w.Until).UTC().Format(format)
}

// Substitute says of an attempt which agent works because of another's usage limit.
func Substitute(a session.AttemptStarted) string {
	return fmt.Sprintf("%s is limited until %s; %s works meanwhile", a.Limited.Agent,
		unix(a.Limited.Until).UTC().Format("2006-01-02 15:04 UTC"), a.Agent)
}

// Standing returns the line of Stands with the status in colour.
func Standing(s *session.Session) Styled {
	line := Stands(s)
	if rest, ok := strings.CutPrefix(line, string(s.Status)); ok {
		return Join(Status(s.Status), rest)
	}
	return Join(line)
}

// blockedWords has a short explanation for each reason why a session can be blocked.
var blockedWords = map[session.BlockReason]string{
	session.BlockBreaker: "no progress", session.BlockGate: "a gate cannot judge",
	session.BlockRunner: "the agent keeps failing", session.BlockConflict: "a conflict",
	session.BlockSurvivors: "processes are still running", session.BlockTamper: "tests or records were tampered with",
	session.BlockLimit: "the limit of laps is reached", session.BlockBudget: "the budget is used up",
}

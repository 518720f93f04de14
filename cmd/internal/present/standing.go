package present

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/wfs-dev/wfs/engine"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

// Unjudged reports whether work that was completed has a checkpoint on top that no gate has seen.
func Unjudged(s *session.Session) bool {
	c := s.At(s.Current)
	return s.Status == session.StatusCompleted && c != nil && !c.Green
}

// WithoutVerdict names the phases that a person left without a verdict, "" for none.
func WithoutVerdict(phases []session.SkippedPhase) string {
	var list []string
	for _, anyway := range []bool{false, true} {
		var names []string
		for _, p := range phases {
			if p.Anyway == anyway && !slices.Contains(names, string(p.Phase)) {
				names = append(names, string(p.Phase))
			}
		}
		switch {
		case len(names) == 0:
		case anyway:
			list = append(list, strings.Join(names, ", ")+" not judged")
		default:
			list = append(list, strings.Join(names, ", ")+" skipped")
		}
	}
	return strings.Join(list, ", and ")
}

// CompletedWith says what completed work came to.
func CompletedWith(s *session.Session) string {
	if text := WithoutVerdict(s.SkippedPhases); text != "" {
		return "completed, with " + text
	}
	if did := itemsDid(s.ItemStates()); did != "" {
		return "completed: " + did
	}
	if s.ApprovedInTheEnd(s.Current) {
		return "completed: a person approved the work"
	}
	return "completed: all that was requested is done, and all gates pass"
}

// Stands says where a session stands, in one line.
func Stands(s *session.Session) string {
	switch s.Status {
	case session.StatusCompleted:
		if Unjudged(s) {
			return fmt.Sprintf("completed, and edited since: checkpoint %d is not judged yet", s.Current)
		}
		if s.AsksMore() {
			return "completed, and a note wants more"
		}
		return CompletedWith(s) + unprovenGate(ProofOf(s))
	case session.StatusFinished:
		return "finished: handed over on " + strings.TrimPrefix(s.Finished.Branch, "refs/heads/")
	case session.StatusAbandoned:
		if s.Why == "" {
			return "abandoned"
		}
		return "abandoned: " + s.Why
	}
	at := string(s.Phase)
	if lap := s.LapName(s.Lap); lap != "" {
		at += ", " + lap
	}
	if s.Phase == workflows.Done && s.Status == session.StatusWaiting {
		return string(s.Status) + " for you, at the end of the work"
	}
	n := s.Visit.Attempts
	if c := s.At(s.Current); c != nil && s.Status == session.StatusWaiting && c.Phase == s.Phase && c.Lap == s.Lap {
		n = max(n, c.Attempt) // the one that is asked about counts only when it is answered
	}
	if n > 0 {
		at += fmt.Sprintf(", %d %s so far", n, Plural(n, "attempt", "attempts"))
	}
	line := string(s.Status) + " in " + at
	if s.Status == session.StatusCreated {
		line = "created, to begin with " + at
	}
	if s.Why != "" && s.Status != session.StatusBlocked { // the evidence of a block says it at length
		line += " (" + s.Why + ")"
	}
	return line
}

// itemsDid says what became of the items, "" when all of them were delivered.
func itemsDid(items []session.Item) string {
	n := map[session.ItemState]int{}
	for _, item := range items {
		n[item.State]++
	}
	if n[session.ItemDelivered] == len(items) {
		return ""
	}
	var parts []string
	for _, p := range []struct {
		state session.ItemState
		says  string
	}{{session.ItemDelivered, "delivered"}, {session.ItemShown, "shown by tests written before"}, {session.ItemAgreed, "as a person said"},
		{session.ItemSkipped, "skipped"}, {session.ItemOpen, "open"}} {
		if n[p.state] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n[p.state], p.says))
		}
	}
	done := n[session.ItemDelivered] + n[session.ItemShown] + n[session.ItemAgreed]
	return fmt.Sprintf("%d of %d items done: %s", done, len(items), strings.Join(parts, ", "))
}

// StoppedHere is whyStopped without what is past by now: HEAD was taken away, and is on the session's branch again.
func StoppedHere(s *session.Session, now time.Time, current bool) []string {
	if current && s.Status == session.StatusBlocked && s.Blocked.Hint == "wfs resume "+string(s.ID) {
		return []string{"HEAD is back on " + strings.TrimPrefix(s.Branch(), "refs/heads/")}
	}
	return WhyStopped(s, now)
}

// WhyStopped lists what a person must know about a session that does not go on by itself.
func WhyStopped(s *session.Session, now time.Time) []string {
	switch {
	case s.Status == session.StatusBlocked:
		return append([]string{"blocked, " + blockedWords[s.Blocked.Reason] + ":"}, s.Blocked.Evidence...)
	case s.Status == session.StatusWaiting && s.Waiting.Reason == session.WaitLimit:
		lines := []string{WaitingFor(s.Waiting, now)}
		if s.Waiting.Why != "" {
			lines = append(lines, s.Waiting.Why)
		}
		return lines
	case s.Status == session.StatusWaiting:
		return append([]string{"waiting for you: " + s.Waiting.Ask}, QuestionLines(s.Waiting.Question, s.Waiting.Ask)...)
	case s.Status == session.StatusInterrupted && engine.JudgedNext(s):
		return []string{judgedNext(s.Open)}
	}
	return nil
}

// judgedNext says what the next run does about an attempt that has run and is not judged yet.
func judgedNext(o *session.Open) string {
	if o.Runner == "person" {
		return fmt.Sprintf("what is there at %s is not judged yet: the next wfs run judges it first", o.Phase)
	}
	return fmt.Sprintf("attempt %d at %s has run and is not judged yet: the next wfs run judges it first, without another run",
		o.Attempt, o.Phase)
}

// QuestionLines are what whoever answers a question has to know beside the question itself.
func QuestionLines(q *session.Question, ask string) []string {
	var lines []string
	if q != nil && len(q.Paths) > 0 {
		lines = append(lines, "about: "+strings.Join(q.Paths[:min(len(q.Paths), 10)], ", ")+More(len(q.Paths)-10))
	}
	if q != nil {
		for _, line := range q.Evidence {
			if !strings.Contains(ask, line) {
				lines = append(lines, line)
			}
		}
	}
	return lines
}

// WaitingFor says until when a session waits, and what for.
func WaitingFor(w *session.Waiting, now time.Time) string {
	words := "over"
	if left := unix(w.Until).Sub(now); left > 0 {
		words = inWords(left)
	}
	return waitingUntil(w, now) + " (" + words + ")"
}

// waitingUntil is waitingFor without how long that is from now.
func waitingUntil(w *session.Waiting, now time.Time) string {
	what := "waiting for a limit until"
	switch w.Cause {
	case session.CauseCalls:
		what = "waiting for the limit of calls per hour until"
	case session.CauseRateLimited, session.CauseOverloaded:
		what = "waiting to try again at"
	}
	left := unix(w.Until).Sub(now)
	format := "15:04 UTC"
	if left > 20*time.Hour || left < -20*time.Hour {
		format = "2006-01-02 15:04 UTC"
	}
	return what + " " + unix(w.Until).UTC().Format(format)
}

// Standing is stands, with its status in colour.
func Standing(s *session.Session) Styled {
	line := Stands(s)
	if rest, ok := strings.CutPrefix(line, string(s.Status)); ok {
		return Join(Status(s.Status), rest)
	}
	return Join(line)
}

// atLap is a phase with its lap before it, where there are laps.
func atLap(s *session.Session, phase session.PhaseName, lap int) string {
	if name := s.LapName(lap); name != "" {
		return name + "  " + string(phase)
	}
	return string(phase)
}

// blockedWords say what stopped a session.
var blockedWords = map[session.BlockReason]string{
	session.BlockBreaker: "no progress", session.BlockGate: "a gate cannot judge", session.BlockRunner: "the agent keeps failing", session.BlockConflict: "a conflict",
	session.BlockSurvivors: "processes are still running", session.BlockTamper: "tests or records were tampered with",
	session.BlockLimit: "the limit of laps is reached", session.BlockBudget: "the budget is used up",
}

// Now says what a session is at.
func Now(s *session.Session) string {
	o := s.Open
	if o == nil {
		return Stands(s)
	}
	head := fmt.Sprintf("%s  attempt %d", atLap(s, o.Phase, o.Lap), o.Attempt)
	if o.Run != nil {
		return head + ", being judged"
	}
	return head
}

package present

import (
	"fmt"
	"strings"

	"github.com/wfs-dev/wfs/engine"
	"github.com/wfs-dev/wfs/session"
)

// EventText says what an event is about, in a few words. A kind that it does not know has none.
func EventText(body session.Body) string {
	switch b := body.(type) {
	case session.Created:
		return b.Goal
	case session.Baseline:
		return fmt.Sprintf("%d %s, %d failing, %d flaky", len(b.Gates), Plural(len(b.Gates), "gate", "gates"), len(b.Red), len(b.Flaky))
	case session.AttemptStarted:
		return fmt.Sprintf("%s, lap %d, attempt %d (%s)", b.Phase, b.Lap, b.Attempt, b.Runner)
	case session.RunEnded:
		return RanAs(b.RunResult) + took(b.Millis) + runCost(b.RunResult) + claimed(b.RunResult)
	case session.UsageFound:
		return Cost(b.Usage)
	case session.BudgetWarned:
		return Budget(b.BudgetLine)
	case session.Strayed:
		return strayedText(b)
	case session.Judged:
		return fmt.Sprintf("%s (%s): %s", b.Verdict, b.Class, b.Reason)
	case session.Decided:
		text := fmt.Sprintf("%s, next %s", b.Verdict, b.Next)
		if b.TooSmall != "" {
			text += fmt.Sprintf(", %s left out", b.TooSmall)
		}
		if b.Refuted {
			text += ", not what the agent said"
		}
		return text
	case session.Checkpointed:
		return fmt.Sprintf("%d  %s  %s", b.Number, b.Code.Short(), b.Summary)
	case session.Waiting:
		if b.Reason == session.WaitLimit {
			text := "until " + unix(b.Until).UTC().Format("2006-01-02 15:04 UTC")
			if b.Why != "" {
				text += ", " + b.Why
			}
			return text
		}
		return b.Ask
	case session.BlockedBy:
		return string(b.Reason) + ": " + strings.Join(b.Evidence, "; ")
	case session.PhaseMoved:
		return fmt.Sprintf("%s → %s", b.From, b.To)
	case session.Noted:
		if b.Meanwhile {
			return "during a run, perhaps not from a person: " + b.Text
		}
		return b.Text
	case session.Agreed:
		return "by " + b.By
	case session.MoveStarted:
		return b.Summary
	case session.Moved:
		return b.Summary
	case session.FinishStarted:
		return "on " + strings.TrimPrefix(b.Branch, "refs/heads/")
	case session.Finished:
		return fmt.Sprintf("on %s  %s", strings.TrimPrefix(b.Branch, "refs/heads/"), b.Commit.Short())
	case session.Abandoned:
		return b.Reason
	case session.Revived:
		return string(b.Status)
	case session.Renamed:
		return b.Title
	case session.Edited:
		return strings.Join(b.Changes, "; ")
	case session.Repinned:
		return strings.Join(b.Changes, "; ")
	case session.TakenBack:
		return b.Summary
	case session.Answered:
		return b.Summary
	}
	return why(body)
}

// why is the reason that an event gives, for those that have nothing else to say.
func why(body session.Body) string {
	switch b := body.(type) {
	case session.Reopened:
		return b.Why
	case session.Voided:
		return b.Why
	case session.Interrupted:
		return b.Why
	case session.Paused:
		return b.Why
	case session.Dropped:
		return b.Why
	case session.DeleteStarted:
		return b.Summary
	}
	return ""
}

func newline(r rune) bool { return r == '\n' || r == '\r' }

// RanAs says how a run ended.
func RanAs(r session.RunResult) string {
	text := engine.Ended(r)
	if r.Message != "" && r.Outcome != session.OutcomeDenied { // which has named them
		text += ": " + r.Message
	}
	return text
}

func claimed(r session.RunResult) string {
	if r.Done {
		return ", says it is done"
	}
	return ""
}

func shownBy(test session.TestID) string {
	if test == "" {
		return "no existing test that passes shows it"
	}
	return string(test) + ", written before, is to show it"
}

// WatchedName is a file beside the session as people find it.
func WatchedName(file string) string {
	if strings.HasPrefix(file, ".wfs/") {
		return file
	}
	return ".git/" + file
}

// strayedText is the same in a few words.
func strayedText(b session.Strayed) string {
	if b.Seen {
		return "seen by a person"
	}
	var names []string
	for _, m := range b.Refs {
		names = append(names, ShortRef(m.Ref))
	}
	for _, f := range b.Files {
		names = append(names, WatchedName(f))
	}
	for _, l := range b.Locks {
		names = append(names, "lock .git/"+l+" set aside")
	}
	return strings.Join(names, ", ")
}

func triedBy(agent string) string {
	if agent == "" {
		return ""
	}
	return " by " + agent
}

func By(who string) string {
	if who == "" {
		return ""
	}
	return " (" + who + ")"
}

func ShortRef(ref string) string {
	if !strings.HasPrefix(ref, "refs/") {
		return session.Commit(ref).Short()
	}
	return strings.TrimPrefix(ref, "refs/heads/")
}

// SayStrayed tells what changed in the repository, beside the session, while a run went on.
func SayStrayed(say func(format string, args ...any), b session.Strayed) {
	for _, m := range b.Refs {
		name := ShortRef(m.Ref)
		switch {
		case m.Old == "":
			say("    during the run, %s was made at %s", name, m.New.Short())
		case m.New == "":
			say("    during the run, %s was deleted; it was at %s, which is kept", name, m.Old.Short())
		default:
			say("    during the run, %s was moved from %s to %s", name, m.Old.Short(), m.New.Short())
		}
	}
	for _, f := range b.Files {
		say("    during the run, %s was changed", WatchedName(f))
	}
	if len(b.Back) > 0 {
		say("    put back, because it shapes what git makes of files: %s", strings.Join(b.Back, ", "))
	}
	for _, l := range b.Locks {
		say("    git's lock .git/%s had been left behind by a process that is dead, and was set aside", l)
	}
}

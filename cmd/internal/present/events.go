package present

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/wfs-dev/wfs/engine/decide"
	"github.com/wfs-dev/wfs/session"
)

// EventText summarizes an event in a few words.
func EventText(body session.Body) string {
	switch b := body.(type) {
	case session.Baseline:
		return fmt.Sprintf("%s, %d failing, %d flaky", N(len(b.Gates), "gate"), len(b.Red), len(b.Flaky))
	case session.AttemptStarted:
		text := fmt.Sprintf("%s, lap %d, attempt %d (%s)", b.Phase, b.Lap, b.Attempt, b.Runner)
		if b.Limited != nil {
			text += ", " + Substitute(b)
		}
		return text
	case session.RunEnded:
		text := runText(b.RunResult)
		if cost := Cost(b.Usage()); cost != "" {
			text += ", " + cost
		}
		return text
	case session.UsageFound:
		return Cost(b.Usage)
	case session.BudgetWarned:
		return Budget(b.BudgetLine)
	case session.Strayed:
		return strings.Join(Strayed(b), "; ")
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
			return strings.TrimSuffix("until "+unix(b.Until).UTC().Format("2006-01-02 15:04 UTC")+", "+b.Why, ", ")
		}
		return b.Ask
	case session.BlockedBy:
		return string(b.Reason) + ": " + strings.Join(b.Evidence, "; ")
	case session.PhaseMoved:
		return fmt.Sprintf("%s → %s", b.From, b.To)
	case session.FinishStarted:
		return "on " + ShortRef(b.Branch)
	case session.Finished:
		return fmt.Sprintf("on %s  %s", ShortRef(b.Branch), b.Commit.Short())
	}
	var said struct {
		Title, Goal, Text, Reason, Why, Summary string
		Changes                                 []string
	}
	data, _ := json.Marshal(body) // its stored form has the texts under known keys
	_ = json.Unmarshal(data, &said)
	return cmp.Or(strings.Join(said.Changes, "; "), said.Title, said.Goal, said.Text, said.Reason, said.Why, said.Summary)
}

// RanAs says how a run ended, with the agent's error message if there is one.
func RanAs(r session.RunResult) string {
	text := decide.Ended(r)
	if r.Message != "" && r.Outcome != session.OutcomeDenied { // the text of a denial already names the commands
		text += ": " + r.Message
	}
	return text
}

// runText returns the text of RanAs, the duration of the run, and whether the agent claimed to be done.
func runText(r session.RunResult) string {
	text := RanAs(r)
	if took := ms(r.Millis); took >= time.Second {
		text += " after " + Lasting(took)
	}
	if r.Done {
		text += ", says it is done"
	}
	return text
}

// WatchedName returns the path of a watched file as users know it. A watched file is one outside the session that wfs
// checks for changes during a run, such as .git/config.
func WatchedName(file string) string {
	if strings.HasPrefix(file, ".wfs/") {
		return file
	}
	return ".git/" + file
}

// Strayed describes, one line each, the changes outside the session that happened in the repository during a run.
func Strayed(b session.Strayed) (p Parts) {
	p.Add(b.Seen, "seen by a person")
	for _, m := range b.Refs {
		name := ShortRef(m.Ref)
		switch {
		case m.Old == "":
			p.Add(true, "during the run, %s was made at %s", name, m.New.Short())
		case m.New == "":
			p.Add(true, "during the run, %s was deleted; it was at %s, which is kept", name, m.Old.Short())
		default:
			p.Add(true, "during the run, %s was moved from %s to %s", name, m.Old.Short(), m.New.Short())
		}
	}
	for _, f := range b.Files {
		p.Add(true, "during the run, %s was changed", WatchedName(f))
	}
	p.Add(len(b.Back) > 0, "put back, because it shapes what git makes of files: %s", strings.Join(b.Back, ", "))
	for _, l := range b.Locks {
		p.Add(true, "a dead process left git's lock .git/%s; it was set aside", l)
	}
	return p
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

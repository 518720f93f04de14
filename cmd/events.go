package cmd

import (
	"context"
	"fmt"
	"strings"

	"github.com/wfs-dev/wfs/session"
)

// sayEvents prints the history of a session, or its newest events.
func (a *app) sayEvents(ctx context.Context, id session.ID, most int) error {
	events, err := a.history(ctx, id)
	if err != nil {
		return err
	}
	if most > 0 {
		events = events[max(0, len(events)-most):]
	}
	a.page(ctx)
	for _, e := range events {
		if a.json {
			if err := a.answer(streamJSON{Version: jsonVersion, Type: "event", Seq: e.Seq, At: &e.At, Kind: e.Kind(), Data: e.Body}); err != nil {
				return err
			}
			continue
		}
		line := fmt.Sprintf("%5d  %s  %-15s  %s", e.Seq, e.At.UTC().Format("2006-01-02 15:04:05"), e.Kind(), eventText(e.Body))
		a.line(styled{{strings.Join(strings.FieldsFunc(strings.TrimRight(line, " "), newline), " "), plain}})
	}
	return nil
}

// history is every event of a session, oldest first, those of the journal included.
func (a *app) history(ctx context.Context, id session.ID) ([]session.Event, error) {
	v, err := a.View(ctx, id) // first: what the ledger has taken up since is in both
	if err != nil {
		return nil, err
	}
	events, err := a.Engine.History(ctx, id)
	if err != nil {
		return nil, err
	}
	live := v.Live
	if v.Pending != nil {
		live = append(live[:len(live):len(live)], *v.Pending)
	}
	for _, e := range live {
		if n := len(events); n == 0 || e.Seq > events[n-1].Seq {
			events = append(events, e)
		}
	}
	return events, nil
}

// eventText says what an event is about, in a few words. A kind that it does not know has none.
func eventText(body session.Body) string {
	switch b := body.(type) {
	case session.Created:
		return b.Goal
	case session.Baseline:
		return fmt.Sprintf("%d %s, %d failing, %d flaky", len(b.Gates), plural(len(b.Gates), "gate", "gates"), len(b.Red), len(b.Flaky))
	case session.AttemptStarted:
		return fmt.Sprintf("%s, lap %d, attempt %d (%s)", b.Phase, b.Lap, b.Attempt, b.Runner)
	case session.RunEnded:
		return ranAs(b.RunResult) + took(b.Millis) + runCost(b.RunResult) + claimed(b.RunResult)
	case session.UsageFound:
		return costText(b.Usage)
	case session.BudgetWarned:
		return budgetText(b.BudgetLine)
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

package cmd

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/wfs-dev/wfs/internal/safetext"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

// blockedWords say what stopped a session.
var blockedWords = map[session.BlockReason]string{
	session.BlockBreaker: "no progress", session.BlockGate: "a gate cannot judge", session.BlockRunner: "the agent keeps failing", session.BlockConflict: "a conflict",
	session.BlockSurvivors: "processes are still running", session.BlockTamper: "tests or records were tampered with",
	session.BlockLimit: "the limit of laps is reached", session.BlockBudget: "the budget is used up",
}

// sayStanding prints where a session stands. It returns true where that is a screen that leaves nothing to add: the session is
// blocked, or done.
func (a *app) sayStanding(ctx context.Context, s *session.Session, head string, current bool) bool {
	switch {
	case s.Status == session.StatusBlocked && !(current && s.Blocked.Hint == "wfs resume "+string(s.ID)):
		a.sayBlocked(ctx, s, head)
		return true
	case s.Status == session.StatusCompleted && !unjudged(s) && !s.AsksMore():
		a.sayDone(ctx, s, head)
		return true
	}
	a.out("%s%s", head, standing(s))
	for _, line := range stoppedHere(s, a.env.Now(), current) {
		a.out("  %s", line)
	}
	return false
}

// fact is one row of a screen.
func (a *app) fact(label, format string, args ...any) {
	a.outAt(13, "  %s  %s", pad(label, 9), fmt.Sprintf(format, args...))
}

func (a *app) sayBlocked(ctx context.Context, s *session.Session, head string) {
	at, why, evidence := string(s.Phase), blockedWords[s.Blocked.Reason], s.Blocked.Evidence
	if lap := s.LapName(s.Lap); lap != "" {
		at += ", " + lap
	}
	if s.Blocked.Reason == session.BlockBreaker && len(evidence) > 0 {
		why, evidence = strings.TrimPrefix(evidence[0], string(s.Phase)+": "), evidence[1:]
	}
	a.out("%s%s in %s: %s", head, styled{{"BLOCKED", bad}}, at, why)
	for _, line := range evidence {
		rest, last := strings.CutPrefix(line, "last: ")
		if !last {
			a.out("  %s", line)
		} else if !slices.ContainsFunc(s.LastGates, func(g session.GateResult) bool { return len(g.Failing) > 0 }) {
			a.fact("last", "%s", rest)
		}
	}
	for _, g := range s.LastGates {
		if g.Verdict == session.Pass {
			continue
		}
		label := "failing"
		for _, t := range g.Failing[:min(len(g.Failing), 3)] {
			a.fact(label, "%s", shortTests([]session.TestID{t})[0])
			label = ""
		}
		if n := len(g.Failing) - 3; n > 0 {
			a.fact("", "and %d more", n)
		}
		if g.FirstError != "" {
			a.fact(label, "%s", g.FirstError)
		}
	}
	label := "tried"
	way := s.Way()
	tried := slices.DeleteFunc(slices.Clone(way), func(c session.Checkpoint) bool {
		return c.Trigger != session.TriggerAttempt || c.Phase != s.Phase || c.Lap != s.Lap || c.Verdict == session.Pass
	})
	for _, c := range tried[max(0, len(tried)-3):] {
		said := ""
		if slices.ContainsFunc(s.StillRefuted(), func(r session.Refuted) bool { return r.Checkpoint == c.Number }) {
			said = "said done"
		}
		if below := s.At(c.On); below != nil {
			a.fact(label, "@%d %s  %s", c.Number, pad(a.filesBetween(below.Tree, c.Tree), 20), said)
			label = ""
		}
	}
	for _, c := range slices.Backward(way) {
		if c.Number > 0 && c.Verdict == session.Pass {
			a.fact("last good", "@%d: %s", c.Number, safetext.Line(strings.TrimPrefix(c.Summary, "pass: "), 60))
			break
		}
	}
	a.sayUsed(ctx, s)
}

func (a *app) sayDone(ctx context.Context, s *session.Session, head string) {
	text := fmt.Sprintf(" at @%d", s.Current)
	items := s.ItemStates()
	if len(items) > 0 {
		text += fmt.Sprintf(": %d of %d %s", len(items)-len(s.OpenItems()), len(items), plural(len(items), "item", "items"))
	} else if s.ApprovedInTheEnd(s.Current) {
		text += ": you approved the work"
	}
	if skipped := withoutVerdict(s.SkippedPhases); skipped != "" {
		text += ", with " + skipped
	}
	a.out("%s%s%s%s", head, styled{{"DONE", good}}, text, unprovenGate(proofOf(s)))
	tests := map[int][]session.TestID{}
	for _, c := range s.Way() {
		if len(c.Targets) > 0 && c.Next != workflows.Done && c.NextLap == c.Lap {
			tests[c.Lap] = c.Targets
		}
	}
	for _, item := range items[:min(len(items), shownItems)] {
		shown := item.Says()
		if ids := tests[item.Number]; s.Laps && item.State == session.ItemDelivered && len(ids) > 0 {
			shown = testNames(shortTests(ids))
		}
		a.short("  %d  %s  %s", item.Number, pad(safetext.Cut(safetext.Line(item.Text, 200), 32), 32), shown)
	}
	if n := len(items) - shownItems; n > 0 {
		a.out("  and %d more: wfs status %s --json", n, s.ID)
	}
	if t := testsOf(s); t != nil && t.Now != nil {
		text := fmt.Sprintf("%d before, %d now", t.Before.Passed, t.Now.Passed)
		if n := t.Now.Failed + t.Now.Errors; n > 0 {
			text += fmt.Sprintf("; %d %s", n, plural(n, "fails", "fail"))
		} else {
			text += "; all pass"
		}
		a.fact("tests", "%s", text)
	}
	if ran := gatesRan(s); len(ran) > 0 {
		a.fact("gates", "%s", strings.Join(ran, ", "))
	}
	if p := proofOf(s); p != nil && p.Verdict == session.Pass {
		a.fact("clean", "%s", p.Reason)
	}
	if beware := notAsked(s); len(beware) > 0 {
		a.fact("beware", "%s", strings.Join(beware, "; "))
	}
	a.sayUsed(ctx, s)
}

// shortTests are tests of Go without their packages, and others as they are.
func shortTests(ids []session.TestID) []session.TestID {
	list := slices.Clone(ids)
	for i, id := range list {
		if at := strings.LastIndex(string(id), ".Test"); at >= 0 {
			list[i] = id[at+1:]
		}
	}
	return list
}

// sayUsed prints the time and the money that a session took, and what came of its agent's claims.
func (a *app) sayUsed(ctx context.Context, s *session.Session) {
	var parts []string
	if d := time.Duration(s.Spent.RunMillis+s.Spent.GateMillis) * time.Millisecond; d >= time.Second {
		parts = append(parts, lasting(d))
	}
	if v, err := a.View(ctx, s.ID); err == nil {
		if cost := a.costOf(ctx, &v); cost != "" {
			parts = append(parts, cost)
		}
	}
	text := strings.Join(parts, ", ")
	if claims := claimsText(s.Claims, len(s.StillRefuted())); claims != "" {
		text = strings.TrimPrefix(text+"; "+claims, "; ")
	}
	if text != "" {
		a.fact("used", "%s", text)
	}
}

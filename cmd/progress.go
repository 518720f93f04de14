package cmd

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/wfs-dev/wfs/engine"
	"github.com/wfs-dev/wfs/internal/agents"
	"github.com/wfs-dev/wfs/internal/safetext"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

// streamJSON is one line of `wfs run --json`: an event that is durable, a line of progress, or the end.
type streamJSON struct {
	Version int           `json:"version"`
	Type    string        `json:"type"` // event, agent, progress, end
	Seq     int64         `json:"seq,omitempty"`
	At      *time.Time    `json:"at,omitempty"`
	Kind    session.Kind  `json:"kind,omitempty"`
	Data    session.Body  `json:"data,omitempty"`
	Agent   *agents.Event `json:"agent,omitempty"`
	Text    string        `json:"text,omitempty"`
	Session *sessionJSON  `json:"session,omitempty"`
	Exit    *int          `json:"exit,omitempty"`
}

// progress turns the engine's events into lines for people, or into JSON.
type progress struct {
	app  *app
	much how
	view *view // nil: there is none

	refused map[string]bool // commands that were named
}

// how says how much a run tells.
type how string

const (
	ordinary how = ""
	quiet    how = "quiet"   // what ends an attempt
	verbose  how = "verbose" // also everything that an agent says and does
)

// line tells something that people should know.
func (p *progress) line(text string) {
	if p.app.json {
		_ = p.app.answer(streamJSON{Version: jsonVersion, Type: "progress", Text: text})
		return
	}
	p.app.note("    %s", text)
}

// report tells what goes on at this moment. Where a view shows it, nothing else does, unless it is more than that.
func (p *progress) report(text string) {
	if p.much == quiet {
		return
	}
	if p.view != nil {
		p.view.doing(text)
		if p.much != verbose && strings.HasSuffix(text, "…") {
			return
		}
	}
	p.line(text)
}

// agent tells what an agent did.
func (p *progress) agent(e agents.Event) {
	switch {
	case p.much == quiet:
		return
	case p.app.json:
		at := p.app.env.Now().UTC()
		_ = p.app.answer(streamJSON{Version: jsonVersion, Type: "agent", At: &at, Agent: &e})
		return
	case p.view != nil:
		p.view.agent(e)
		if p.much != verbose {
			return
		}
	}
	if text := agentText(e, p.much == verbose); text != "" {
		p.app.note("    %s", text)
	}
}

func (p *progress) event(e session.Event, s *session.Session) {
	if p.app.json {
		_ = p.app.answer(streamJSON{Version: jsonVersion, Type: "event", Seq: e.Seq, At: &e.At, Kind: e.Kind(), Data: e.Body})
		return
	}
	if p.view != nil {
		p.view.event(e, s)
	}
	if p.much == quiet {
		p.ending(e)
		return
	}
	say := p.app.note
	switch b := e.Body.(type) {
	case session.Driving:
		if n := len(b.Ended); n > 0 {
			say("ended %d %s of the interrupted run (pid %s)", n, plural(n, "process", "processes"), strings.Trim(fmt.Sprint(b.Ended), "[]"))
		}
		if engine.JudgedNext(s) && s.Open.Runner != "person" {
			say("%s  attempt %d  has run, and is judged now", atLap(s, s.Open.Phase, s.Open.Lap), s.Open.Attempt)
		}
	case session.AttemptStarted:
		say("%s  attempt %d  (%s)", atLap(s, b.Phase, b.Lap), b.Attempt, b.Runner)
		if b.HalfOpen {
			say("    the breaker opens if this try%s gets no further", triedBy(b.Agent))
		}
		if item := s.Item(); item != "" && b.Attempt == 1 && b.Phase == s.Start {
			say("    item: %s", item)
		} else if !s.Laps && len(s.Items) > 0 && b.Attempt == 1 && b.Phase == s.Start {
			say("    items: %s", strings.Join(s.Items[:min(len(s.Items), 5)], "; ")+more(len(s.Items)-5))
		}
	case session.RunEnded:
		if s.Open != nil && s.Open.Runner == "person" {
			return // who has just typed the answer knows
		}
		say("    %s%s%s", ranAs(b.RunResult), took(b.Millis)+runCost(b.RunResult), claimed(b.RunResult))
		p.sayRefused(say, s, b.RunResult)
	case session.UsageFound:
		if text := costText(b.Usage); text != "" {
			say("    of a run whose end nobody saw: %s", text)
		}
	case session.BudgetSet:
		say("the budget was set")
	case session.BudgetWarned:
		say("budget, %s", budgetText(b.BudgetLine))
	case session.Judged:
		for _, g := range b.Gates {
			say("    gate %s", gateLine(g))
			if g.FirstError != "" {
				say("      %s", g.FirstError)
			}
		}
		say("    %s: %s", verdict(b.Verdict, b.Class), b.Reason)
		for _, t := range b.Tampered[:min(len(b.Tampered), 5)] {
			say("      %s%s", noteMark(t), t.Beside(b.Reason))
		}
		if b.Holdout != nil && b.Holdout.Verdict == session.Pass {
			say("    %s", b.Holdout.Reason)
		}
		if b.Holdout != nil {
			for _, t := range b.Holdout.Failing[:min(len(b.Holdout.Failing), 10)] {
				say("      hold-out: %s", t)
			}
		}
		if b.Proof != nil && b.Proof.Verdict != session.Fail {
			say("    %s", proofLine(b.Proof))
		} else if b.Proof != nil && len(b.Proof.Lacks) > 0 {
			say("    %s", remedies)
		}
	case session.Reopened:
		say("    %s: judged again", b.Why)
	case session.Decided:
		switch r := s.LastResult; {
		case b.NothingLeft && r != nil && r.NothingLeft == "":
			say("    nothing was added, and the agent does not say that anything is missing")
		case b.NothingLeft:
			say("    nothing was added, and the agent says that nothing is left: %s", shownBy(b.Shown))
		}
		if o := s.Open; o != nil && o.Judgement != nil && o.Judgement.Reason != b.Reason && !b.NothingLeft { // more was heard than the gates
			say("    %s: %s", verdict(b.Verdict, b.Class), b.Reason)
		}
		if b.TooSmall != "" && s.Open != nil && s.Open.Judgement != nil && s.Open.Judgement.Lines != nil {
			n := *s.Open.Judgement.Lines
			say("    %s is left out: the lap changed %d %s of code, fewer than %d", b.TooSmall, n, plural(n, "line", "lines"),
				workflows.SmallLap)
		}
		if b.Refuted {
			say("    the claim to be done is refuted")
		}
	case session.Checkpointed:
		if b.Trigger == session.TriggerAttempt {
			say("    checkpoint %d  %s", b.Number, b.Code.Short())
		} else {
			say("    checkpoint %d  %s  %s", b.Number, b.Code.Short(), b.Summary)
		}
		for _, c := range b.Adopted {
			if i := slices.IndexFunc(s.Checkpoints, func(own session.Checkpoint) bool { return own.Code == c }); i >= 0 {
				say("    the branch was reset to checkpoint %d, not by wfs; to restore it: wfs resume %s@%d",
					i, s.ID, b.Number-1)
				continue
			}
			say("    includes commit %s, not made by wfs", c.Short())
		}
		if from := b.Turn.HeadOld; from != "" && from != b.Turn.HeadNew {
			say("    HEAD was moved to %s during the run, and is back on %s; the files were left as they are",
				strings.TrimPrefix(from, "refs/heads/"), strings.TrimPrefix(b.Turn.HeadNew, "refs/heads/"))
		}
		p.app.sayLacks(s.At(b.Number), "    ")
	case session.Strayed:
		sayStrayed(say, b)
	case session.Voided:
		why := b.Why
		if r := s.LastResult; r != nil && why == engine.VoidedWhy(*r) {
			why = "it changed nothing" // how it ended stands above
		}
		say("    not counted: %s", why)
	case session.Waiting:
		if b.Reason == session.WaitLimit {
			say("%s", waitingFor(&b, e.At))
			if b.Why != "" {
				say("    %s", b.Why)
			}
		}
	case session.Noted:
		switch {
		case b.Meanwhile:
			say("note added during the run, maybe not by a person: %s", safetext.Line(b.Text, 200))
		case b.Request != "":
			say("noted for the next attempt: %s", safetext.Line(b.Text, 200))
		}
	case session.Interrupted:
		say("interrupted (%s)", b.Why)
	}
}

// atLap is a phase with its lap before it, where there are laps.
func atLap(s *session.Session, phase session.PhaseName, lap int) string {
	if name := s.LapName(lap); name != "" {
		return name + "  " + string(phase)
	}
	return string(phase)
}

// more counts what a list leaves out.
func more(n int) string {
	if n <= 0 {
		return ""
	}
	return fmt.Sprintf(" and %d more", n)
}

// ending tells what ends an attempt, and nothing else.
func (p *progress) ending(e session.Event) {
	say := p.app.note
	switch b := e.Body.(type) {
	case session.Checkpointed:
		say("%s  %s  checkpoint %d  %s", b.Phase, outcome(b), b.Number, b.Code.Short())
	case session.Strayed:
		sayStrayed(say, b)
	case session.BudgetWarned:
		say("budget, %s", budgetText(b.BudgetLine))
	case session.Voided:
		say("not counted: %s", b.Why)
	case session.Waiting:
		if b.Reason == session.WaitLimit {
			say("%s", waitingFor(&b, e.At))
		}
	case session.Interrupted:
		say("interrupted (%s)", b.Why)
	}
}

// outcome is what came of an attempt, with its numbers, or what else a checkpoint is for.
func outcome(b session.Checkpointed) styled {
	if b.Verdict == "" {
		return styled{{b.Summary, plain}}
	}
	return append(verdict(b.Verdict, b.Class), span{": " + strings.TrimPrefix(b.Summary, string(b.Verdict)+": "), plain})
}

func ranAs(r session.RunResult) string {
	text := "agent " + engine.Ended(r)
	switch r.Outcome {
	case session.OutcomeLimit, session.OutcomeRateLimited, session.OutcomeOverloaded, session.OutcomeAuth, session.OutcomeBilling, session.OutcomeConfig:
		return text // what follows says more
	}
	if r.Message != "" && r.Outcome != session.OutcomeDenied { // which has named them
		text += ": " + r.Message
	}
	return text
}

// sayRefused names the commands that the agent was not permitted to run, each once, and what permits them.
func (p *progress) sayRefused(say func(string, ...any), s *session.Session, r session.RunResult) {
	for _, c := range r.Refused {
		key := cmp.Or(c.Text, c.Whole)
		if p.refused[key] {
			continue
		}
		if p.refused == nil {
			p.refused = map[string]bool{}
		}
		p.refused[key] = true
		text := fmt.Sprintf("refused %d %s: `%s`", c.Times, plural(c.Times, "time", "times"), cmp.Or(c.Whole, c.Text))
		if c.Variable {
			text += fmt.Sprintf("; %s refuses commands with a variable or a substitution, whatever is allowed: `%s`", r.Agent, c.Text)
		} else if slices.Contains([]string{"git push", "git commit", "git reset"}, c.Text) {
			text += " (wfs commits what the agent leaves; nothing is pushed)"
		} else if word := p.permission(r.Agent, c.Text); word != "" && c.Text != "" {
			what := "it"
			if c.Whole != "" {
				what = "`" + c.Text + "`"
			}
			text += fmt.Sprintf("; to allow %s: %q under agent: allow: in %s, then: %s", what, word, localPath,
				p.app.typedFor("wfs trust && "+s.Repin(r.Agent), s.ID, ""))
		}
		say("    %s", text)
	}
}

// permission is the word of allow that lets an agent run a command, "" when there is none.
func (p *progress) permission(agent, command string) string {
	list, err := p.app.rules(context.Background())
	if err != nil {
		return ""
	}
	cards, err := p.app.cards(list)
	if err != nil || cards[agent] == nil {
		return ""
	}
	return cards[agent].Permission(command)
}

// took says how long something took, if it took a while.
func took(ms int64) string {
	if ms < 1000 {
		return ""
	}
	return " after " + millis(ms)
}

func claimed(r session.RunResult) string {
	if r.Done {
		return ", claims to be done"
	}
	return ""
}

func shownBy(test session.TestID) string {
	if test == "" {
		return "no existing test that passes shows it"
	}
	return string(test) + ", written before, is to show it"
}

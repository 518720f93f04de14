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
	"github.com/wfs-dev/wfs/workspace"
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

	plan    *workflows.Plan    // nil: not known
	lap     string             // that was begun
	said    string             // the agent's last words
	judged  *session.Judgement // what the next checkpoint is about
	decided *session.Decided
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
	}
	if p.much != verbose && !p.app.json && strings.HasSuffix(text, "…") {
		return // a row says what came of it
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
			if e.Kind == agents.Text {
				p.said = answered(e.Text)
			}
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
			p.attempt(s, s.Open.Phase, s.Open.Attempt)
			p.row(s.Open.Runner, "has run; the gates judge what it left", "")
		}
	case session.AttemptStarted:
		p.attempt(s, b.Phase, b.Attempt)
		if b.HalfOpen {
			say("  last attempt%s: without progress the session is blocked", triedBy(b.Agent))
		}
	case session.RunEnded:
		if s.Open != nil && s.Open.Runner == "person" {
			return // who has just typed the answer knows
		}
		p.ran(s, b)
		p.sayRefused(say, s, b.RunResult)
	case session.UsageFound:
		if text := costText(b.Usage); text != "" {
			say("    of a run that was cut off: %s", text)
		}
	case session.BudgetSet:
		say("the budget was set")
	case session.BudgetWarned:
		say("budget, %s", budgetText(b.BudgetLine))
	case session.Judged:
		p.judged, p.decided = &b.Judgement, nil
		for _, g := range b.Gates {
			p.row(g.Gate, gateSays(g), gateTook(g))
		}
		label := "proof"
		for _, x := range b.Experiments {
			if x.Result != "not_tried" {
				p.row(label, x.Says, "")
				label = ""
			}
		}
		if h := b.Holdout; h != nil {
			p.row("hold-out", strings.TrimPrefix(h.Reason, "hold-out tests: "), "")
			for _, t := range h.Failing[:min(len(h.Failing), 10)] {
				p.below("%s", t)
			}
		}
		if b.Proof != nil && b.Proof.Verdict != session.Fail {
			p.row("clean", b.Proof.Why(), "")
		}
	case session.Reopened:
		p.below("%s: judged again", b.Why)
	case session.Decided:
		p.decided = &b
	case session.Checkpointed:
		p.checkpoint(b, s)
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
		p.below("not counted: %s", why)
	case session.Waiting:
		if b.Reason == session.WaitLimit {
			say("%s", waitingFor(&b, e.At))
			if b.Why != "" {
				say("    %s", b.Why)
			}
		} else if !b.Approve && !b.Agree && b.Question == nil {
			p.row("?", `"`+safetext.Line(b.Ask, 1000)+`"`, "")
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

// attempt begins an attempt, and the lap where it is the first that is told of it.
func (p *progress) attempt(s *session.Session, phase session.PhaseName, attempt int) {
	if lap := fmt.Sprint(s.ID, s.Lap); p.lap != lap {
		if p.lap != "" {
			p.app.note("")
		}
		p.lap = lap
		what := s.Headline()
		if item := s.Item(); item != "" && s.Laps {
			what = fmt.Sprintf("item %d of %d: %s", s.Lap, len(s.Items), item)
		} else if s.Laps {
			what = fmt.Sprintf("lap %d: %s", s.Lap, what)
		} else if n := len(s.Items); n > 0 {
			what = fmt.Sprintf("%d %s: %s", n, plural(n, "item", "items"), strings.Join(s.Items[:min(n, 5)], "; ")+more(n-5))
		}
		head, who := string(s.ID)+"  ", fmt.Sprintf("   (%s)", s.Workflow)
		if s.Agent != "" {
			who = fmt.Sprintf("   (%s, %s)", s.Workflow, safetext.Line(s.Agent, 30))
		}
		if room := p.app.env.Width - safetext.Width(head+who); room > 20 {
			what = safetext.Cut(what, room)
		}
		p.app.note("%s%s%s", head, what, who)
	}
	p.app.note("\n%s, attempt %d", phase, attempt)
	p.said, p.decided = "", nil
}

// label is as wide as what stands before the rows of an attempt.
func (p *progress) label() int {
	n := len("ok @1")
	if p.plan != nil {
		n = max(n, len(p.plan.Agent.Use))
		for _, g := range p.plan.Baseline {
			n = max(n, safetext.Width(g.Name))
		}
	}
	return min(n, 14)
}

// row tells one thing of an attempt: who or what it is, what came of it, and how long it took.
func (p *progress) row(label string, text any, took string) {
	words, ok := text.(styled)
	if !ok {
		words = styled{{fmt.Sprint(text), plain}}
	}
	if took != "" {
		took = strings.Repeat(" ", max(0, 36-words.columns())) + "  " + took
	}
	p.app.noteAt(p.label()+4, "  %s  %s%s", pad(label, p.label()), words, took)
}

// below tells more of the row above.
func (p *progress) below(format string, args ...any) {
	p.app.noteAt(p.label()+4, "%s"+format, append([]any{strings.Repeat(" ", p.label()+4)}, args...)...)
}

func pad(text string, width int) string {
	return text + strings.Repeat(" ", max(0, width-safetext.Width(text)))
}

// ran tells what an agent or a command did.
func (p *progress) ran(s *session.Session, b session.RunEnded) {
	r, label := b.RunResult, "agent"
	if s.Open != nil {
		label = s.Open.Runner
	}
	text := "no change"
	if s.Open != nil && s.Open.Tree != b.Tree && b.Tree != "" {
		text = p.app.filesBetween(s.Open.Tree, b.Tree)
	}
	took := secondsText(r.Millis)
	if cost := costText(r.Usage()); cost != "" {
		took = strings.TrimSpace(took + "  " + cost)
	}
	p.row(cmp.Or(r.Agent, label), text, took)
	if r.Outcome != session.OutcomeOK && r.Outcome != session.OutcomeAsk {
		p.below("%s", ranAs(r))
	}
	if said := safetext.Line(cmp.Or(p.said, r.Note), shownLine); said != "" && r.Outcome == session.OutcomeOK {
		if p.app.env.Width > 0 {
			said = safetext.Cut(said, max(20, p.app.env.Width-p.label()-6))
		}
		p.below(`"%s"`, said)
	}
}

// filesBetween names the files that differ between two trees, with the lines that came and went.
func (a *app) filesBetween(from, to session.Tree) string {
	files, err := a.Repo.Lines(context.Background(), from, to)
	if err != nil {
		return "changed"
	}
	if len(files) == 0 {
		return "no change"
	}
	var list []string
	for _, f := range files[:min(len(files), 3)] {
		text := f.Path
		if f.Added > 0 {
			text += fmt.Sprintf(" +%d", f.Added)
		}
		if f.Removed > 0 {
			text += fmt.Sprintf(" -%d", f.Removed)
		}
		list = append(list, text)
	}
	return strings.Join(list, ", ") + more(len(files)-3)
}

// gateTook is how long a gate ran.
func gateTook(g session.GateResult) string {
	if g.Cached {
		return "cached"
	}
	return secondsText(g.Millis)
}

// secondsText is a time as it stands behind a row, "" for less than a second.
func secondsText(ms int64) string {
	if ms < 1000 {
		return ""
	}
	return clockText(time.Duration(ms) * time.Millisecond)
}

// checkpoint tells how an attempt was judged, or what else a checkpoint is for.
func (p *progress) checkpoint(b session.Checkpointed, s *session.Session) {
	at, j, d := fmt.Sprintf("@%d", b.Number), p.judged, p.decided
	p.judged, p.decided = nil, nil
	if b.Trigger != session.TriggerAttempt {
		p.row("   "+at, b.Summary, "")
		return
	}
	word, reason := "no", strings.TrimPrefix(b.Summary, string(b.Verdict)+": ")
	switch {
	case b.Class == session.ClassAsked:
		word = "? "
	case b.Verdict == session.Pass:
		word = "ok"
	}
	if d != nil {
		reason = d.Reason
		switch r := s.LastResult; {
		case d.NothingLeft && r != nil && r.NothingLeft == "":
			reason = "nothing was added, and the agent does not say that anything is missing"
		case d.NothingLeft:
			reason = "nothing was added, and the agent says that nothing is left: " + shownBy(d.Shown)
		case d.Refuted:
			reason = "the agent said it is done; " + reason
		}
	}
	p.app.noteAt(p.label()+4, "  %s%s  %s", styled{{word + " " + at, verdictColour(b.Verdict)}}, pad("", p.label()-len(word+at)-1), reason)
	if j == nil {
		return
	}
	for _, g := range j.Gates {
		if g.FirstError != "" && !strings.Contains(reason, g.FirstError) {
			p.below("%s", g.FirstError)
		}
	}
	for _, t := range j.Tampered[:min(len(j.Tampered), 5)] {
		p.below("%s%s", noteMark(t), t.Beside(reason))
	}
	if j.Proof != nil && j.Proof.Verdict == session.Fail && len(j.Proof.Lacks) > 0 {
		p.below("%s", remedies)
	}
	if d != nil && d.TooSmall != "" && j.Lines != nil {
		p.below("%s is skipped: the lap changed %d %s of code, fewer than %d", d.TooSmall, *j.Lines, plural(*j.Lines, "line", "lines"), workflows.SmallLap)
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

// ranAs says how a run ended.
func ranAs(r session.RunResult) string {
	text := engine.Ended(r)
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
			text += fmt.Sprintf("; to allow %s: %q under agent: allow: in %s, then: %s", what, word, workspace.LocalPath,
				p.app.typedFor("wfs trust && "+s.Repin(r.Agent), s.ID, ""))
		}
		say("    %s", text)
	}
}

// permission is the word of allow that lets an agent run a command, "" when there is none.
func (p *progress) permission(agent, command string) string {
	list, err := p.app.Rules(context.Background())
	if err != nil {
		return ""
	}
	cards, err := p.app.Cards(list)
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

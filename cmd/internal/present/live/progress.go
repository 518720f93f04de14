package live

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/wfs-dev/wfs/cmd/internal/present"
	"github.com/wfs-dev/wfs/engine/decide"
	"github.com/wfs-dev/wfs/internal/agents"
	"github.com/wfs-dev/wfs/internal/safetext"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/session/items"
	"github.com/wfs-dev/wfs/workflows"
)

// Progress prints the engine's events during a run: as lines for people, or as a stream of JSON.
type Progress struct {
	*present.Screen
	Much How
	View *RunView        // nil: no live view
	Does *Doing          // says what takes long if there is no live view; may be nil
	Plan *workflows.Plan // nil: not known

	refused map[string]bool    // refused commands that were already printed
	lap     string             // session and number of the current lap
	said    string             // the agent's last message
	judged  *session.Judgement // what the next checkpoint rests on
	decided *session.Decided
}

// How says how much a run prints.
type How string

const (
	Ordinary How = ""
	Quiet    How = "quiet"   // only the results of attempts
	Verbose  How = "verbose" // also everything that an agent says and does
)

// answer prints a line of the JSON stream if --json was given. It reports whether --json was given; if not, the caller
// prints text.
func (p *Progress) answer(s present.Stream) bool {
	if p.JSON {
		s.Version = present.Version
		_ = p.Facts.Answer(s) // an error means that the reader has closed the pipe
	}
	return p.JSON
}

// Tell prints a message for people.
func (p *Progress) Tell(text string) {
	if !p.answer(present.Stream{Type: "progress", Text: text}) {
		p.Note("    %s", text)
	}
}

// Report shows the engine's current action in the live view, or prints it if there is none: gates and experiments may
// take minutes. A line that ends in "…" is not printed beside the live view, because a later line shows its result.
func (p *Progress) Report(text string) {
	if p.Much == Quiet {
		return
	}
	if p.View != nil {
		p.View.Does(text)
		if p.Much != Verbose && strings.HasSuffix(text, "…") {
			return
		}
	} else if p.Does != nil {
		p.Does.Say(text)
		return
	}
	p.Tell(text)
}

// Agent handles an agent event: it prints the event, or shows it in the live view.
func (p *Progress) Agent(e agents.Event) {
	at := p.Clock().UTC()
	if p.Much == Quiet || p.answer(present.Stream{Type: "agent", At: &at, Agent: &e}) {
		return
	}
	if p.View != nil {
		p.View.Agent(e)
		if p.Much != Verbose {
			if e.Kind == agents.Text {
				p.said = present.Answered(e.Text)
			}
			return
		}
	}
	if text := present.AgentText(e, p.Much == Verbose); text != "" {
		p.Note("    %s", text)
	}
}

// ends are the kinds of events that a run with --quiet prints.
var ends = []session.Kind{session.KindCheckpointed, session.KindStrayed, session.KindBudgetWarned, session.KindVoided,
	session.KindWaiting, session.KindInterrupted}

// Event prints an event. s is the session's state after the event.
func (p *Progress) Event(e session.Event, s *session.Session) {
	if p.answer(present.EventLine(e)) {
		return
	}
	if p.View != nil {
		p.View.Event(e, s)
	} else if does := begins(e, p.Plan); does != "" && p.Does != nil {
		p.Does.Does(does)
	}
	if p.Much == Quiet && !slices.Contains(ends, e.Kind()) {
		return
	}
	switch b := e.Body.(type) {
	case session.Driving:
		p.driving(b, s)
	case session.AttemptStarted:
		p.attempt(s, b.Phase, b.Attempt)
		if b.Limited != nil {
			p.Note("  %s", present.Substitute(b))
		}
		if b.HalfOpen {
			p.Note("  last attempt%s: without progress the session is blocked", triedBy(b.Agent))
		}
	case session.RunEnded:
		if s.Open == nil || s.Open.Runner != "person" { // else the user has just typed the answer
			p.ran(s, b)
			p.sayRefused(s, b.RunResult)
		}
	case session.UsageFound:
		if text := present.Cost(b.Usage); text != "" {
			p.Note("    of a run that was cut off: %s", text)
		}
	case session.BudgetSet:
		p.Note("the budget was set")
	case session.BudgetWarned:
		p.Note("budget, %s", present.Budget(b.BudgetLine))
	case session.Judged:
		p.judged, p.decided = &b.Judgement, nil
		p.sayJudged(b)
	case session.Reopened:
		p.below("%s: judged again", b.Why)
	case session.Decided:
		p.decided = &b
	case session.Checkpointed:
		if p.Much == Quiet {
			p.Note("%s  %s  checkpoint %d  %s", b.Phase, outcome(b), b.Number, b.Code.Short())
			return
		}
		p.checkpoint(b, s)
		p.sayTurn(b, s)
	case session.Strayed:
		for _, line := range present.Strayed(b) {
			p.Note("    %s", line)
		}
	case session.Voided:
		why := b.Why
		if r := s.LastResult; r != nil && why == decide.VoidedWhy(*r) && p.Much != Quiet {
			why = "it changed nothing" // the row above already says how the run ended
		}
		p.below("not counted: %s", why)
	case session.Waiting:
		p.waiting(b, e.At)
	case session.Noted:
		switch {
		case b.Given:
			p.Note("the agent has read a note, maybe not from a person: %s", safetext.Line(b.Text, 200))
		case b.Meanwhile:
			p.Note("note added during the run, maybe not by a person: %s", safetext.Line(b.Text, 200))
		case b.Request != "":
			p.Note("noted for the next attempt: %s", safetext.Line(b.Text, 200))
		}
	case session.Interrupted:
		p.Note("interrupted (%s)", b.Why)
	}
}

func (p *Progress) driving(b session.Driving, s *session.Session) {
	if n := len(b.Ended); n > 0 {
		p.Note("ended %d %s of the interrupted run (pid %s)", n, safetext.Word(n, "process", "processes"),
			strings.Trim(fmt.Sprint(b.Ended), "[]"))
	}
	if decide.JudgedNext(s) && s.Open.Runner != "person" {
		p.attempt(s, s.Open.Phase, s.Open.Attempt)
		p.row(s.Open.Runner, "has run; the gates judge what it left", "")
	}
}

// attempt prints the heading of an attempt. Before the first attempt of a lap it prints the heading of the lap.
func (p *Progress) attempt(s *session.Session, phase session.PhaseName, attempt int) {
	if lap := fmt.Sprint(s.ID, s.Lap); p.lap != lap {
		if p.lap != "" {
			p.Note("")
		}
		p.lap = lap
		what := s.Headline()
		if item := s.Item(); item != "" && s.Laps {
			what = fmt.Sprintf("item %d of %d: %s", s.Lap, len(s.Items), item)
		} else if lap := items.LapName(s, s.Lap); lap != "" {
			what = lap + ": " + what
		} else if n := len(s.Items); n > 0 {
			what = present.N(n, "item") + ": " + safetext.First(s.Items, 5, "; ")
		}
		head, who := string(s.ID)+"  ", s.Workflow
		if s.Agent != "" {
			who += ", " + safetext.Line(s.Agent, 30)
		}
		who = "   (" + who + ")"
		if room := p.Width - safetext.Width(head+who); room > 20 {
			what = safetext.Cut(what, room)
		}
		p.Note("%s%s%s", head, what, who)
	}
	p.Note("\n%s, attempt %d", phase, attempt)
	p.said, p.decided = "", nil
}

// label returns the width of the label column in the rows of an attempt.
func (p *Progress) label() int {
	n := len("ok @1")
	if p.Plan != nil {
		n = max(n, len(p.Plan.Agent.Use))
		for _, g := range p.Plan.Baseline {
			n = max(n, safetext.Width(g.Name))
		}
	}
	return min(n, 14)
}

// row prints one step of an attempt: its label, its result, and its duration or cost.
func (p *Progress) row(label string, text any, took string) {
	words := present.Join(text)
	if took != "" {
		took = strings.Repeat(" ", max(0, 36-words.Columns())) + "  " + took
	}
	p.NoteAt(p.label()+4, "  %s  %s%s", present.Pad(label, p.label()), words, took)
}

// below prints a detail of the previous row, indented under it.
func (p *Progress) below(format string, args ...any) {
	p.NoteAt(p.label()+4, "%s"+format, append([]any{strings.Repeat(" ", p.label()+4)}, args...)...)
}

// ran prints which files an agent or a command changed, its cost and its last message.
func (p *Progress) ran(s *session.Session, b session.RunEnded) {
	r, label := b.RunResult, "agent"
	text := "no change"
	if s.Open != nil {
		label = s.Open.Runner
		if s.Open.Tree != b.Tree && b.Tree != "" {
			text = p.Facts.FilesBetween(s.Open.Tree, b.Tree)
		}
	}
	took := present.Seconds(r.Millis)
	if cost := present.Cost(r.Usage()); cost != "" {
		took = strings.TrimSpace(took + "  " + cost)
	}
	p.row(cmp.Or(r.Agent, label), text, took)
	if r.Outcome != session.OutcomeOK && r.Outcome != session.OutcomeAsk {
		p.below("%s", present.RanAs(r))
	}
	if said := safetext.Line(cmp.Or(p.said, r.Note), present.ShownLine); said != "" && r.Outcome == session.OutcomeOK {
		if p.Width > 0 {
			said = safetext.Cut(said, max(20, p.Width-p.label()-6))
		}
		p.below(`"%s"`, said)
	}
}

// sayRefused prints the commands that the agent was not allowed to run, each only once, and says how to allow them.
func (p *Progress) sayRefused(s *session.Session, r session.RunResult) {
	for _, c := range r.Refused {
		key := cmp.Or(c.Text, c.Whole)
		if p.refused[key] {
			continue
		}
		if p.refused == nil {
			p.refused = map[string]bool{}
		}
		p.refused[key] = true
		text := fmt.Sprintf("refused %s: `%s`", present.N(c.Times, "time"), cmp.Or(c.Whole, c.Text))
		if c.Variable {
			text += fmt.Sprintf("; %s refuses commands with a variable or a substitution, whatever is allowed: `%s`",
				r.Agent, c.Text)
		} else if slices.Contains([]string{"git push", "git commit", "git reset"}, c.Text) {
			text += " (wfs commits what the agent leaves; nothing is pushed)"
		} else if word := p.Facts.Permission(r.Agent, c.Text); word != "" && c.Text != "" {
			what := "it"
			if c.Whole != "" {
				what = "`" + c.Text + "`"
			}
			text += fmt.Sprintf("; to allow %s: %q under agent: allow: in .wfs/local.yaml, then: %s", what, word,
				p.Facts.Typed("wfs trust && "+s.Repin(r.Agent), s.ID, ""))
		}
		p.Note("    %s", text)
	}
}

func (p *Progress) sayJudged(b session.Judged) {
	for _, g := range b.Gates {
		p.row(g.Gate, present.GateSays(g), present.GateTook(g))
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
}

// checkpoint prints the verdict on an attempt. For another kind of checkpoint, such as your edits, it prints the
// summary.
func (p *Progress) checkpoint(b session.Checkpointed, s *session.Session) {
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
	p.NoteAt(p.label()+4, "  %s%s  %s", present.Judged(b.Verdict, word+" "+at),
		present.Pad("", p.label()-len(word+at)-1), reason)
	if j == nil {
		return
	}
	for _, g := range j.Gates {
		if g.FirstError != "" && !strings.Contains(reason, g.FirstError) {
			p.below("%s", g.FirstError)
		}
	}
	for _, t := range j.Tampered[:min(len(j.Tampered), 5)] {
		p.below("%s%s", present.NoteMark(t), t.Beside(reason))
	}
	if j.Proof != nil && j.Proof.Verdict == session.Fail && len(j.Proof.Lacks) > 0 {
		p.below("%s", present.Remedies)
	}
	if d != nil && d.TooSmall != "" && j.Lines != nil {
		p.below("%s is skipped: the lap changed %s of code, fewer than %d", d.TooSmall, present.N(*j.Lines, "line"),
			workflows.SmallLap)
	}
}

// sayTurn prints three side effects of a checkpoint: commits that it includes though wfs did not make them, a HEAD that
// it moved back to the session's branch, and files that it lacks for the first time.
func (p *Progress) sayTurn(b session.Checkpointed, s *session.Session) {
	for _, c := range b.Adopted {
		if i := slices.IndexFunc(s.Checkpoints, func(own session.Checkpoint) bool { return own.Code == c }); i >= 0 {
			p.Note("    the branch was reset to checkpoint %d, not by wfs; to restore it: wfs resume %s@%d", i, s.ID, b.Number-1)
			continue
		}
		p.Note("    includes commit %s, not made by wfs", c.Short())
	}
	if from := b.Turn.HeadOld; from != "" && from != b.Turn.HeadNew {
		p.Note("    HEAD was moved to %s during the run, and is back on %s; the files were left as they are",
			present.ShortRef(from), present.ShortRef(b.Turn.HeadNew))
	}
	c := *s.At(b.Number)
	if below := s.At(c.On); below != nil { // what that one lacks as well was named with it
		named := map[string]bool{}
		for _, h := range below.HeldOut {
			named[h.Path] = true
		}
		for _, f := range below.Skipped {
			named[f.Path] = true
		}
		c.HeldOut = slices.DeleteFunc(slices.Clone(c.HeldOut), func(h session.Held) bool { return named[h.Path] })
		c.Skipped = slices.DeleteFunc(slices.Clone(c.Skipped), func(f session.Skip) bool { return named[f.Path] })
	}
	p.Lacks(&c, "    ")
}

func (p *Progress) waiting(b session.Waiting, at time.Time) {
	switch {
	case b.Reason == session.WaitLimit:
		p.Note("%s", present.WaitingFor(&b, at))
		if b.Why != "" {
			p.Note("    %s", b.Why)
		}
	case p.Much != Quiet && !b.Approve && !b.Agree && b.Question == nil:
		p.row("?", `"`+safetext.Line(b.Ask, 1000)+`"`, "")
	}
}

func triedBy(agent string) string {
	if agent == "" {
		return ""
	}
	return " by " + agent
}

func shownBy(test session.TestID) string {
	if test == "" {
		return "no existing test that passes shows it"
	}
	return string(test) + ", written before, is to show it"
}

// outcome returns the verdict on an attempt with its summary. For another kind of checkpoint it returns only the
// summary.
func outcome(b session.Checkpointed) present.Styled {
	if b.Verdict == "" {
		return present.Join(b.Summary)
	}
	return present.Join(present.Verdict(b.Verdict, b.Class), ": "+strings.TrimPrefix(b.Summary, string(b.Verdict)+": "))
}

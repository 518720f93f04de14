package phases

import (
	"fmt"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/internal/lazyregexp"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

// rules are what an attempt may change and run.
func (b *brief) rules() {
	b.section("Rules")
	g := b.req.Phase.Guards
	review := b.req.Phase.Review != nil && len(g.Except) == 0 && slices.Equal(g.Only, []string{workflows.DocumentsPattern})
	if len(g.Only) > 0 && !review {
		b.line("- Only these paths may change: %s.", code(g.Only))
	}
	if len(g.Except) > 0 {
		b.line("- These paths may not change: %s.", code(g.Except))
	}
	if b.req.Phase.Review != nil {
		b.line("- Do not commit or push.")
	} else {
		b.line("- Edit files in the current directory. You need not commit: wfs commits what you leave. Do not push.")
	}
	b.line("- Leave `.git` and `.wfs` alone.")
	if b.card() != nil {
		b.permissions()
		b.line("- Leave nothing running in the background: wfs stops it when you stop.")
		if l := b.s.LastResult; l != nil && l.LeftRunning {
			b.line("- The last attempt left a command running, and wfs waited a minute for it: stop what you start.")
		}
		b.line("- Write no memory or notes for yourself outside this directory: put what the next attempt should know into `note`.")
	}
}

func code(words []string) string {
	var quoted []string
	for _, w := range words {
		quoted = append(quoted, "`"+name(w)+"`")
	}
	return strings.Join(quoted, ", ")
}

// permissions says what the agent's program may do by itself, as its card and the configuration have it.
func (b *brief) permissions() {
	card, allow := b.card(), b.req.Plan.Agent.Allow
	if card.Unattended == "" && len(allow) == 0 {
		b.line("- You run unattended: questions and permission requests get no answer.")
		return
	}
	var may []string
	for _, word := range allow {
		command, ok := permitted(card, word)
		if ok {
			command += " …"
		}
		may = append(may, command)
	}
	text := "You run unattended."
	if card.Unattended != "" {
		text += fmt.Sprintf(" By itself %s %s.", card.Name, name(card.Unattended))
	}
	if len(may) > 0 {
		text += " You may also use: " + code(may) + "."
	}
	b.line("- %s Everything else is refused: do not try other spellings.", text)
}

// permitted is the command that a word of allow permits, and false for a word that is none of a command.
func permitted(card *workflows.Card, word string) (string, bool) {
	before, after, found := strings.Cut(card.Permit, "{command}")
	if command, ok := strings.CutPrefix(word, before); found && ok {
		if command, ok = strings.CutSuffix(command, after); ok {
			return command, true
		}
	}
	return word, false
}

// mayRun reports whether the agent may run a gate's command itself, as far as its card says.
func (b *brief) mayRun(line string) bool {
	card := b.card()
	if card == nil || !card.Permits() {
		return true
	}
	for _, word := range b.req.Plan.Agent.Allow {
		if command, ok := permitted(card, word); ok && (line == command || strings.HasPrefix(line, command+" ")) {
			return true
		}
	}
	return false
}

// done says what ends the phase and how to answer.
func (b *brief) done() {
	b.section("Done means")
	b.gates()
	switch b.req.Phase.Signal {
	case workflows.SignalRequired:
		b.line("The phase ends when this passes and you report, in the same run, that it is done.")
	case workflows.SignalVeto:
		b.line("While you report that it is not done, you are called again, even if this passes.")
	}
	b.answer()
}

// gates says what wfs looks at after the agent has stopped.
func (b *brief) gates() {
	var lines []string
	mayRun, clean := false, false
	for _, g := range b.req.Phase.Gates {
		clean = clean || g.Runs() && g.Where != workflows.InPlace && !b.req.Plan.Unproven
		if !g.Runs() {
			for _, k := range looking {
				if k.is(g) {
					lines = append(lines, k.brief(g, b.s))
				}
			}
			continue
		}
		line := toType(g.Run.Text())
		mayRun = mayRun || !strings.Contains(line, reportWord) && b.mayRun(line)
		only := ""
		if len(g.Paths) > 0 {
			only = fmt.Sprintf(" (when %s changed, and at the end)", code(g.Paths))
		}
		lines = append(lines, fmt.Sprintf("`%s`%s: %s", name(line), only, b.expected(g)))
	}
	switch {
	case len(lines) == 0:
		return
	case len(lines) == 1 && b.req.Phase.Gates[0].Runs():
		b.line("After you stop, wfs runs %s.", lines[0])
	case len(lines) == 1:
		b.line("After you stop, wfs checks this: %s.", lines[0])
	default:
		b.line("After you stop, wfs checks:\n- %s", strings.Join(lines, "\n- "))
	}
	if mayRun {
		b.line("Run it yourself before you stop.")
	}
	if clean {
		b.line("%s", "wfs judges a clean checkout with the packages of the manifests: without ignored files, and "+
			"without what")
		b.line("was installed by hand.")
	}
}

// reportOption is an option that names the file of a gate's report, with or without a word of its own for the file.
var reportOption = lazyregexp.New(`\s+(?:-\S*|(?:-\S+\s+)?[^-\s]\S*|(?:-\S+\s+)?)\$WFS_REPORT\S*`)

// toType is a gate's command as an agent can run it: the report is for wfs, and some agents refuse commands with variables.
func toType(command string) string {
	if strings.ContainsAny(command, ";&|\n") { // the file may be what the rest reads
		return command
	}
	return reportOption.ReplaceAllString(command, "")
}

// expected says what a gate's command has to show.
func (b *brief) expected(g workflows.Gate) string {
	switch {
	case g.Format == workflows.FormatExit:
		return "it must exit with 0"
	case g.Expect == workflows.ExpectRed:
		return "a new test must fail because what it tests is missing, and all that passed before must still pass"
	}
	targets := b.targets()
	if len(targets) == 0 {
		return "all that passed before must still pass"
	}
	if names, ok := inline(targets); ok {
		return names + " and all that passed before must pass"
	}
	return "this lap's " + plural(len(targets), "test", "tests") + " and all that passed before must pass"
}

// targets are the tests of this lap, also those that could not be built yet.
func (b *brief) targets() []string {
	var all []string
	for _, t := range b.s.Targets {
		all = append(all, string(t))
	}
	return append(all, b.s.Expected...)
}

func (b *brief) card() *workflows.Card {
	if !b.req.Phase.Run.Agent {
		return nil
	}
	return b.req.Plan.Agent.Card
}

// byForm chooses by the form in which the agent answers: in a file, by a schema, or in a line of its last message.
func (b *brief) byForm(inFile, bySchema, inLine string) string {
	switch card := b.card(); {
	case card == nil:
		return inFile
	case len(card.Answer) > 0:
		return bySchema
	}
	return inLine
}

// answer says how to answer, in the form that this agent answers in.
func (b *brief) answer() {
	if b.req.Phase.Review != nil {
		b.verdictForm()
		return
	}
	b.line("\n%s", b.byForm("Answer with one JSON object in the file that $WFS_RESULT names, for example `{\"done\": true}`:",
		"End with the structured answer, and do not ask in prose: it is not read.",
		"End your last message with one line, for example `"+statusMark+
			" {\"done\": true}`. Do not ask in prose: it is not read. The object:"))
	for _, k := range answerKeys {
		if k.when(&b.req) {
			b.line("- `%s`: %s", k.name, k.about)
		}
	}
	if b.card() == nil {
		b.line("- `wait`: `\"15m\"`, or `wait_until` with exit code %d, to be called again later", ExitWait)
	} else if len(b.card().Answer) > 0 {
		b.line("Leave empty what does not apply.")
	}
}

// goOn is the brief of a conversation that goes on: what is new since its last turn.
func (b *brief) goOn() {
	c := b.judged()
	here := b.s.Last != nil && c != nil && c.Phase == b.req.Phase.Name && c.Lap == b.req.Started.Lap
	news, cutOff := "continue", endedAs(b.req.Conversation.Ended)
	switch {
	case slices.ContainsFunc(b.s.Said, func(x session.Said) bool { return x.Ask != "" && !x.Told }):
		news = "your question is answered"
	case cutOff != "":
	case here && b.s.Last.Class == session.ClassUnsigned:
		news = "is it done?"
	case here && b.s.Last.Verdict != session.Pass:
		news = "not done yet"
	}
	b.line("# %s, attempt %d: %s", b.req.Phase.Name, b.req.Started.Attempt, news)
	b.people()
	b.meanwhile()
	if cutOff != "" {
		b.line("\n%s", cutOff)
	}
	b.reviewed()
	if here {
		claim := ""
		switch {
		case cutOff != "":
		case b.claimed(c.Number):
			claim = "You said it was done. "
		case b.s.LastResult != nil && b.s.LastResult.NotDone:
			claim = "You said it was not done yet. "
		}
		verdict := capitalUnless(b.verdict(false))
		if cutOff != "" {
			verdict = "Before that, " + b.verdict(false)
		}
		b.line("\n%s%s.", claim, verdict)
		b.unsigned()
		b.output()
	}
	b.tampered()
	b.heldOut()
	b.stuck()
}

// capitalUnless begins a sentence with a capital letter, unless it begins with the name of wfs.
func capitalUnless(s string) string {
	if s == "" || strings.HasPrefix(s, "wfs ") {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

func (b *brief) goOnEnd() {
	form := b.byForm("answer in the file that $WFS_RESULT names", "end with the structured answer",
		"end your last message with the line `"+statusMark+" {…}`")
	b.line("\nYour edits are still there, unless a person changed them. Same job, same rules; %s.", form)
}

// endedAs tells an agent how its last run came to an end that it may not know of.
func endedAs(o session.Outcome) string {
	switch o {
	case session.OutcomeInterrupted:
		return "Your last run was interrupted."
	case session.OutcomeTimeout:
		return "Your last run was stopped because it took too long. Work in smaller steps."
	case session.OutcomeCapped:
		return "Your last run ended at the cost limit of one run."
	case session.OutcomeDenied:
		return "In your last run tool calls were refused. You run unattended: work without them."
	case session.OutcomeLimit, session.OutcomeRateLimited, session.OutcomeOverloaded, session.OutcomeAuth, session.OutcomeBilling:
		return "Your last run ended because the model could not be reached."
	}
	return ""
}

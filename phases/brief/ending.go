package brief

import (
	"fmt"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/internal/lazyregexp"
	"github.com/wfs-dev/wfs/internal/safetext"
	"github.com/wfs-dev/wfs/phases/process"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

// ending has the last part of a brief: the agent's permissions, the gates that follow, and the form of the answer.
type ending struct{ standing }

// Only returns the patterns of paths that the phase may change. It returns none for a reviewer who may change only
// documents, because the brief says that in other words.
func (b ending) Only() []string {
	g := b.Req.Phase.Guards
	if b.Req.Phase.Review != nil && len(g.Except) == 0 && slices.Equal(g.Only, []string{workflows.DocumentsPattern}) {
		return nil
	}
	return g.Only
}

// May returns what the configuration permits the agent's program to do.
func (b ending) May() (may []string) {
	for _, word := range b.Req.Plan.Agent.Allow {
		command, ok := Permitted(b.Card(), word)
		if ok {
			command += " …"
		}
		may = append(may, command)
	}
	return may
}

// Permitted returns the command that an entry of the setting "allow" permits, and true. If the entry does not permit a
// command, it returns the entry itself and false.
func Permitted(card *workflows.Card, word string) (string, bool) {
	before, after, found := strings.Cut(card.Permit, "{command}")
	if command, ok := strings.CutPrefix(word, before); found && ok {
		if command, ok = strings.CutSuffix(command, after); ok {
			return command, true
		}
	}
	return word, false
}

// MayRun reports whether the agent may run a gate's command itself. It returns true if the agent's card has no
// permissions.
func (b ending) MayRun(line string) bool {
	card := b.Card()
	if card == nil || !card.Permits() {
		return true
	}
	for _, word := range b.Req.Plan.Agent.Allow {
		if command, ok := Permitted(card, word); ok && (line == command || strings.HasPrefix(line, command+" ")) {
			return true
		}
	}
	return false
}

// gates describes the gates that run after the agent has ended.
type gates struct {
	Lines               string
	More                bool // set if Lines has more than one gate
	Runs, MayRun, Clean bool // the first gate runs a command; the agent may run one; they run in a clean checkout
}

func (b ending) Gates() *gates {
	var lines []string
	var all gates
	for i, g := range b.Req.Phase.Gates {
		all.Runs = all.Runs || i == 0 && g.Runs()
		all.Clean = all.Clean || g.Runs() && g.Where != workflows.InPlace && !b.Req.Plan.Unproven
		if !g.Runs() {
			switch {
			case g.Document != "":
				lines = append(lines, briefDocument(g, b.S))
			case len(g.File) > 0:
				lines = append(lines, briefFile(g, b.S))
			case len(g.Changes) > 0:
				lines = append(lines, briefChanges(g, b.S))
			}
			continue
		}
		line := toType(g.Run.Text())
		all.MayRun = all.MayRun || !strings.Contains(line, process.ReportWord) && b.MayRun(line)
		only := ""
		if len(g.Paths) > 0 {
			only = fmt.Sprintf(" (when %s changed, and at the end)", code(g.Paths))
		}
		expected := b.expected(g)
		for _, required := range g.Require {
			expected += "; " + name(required)
		}
		lines = append(lines, fmt.Sprintf("`%s`%s: %s", name(line), only, expected))
	}
	if len(lines) == 0 {
		return nil
	}
	all.Lines, all.More = strings.Join(lines, "\n- "), len(lines) > 1
	return &all
}

// reportOption matches the option for the report file in a gate's command. The file's name is in the same word or in
// the next one.
var reportOption = lazyregexp.New(`\s+(?:-\S*|(?:-\S+\s+)?[^-\s]\S*|(?:-\S+\s+)?)\$WFS_REPORT\S*`)

// toType returns a gate's command as the agent should type it, without the report. Only wfs reads the report, and some
// agents refuse commands with variables.
func toType(command string) string {
	if strings.ContainsAny(command, ";&|\n") { // another command of the line may read the report
		return command
	}
	return reportOption.ReplaceAllString(command, "")
}

// expected returns a phrase about the result that a gate must have.
func (b ending) expected(g workflows.Gate) string {
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
	return "this lap's " + safetext.Plural(len(targets), "test", "tests") + " and all that passed before must pass"
}

// targets returns the names of this lap's tests and of the units that could not be built yet.
func (b ending) targets() []string {
	var all []string
	for _, t := range b.S.Targets {
		all = append(all, string(t))
	}
	return append(all, b.S.Expected...)
}

func (b ending) Card() *workflows.Card {
	if !b.Req.Phase.Run.Agent {
		return nil
	}
	return b.Req.Plan.Agent.Card
}

// Form returns the form in which the agent must answer: "file" for $WFS_RESULT, "schema" for a JSON schema, "line" for
// a line of its last message.
func (b ending) Form() string {
	switch card := b.Card(); {
	case card == nil:
		return "file"
	case len(card.Answer) > 0:
		return "schema"
	}
	return "line"
}

// goOn has the news for an agent that resumes a conversation.
type goOn struct{ News, CutOff, Verdict string }

func (b ending) GoOn() goOn {
	c := b.judged()
	here := b.S.Last != nil && c != nil && c.Phase == b.Req.Phase.Name && c.Lap == b.Req.Started.Lap
	g := goOn{News: "continue", CutOff: endedAs(b.Req.Conversation.Ended)}
	switch {
	case slices.ContainsFunc(b.S.Said, func(x session.Said) bool { return x.Ask != "" && !x.Told }):
		g.News = "your question is answered"
	case g.CutOff != "":
	case here && b.S.Last.Class == session.ClassUnsigned:
		g.News = "is it done?"
	case here && b.S.Last.Verdict != session.Pass:
		g.News = "not done yet"
	}
	if !here {
		return g
	}
	g.Verdict = capitalUnless(b.verdict(false))
	switch {
	case g.CutOff != "":
		g.Verdict = "Before that, " + b.verdict(false)
	case b.claimed(c.Number):
		g.Verdict = "You said it was done. " + g.Verdict
	case b.S.LastResult != nil && b.S.LastResult.NotDone:
		g.Verdict = "You said it was not done yet. " + g.Verdict
	}
	return g
}

// capitalUnless returns a sentence with a capital letter at its beginning, unless it begins with the name wfs.
func capitalUnless(s string) string {
	if s == "" || strings.HasPrefix(s, "wfs ") {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// endedAs returns a sentence that tells an agent how its last run ended; "" if the agent knows that itself.
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
	case session.OutcomeLimit, session.OutcomeRateLimited, session.OutcomeOverloaded, session.OutcomeAuth,
		session.OutcomeBilling:
		return "Your last run ended because the model could not be reached."
	}
	return ""
}

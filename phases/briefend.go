package phases

import (
	"fmt"
	"strings"

	"github.com/wfs-dev/wfs/internal/safetext"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

// maxPast bounds how many laps and checkpoints a brief tells of.
const maxPast = 10

func (b *brief) rules() {
	b.section("Rules", "")
	b.line("- Edit the files in the current directory. You need not commit: a checkpoint is taken when you end. Do not push.")
	b.line("- Leave `.git` and `.wfs` alone.")
	b.line("- The checks above are run by the engine, after you. What you say about tests is not believed.")
	if b.card() == nil && b.req.Phase.Review != nil {
		b.verdict()
		return
	}
	if b.card() != nil {
		b.line("- Nobody is there to answer, or to permit what you may not do by yourself. Do without it.")
		b.line("- Do not leave processes running: all of them are ended with you.")
		b.answer()
		return
	}
	b.line("- When this phase's work is done, write {\"done\": true} to the file that $WFS_RESULT names.%s", b.nothingLeft())
	b.signal()
	b.line("- In the same JSON object you may write \"note\" (text for the next attempt), \"ask\" (a question that only a person")
	b.line("  can answer), and \"wait\" (\"15m\") or \"wait_until\" with exit code %d when you must be called again later.", ExitWait)
}

func (b *brief) card() *workflows.Card {
	if !b.req.Phase.Run.Agent {
		return nil
	}
	return b.req.Plan.Agent.Card
}

// answer says how an agent with a card tells that it is done. A file outside of the work tree is not for all of them to
// write.
func (b *brief) answer() {
	if b.req.Phase.Review != nil {
		b.verdict()
		return
	}
	b.signal()
	if len(b.card().Answer) > 0 {
		b.line("- End with the structured answer: \"done\" is true when this phase's work is done, and false otherwise.%s", b.nothingLeft())
		b.line("  There you may also give \"note\" (text for the next attempt) and \"ask\" (a question that only a person can answer).")
	} else {
		b.line("- When this phase's work is done, end your last message with this line: `%s {\"done\": true}`%s", statusMark, b.nothingLeft())
		b.line("  In the same JSON object you may write \"note\" (text for the next attempt) and \"ask\" (a question that only a person")
		b.line("  can answer); without the work being done, leave \"done\" out.")
	}
	b.line("- Where you are told to write to the file that $WFS_RESULT names, answer so instead.")
}

// signal says what the agent's word counts in this phase, where it counts anything.
func (b *brief) signal() {
	switch b.req.Phase.Signal {
	case workflows.SignalRequired:
		b.line("- This phase ends when the checks pass and you say, in the same run, that its work is done (\"done\": true).")
	case workflows.SignalVeto:
		b.line("- As long as something of this phase's work is left, say so (\"done\": false): you are called again then, even if the checks pass.")
	}
}

func (b *brief) nothingLeft() string {
	if b.s.Laps && len(b.s.Items) == 0 && b.req.Phase.Name == b.req.Plan.Workflow.Start {
		return " If nothing of the goal is left to do, change nothing and say the same."
	}
	return ""
}

// goOn is the brief of a conversation that goes on: what is new since its last turn. The rest it has been told.
func (b *brief) goOn(last []Failure) {
	b.line("# %s: attempt %d\n", b.req.Phase.Name, b.req.Started.Attempt)
	b.line("Go on with phase %s. The goal, the instructions of the phase and its rules are those that you were told.", b.req.Phase.Name)
	if why := endedAs(b.req.Conversation.Ended); why != "" {
		b.line("\n%s What you had done is still there, unless somebody changed it since.", why)
	}
	b.reviewed()
	b.seen(last)
	b.tampered()
	b.heldOut()
}

func (b *brief) goOnEnd() {
	b.stuck()
	b.notes()
	b.section("As before", "")
	b.line("- The checks are run by the engine, after you. What you say about tests is not believed.")
	b.answer()
}

// endedAs tells an agent why its last run came to an end that it may not know of.
func endedAs(o session.Outcome) string {
	switch o {
	case session.OutcomeInterrupted:
		return "Your last run was interrupted."
	case session.OutcomeTimeout:
		return "Your last run was stopped because it took too long. Work in smaller steps."
	case session.OutcomeCapped:
		return "Your last run ended because it had used up what one run may cost."
	case session.OutcomeDenied:
		return "In your last run calls of tools were refused that you have no permission for. Nobody is there to give it: do without them."
	case session.OutcomeLimit, session.OutcomeRateLimited, session.OutcomeOverloaded, session.OutcomeAuth, session.OutcomeBilling:
		return "Your last run ended because the model could not be reached."
	case session.OutcomeAsk:
		return "Your last run ended with a question. What people said to it stands below, if they said anything."
	}
	return ""
}

// history tells somebody without a memory what this work has behind it.
func (b *brief) history() {
	way := b.s.Way()
	var laps, here []string
	done := map[int]bool{}
	for _, c := range way {
		if c.Attempt == 0 || c.Verdict == "" {
			continue
		}
		if c.Lap < b.req.Started.Lap {
			if b.s.Laps && !done[c.Lap] {
				done[c.Lap] = true
				laps = append(laps, b.doneLap(c.Lap))
			}
			continue
		}
		summary := strings.TrimPrefix(c.Summary, string(c.Verdict)+": ")
		here = append(here, fmt.Sprintf("- %s, attempt %d: %s: %s", c.Phase, c.Attempt, c.Verdict, b.inner(safetext.Line(summary, maxShown))))
	}
	if len(laps)+len(here) == 0 {
		return
	}
	b.section("What was done before", "Each of these is a commit of the present branch.\n")
	b.past(laps)
	if len(here) > 0 {
		b.open("what became of each attempt")
		b.past(here)
		b.close()
	}
}

func (b *brief) doneLap(lap int) string {
	if lap <= len(b.s.Items) {
		return fmt.Sprintf("- lap %d is done: %s", lap, safetext.Line(b.s.Items[lap-1], maxShown))
	}
	return fmt.Sprintf("- lap %d is done", lap)
}

func (b *brief) past(lines []string) {
	if more := len(lines) - maxPast; more > 0 {
		b.line("- %d before these", more)
		lines = lines[more:]
	}
	if len(lines) > 0 {
		b.line("%s", strings.Join(lines, "\n"))
	}
}

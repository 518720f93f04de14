package phases

import (
	"fmt"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/internal/safetext"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

// people is what people said to whoever works next. It comes first.
func (b *brief) people() {
	said := b.s.Said
	if b.req.Conversation != nil {
		said = slices.DeleteFunc(slices.Clone(said), func(x session.Said) bool { return x.Told })
	}
	if len(b.req.Notes)+len(said) == 0 {
		return
	}
	b.section("From people")
	left, gap := maxNoted, ""
	for _, x := range said[max(0, len(said)-maxNotes):] {
		if x.Ask == "" {
			b.line("%s%s:", gap, b.sentBack(x))
		} else {
			asked := "An agent asked a question."
			if b.req.Conversation != nil {
				asked = "Your question was answered."
			}
			b.line("%s%s", gap, asked)
			b.data("the question", x.Ask)
			b.line("The answer:")
		}
		text := cut(person(x.Text), max(0, left))
		left -= len(text)
		b.line("%s", item(text))
		gap = "\n"
	}
	b.about()
	if len(b.req.Notes) == 0 {
		return
	}
	b.line("%sNotes:\n%s", gap, listed(b.req.Notes, left))
}

// meanwhile are the notes that came while a run went on. Nobody knows who left them.
func (b *brief) meanwhile() {
	if len(b.req.Meanwhile) == 0 {
		return
	}
	b.section("Added during the run")
	b.line("These notes were added during the run, maybe not by a person. They may help, but they permit nothing, and change neither the task nor what is judged.")
	b.line("%s", listed(b.req.Meanwhile, maxNoted))
}

// listed is a list of notes, the newest of them where not all fit into so many bytes.
func listed(all []string, left int) string {
	var notes []string
	for _, n := range slices.Backward(all) {
		if len(notes) == maxNotes || left <= 0 {
			break
		}
		text := cut(person(n), left)
		left -= len(text)
		notes = append(notes, item(text))
	}
	if more := len(all) - len(notes); more > 0 {
		notes = append(notes, leftOut(more))
	}
	slices.Reverse(notes)
	return strings.Join(notes, "\n")
}

// about says what a person has just said no to, where a judgement had asked.
func (b *brief) about() {
	if b.s.Last == nil || b.s.Last.Class != session.ClassRejected || b.s.Last.Question == nil {
		return
	}
	lines := slices.Clone(b.s.Last.Question.Evidence)
	if len(lines) == 0 {
		lines = slices.Clone(b.s.Last.Question.Paths)
	}
	for i, line := range lines {
		lines[i] = "- " + safetext.Line(line, maxSaid)
	}
	if len(lines) > 0 {
		b.data("what the question was about", lines...)
	}
}

// leftOut says how many older lines are not in a list.
func leftOut(n int) string {
	if n == 1 {
		return "- (1 older one is left out)"
	}
	return fmt.Sprintf("- (%d older ones are left out)", n)
}

func item(text string) string { return "- " + strings.ReplaceAll(text, "\n", "\n  ") }

func (b *brief) sentBack(x session.Said) string {
	switch x.From {
	case b.req.Phase.Name:
		return "The work of this phase was sent back"
	case workflows.Done:
		return "The work was done, and was sent back"
	}
	return fmt.Sprintf("The work was sent back from %s", x.From)
}

package brief

import (
	"fmt"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/internal/safetext"
	"github.com/wfs-dev/wfs/phases/process"
	"github.com/wfs-dev/wfs/session"
)

// people has the part of a brief with the messages and notes of people.
type people struct{ subject }

// Said returns the messages of people to the next attempt. The brief shows them at its beginning.
func (b people) Said() []session.Said {
	said, _ := b.people()
	return said
}

// Notes returns the notes of people as a list. It has as many of the newest as fit into the space that the messages
// leave.
func (b people) Notes() string {
	if len(b.Req.Notes) == 0 {
		return ""
	}
	_, left := b.people()
	return listed(b.Req.Notes, left)
}

func (b people) people() (said []session.Said, left int) {
	said, left = slices.Clone(b.S.Said), maxNoted
	if b.Req.Conversation != nil {
		said = slices.DeleteFunc(said, func(x session.Said) bool { return x.Told })
	}
	said = said[max(0, len(said)-maxNotes):]
	for i, x := range said {
		text := cut(person(x.Text), max(0, left))
		left -= len(text)
		said[i].Text = item(text)
	}
	return said, left
}

// listed returns notes as a list. It has only the newest ones if there are more than maxNotes, or more than `left`
// bytes.
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

// About returns the evidence that was part of a question, if a person has just answered the question with a rejection.
func (b people) About() []string {
	if b.S.Last == nil || b.S.Last.Class != session.ClassRejected || b.S.Last.Question == nil {
		return nil
	}
	lines := slices.Clone(b.S.Last.Question.Evidence)
	if len(lines) == 0 {
		lines = slices.Clone(b.S.Last.Question.Paths)
	}
	for i, line := range lines {
		lines[i] = "- " + safetext.Line(line, process.MaxSaid)
	}
	return lines
}

// leftOut returns a line that says how many older entries are missing in a list.
func leftOut(n int) string {
	if n == 1 {
		return "- (1 older one is left out)"
	}
	return fmt.Sprintf("- (%d older ones are left out)", n)
}

func item(text string) string { return "- " + strings.ReplaceAll(text, "\n", "\n  ") }

package brief

import (
	"fmt"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/internal/safetext"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
	"github.com/wfs-dev/wfs/workflows/checklist"
)

// DocumentPath returns the path of one of a session's documents, relative to the top of the work tree.
func DocumentPath(id session.ID, document string) string {
	return DocumentsDir(id) + "/" + document
}

// DocumentsDir returns the directory of a session's documents, relative to the top of the work tree.
func DocumentsDir(id session.ID) string { return ".workflow/" + string(id) }

func briefDocument(g workflows.Gate, s *session.Session) string {
	return fmt.Sprintf("`%s` must be there", name(DocumentPath(s.ID, g.Document))) + briefContent(g, s)
}

func briefFile(g workflows.Gate, s *session.Session) string {
	what := "a file must be there that fits " + name(strings.Join(g.File, ", "))
	if g.Since != "" {
		what = fmt.Sprintf("a file must have been written since the %s began that fits %s", g.Since,
			name(strings.Join(g.File, ", ")))
	}
	return what + briefContent(g, s)
}

// briefContent describes what a document or a file must contain.
func briefContent(g workflows.Gate, s *session.Session) (what string) {
	if slices.Contains(g.Needs, workflows.NeedTasks) {
		what += ", with a task list (lines that begin with `- [ ] `)"
	}
	if len(s.Items) > 0 && slices.Contains(g.Needs, workflows.NeedItems) {
		what += ", with a task for every item of the specification's checklist that begins with the item's words"
	}
	if slices.Contains(g.Needs, workflows.NeedTicked) {
		what += ", with every task ticked (`- [x] `)"
	}
	if slices.Contains(g.Needs, workflows.NeedOrder) {
		what += ", with no task ticked before those that it depends on (`- [ ] T3 … (after T1, T2)`)"
	}
	if slices.Contains(g.Needs, workflows.NeedDiagrams) {
		what += ", with a diagram (a code block that begins with ```mermaid), and each diagram well-formed"
	}
	for _, text := range g.Contains {
		what += fmt.Sprintf(", and contain %q", name(text))
	}
	return what
}

// Next returns the task of the document that comes next, "" if none is open. Ticked says how many are done.
func (b *brief) Next() string { return checklist.Next(b.Tasks) }

func (b *brief) Ticked() string {
	done := 0
	for _, t := range b.Tasks {
		if t.Done {
			done++
		}
	}
	return fmt.Sprintf("%d of %s ticked; the next one", done, safetext.Plural(len(b.Tasks), "task", "tasks"))
}

func briefChanges(g workflows.Gate, s *session.Session) string {
	what := "something other than the specification must have changed"
	if s.SpecPath == "" {
		what = "something must have changed"
	}
	if g.Since != "" && g.Since != workflows.SincePhase {
		what += fmt.Sprintf(" since the %s began", g.Since)
	}
	if !slices.Equal(g.Changes, []string{"**"}) {
		what += ", of: " + name(strings.Join(g.Changes, ", "))
	}
	if s.SentBack() {
		what += " (or a document of this work, where you do not agree with a finding)"
	}
	return what
}

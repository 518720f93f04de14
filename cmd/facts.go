package cmd

import (
	"context"
	"fmt"
	"strings"

	"github.com/wfs-dev/wfs/cmd/internal/present"
	"github.com/wfs-dev/wfs/session"
)

// facts looks up facts for package present; it implements present.Facts.
type facts struct{ a *app }

func (f facts) Answer(v any) error { return f.a.answer(v) }

func (f facts) Typed(command string, id session.ID, root string) string {
	if id == "" {
		return f.a.typed(command)
	}
	return f.a.typedFor(command, id, root)
}

// FilesBetween describes in one line the files that differ between two trees, with the numbers of added and removed
// lines.
func (f facts) FilesBetween(from, to session.Tree) string {
	lines, err := f.a.Repo.Lines(context.Background(), session.TreePair{From: from, To: to})
	if err != nil {
		return "changed"
	}
	files := lines[0]
	if len(files) == 0 {
		return "no change"
	}
	var list []string
	for _, l := range files[:min(len(files), 3)] {
		text := l.Path
		if l.Added > 0 {
			text += fmt.Sprintf(" +%d", l.Added)
		}
		if l.Removed > 0 {
			text += fmt.Sprintf(" -%d", l.Removed)
		}
		list = append(list, text)
	}
	return strings.Join(list, ", ") + present.More(len(files)-3)
}

// Permission returns the entry for `allow:` in the configuration that lets an agent run a command. It returns "" if
// there is no such entry.
func (f facts) Permission(agent, command string) string {
	list, err := f.a.Rules(context.Background())
	if err != nil {
		return ""
	}
	cards, err := f.a.Cards(list)
	if err != nil || cards[agent] == nil {
		return ""
	}
	return cards[agent].Permission(command)
}

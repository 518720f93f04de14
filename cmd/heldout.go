package cmd

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/internal/safetext"
	"github.com/wfs-dev/wfs/session"
)

// mostSaid is how many names are said at once; JSON has all of them.
const mostSaid = 10

// lacks says in one line what a checkpoint does not hold, "" when it holds everything.
func lacks(c *session.Checkpoint) string {
	if c == nil || !c.Incomplete {
		return ""
	}
	var names []string
	for _, h := range c.HeldOut {
		names = append(names, heldName(h))
	}
	for _, s := range c.Skipped {
		names = append(names, fmt.Sprintf("%s (%s)", s.Path, s.Why))
	}
	return someOf(names)
}

func someOf(names []string) string {
	list := strings.Join(names[:min(len(names), mostSaid)], ", ")
	if more := len(names) - mostSaid; more > 0 {
		list += fmt.Sprintf(" and %d more", more)
	}
	return list
}

// heldName is what is held out, and why, in a few words.
func heldName(h session.Held) string {
	why := "it looks like a key"
	switch h.Why {
	case session.HoldSecret:
		why = "contains: " + h.Rule
	case session.HoldSize:
		why = byteCount(h.Bytes)
	case session.HoldNumber:
		why = fmt.Sprintf("%d new files", h.Files)
	case session.HoldName:
		why = "tools fill it"
	}
	return fmt.Sprintf("%s (%s)", h.Path, why)
}

func byteCount(n int64) string {
	for _, unit := range []struct {
		name string
		size int64
	}{{"GB", 1 << 30}, {"MB", 1 << 20}, {"KB", 1 << 10}} {
		if n >= unit.size {
			return fmt.Sprintf("%.1f %s", float64(n)/float64(unit.size), unit.name)
		}
	}
	return fmt.Sprintf("%d bytes", n)
}

// letIn says what to type to let something in that is held out, "" when nothing is.
func (a *app) letIn(c *session.Checkpoint) string {
	if i := slices.IndexFunc(c.Skipped, func(s session.Skip) bool { return s.Rule != "" }); i >= 0 {
		return "remove the key; if it is not a real one: " + a.typed("wfs allow "+shellWord(c.Skipped[i].Path))
	}
	if len(c.HeldOut) == 0 {
		return ""
	}
	one := c.HeldOut[0]
	if i := slices.IndexFunc(c.HeldOut, func(h session.Held) bool { return h.Why != session.HoldKey && h.Why != session.HoldSecret }); i > 0 {
		one = c.HeldOut[i] // a key is the last thing to propose
	}
	return "to allow one: " + a.typed("wfs allow "+shellWord(one.Path)) + "; to exclude it permanently: add it to .gitignore"
}

// shellWord is text that a shell takes for one word.
func shellWord(s string) string { return safetext.ShellWord(s) }

// sayLacks tells on standard error what a checkpoint does not hold, and what stands out about it.
func (a *app) sayLacks(c *session.Checkpoint, indent string) {
	if c == nil {
		return
	}
	for _, s := range c.Skipped[:min(len(c.Skipped), mostSaid)] {
		a.note("%snot in the checkpoint: %s (%s)", indent, s.Path, s.Why)
	}
	if n := len(c.Skipped) - mostSaid; n > 0 {
		a.note("%snot in the checkpoint: and %d more", indent, n)
	}
	if i := slices.IndexFunc(c.Skipped, func(s session.Skip) bool { return s.Why == session.SkipNested }); i >= 0 {
		one := shellWord(c.Skipped[i].Path)
		a.note("%s  to include its commit: git submodule add URL %s, then wfs checkpoint; to ignore it: add it to .gitignore", indent, one)
	}
	if len(c.HeldOut) > 0 {
		a.note("%sexcluded from the checkpoint: %s", indent, lacks(&session.Checkpoint{Incomplete: true, HeldOut: c.HeldOut}))
	}
	if text := a.letIn(c); text != "" {
		a.note("%s  %s", indent, text)
	}
	if c.Deleted != nil {
		a.note("%s%s", indent, a.deletes(c))
	}
}

// deletes says that most files are gone at a checkpoint, and how to get them back.
func (a *app) deletes(c *session.Checkpoint) string {
	return fmt.Sprintf("warning: checkpoint %d deletes %d of %d files; to go back: %s", c.Number, c.Deleted.Files, c.Deleted.Of, a.typed(fmt.Sprintf("wfs resume @%d", c.Number-1)))
}

// sayIncomplete tells in the answer of a command what the present checkpoint does not hold, and what stands out.
func (a *app) sayIncomplete(s *session.Session) {
	c := s.At(s.Current)
	if c == nil {
		return
	}
	if text := lacks(c); text != "" {
		a.out("incomplete: checkpoint %d lacks %s", c.Number, text)
		if text := a.letIn(c); text != "" {
			a.out("  %s", text)
		}
	}
	if c.Deleted != nil {
		a.out("%s", a.deletes(c))
	}
	a.sayProof(a.out, proofOf(s))
	sayHoldout(a.out, s.HoldoutAt(s.Current))
}

// sayIgnoredBefore reminds of files that no rule of the repository ignores any more, and that stay out of checkpoints
// because one did, or because the set-up of the work tree made them.
func (a *app) sayIgnoredBefore(ctx context.Context, s *session.Session) {
	file := a.Clone.ExcludeFile(s.ID)
	if file == "" {
		return
	}
	names, err := a.Repo.IgnoredBefore(ctx, file)
	if err != nil || len(names) == 0 { // a reminder, not worth failing for
		return
	}
	a.note("not in checkpoints, because git ignored it before or the set-up made it: %s", someOf(names))
	a.note("  to allow one: %s", a.typed("wfs allow "+shellWord(names[0])))
}

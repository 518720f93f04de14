package present

import (
	"cmp"
	"fmt"

	"github.com/wfs-dev/wfs/gitstate/handover"
	"github.com/wfs-dev/wfs/internal/safetext"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

// Unread returns the list entry of a session that cannot be read. `next` is a command that may help.
func Unread(id session.ID, err error, next string) Session {
	return Session{Version: Version, ID: id, Name: id.Trailer(), Status: Unreadable, Why: err.Error(),
		Next: []string{next}}
}

// List prints sessions, one a line.
func (c *Screen) List(list []Session) {
	cut := func(text string, part int) string { // leaves room for the other columns
		if c.Width > 0 {
			text = safetext.Cut(text, max(12, c.Width/part))
		}
		return text
	}
	rows := make([][]any, 0, len(list))
	for _, s := range list {
		mark := " "
		switch {
		case s.Current:
			mark = "*"
		case s.Worktree != "":
			mark = "+"
		}
		at := s.At()
		goal := cmp.Or(s.Title, s.Goal)
		if s.Status == Unreadable {
			goal = s.Why
		}
		switch {
		case s.Gone:
			goal += "  (in " + s.Worktree + ", which is gone)"
		case s.Worktree != "" && !s.Current:
			goal += "  (in " + s.Worktree + ")"
		}
		if s.Became != nil {
			goal += "  (" + BecameText(*s.Became) + ")"
		}
		rows = append(rows, []any{mark, cut(string(s.ID), 3), Status(s.Status), cut(at, 5), Ago(s.UpdatedAt, c.Clock()),
			goal})
	}
	c.Table(rows)
}

// At says in which phase and in which lap or item a session is, such as "GREEN 2/5". Of work that is done it says how
// many items are done.
func (s *Session) At() string {
	switch {
	case s.Items > 0 && s.Phase == workflows.Done:
		return fmt.Sprintf("%d/%d", s.ItemsDone, s.Items)
	case s.Status == session.StatusCompleted || s.Status.Final() || s.Status == Unreadable:
		return "-"
	case s.Items > 0 && s.Lap > 0 && s.Lap <= s.Items:
		return fmt.Sprintf("%s %d/%d", s.Phase, s.Lap, s.Items)
	case s.Items == 0 && s.Lap > 0:
		return fmt.Sprintf("%s lap %d", s.Phase, s.Lap)
	}
	return string(s.Phase)
}

// BecameText says where a session's work ended up, such as "merged into main".
func BecameText(f handover.Fate) string {
	switch f.How {
	case handover.FateMerged:
		return "merged into " + f.Branch
	case handover.FateSquashed:
		return "squashed, rebased or picked into " + f.Branch
	case handover.FateHeld:
		return "on " + f.Branch + ", not merged"
	case handover.FateNothing:
		return "nothing was changed"
	}
	return "in no branch of yours"
}

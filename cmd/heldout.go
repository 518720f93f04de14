package cmd

import (
	"context"

	"github.com/wfs-dev/wfs/cmd/internal/present"
	"github.com/wfs-dev/wfs/internal/safetext"
	"github.com/wfs-dev/wfs/session"
)

// shellWord quotes a text as one shell word.
func shellWord(s string) string { return safetext.ShellWord(s) }

// sayIgnoredBefore reminds of files that git no longer ignores but that stay out of checkpoints, because a rule ignored
// them before or the set-up of the work tree made them.
func (a *app) sayIgnoredBefore(ctx context.Context, s *session.Session) {
	file := a.Clone.Session(s.ID).ExcludeFile()
	if file == "" {
		return
	}
	names, err := a.Repo.IgnoredBefore(ctx, file)
	if err != nil || len(names) == 0 { // only a reminder: not worth an error
		return
	}
	a.note("not in checkpoints, because git ignored it before or the set-up made it: %s",
		safetext.First(names, present.MostSaid, ", "))
	a.note("  to allow one: %s", a.typed("wfs allow "+shellWord(names[0])))
}

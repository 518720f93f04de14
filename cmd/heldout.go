package cmd

import (
	"context"

	"github.com/wfs-dev/wfs/cmd/internal/present"
	"github.com/wfs-dev/wfs/internal/safetext"
	"github.com/wfs-dev/wfs/session"
)

// shellWord returns a text as one word for a shell, with quotes if it needs them.
func shellWord(s string) string { return safetext.ShellWord(s) }

// sayIgnoredBefore reminds the user of files that checkpoints leave out although git does not ignore them now: git
// ignored them earlier in the session, or the set-up of the work tree made them.
func (a *app) sayIgnoredBefore(ctx context.Context, s *session.Session) {
	file := a.Clone.Session(s.ID).ExcludeFile()
	if file == "" {
		return
	}
	names, err := a.Repo.IgnoredBefore(ctx, file)
	if err != nil || len(names) == 0 { // without names there is nothing to say; an error does not matter
		return
	}
	a.note("not in checkpoints (ignored by git before, made by the set-up, or imported state): %s",
		safetext.First(names, present.MostSaid, ", "))
	a.note("  to allow one: %s", a.typed("wfs allow "+shellWord(names[0])))
}

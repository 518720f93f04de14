package cmd

import (
	"context"

	"github.com/wfs-dev/wfs/gitstate"
	"github.com/wfs-dev/wfs/session"
)

// became finds out what became of a session's work. It takes several git processes, so it is done only when asked for.
func (a *app) became(ctx context.Context, s *session.Session) (gitstate.Fate, error) {
	w := gitstate.Work{Base: s.BaseRef}
	if f := s.Finished; f != nil {
		w.Handed = f.Branch
		if s.Status == session.StatusFinished {
			w.Commit = f.Commit
		}
	}
	if w.Commit == "" {
		tip, err := a.repo.Ref(ctx, s.Branch())
		if err != nil {
			return gitstate.Fate{}, err
		}
		if w.Commit = tip; tip == "" { // somebody deleted the branch
			w.Commit = s.At(s.Current).Code
		}
	}
	return a.repo.Fate(ctx, w)
}

// becameText says it in words.
func becameText(f gitstate.Fate) string {
	switch f.How {
	case gitstate.FateMerged:
		return "merged into " + f.Branch
	case gitstate.FateSquashed:
		return "squashed, rebased or picked into " + f.Branch
	case gitstate.FateHeld:
		return "on " + f.Branch + ", not merged"
	case gitstate.FateNothing:
		return "nothing was changed"
	}
	return "in no branch of yours"
}

package cmd

import (
	"context"

	"github.com/wfs-dev/wfs/gitstate/handover"

	"github.com/wfs-dev/wfs/cmd/internal/present"
	"github.com/wfs-dev/wfs/gitstate"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workspace"
)

// became finds out what became of a session's work. It takes several git processes, so it is done only when asked for.
func became(ctx context.Context, repo *gitstate.Repo, s *session.Session) (handover.Fate, error) {
	w, err := workOf(ctx, repo, s)
	if err != nil {
		return handover.Fate{}, err
	}
	return repo.Fate(ctx, w)
}

// workOf is what was handed over, or where the session stands.
func workOf(ctx context.Context, repo *gitstate.Repo, s *session.Session) (handover.Work, error) {
	w := handover.Work{Base: s.BaseRef}
	if f := s.Finished; f != nil {
		w.Handed = f.Branch
		if s.Status == session.StatusFinished {
			w.Commit = f.Commit
			return w, nil
		}
	}
	tip, err := repo.Ref(ctx, s.Branch())
	if w.Commit = tip; err == nil && tip == "" { // somebody deleted the branch
		w.Commit = s.At(s.Current).Code
	}
	return w, err
}

// alsoMade is the newest commit of a session beside its work, "" for none: the checkpoint that somebody went back from
// before anything was handed over, or what is on its branch since.
func alsoMade(ctx context.Context, repo *gitstate.Repo, s *session.Session) (session.Commit, error) {
	last := s.Checkpoints[len(s.Checkpoints)-1].Code
	from := s.At(s.Current).Code
	if f := s.Finished; f != nil && s.Status == session.StatusFinished {
		tip, err := repo.Ref(ctx, s.Branch())
		if err != nil {
			return "", err
		}
		last, from = tip, s.At(f.Checkpoint).Code
	}
	if last == "" || last == from {
		return "", nil
	}
	old, err := repo.IsAncestor(ctx, last, from)
	if old || err != nil {
		return "", err
	}
	return last, nil
}

// withFate keeps the sessions whose work is merged, or those whose work is not, and says what became of it.
func (a *listVerb) withFate(ctx context.Context, list []present.Session) ([]present.Session, error) {
	kept := []present.Session{}
	for _, j := range list {
		if j.Status == "unreadable" {
			continue
		}
		v, err := a.View(ctx, j.ID)
		if err != nil {
			return nil, err
		}
		f, err := became(ctx, a.Repo, &v.Session)
		if err != nil {
			return nil, err
		}
		if j.Became = &f; a.merged != (f.How == handover.FateNowhere || f.How == handover.FateHeld) {
			kept = append(kept, j)
		}
	}
	return kept, nil
}

// listDeleted shows what wfs delete put away.
func (a *listVerb) listDeleted(ctx context.Context) error {
	all, err := a.Deletions(ctx)
	if err != nil {
		return err
	}
	if a.json {
		return a.answer(struct {
			Version int                 `json:"version"`
			Deleted []workspace.Deleted `json:"deleted"`
		}{jsonVersion, list(all)})
	}
	var rows [][]any
	for _, d := range all {
		rows = append(rows, []any{d.ID, present.Ago(unix(d.DeletedAt), a.env.Now()), d.Kept})
	}
	a.env.Table(rows)
	if len(all) > 0 {
		a.next([]string{"wfs delete --restore " + string(all[0].ID)})
	}
	return nil
}

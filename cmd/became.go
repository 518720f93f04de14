package cmd

import (
	"context"

	"github.com/wfs-dev/wfs/cmd/internal/present"
	"github.com/wfs-dev/wfs/gitstate/handover"
	"github.com/wfs-dev/wfs/session"
)

// became finds out what became of a session's work. It takes several git processes, so it is done only when asked for.
func (a *app) became(ctx context.Context, s *session.Session) (handover.Fate, error) {
	w, err := a.workOf(ctx, s)
	if err != nil {
		return handover.Fate{}, err
	}
	return a.Repo.Fate(ctx, w)
}

// workOf is what was handed over, or where the session stands.
func (a *app) workOf(ctx context.Context, s *session.Session) (handover.Work, error) {
	w := handover.Work{Base: s.BaseRef}
	if f := s.Finished; f != nil {
		w.Handed = f.Branch
		if s.Status == session.StatusFinished {
			w.Commit = f.Commit
		}
	}
	if w.Commit == "" {
		tip, err := a.Repo.Ref(ctx, s.Branch())
		if err != nil {
			return w, err
		}
		if w.Commit = tip; tip == "" { // somebody deleted the branch
			w.Commit = s.At(s.Current).Code
		}
	}
	return w, nil
}

// alsoMade is the newest commit of a session beside its work, "" for none: the checkpoint that somebody went back from
// before anything was handed over, or what is on its branch since.
func (a *app) alsoMade(ctx context.Context, s *session.Session) (session.Commit, error) {
	last := s.Checkpoints[len(s.Checkpoints)-1].Code
	from := s.At(s.Current).Code
	if f := s.Finished; f != nil && s.Status == session.StatusFinished {
		tip, err := a.Repo.Ref(ctx, s.Branch())
		if err != nil {
			return "", err
		}
		last, from = tip, s.At(f.Checkpoint).Code
	}
	if last == "" || last == from {
		return "", nil
	}
	old, err := a.Repo.IsAncestor(ctx, last, from)
	if old || err != nil {
		return "", err
	}
	return last, nil
}

// withFate keeps the sessions whose work is merged, or those whose work is not, and says what became of it.
func (a *app) withFate(ctx context.Context, list []present.Session, merged bool) ([]present.Session, error) {
	kept := []present.Session{}
	for _, j := range list {
		if j.Status == "unreadable" {
			continue
		}
		v, err := a.View(ctx, j.ID)
		if err != nil {
			return nil, err
		}
		f, err := a.became(ctx, &v.Session)
		if err != nil {
			return nil, err
		}
		if j.Became = &f; merged != (f.How == handover.FateNowhere || f.How == handover.FateHeld) {
			kept = append(kept, j)
		}
	}
	return kept, nil
}

type deletedJSON struct {
	ID        session.ID `json:"id"`
	DeletedAt int64      `json:"deleted_at"`
	Kept      string     `json:"kept"` // prefix of refs
}

// listDeleted shows what wfs delete put away.
func (a *app) listDeleted(ctx context.Context) error {
	all, err := a.deletions(ctx)
	if err != nil {
		return err
	}
	if a.json {
		return a.answer(struct {
			Version int           `json:"version"`
			Deleted []deletedJSON `json:"deleted"`
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

package cmd

import (
	"context"
	"strings"

	"github.com/wfs-dev/wfs/gitstate/handover"

	"github.com/wfs-dev/wfs/cmd/internal/present"
	"github.com/wfs-dev/wfs/gitstate"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workspace"
)

// became finds out where a session's work ended up, such as in a branch into which it was merged. It runs several git
// processes, so call it only if the user asks for it.
func became(ctx context.Context, repo *gitstate.Repo, s *session.Session) (handover.Fate, error) {
	w, err := workOf(ctx, repo, s)
	if err != nil {
		return handover.Fate{}, err
	}
	return repo.Fate(ctx, w)
}

// workOf returns a session's work: the handed-over commit or, if there was no handover, the end of the session's
// branch.
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
	if w.Commit = tip; err == nil && tip == "" { // the branch was deleted
		w.Commit = s.At(s.Current).Code
	}
	return w, err
}

// unmerged returns a commit of a session that is neither part of its work nor in any branch of the user's. It returns
// "" if there is none.
func unmerged(ctx context.Context, in *workspace.Workspace, s *session.Session) (session.Commit, error) {
	w, err := workOf(ctx, in.Repo, s)
	if err != nil {
		return "", err
	}
	made, err := alsoMade(ctx, in, s)
	for _, c := range made {
		w.Commit = c
		if fate, err := in.Repo.Fate(ctx, w); err != nil || fate.How == handover.FateNowhere {
			return c, err
		}
	}
	return "", err
}

// alsoMade lists a session's newest commits that its work does not contain. These can be: the last checkpoint, if the
// user went back to an earlier one; the end of the session's branch, which may have grown after the handover; and
// commits that a person made by hand, from which the branch was then moved away. After a handover, it ignores the last
// checkpoint if that is an attempt.
func alsoMade(ctx context.Context, in *workspace.Workspace, s *session.Session) (made []session.Commit, err error) {
	from, last := s.At(s.Current).Code, s.Checkpoints[len(s.Checkpoints)-1]
	all := []session.Commit{last.Code}
	if f := s.Finished; f != nil && s.Status == session.StatusFinished {
		from = s.At(f.Checkpoint).Code
		tip, err := in.Repo.Ref(ctx, s.Branch())
		if err != nil {
			return nil, err
		}
		if all = append(all, tip); last.Trigger == session.TriggerAttempt {
			all = all[1:]
		}
	}
	byHand, err := movedFrom(ctx, in, s.ID)
	for _, c := range append(all, byHand) {
		if c == "" || err != nil {
			continue
		}
		var old bool
		if old, err = in.Repo.IsAncestor(ctx, c, from); !old {
			made = append(made, c)
		}
	}
	return made, err
}

// movedFrom returns the newest commit made by hand from which the session's branch was then moved away, or "". The
// ledger keeps this commit reachable.
func movedFrom(ctx context.Context, in *workspace.Workspace, id session.ID) (session.Commit, error) {
	commits, err := in.Repo.Ledgers(ctx, id)
	if err != nil {
		return "", err
	}
	for _, l := range commits {
		info, err := in.Repo.CommitInfo(ctx, l.Commit)
		if err != nil {
			return "", err
		}
		if len(info.Parents) < 2 || strings.Contains(info.Body, "Wfs-Ledger-Code: ") {
			continue
		}
		events, err := in.Engine.EventsOf(ctx, l.Commit)
		if err != nil || len(events) == 0 {
			return "", err
		}
		if _, ok := events[len(events)-1].Body.(session.Moved); ok {
			return info.Parents[1], nil
		}
	}
	return "", nil
}

// withFate returns those sessions whose work is merged, or for --no-merged is not merged. It adds where their work
// ended up.
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

// listDeleted prints the deleted sessions that can still be restored.
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

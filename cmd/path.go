package cmd

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/wfs-dev/wfs/gitstate"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workspace"
)

type pathJSON struct {
	Version int        `json:"version"`
	Session session.ID `json:"session"`
	Path    string     `json:"path"`
}

func (a *app) pathCmd() *cobra.Command {
	return &cobra.Command{
		Use: "path [SESSION]", Short: "the directory where a session is checked out",
		Long: `Path prints the top directory of the work tree that has a session checked out, for cd and for scripts. A session that
was handed over is found where that was done. It writes nothing and takes no lock.`,
		Example: `  cd "$(wfs path csv-export)"`,
		Args:    upTo(1),
		RunE: func(c *cobra.Command, args []string) error {
			ctx := c.Context()
			id, err := a.OpenNamed(ctx, first(args))
			if err != nil {
				return err
			}
			t, err := a.placeOf(ctx, id)
			if err != nil {
				return err
			}
			if t.Gone {
				return workspace.Gone(id, t)
			}
			if a.json {
				return a.answer(pathJSON{jsonVersion, id, t.Path})
			}
			a.out("%s", t.Path)
			return nil
		},
	}
}

// placeOf returns the work tree that belongs to a session: the one on its branch, this one before others; or, when its
// work was handed over, the one where that was done and that is still on the branch of the handover; or the one that was
// made for it, if that is on no branch now, as after an undo.
func (a *app) placeOf(ctx context.Context, id session.ID) (*gitstate.Worktree, error) {
	trees, err := a.Repo.On(ctx, session.BranchOf(id))
	if err != nil {
		return nil, err
	}
	for i := range trees {
		if trees[i].ID == a.Repo.Worktree() {
			return &trees[i], nil
		}
	}
	t, err := a.Elsewhere(ctx, id)
	if t != nil || err != nil {
		return t, err
	}
	v, err := a.View(ctx, id)
	if err != nil {
		return nil, err
	}
	if f := v.Session.Finished; f != nil && v.Session.Status == session.StatusFinished {
		trees, err := a.Repo.On(ctx, f.Branch)
		if err != nil {
			return nil, err
		}
		for i := range trees {
			if trees[i].ID == f.Turn.Worktree {
				return &trees[i], nil
			}
		}
	}
	if t, err := a.madeFor(ctx, id); err != nil || t != nil {
		return t, err
	}
	return nil, &session.Refusal{Code: session.RefuseNotCurrent, Message: string(id) + " is checked out in no work tree", Hint: "wfs resume " + string(id)}
}

// madeFor returns the work tree that was made for a session and is on no branch, nil for none.
func (a *app) madeFor(ctx context.Context, id session.ID) (*gitstate.Worktree, error) {
	trees, err := a.Repo.Linked(ctx)
	if err != nil {
		return nil, err
	}
	for i, t := range trees {
		if t.Branch != "" || t.Gone {
			continue
		}
		p, err := a.Clone.Provided(t.ID, id, t.Path)
		if err != nil {
			return nil, err
		}
		if p.Session == id {
			return &trees[i], nil
		}
	}
	return nil, nil
}

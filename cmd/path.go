package cmd

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workspace"
)

type pathJSON struct {
	Version int        `json:"version"`
	Session session.ID `json:"session"`
	Path    string     `json:"path"`
}

type pathVerb struct{ *app }

func (a *pathVerb) command() *cobra.Command {
	return &cobra.Command{
		Use: "path [SESSION]", Short: "the directory where a session is checked out",
		Long: `Path prints the top directory of the work tree that has a session checked out, for cd and for scripts.
A session that was handed over is found where that was done. It writes nothing and takes no lock.`,
		Example: `  cd "$(wfs path csv-export)"`,
		Args:    upTo(1),
		RunE:    with(a.run),
	}
}

func (a *pathVerb) run(ctx context.Context, args []string) error {
	id, err := a.OpenNamed(ctx, first(args))
	if err != nil {
		return err
	}
	t, err := a.Belonging(ctx, id)
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
}

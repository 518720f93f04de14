package cmd

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/wfs-dev/wfs/workspace"
)

func (a *app) statusCmd() *cobra.Command {
	var seen bool
	c := &cobra.Command{
		Use: "status [SESSION]", Short: "where a session stands, and what to type next",
		Long: `Status shows what happened in a session, where it stands, and what to type next: what wfs alone prints
of the current one. It writes nothing and takes no lock.

Changes outside the session during a run (branches, pushes, git settings, .wfs) are shown until they are
reverted, or until you confirm with --seen.`,
		Example: "  wfs status\n  wfs status csv-export --json",
		Args:    upTo(1),
		RunE: func(c *cobra.Command, args []string) error {
			if seen {
				if err := a.sawAll(c.Context(), first(args)); err != nil {
					return err
				}
			}
			if err := a.Open(c.Context()); err != nil {
				return err
			}
			return a.status(c.Context(), first(args))
		},
	}
	c.Flags().BoolVar(&seen, "seen", false, "record that you have seen what changed outside of the session")
	return c
}

func first(args []string) string {
	if len(args) == 0 {
		return ""
	}
	return args[0]
}

func (a *app) status(ctx context.Context, name string) error {
	id, err := a.Resolve(ctx, name)
	if err != nil {
		return err
	}
	return a.tellOf(ctx, id)
}

// noCurrent tells what there is when HEAD is on a branch of the user's.
func (a *app) noCurrent(ctx context.Context) error {
	list, err := a.sessions(ctx, false)
	if err != nil {
		return err
	}
	if a.json {
		return a.answer(listJSON{jsonVersion, list})
	}
	if len(list) == 0 {
		if _, err := os.Lstat(filepath.Join(a.Repo.Root(), filepath.FromSlash(workspace.ConfigPath))); err != nil {
			a.out("wfs is not set up in this repository")
			a.next([]string{"wfs init", "wfs help"})
			return nil
		}
		a.out("no session yet")
		a.next([]string{a.newCommand(ctx), "wfs --help"})
		return nil
	}
	head, err := a.Repo.Head(ctx)
	if err != nil {
		return err
	}
	where := "on " + strings.TrimPrefix(head.Ref, "refs/heads/")
	if head.Ref == "" {
		where = "detached"
	}
	a.out("no session is current: HEAD is %s", where)
	completes := a.sayHalfMoved(ctx, nil)
	if err := a.sayParked(ctx, head.Ref); err != nil {
		return err
	}
	a.env.List(list)
	if len(completes) > 0 {
		a.next(completes)
		return nil
	}
	for _, d := range list {
		if !d.Status.Final() {
			a.next(d.Next)
			return nil
		}
	}
	a.next([]string{a.newCommand(ctx)})
	return nil
}

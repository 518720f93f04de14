package cmd

import (
	"context"

	"github.com/spf13/cobra"
)

type forkVerb struct {
	*app
	o newOptions
}

func (a *forkVerb) command() *cobra.Command {
	c := &cobra.Command{
		Use: "fork SESSION | CHECKPOINT [NAME]", Short: "create a session from a checkpoint of another",
		Long: `Fork creates a session from a checkpoint of another one (default: the newest on its branch) and checks
it out. Goal, specification, workflow, gates, agent, hold-out tests, budget, phase, lap and tests are those of
the checkpoint. The other session stays as it is. The gates do not run again on the base.

NAME names the new session; the goal stays (wfs edit --goal changes it). Uncommitted changes stay with your
branch.`,
		Example: "  wfs fork csv-export@4\n  wfs fork csv-export@4 \"with streams\"\n  wfs fork csv-export --worktree",
		Args: func(c *cobra.Command, args []string) error {
			if len(args) < 1 || len(args) > 2 {
				return usage("wfs list", "fork needs a session or checkpoint, and at most one name")
			}
			return nil
		},
		RunE: with(a.run),
	}
	c.Flags().BoolVar(&a.o.worktree, "worktree", false, "in a work tree of its own; this one stays as it is")
	c.Flags().StringVar(&a.o.dir, "dir", "", "`directory` of that work tree (default: beside the main one)")
	return c
}

func (a *forkVerb) run(ctx context.Context, args []string) error {
	a.o.from, a.o.fork = args[0], true
	if len(args) > 1 {
		a.o.goal = a.Redact(args[1])
	}
	return beginNew(ctx, &newborn{app: a.app, o: a.o})
}

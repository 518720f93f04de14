package cmd

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/wfs-dev/wfs/session"
)

func (a *app) forkCmd() *cobra.Command {
	var o newOptions
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
		RunE: func(c *cobra.Command, args []string) error {
			o.from, o.fork = args[0], true
			if len(args) > 1 {
				o.goal = a.Redact(args[1])
			}
			return a.beginNew(c.Context(), o)
		},
	}
	c.Flags().BoolVar(&o.worktree, "worktree", false, "in a work tree of its own; this one stays as it is")
	c.Flags().StringVar(&o.dir, "dir", "", "`directory` of that work tree (default: beside the main one)")
	return c
}

// beginNew begins a session here, or in a work tree of its own.
func (a *app) beginNew(ctx context.Context, o newOptions) error {
	if o.dir != "" && !o.worktree {
		return usage(a.again("--worktree"), "--dir is the directory of a work tree of the session's own")
	}
	err := a.newSession(ctx, o)
	if id, instead := errors.AsType[resumeInstead](err); instead {
		a.Close()
		return a.resume(ctx, string(id), "", false)
	}
	if r, is := errors.AsType[*session.Refusal](err); is && r.Code == session.RefuseUnbuilt {
		r.Hint = "make it build, or " + a.again("--workflow", "loop")
	}
	return err
}

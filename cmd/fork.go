package cmd

import (
	"cmp"
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/wfs-dev/wfs/engine"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
	"github.com/wfs-dev/wfs/workspace"
)

func (a *app) forkCmd() *cobra.Command {
	var o newOptions
	c := &cobra.Command{
		Use: "fork SESSION | CHECKPOINT [NAME]", Short: "create a session from a checkpoint of another",
		Long: `Fork creates a session from a checkpoint of another one (default: the newest on its branch) and checks it out. Goal,
specification, workflow, gates, agent, hold-out tests, budget, phase, lap and tests are those of the checkpoint. The other
session stays as it is. The gates do not run again on the base.

NAME names the new session; the goal stays (wfs edit --goal changes it). Uncommitted changes stay with your branch.`,
		Example: "  wfs fork csv-export@4\n  wfs fork csv-export@4 \"with streams\"\n  wfs fork csv-export --worktree",
		Args: func(c *cobra.Command, args []string) error {
			if len(args) < 1 || len(args) > 2 {
				return &usageError{"fork needs a session or checkpoint, and at most one name", "wfs list"}
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			o.from, o.fork = args[0], true
			if len(args) > 1 {
				o.goal = a.Redactor().String(args[1])
			}
			return a.beginNew(c.Context(), o)
		},
	}
	c.Flags().BoolVar(&o.worktree, "worktree", false, "in a work tree of its own; this one stays as it is")
	c.Flags().StringVar(&o.dir, "dir", "", "`directory` of that work tree (default: beside the main one)")
	return c
}

// forkedFrom is the checkpoint that a fork goes on from: the one that is named, or the present one of a session.
func (a *app) forkedFrom(ctx context.Context, from string) (session.ID, int, error) {
	id, n, err := a.Address(ctx, from)
	if _, isNumber := workspace.CheckpointNumber(from); err == nil || isNumber || workspace.IsCheckpoint(from) {
		return id, n, err
	}
	if id, err = a.Resolve(ctx, from); err != nil {
		return id, 0, err
	}
	v, err := a.View(ctx, id)
	return id, v.Session.Current, err
}

// beginNew begins a session here, or in a work tree of its own.
func (a *app) beginNew(ctx context.Context, o newOptions) error {
	if o.dir != "" && !o.worktree {
		return &usageError{"--dir is the directory of a work tree of the session's own", a.again("--worktree")}
	}
	begin := a.newSession
	if o.worktree {
		begin = a.newInTree
	}
	err := begin(ctx, o)
	if id, instead := errors.AsType[resumeInstead](err); instead {
		a.Close()
		return a.resume(ctx, string(id), resumeOptions{})
	}
	if r, is := errors.AsType[*session.Refusal](err); is && r.Code == session.RefuseUnbuilt {
		r.Hint = "make it build, or " + a.again("--workflow", "loop")
	}
	return err
}

// bear is what the new session is made of: what is configured now, or what the session runs that it is a fork of.
func (a *app) bear(ctx context.Context, o *newOptions) (engine.Birth, *workflows.Settings, error) {
	if !o.fork {
		return a.pin(ctx, *o)
	}
	if cmp.Or(o.workflow, o.agent, o.spec, o.holdout) != "" || o.carry {
		return engine.Birth{}, nil, &usageError{"a fork has the specification, workflow, agent and files of " + o.from + "; wfs edit changes it afterwards",
			"wfs fork " + o.from}
	}
	list, err := a.Rules(ctx)
	if err != nil {
		return engine.Birth{}, nil, err
	}
	settings, err := a.Settings(list) // for a work tree of its own
	if err != nil {
		return engine.Birth{}, nil, err
	}
	if err := a.MustTrust(list); err != nil {
		return engine.Birth{}, nil, err
	}
	id, n, err := a.forkedFrom(ctx, o.from)
	if err != nil {
		return engine.Birth{}, nil, err
	}
	if err := a.TrustSession(ctx, id); err != nil {
		return engine.Birth{}, nil, err
	}
	b, err := a.Engine.Fork(ctx, id, n)
	if err != nil {
		return b, nil, err
	}
	if b.Plan.Holdout != nil {
		o.pinned = b.Plan.Holdout
	}
	if o.budget != (workflows.Budget{}) {
		b.Created.Budget = o.budget
	}
	o.goal, o.leave = cmp.Or(o.goal, string(id)), true
	return b, settings, nil
}

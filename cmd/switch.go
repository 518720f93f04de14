package cmd

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/wfs-dev/wfs/engine"
	"github.com/wfs-dev/wfs/engine/transition"
	"github.com/wfs-dev/wfs/session"
)

type switchVerb struct {
	*app
	dry bool
}

func (a *switchVerb) command() *cobra.Command {
	c := &cobra.Command{
		Use: "switch SESSION|BRANCH|-", Short: "go to another session or branch",
		Long: `Switch checks out another session in this work tree, or a branch of yours. Edits in the session that
you leave become a checkpoint of it. Uncommitted changes on a branch of yours are saved there and come back when
you switch to it again. A dash is the previous session or branch, as for git switch. If a session and a branch
have the same name, an open session is meant, and the branch once the session is finished; wfs/NAME and
heads/NAME say it exactly.`,
		Example: "  wfs switch csv-export\n  wfs switch main\n  wfs switch -\n  wfs switch csv-export --dry-run",
		Args: func(c *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usage("wfs list", "switch needs a session or branch")
			}
			return nil
		},
		RunE: with(a.run),
	}
	dryFlag(c, &a.dry)
	return c
}

func (a *switchVerb) run(ctx context.Context, args []string) error {
	if err := a.BeginOr(ctx, a.dry, "wfs switch", false); err != nil {
		return err
	}
	cur, err := a.Current(ctx)
	if err != nil {
		return err
	}
	target, branch, err := a.Destination(ctx, args[0])
	if err != nil {
		return err
	}
	if branch != "" {
		return a.leave(ctx, cur, branch)
	}
	if t, err := a.Elsewhere(ctx, target); err != nil {
		return err
	} else if t != nil && !t.Gone {
		return session.Refuse(session.RefuseWorktree, fmt.Sprintf(`cd "$(wfs path %s)"`, target),
			"%s is checked out in another work tree: %s", target, t.Path)
	}
	if a.dry {
		return preview{a.app, target}.of(ctx, func(l *engine.Look) (transition.Preview, error) { return l.Enter(ctx) })
	}
	h, saved, err := a.Enter(ctx, "wfs switch", target)
	if err != nil {
		return err
	}
	r, err := h.Enter(ctx)
	if err != nil {
		return err
	}
	return moved{a.app, h, r, saved}.say()
}

// leave checks out a branch of the user's, and so leaves the current session.
func (a *switchVerb) leave(ctx context.Context, cur session.ID, branch string) error {
	short := strings.TrimPrefix(branch, "refs/heads/")
	if head, err := a.Repo.Head(ctx); err != nil {
		return err
	} else if head.Ref == branch && a.json {
		return a.answer(movedJSON{Version: jsonVersion, Did: "nothing", Session: cur, Head: short,
			Changes: []session.Change{}, Next: []string{}})
	} else if head.Ref == branch {
		a.out("HEAD is on %s already; nothing was moved", short)
		return sayLeftBehind(ctx, a.Workspace, branch, a.out)
	}
	if cur == "" {
		hint := "git switch " + short
		if leftBehind(ctx, a.Workspace, branch, branch) {
			hint += " && wfs" // which says how to have the changes back that were left there
		}
		return session.Refuse(session.RefuseNotCurrent, hint,
			"no session is current here: going from one branch of yours to another is git's business")
	}
	if a.dry {
		return preview{a.app, cur}.of(ctx, func(l *engine.Look) (transition.Preview, error) { return l.Leave(ctx, branch) })
	}
	h, saved, err := a.LeaveFor(ctx, "wfs switch", cur, branch)
	if err != nil {
		return err
	}
	r, err := h.Leave(ctx, branch)
	if err != nil {
		return err
	}
	return moved{a.app, h, r, saved}.say()
}

package cmd

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/wfs-dev/wfs/cmd/internal/present"
	"github.com/wfs-dev/wfs/registry"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workspace"
)

func (a *app) stopCmd() *cobra.Command {
	var now bool
	c := &cobra.Command{
		Use: "stop [SESSION]", Short: "stop a run after this attempt",
		Long: `Stop asks the run of a session, in any terminal or in the background, to end. The current attempt is
judged and gets its checkpoint first; wfs run continues from there.

With --now it does what Ctrl-C in the terminal of the run does: the agent is stopped, and what is there becomes
a checkpoint that is not judged. A second time the agent is killed.`,
		Example: "  wfs stop\n  wfs stop csv-export --now",
		Args:    upTo(1),
		RunE: func(c *cobra.Command, args []string) error {
			return a.stop(c.Context(), first(args), now)
		},
	}
	c.Flags().BoolVar(&now, "now", false, "stop the agent at once")
	return c
}

func (a *app) stop(ctx context.Context, name string, now bool) error {
	id, err := a.OpenNamed(ctx, name)
	if err != nil {
		return err
	}
	who, held, err := a.Driver(ctx, id)
	if err != nil {
		return err
	}
	if !held {
		return a.sayStopped(ctx, id, "", string(id)+" is not running")
	}
	if !workspace.IsRun(who) {
		return a.HeldBy(who, "session %s is held, and not by a run,", id)
	}
	r, err := a.Post(id, session.Request{Kind: session.RequestStop, Driver: who.Name()})
	if err != nil {
		return err
	}
	request := ""
	if now {
		request, err = r.ID, a.EndRun(ctx, id, who)
	}
	if err != nil {
		return err
	}
	if still, err := a.Drives(id, who); err != nil {
		return err
	} else if !still {
		if err := a.Clone.Session(id).Inbox().Withdraw(r.ID); err != nil { // the run had no time for it
			return err
		}
		return a.sayStopped(ctx, id, request, "the run has ended")
	}
	v, err := a.View(ctx, id)
	if err != nil {
		return err
	}
	when := "at its next step"
	if o := v.Session.Open; o != nil {
		when = fmt.Sprintf("when attempt %d at %s is judged and has its checkpoint", o.Attempt, o.Phase)
	}
	return a.sayAsked(&v.Session, r, who, "ends "+when, "wfs stop "+string(id)+" --now")
}

// sayAsked tells what a run was asked for, and what it will do.
func (a *app) sayAsked(s *session.Session, r session.Request, who registry.Holder, does, then string) error {
	next := []string{"wfs watch " + string(s.ID), then}
	if a.json {
		return a.answer(requestJSON{jsonVersion, s.ID, r.ID, false, s.Status, driverOf(who), next})
	}
	a.out("asked: `%s` (pid %d) %s", who.Command, who.PID, does)
	a.next(next)
	return nil
}

// sayStopped says how a session stands that nobody drives.
func (a *app) sayStopped(ctx context.Context, id session.ID, request, what string) error {
	v, err := a.View(ctx, id)
	if err != nil {
		return err
	}
	d, _, err := a.seen(ctx, &v.Session)
	if err != nil {
		return err
	}
	if a.json {
		return a.answer(requestJSON{jsonVersion, id, request, true, v.Session.Status, nil, d.Next})
	}
	a.out("%s: %s", what, present.Stands(&v.Session))
	a.next(d.Next)
	return nil
}

package cmd

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/wfs-dev/wfs/cmd/internal/present"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workspace"
)

type stopVerb struct {
	*app
	now bool
}

func (a *stopVerb) command() *cobra.Command {
	c := &cobra.Command{
		Use: "stop [SESSION]", Short: "stop a run after this attempt",
		Long: `Stop asks the run of a session, in any terminal or in the background, to end. The current attempt is
judged and gets its checkpoint first; wfs run continues from there.

With --now it does what Ctrl-C in the terminal of the run does: the agent is stopped, and what is there becomes
a checkpoint that is not judged. If the agent has ended and gates run, they are stopped, and the next wfs run
judges what is there. A second time the agent is killed.`,
		Example: "  wfs stop\n  wfs stop csv-export --now",
		Args:    upTo(1),
		RunE:    with(a.run),
	}
	c.Flags().BoolVar(&a.now, "now", false, "stop the agent at once")
	return c
}

func (a *stopVerb) run(ctx context.Context, args []string) error {
	id, err := a.OpenNamed(ctx, first(args))
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
	if a.now {
		request, err = r.ID, a.EndRun(ctx, id, who)
	}
	if err != nil {
		return err
	}
	if still, err := a.Drives(id, who); err != nil {
		return err
	} else if !still {
		if err := a.Clone.Session(id).Inbox().Withdraw(r.ID); err != nil { // the run ended before it read the request
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
	return inbox{a.app}.sayAsked(&v.Session, r, who, "ends "+when, "wfs stop "+string(id)+" --now")
}

// sayStopped prints the state of a session that no process is running. `what` says why it does not run.
func (a *stopVerb) sayStopped(ctx context.Context, id session.ID, request, what string) error {
	v, err := a.View(ctx, id)
	if err != nil {
		return err
	}
	d, _, err := a.seen(ctx, &v.Session)
	if err != nil {
		return err
	}
	if a.json {
		return a.answer(requestJSON{Version: jsonVersion, Session: id, Request: request, Taken: true,
			Status: v.Session.Status, Next: d.Next})
	}
	a.out("%s: %s", what, present.Stands(&v.Session))
	a.next(d.Next)
	return nil
}

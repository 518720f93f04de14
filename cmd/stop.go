package cmd

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/wfs-dev/wfs/internal/proc"
	"github.com/wfs-dev/wfs/registry"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workspace"
)

// stopWait is how long `wfs stop --now` waits for the end of a run: its agent has a few seconds to end by itself.
const stopWait = 30 * time.Second

func (a *app) stopCmd() *cobra.Command {
	var now bool
	c := &cobra.Command{
		Use: "stop [SESSION]", Short: "stop a run after this attempt",
		Long: `Stop asks the run of a session, in any terminal or in the background, to end. The current attempt is judged and gets its
checkpoint first; wfs run continues from there.

With --now it does what Ctrl-C in the terminal of the run does: the agent is stopped, and what is there becomes a
checkpoint that is not judged. A second time the agent is killed.`,
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
	r, err := a.Clone.Post(id, session.Request{Kind: session.RequestStop, Driver: who.Name()}, a.env.Now(), a.env.NewID(4))
	if err != nil {
		return err
	}
	if now {
		return a.stopNow(ctx, id, who, r)
	}
	if still, err := a.Drives(id, who); err != nil {
		return err
	} else if !still { // it ended by itself
		if err := a.Clone.Withdraw(id, r.ID); err != nil {
			return err
		}
		return a.sayStopped(ctx, id, "", "the run has ended")
	}
	v, err := a.View(ctx, id)
	if err != nil {
		return err
	}
	next := []string{"wfs watch " + string(id), "wfs stop " + string(id) + " --now"}
	if a.json {
		return a.answer(requestJSON{jsonVersion, id, r.ID, false, v.Session.Status, &driverJSON{who.PID, who.Command}, next})
	}
	when := "at its next step"
	if o := v.Session.Open; o != nil {
		when = fmt.Sprintf("when attempt %d at %s is judged and has its checkpoint", o.Attempt, o.Phase)
	}
	a.out("asked: `%s` (pid %d) ends %s", who.Command, who.PID, when)
	a.next(next)
	return nil
}

// stopNow signals the run, and waits for its end.
func (a *app) stopNow(ctx context.Context, id session.ID, who registry.Holder, r session.Request) error {
	err := proc.Terminate(who.PID, func() (bool, error) { return a.Drives(id, who) })
	if err != nil {
		if still, e := a.Drives(id, who); e != nil || still {
			return fmt.Errorf("the run (pid %d) cannot be signalled from here: %w; it ends after its present attempt", who.PID, err)
		}
	}
	for waited := time.Duration(0); ; waited += lookEvery {
		still, err := a.Drives(id, who)
		if err != nil {
			return err
		}
		if !still {
			if err := a.Clone.Withdraw(id, r.ID); err != nil { // of a run that had no time for it
				return err
			}
			return a.sayStopped(ctx, id, r.ID, "the run has ended")
		}
		if waited >= stopWait {
			return a.HeldBy(who, "asked to end at once, but session %s still runs", id)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(lookEvery):
		}
	}
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
	a.out("%s: %s", what, stands(&v.Session))
	a.next(d.Next)
	return nil
}

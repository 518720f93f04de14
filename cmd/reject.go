package cmd

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/wfs-dev/wfs/engine"
	"github.com/wfs-dev/wfs/session"
)

type rejectVerb struct {
	*app
	why, to string
}

func (a *rejectVerb) command() *cobra.Command {
	c := &cobra.Command{
		Use: "reject [SESSION[@N]] -m REASON", Short: "reject what a session is waiting on, with a reason",
		Long: `Reject answers no to what a session waits for. The work goes back to where the workflow says, and the
reason stands in every brief until that phase passes. Your own edits are kept in a checkpoint with the answer.
No agent is started: wfs run continues.

With --to the session goes back to an earlier phase, whatever it waits for. No file is moved: wfs resume
SESSION@N does that.`,
		Example: `  wfs reject -m "the plan forgets the empty file"
  wfs reject --to RED -m "quotes are doubled, see RFC 4180"`,
		Args: upTo(1),
		RunE: with(a.run),
	}
	c.Flags().StringVarP(&a.why, "message", "m", "", "the `reason`, for the next attempt")
	c.Flags().StringVar(&a.why, "reason", "", "")
	_ = c.Flags().MarkHidden("reason")
	c.Flags().StringVar(&a.to, "to", "", "go back to this `phase`")
	return c
}

func (a *rejectVerb) run(ctx context.Context, args []string) error {
	if strings.TrimSpace(a.why) == "" && a.to == "" {
		of := "wfs reject"
		for _, name := range args {
			of += " " + shellWord(name)
		}
		return usage(of+` -m "what is to be done"`, "-m is missing: the next attempt must know why")
	}
	if err := fitsBrief(nil, a.why); err != nil {
		return err
	}
	return decision{a.app, "wfs reject", first(args)}.take(ctx, func(h *engine.Hand) error {
		if a.to != "" {
			return h.PhaseBack(ctx, session.PhaseName(a.to), a.why)
		}
		return h.Reject(ctx, a.why)
	})
}

package cmd

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/wfs-dev/wfs/engine"
)

func (a *app) rejectCmd() *cobra.Command {
	var why string
	c := &cobra.Command{
		Use: "reject [SESSION] --reason TEXT", Short: "say no to what a session waits for, and why",
		Long: `Reject answers no to what a session waits for. The work goes back to where the workflow says, and the reason stands in
every brief until the phase that you rejected is passed. The answer becomes a checkpoint, with the edits that you made
yourself. No agent is started: wfs run goes on.`,
		Example: `  wfs reject --reason "the plan forgets the empty file"`,
		Args:    upTo(1),
		RunE: func(c *cobra.Command, args []string) error {
			if strings.TrimSpace(why) == "" {
				of := "wfs reject"
				for _, name := range args {
					of += " " + shellWord(name)
				}
				return &usageError{"--reason is missing: whoever works next must know why", of + ` --reason "what is to be done"`}
			}
			if err := fitsBrief(nil, why); err != nil {
				return err
			}
			return a.answerFor(c.Context(), "wfs reject", first(args), func(h *engine.Hand) error { return h.Reject(c.Context(), why) })
		},
	}
	c.Flags().StringVarP(&why, "reason", "m", "", "what is to be done")
	return c
}

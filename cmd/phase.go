package cmd

import (
	"github.com/spf13/cobra"

	"github.com/wfs-dev/wfs/engine"
	"github.com/wfs-dev/wfs/session"
)

func (a *app) phaseCmd() *cobra.Command {
	c := &cobra.Command{
		Use: "phase", Short: "lead a session to another phase yourself",
		Long: `Phase back and phase skip lead a session on where no verdict did. Both are recorded, and move no file. A skipped phase
judges nothing: what is handed over must still be green, and its message says what was skipped.`,
		Example: "  wfs phase back PLAN --reason \"the goal has changed\"\n  wfs phase skip --reason \"nothing to tidy up\"",
		Args:    noArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(a.phaseBackCmd(), a.phaseSkipCmd())
	return c
}

func (a *app) phaseBackCmd() *cobra.Command {
	var why, name string
	c := &cobra.Command{
		Use: "back [PHASE]", Short: "go back to an earlier phase",
		Long:    "Back takes a session to the phase before, or to the one that is named. Files stay as they are: wfs resume --at goes back to a checkpoint.",
		Example: "  wfs phase back\n  wfs phase back PLAN --reason \"the goal has changed\"",
		Args:    upTo(1),
		RunE: func(c *cobra.Command, args []string) error {
			return a.answerFor(c.Context(), "wfs phase back", name, func(h *engine.Hand) error {
				return h.PhaseBack(c.Context(), session.PhaseName(first(args)), why)
			})
		},
	}
	c.Flags().StringVarP(&why, "reason", "m", "", "kept with the decision")
	c.Flags().StringVar(&name, "session", "", "`name` of the session; the one that is current here")
	return c
}

func (a *app) phaseSkipCmd() *cobra.Command {
	var why, name string
	c := &cobra.Command{
		Use: "skip", Short: "go on as if the present phase had been passed",
		Long:    "Skip takes a session to where a pass of its present phase would lead. Nothing is judged by that.",
		Example: "  wfs phase skip --reason \"nothing to tidy up\"",
		Args:    noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return a.answerFor(c.Context(), "wfs phase skip", name, func(h *engine.Hand) error {
				return h.PhaseSkip(c.Context(), why)
			})
		},
	}
	c.Flags().StringVarP(&why, "reason", "m", "", "kept with the decision, and told when the work is handed over")
	c.Flags().StringVar(&name, "session", "", "`name` of the session; the one that is current here")
	return c
}

package cmd

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/wfs-dev/wfs/engine"
	"github.com/wfs-dev/wfs/session"
)

// oldEdits are earlier spellings of wfs edit, reject and approve.
func (a *app) oldEdits() []*cobra.Command {
	var o editOptions
	rename := &cobra.Command{Use: "rename SESSION TITLE", Args: cobra.ExactArgs(2), RunE: func(c *cobra.Command, args []string) error {
		return a.rename(c.Context(), args[0], strings.TrimSpace(args[1]))
	}}
	repin := &cobra.Command{Use: "repin [SESSION]", Args: upTo(1), RunE: func(c *cobra.Command, args []string) error {
		o.reload = true
		return a.editAs(c.Context(), first(args), o)
	}}
	repinFlags(repin.Flags(), &o)
	return []*cobra.Command{
		a.renamed(rename, `wfs edit SESSION --name "TITLE"`),
		a.renamed(repin, "wfs edit --reload"),
		a.oldPhase(),
	}
}

func (a *app) oldBudgetSet() *cobra.Command {
	var o editOptions
	c := &cobra.Command{Use: "set [SESSION]", Args: upTo(1), RunE: func(c *cobra.Command, args []string) error {
		return a.editAs(c.Context(), first(args), o)
	}}
	capFlags(c.Flags(), "", "the session", &o.budget.Session)
	capFlags(c.Flags(), "phase-", "each phase in one lap", &o.budget.Phase)
	capFlags(c.Flags(), "day-", "a day, all sessions together,", &o.budget.Day)
	callsFlag(c.Flags(), "", &o.budget)
	return a.renamed(c, "wfs edit --budget-usd")
}

func (a *app) oldPhase() *cobra.Command {
	var why, name string
	back := &cobra.Command{Use: "back [PHASE]", Args: upTo(1), RunE: func(c *cobra.Command, args []string) error {
		return a.answerFor(c.Context(), "wfs reject", name, func(h *engine.Hand) error {
			return h.PhaseBack(c.Context(), session.PhaseName(first(args)), why)
		})
	}}
	skip := &cobra.Command{Use: "skip", Args: noArgs, RunE: func(c *cobra.Command, _ []string) error {
		return a.answerFor(c.Context(), "wfs approve", name, func(h *engine.Hand) error { return h.PhaseSkip(c.Context(), why) })
	}}
	c := oldGroup("phase", a.renamed(back, `wfs reject --to PHASE -m "why"`), a.renamed(skip, `wfs approve --anyway "why"`))
	c.PersistentFlags().StringVarP(&why, "reason", "m", "", "")
	c.PersistentFlags().StringVar(&name, "session", "", "")
	return c
}

package cmd

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/wfs-dev/wfs/engine"
	"github.com/wfs-dev/wfs/session"
)

// oldNames are earlier spellings of commands, and what they are called now. They stay so that scripts and habits go on
// working.
var oldNames = []struct{ old, now string }{
	{"attach", "watch"}, {"events", "log --events"}, {"op log", "undo --list"}, {"worktree remove", "delete --worktree"},
	{"repin", "edit --reload"}, {"rename", "edit SESSION --name"}, {"budget set", "edit --budget-usd"},
}

// spelledNow turns an earlier spelling into the present one, and prints it.
func (a *app) spelledNow(args []string) []string {
	for _, n := range oldNames {
		words, now := strings.Fields(n.old), strings.Fields(n.now)
		if len(args) < len(words) || !slices.Equal(args[:len(words)], words) {
			continue
		}
		rest := slices.Clone(args[len(words):])
		switch n.old {
		case "rename": // SESSION TITLE
			if now = []string{"edit", "--name"}; len(rest) > 1 {
				now, rest = []string{"edit", rest[0], "--name"}, rest[1:]
			}
		case "budget set": // --usd
			now = now[:1]
			for i, word := range rest {
				if flag, ok := strings.CutPrefix(word, "--"); ok && flag != "json" {
					rest[i] = "--budget-" + flag
				}
			}
		}
		if !slices.Contains(rest, "--json") {
			a.isNow("wfs " + n.now)
		}
		return append(now, rest...)
	}
	return args
}

func (a *app) isNow(command string) { a.note("note: this is now %q", command) }

// oldPhase has earlier spellings of reject --to and approve --anyway, which take less.
func (a *app) oldPhase() *cobra.Command {
	var why, name string
	back := &cobra.Command{Use: "back [PHASE]", Hidden: true, Args: upTo(1),
		RunE: func(c *cobra.Command, args []string) error {
			a.isNow(`wfs reject --to PHASE -m "why"`)
			return a.answerFor(c.Context(), "wfs reject", name, func(h *engine.Hand) error {
				return h.PhaseBack(c.Context(), session.PhaseName(first(args)), why)
			})
		}}
	skip := &cobra.Command{Use: "skip", Hidden: true, Args: noArgs, RunE: func(c *cobra.Command, _ []string) error {
		a.isNow(`wfs approve --anyway "why"`)
		return a.answerFor(c.Context(), "wfs approve", name,
			func(h *engine.Hand) error { return h.PhaseSkip(c.Context(), why) })
	}}
	c := &cobra.Command{Use: "phase", Hidden: true, Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() }}
	c.AddCommand(back, skip)
	c.PersistentFlags().StringVarP(&why, "reason", "m", "", "")
	c.PersistentFlags().StringVar(&name, "session", "", "")
	return c
}

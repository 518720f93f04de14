package cmd

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/wfs-dev/wfs/engine"
	"github.com/wfs-dev/wfs/session"
)

// oldNames maps the former names of commands to the current ones. The former names still work, for scripts and habits.
var oldNames = []struct{ old, now string }{
	{"attach", "watch"}, {"events", "log --events"}, {"op log", "undo --list"}, {"worktree remove", "delete --worktree"},
	{"repin", "edit --reload"}, {"rename", "edit SESSION --name"}, {"budget set", "edit --budget-usd"},
}

// spelledNow replaces the former name of a command by the current one, and tells the user the current name.
func spelledNow(args []string, say func(string, ...any)) []string {
	for _, n := range oldNames {
		words, now := strings.Fields(n.old), strings.Fields(n.now)
		if len(args) < len(words) || !slices.Equal(args[:len(words)], words) {
			continue
		}
		rest := slices.Clone(args[len(words):])
		if !slices.Contains(rest, "--json") {
			isNow(say, "wfs "+n.now)
		}
		switch n.old {
		case "rename": // rename SESSION TITLE
			if len(rest) > 1 {
				return append([]string{"edit", rest[0], "--name"}, rest[1:]...)
			}
			return append([]string{"edit", "--name"}, rest...)
		case "budget set": // --usd
			return append(now[:1], budgetFlagsNow(rest)...)
		}
		return append(now, rest...)
	}
	return args
}

// budgetFlagsNow replaces former budget flags such as --usd by the current ones, such as --budget-usd.
func budgetFlagsNow(words []string) []string {
	for i, word := range words {
		if flag, ok := strings.CutPrefix(word, "--"); ok && flag != "json" {
			words[i] = "--budget-" + flag
		}
	}
	return words
}

func isNow(say func(string, ...any), command string) { say("note: this is now %q", command) }

// oldPhaseVerb is `wfs phase back` and `wfs phase skip`, the former names of reject --to and approve --anyway. Their
// arguments are optional.
type oldPhaseVerb struct {
	*app
	why, session string
}

func (a *oldPhaseVerb) command() *cobra.Command {
	c := &cobra.Command{Use: "phase", Hidden: true, Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() }}
	c.AddCommand(&cobra.Command{Use: "back [PHASE]", Hidden: true, Args: upTo(1), RunE: with(a.back)},
		&cobra.Command{Use: "skip", Hidden: true, Args: noArgs, RunE: with(a.skip)})
	c.PersistentFlags().StringVarP(&a.why, "reason", "m", "", "")
	c.PersistentFlags().StringVar(&a.session, "session", "", "")
	return c
}

func (a *oldPhaseVerb) back(ctx context.Context, args []string) error {
	isNow(a.note, `wfs reject --to PHASE -m "why"`)
	return decision{a.app, "wfs reject", a.session}.take(ctx, func(h *engine.Hand) error {
		return h.PhaseBack(ctx, session.PhaseName(first(args)), a.why)
	})
}

func (a *oldPhaseVerb) skip(ctx context.Context, _ []string) error {
	isNow(a.note, `wfs approve --anyway "why"`)
	return decision{a.app, "wfs approve", a.session}.take(ctx,
		func(h *engine.Hand) error { return h.PhaseSkip(ctx, a.why) })
}

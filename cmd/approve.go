package cmd

import (
	"context"
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"github.com/wfs-dev/wfs/cmd/internal/present"
	"github.com/wfs-dev/wfs/cmd/internal/present/live"
	"github.com/wfs-dev/wfs/engine"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workspace"
)

func (a *app) approveCmd() *cobra.Command {
	var text, anyway string
	c := &cobra.Command{
		Use: "approve [SESSION]", Short: "approve what a session is waiting on",
		Long: `Approve answers yes to what a session waits for, or is blocked by: a review, the question whether
anything is left to do, changed tests, an open breaker. The gates of the phase judge the work tree as it is now,
with your own edits; changes of tests that wfs asked about are allowed. A failing gate still fails the phase.
The answer becomes a checkpoint. No agent is started: wfs run continues.

With --anyway the phase passes without a verdict. The reason stands in the log, in wfs status and in the commit
message of wfs finish.`,
		Example: `  wfs approve
  wfs approve -m "good, but watch the error texts"
  wfs approve --anyway "the test server is down; tried by hand"
  wfs approve csv-export --json`,
		Args: upTo(1),
		RunE: func(c *cobra.Command, args []string) error {
			if c.Flags().Changed("anyway") && (strings.TrimSpace(anyway) == "" || text != "") {
				return usage(`wfs approve --anyway "why"`,
					"--anyway says why the phase passes without being judged, and goes without -m")
			}
			refused := false
			err := a.answerFor(c.Context(), "wfs approve", first(args), func(h *engine.Hand) error {
				if anyway != "" {
					return h.ApproveAnyway(c.Context(), anyway)
				}
				before := h.S.LastRun
				err := h.Approve(c.Context(), text)
				refused = err == nil && h.S.Status != session.StatusCompleted && h.S.LastRun != before && h.S.Last != nil &&
					h.S.Last.Verdict != session.Pass
				if refused && !a.json {
					a.out("the gate decides; to pass it anyway: %s",
						a.typedFor(`wfs approve --anyway "why"`, h.S.ID, rootOf(a.Here())))
				}
				return err
			})
			var stands *quietExit
			if refused && (err == nil || errors.As(err, &stands)) { // by a gate
				return exitWith(exitBlocked)
			}
			return err
		},
	}
	c.Flags().StringVarP(&text, "message", "m", "", "`text` for the next attempt, kept with the answer")
	c.Flags().StringVar(&anyway, "anyway", "", "pass the phase without a verdict; the history records `why`")
	return c
}

// answerFor takes a session in hand for a person's word about it, and says where it stands then.
func (a *app) answerFor(ctx context.Context, command, name string, do func(*engine.Hand) error) error {
	p := &live.Progress{Screen: &a.env.Screen}
	h, err := a.InHand(ctx, workspace.Request{Command: command, Session: name, Trusted: true, Locked: func(session.ID) {
		a.Engine.Tell = p.Event
		a.Engine.Works.(*works).report = p.Tell
	}})
	if err != nil {
		return err
	}
	mine, at := editsIn(ctx, a.Workspace, &h.S, a.Here()), h.S.Current
	if err := do(h); err != nil {
		return err
	}
	if text := present.FilesText(mine, "that you edited yourself"); text != "" && h.S.Current != at {
		a.note("with %s", text)
	}
	if !a.json {
		a.out("undo: %s", a.typed("wfs undo"))
	}
	return ending{a}.of(ctx, h)
}

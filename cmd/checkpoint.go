package cmd

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workspace"
)

type checkpointJSON struct {
	Version    int                 `json:"version"`
	Session    session.ID          `json:"session"`
	Checkpoint *session.Checkpoint `json:"checkpoint"` // null: no changes
	Skipped    []session.Skip      `json:"skipped,omitempty"`
	HeldOut    []session.Held      `json:"held_out,omitempty"`
}

type checkpointVerb struct {
	*app
	text string
}

func (a *checkpointVerb) command() *cobra.Command {
	c := &cobra.Command{
		Use: "checkpoint [SESSION]", Short: "commit the work tree to the session, without judging it",
		Long: `Checkpoint commits the work tree as it is to the session's branch. No gate runs. Hooks and signing do
not run: they run when the work is handed over. If nothing changed, nothing happens. A session that is named is
committed in its own work tree.`,
		Example: "  wfs checkpoint -m \"before I try something\"\n  wfs checkpoint csv-export",
		Args:    upTo(1),
		RunE:    with(a.run),
	}
	c.Flags().StringVarP(&a.text, "message", "m", "", "what this is")
	return c
}

func (a *checkpointVerb) run(ctx context.Context, args []string) error {
	h, err := a.InHand(ctx, workspace.Request{Command: "wfs checkpoint", Session: first(args), Current: true})
	if err != nil {
		return err
	}
	cp, err := h.Checkpoint(ctx, a.text)
	if err != nil {
		return err
	}
	if a.json {
		j := checkpointJSON{Version: jsonVersion, Session: h.ID, Checkpoint: cp}
		j.Skipped, j.HeldOut = h.Unheld.Skipped, h.Unheld.HeldOut
		if cp != nil {
			j.Skipped, j.HeldOut = cp.Skipped, cp.HeldOut
		}
		return a.answer(j)
	}
	if cp == nil {
		a.out("nothing changed since checkpoint %d", h.S.Current)
		a.env.Lacks(&session.Checkpoint{Skipped: h.Unheld.Skipped, HeldOut: h.Unheld.HeldOut}, "")
		return nil
	}
	a.out("checkpoint %d: %s (%s)%s", cp.Number, cp.Summary, cp.Code.Short(), a.InTree())
	a.env.Lacks(cp, "")
	a.out("undo: %s", a.typed("wfs undo"))
	return nil
}

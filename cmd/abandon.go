package cmd

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/wfs-dev/wfs/engine"
	"github.com/wfs-dev/wfs/gitstate/handover"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workspace"
)

// recordedJSON is the JSON output of commands that change a session's record but no files, such as abandon, edit and
// delete.
type recordedJSON struct {
	Version   int            `json:"version"`
	Did       string         `json:"did"`
	Session   session.ID     `json:"session"`
	Operation int64          `json:"operation,omitempty"`
	Saved     int            `json:"saved_checkpoint,omitempty"`
	Changes   []string       `json:"changes,omitempty"`
	Kept      string         `json:"kept,omitempty"`   // directory of a deleted session's refs
	Became    *handover.Fate `json:"became,omitempty"` // where the session's work ended up
	Next      []string       `json:"next"`
}

type abandonVerb struct {
	*app
	reason string
}

func (a *abandonVerb) command() *cobra.Command {
	c := &cobra.Command{
		Use: "abandon [SESSION]", Short: "give up on a session and keep all of it",
		Long: `Abandon ends a session. Nothing is removed: its checkpoints stay, edits in the work tree become one,
and wfs run refuses to run it. wfs resume brings it back, and so does wfs undo.`,
		Example: "  wfs abandon\n  wfs abandon csv-export -m \"the library does it now\"",
		Args:    upTo(1),
		RunE:    with(a.run),
	}
	c.Flags().StringVarP(&a.reason, "message", "m", "", "the `reason`, in a few words")
	return c
}

func (a *abandonVerb) run(ctx context.Context, args []string) error {
	h, err := a.InHand(ctx, workspace.Request{Command: "wfs abandon", Session: first(args)})
	if err != nil {
		return err
	}
	saved, op, err := h.Abandon(ctx, a.reason)
	if err != nil {
		return err
	}
	j := recordedJSON{Version: jsonVersion, Did: "abandoned", Session: h.ID, Operation: op, Next: []string{}}
	if saved != nil {
		j.Saved = saved.Number
	}
	if op == 0 {
		j.Did = "nothing"
	}
	cur, err := a.Current(ctx)
	if err != nil {
		return err
	}
	if cur == h.ID && a.Away == "" {
		j.Next = append(j.Next, a.typed("wfs switch "+baseBranch(ctx, a.Engine, &h.S)))
	}
	switch {
	case a.json:
		return a.answer(j)
	case op == 0:
		a.out("%s is abandoned already", h.ID)
		return nil
	}
	saySaved(a.out, saved)
	a.out("%s is abandoned; everything of it is kept", h.ID)
	a.out("undo: %s (or at any time: wfs resume %s)", a.typed("wfs undo"), h.ID)
	a.next(j.Next)
	return nil
}

// baseBranch returns the branch that a session was created from, as an argument for wfs switch. It returns "BRANCH" if
// the session has none.
func baseBranch(ctx context.Context, e *engine.Engine, s *session.Session) string {
	if s.BaseRef == "" {
		return "BRANCH"
	}
	return e.SwitchName(ctx, s.BaseRef)
}

func (a *editVerb) rename(ctx context.Context, name string) error {
	h, err := a.InHand(ctx, workspace.Request{Command: "wfs edit", Session: name})
	if err != nil {
		return err
	}
	before := h.S.Headline()
	n, err := h.Rename(ctx, a.name)
	if err != nil {
		return err
	}
	if a.json {
		return a.answer(recordedJSON{Version: jsonVersion, Did: "renamed", Session: h.ID, Operation: n,
			Changes: []string{fmt.Sprintf("title: %s → %s", before, h.S.Headline())}, Next: []string{}})
	}
	a.out("%s  %s", h.ID, h.S.Headline())
	a.out("was: %s", before)
	if n > 0 {
		a.out("undo: %s", a.typed("wfs undo"))
	}
	return nil
}

package cmd

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/wfs-dev/wfs/engine"
	"github.com/wfs-dev/wfs/internal/safetext"
)

func (a *app) editCmd() *cobra.Command {
	var goal, spec string
	c := &cobra.Command{
		Use: "edit [SESSION]", Short: "change the goal or the spec of a session",
		Long: `Edit changes what is wanted, from the next attempt on. Of a changed checklist, items that are done stay done, and what
the new spec leaves open follows. A lap that has begun goes on with its item, unless the new spec does not have that and
nothing of it is in the files: then the session goes on with the next one. Otherwise edit says how to leave it. A blocked
session tries anew with the next run, and a completed one goes on when there is more to do. What changed is said, and
recorded.`,
		Example: "  wfs edit --spec docs/csv.md\n  wfs edit csv-export --goal \"export as CSV, with ISO dates\"",
		Args:    upTo(1),
		RunE: func(c *cobra.Command, args []string) error {
			if strings.TrimSpace(goal) == "" && spec == "" {
				return &usageError{"edit needs --goal or --spec", "wfs edit --help"}
			}
			return a.edit(c.Context(), first(args), goal, spec)
		},
	}
	c.Flags().StringVar(&goal, "goal", "", "`text` of the new goal")
	c.Flags().StringVar(&spec, "spec", "", "`file` that says what is wanted now")
	return c
}

func (a *app) edit(ctx context.Context, name, goal, spec string) error {
	h, err := a.inHand(ctx, "wfs edit", name)
	if err != nil {
		return err
	}
	var b engine.Birth
	if err := a.readSpec(ctx, &b, spec); err != nil {
		return err
	}
	e, n, err := h.Edit(ctx, engine.Wish{Goal: a.redactor().String(strings.TrimSpace(goal)), Spec: b.Spec, SpecPath: b.Created.SpecPath, SpecDigest: b.Created.SpecDigest, Open: b.Created.Items})
	if err != nil {
		return err
	}
	var changes []string
	if e != nil {
		changes = e.Changes
	}
	if item, at := h.Unwanted(b.Created.Items); b.Spec != nil && item != "" {
		changes = append(changes, "item stays, since its lap has begun: "+safetext.Line(item, 200))
		if at >= 0 {
			leave := fmt.Sprintf("wfs resume --at %d && wfs edit --spec %s", at, shellWord(spec))
			changes = append(changes, "to leave it, and what was done for it: "+a.typedFor(leave, h.ID, ""))
		}
	}
	return a.sayChanged(ctx, h, "edited", n, changes)
}

// sayChanged tells what a command changed in what a session is, or that it changed nothing.
func (a *app) sayChanged(ctx context.Context, h *engine.Hand, did string, op int64, changes []string) error {
	in, err := a.seenFrom(ctx, h.ID)
	if err != nil {
		return err
	}
	j := recordedJSON{Version: jsonVersion, Did: did, Session: h.ID, Operation: op, Changes: changes, Next: a.nextIn(&h.S, in)}
	if len(changes) == 0 {
		j.Did = "nothing"
	}
	if a.json {
		return a.answer(j)
	}
	if len(changes) == 0 {
		a.out("nothing changed in %s", h.ID)
		return nil
	}
	a.out("%s  %s", h.ID, stands(&h.S))
	for _, line := range changes {
		a.out("  %s", line)
	}
	a.out("undo: %s", a.typed("wfs undo"))
	a.next(j.Next)
	return nil
}

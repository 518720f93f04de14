package cmd

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/wfs-dev/wfs/cmd/internal/present"
	"github.com/wfs-dev/wfs/engine"
	"github.com/wfs-dev/wfs/engine/steering"
	"github.com/wfs-dev/wfs/engine/transition"
	"github.com/wfs-dev/wfs/internal/safetext"
	"github.com/wfs-dev/wfs/workflows"
	"github.com/wfs-dev/wfs/workspace"
)

// editVerb is `wfs edit`. Its flags form groups (goal or spec, name, plan, budget); each group is one operation for wfs
// undo.
type editVerb struct {
	*app
	goal, spec, name string
	pin              newOptions // flags for agent, workflow and hold-out tests
	phase            string
	reload, dry      bool
	budget           workflows.Budget
}

func (a *editVerb) wish() bool { return strings.TrimSpace(a.goal) != "" || a.spec != "" }
func (a *editVerb) repins() bool {
	return a.reload || a.phase != "" || cmp.Or(a.pin.agent, a.pin.workflow, a.pin.holdout, a.pin.autonomy) != ""
}

func (a *editVerb) command() *cobra.Command {
	c := &cobra.Command{
		Use: "edit [SESSION]", Short: "change the goal, spec, name, agent, workflow or budget of a session",
		Long: `Edit changes what a session was created with, from the next attempt on.

--goal and --spec: items of a changed checklist that are done stay done, and new ones follow. A lap that has
begun continues with its item, unless the new spec does not have it and nothing was done for it.

--name is the title in lists and in the commit of wfs finish; the id and the branch stay.

--agent, --workflow, --autonomy, --phase and --holdout change how it runs. A session runs the configuration that was pinned
when it was created; --reload pins the current one. An agent that was given on the command line stays, unless
you give another one. With --dry-run it only shows what would change. The results on the base stay; a gate that
is new counts from now on.

--budget-usd and the others change what it may use; none removes a limit. Limits of a day are for all sessions
together.

A blocked session tries again with the next wfs run.`,
		Example: `  wfs edit --spec docs/csv.md
  wfs edit csv-export --goal "export as CSV, with ISO dates"
  wfs edit csv-export --name "export as CSV and TSV"
  wfs edit --agent codex
  wfs edit --autonomy aggressive
  wfs edit --reload --dry-run
  wfs edit --budget-usd 40 --budget-time 12h`,
		Args: upTo(1),
		RunE: with(a.run),
	}
	f := c.Flags()
	f.SortFlags = false
	f.StringVar(&a.goal, "goal", "", "`text` of the new goal")
	f.StringVar(&a.spec, "spec", "", "`file` with the new specification")
	f.StringVar(&a.name, "name", "", "`title` of the session")
	f.StringVar(&a.pin.agent, "agent", "", "the agent from now on: a `name` (wfs agent list), a command, or script:FILE")
	f.StringVar(&a.pin.workflow, "workflow", "", "`name` of another workflow")
	f.StringVar(&a.pin.autonomy, "autonomy", "",
		"at which breakpoints it stops for you: `cautious`, balanced or aggressive")
	f.StringVar(&a.phase, "phase", "", "`name` of the phase in which the session continues")
	f.StringVar(&a.pin.holdout, "holdout", "", "`directory` or ref with tests that the agent never sees, or none")
	f.BoolVar(&a.dry, "dry-run", false, "only show what would change")
	f.BoolVar(&a.reload, "reload", false, "apply the current configuration")
	budgetFlags(f, &a.budget)
	capFlags(f, "budget-phase-", "each phase in one lap", &a.budget.Phase)
	capFlags(f, "budget-day-", "a day, all sessions together,", &a.budget.Day)
	callsFlag(f, "budget-", &a.budget)
	return c
}

// run makes the requested change. It refuses flags of more than one group.
func (a *editVerb) run(ctx context.Context, args []string) error {
	name, budget := first(args), a.budget != (workflows.Budget{})
	kinds := 0
	for _, typed := range []bool{a.wish(), a.name != "", a.repins(), budget} {
		if typed {
			kinds++
		}
	}
	switch {
	case kinds == 0:
		return usage("wfs edit --help", "edit needs a flag that says what to change")
	case kinds > 1:
		return usage("wfs edit --help",
			"goal or spec, name, agent or workflow, and budget are changed one after the other")
	case a.dry && !a.repins():
		return usage("wfs edit --reload --dry-run",
			"--dry-run goes with --reload, --agent, --workflow, --autonomy, --phase or --holdout")
	case a.wish():
		return a.edit(ctx, name)
	case a.name != "":
		return a.rename(ctx, name)
	case budget:
		return a.setBudget(ctx, name)
	}
	return a.repin(ctx, name)
}

// edit changes the goal or the spec.
func (a *editVerb) edit(ctx context.Context, name string) error {
	h, err := a.InHand(ctx, workspace.Request{Command: "wfs edit", Session: name})
	if err != nil {
		return err
	}
	var b transition.Birth
	if err := a.ReadSpec(ctx, &b, a.spec); err != nil {
		return err
	}
	e, n, err := h.Edit(ctx, steering.Wish{Goal: a.Redact(strings.TrimSpace(a.goal)), Spec: b.Spec,
		SpecPath: b.Created.SpecPath, SpecDigest: b.Created.SpecDigest, Open: b.Created.Items})
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
			leave := fmt.Sprintf("wfs resume @%d && wfs edit --spec %s", at, shellWord(a.spec))
			changes = append(changes, "to leave it, and what was done for it: "+a.typedFor(leave, h.ID, ""))
		}
	}
	return a.sayChanged(ctx, h, "edited", n, changes)
}

// sayChanged prints the changes that a command made to a session. If there are none, it says so.
func (a *editVerb) sayChanged(ctx context.Context, h *engine.Hand, did string, op int64, changes []string) error {
	in, err := a.PlaceOf(ctx, h.ID)
	if err != nil {
		return err
	}
	j := recordedJSON{Version: jsonVersion, Did: did, Session: h.ID, Operation: op, Changes: changes,
		Next: a.nextIn(&h.S, in)}
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
	a.out("%s  %s", h.ID, present.Stands(&h.S))
	for _, line := range changes {
		a.out("  %s", line)
	}
	a.out("undo: %s", a.typed("wfs undo"))
	a.next(j.Next)
	return nil
}

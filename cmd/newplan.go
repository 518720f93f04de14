package cmd

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/workflows"
	"github.com/wfs-dev/wfs/workflows/plans"
	"github.com/wfs-dev/wfs/workspace"
)

// pin determines the session's plan from the configuration files. It reads the files only once, so that the text that
// the user has trusted is the text that the session uses.
func (n *newborn) pin(ctx context.Context) error {
	o := &n.o
	if err := n.configured(ctx); err != nil {
		return err
	}
	list, err := n.Rules(ctx)
	if err != nil {
		return err
	}
	n.settings, err = n.ProjectSettings(list,
		workflows.Layer{Source: workflows.FromFlag, Name: "--workflow", Key: "workflow", Value: o.workflow},
		workflows.Layer{Source: workflows.FromFlag, Name: "--agent", Key: "agent", Value: o.agent},
		workflows.Layer{Source: workflows.FromFlag, Name: "--autonomy", Key: "autonomy", Value: o.autonomy},
		workflows.Layer{Source: workflows.FromFlag, Name: "--complexity", Key: "complexity", Value: o.complexity})
	if err != nil {
		return err
	}
	if err := n.mayUse(list); err != nil {
		return err
	}
	config := &n.settings.Config
	known := append(config.Cards.Names(), slices.Collect(maps.Keys(config.Agents))...)
	if err := n.knownAgent(ctx, o.agent, known); err != nil {
		return err
	}
	if n.b, err = n.Plan(n.settings, list, o.pinning()); err != nil {
		return err
	}
	n.b.Created.Temporary = o.temporary
	if err := n.notePlan(ctx); err != nil {
		return err
	}
	if err := n.ReadSpec(ctx, &n.b, o.spec); err != nil {
		return err
	}
	return n.sameSpec(ctx)
}

// mayUse returns an error if the user has not trusted the files below .wfs/. With --yes it trusts them.
func (n *newborn) mayUse(list workspace.Rules) error {
	if n.o.yes && len(list) > 0 {
		if err := n.TrustRules("--yes", list, "files below .wfs/"); err != nil {
			return err
		}
	}
	return n.MustTrust(list)
}

// notePlan prints the agent and the reviewer, and warns about agents that cannot work here, or refuses them.
func (n *newborn) notePlan(ctx context.Context) error {
	plan, config := n.b.Plan, &n.settings.Config
	if c := plan.Agent.Card; c != nil && c == config.Agent.Card {
		n.note("agent %s (%s)", c.Name, cardOrigin(c))
	}
	if w, _ := workflows.ParseWorkflow(plan.Workflow.Name, n.b.Workflow); w != nil {
		if says := plans.ReviewedBy(plan, w, config); says != "" {
			n.note("%s", says)
		}
	}
	return noteLacking(ctx, n.Workspace, plan, n.o.runs)
}

// fork copies the plan from the session that is being forked.
func (n *newborn) fork(ctx context.Context) (err error) {
	o := &n.o
	if cmp.Or(o.workflow, o.agent, o.spec, o.holdout) != "" || o.carry {
		return usage("wfs fork "+o.from,
			"a fork has the specification, workflow, agent and files of %s; wfs edit changes it afterwards", o.from)
	}
	if n.b, n.settings, err = n.Fork(ctx, o.from, o.budget); err != nil {
		return err
	}
	if n.b.Plan.Holdout != nil {
		o.pinned = n.b.Plan.Holdout
	}
	parent, _, _ := strings.Cut(n.b.Created.Parent, "@")
	o.goal, o.leave = cmp.Or(o.goal, parent), true
	return nil
}

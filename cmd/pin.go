package cmd

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/engine"
	"github.com/wfs-dev/wfs/workflows"
)

// pin resolves everything that the session will run, out of files that are read once and trusted as read.
func (a *app) pin(ctx context.Context, o newOptions) (engine.Birth, *workflows.Settings, error) {
	if err := a.configured(ctx, o); err != nil {
		return engine.Birth{}, nil, err
	}
	list, err := a.Rules(ctx)
	if err != nil {
		return engine.Birth{}, nil, err
	}
	settings, err := a.ProjectSettings(list,
		workflows.Layer{Source: workflows.FromFlag, Name: "--workflow", Key: "workflow", Value: o.workflow},
		workflows.Layer{Source: workflows.FromFlag, Name: "--agent", Key: "agent", Value: o.agent})
	if err != nil {
		return engine.Birth{}, nil, err
	}
	if o.yes && len(list) > 0 {
		if err := a.TrustRules("--yes", list, "files below .wfs/"); err != nil {
			return engine.Birth{}, nil, err
		}
	}
	if err := a.MustTrust(list); err != nil {
		return engine.Birth{}, nil, err
	}
	known := append(settings.Config.Cards.Names(), slices.Collect(maps.Keys(settings.Config.Agents))...)
	if err := a.knownAgent(ctx, o.agent, known); err != nil {
		return engine.Birth{}, nil, err
	}
	b, err := a.Plan(settings, list, o.pinning())
	if err != nil {
		return b, nil, err
	}
	if c := b.Plan.Agent.Card; c != nil && c == settings.Config.Agent.Card {
		a.note("agent %s (%s)", c.Name, a.cardOrigin(c))
	}
	if w, _ := workflows.ParseWorkflow(b.Plan.Workflow.Name, b.Workflow); w != nil {
		if says := b.Plan.ReviewedBy(w, &settings.Config); says != "" {
			a.note("%s", says)
		}
	}
	a.noteLacking(ctx, b.Plan)
	if err := a.ReadSpec(ctx, &b, o.spec); err != nil {
		return b, nil, err
	}
	return b, settings, a.sameSpec(ctx, &b.Created, o)
}

// bear is what a new session is made of: what is configured now, or what the session runs that it is a fork of.
func (a *app) bear(ctx context.Context, o *newOptions) (engine.Birth, *workflows.Settings, error) {
	if !o.fork {
		return a.pin(ctx, *o)
	}
	if cmp.Or(o.workflow, o.agent, o.spec, o.holdout) != "" || o.carry {
		return engine.Birth{}, nil, usage("wfs fork "+o.from,
			"a fork has the specification, workflow, agent and files of %s; wfs edit changes it afterwards", o.from)
	}
	b, settings, err := a.Fork(ctx, o.from, o.budget)
	if b.Plan != nil && b.Plan.Holdout != nil {
		o.pinned = b.Plan.Holdout
	}
	parent, _, _ := strings.Cut(b.Created.Parent, "@")
	o.goal, o.leave = cmp.Or(o.goal, parent), true
	return b, settings, err
}

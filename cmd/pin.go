package cmd

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/wfs-dev/wfs/engine"
	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/phases"
	"github.com/wfs-dev/wfs/workflows"
	"github.com/wfs-dev/wfs/workspace"
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
	b, err := a.planOf(settings, list, o)
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
	if err := a.readSpec(ctx, &b, o.spec); err != nil {
		return b, nil, err
	}
	return b, settings, a.sameSpec(ctx, &b.Created, o)
}

// planOf is what a session would run with these settings.
func (a *app) planOf(settings *workflows.Settings, list workspace.Rules, o newOptions) (engine.Birth, error) {
	var b engine.Birth
	name := settings.Config.Workflow
	if name == "" {
		name = settings.Config.DefaultWorkflow()
	}
	w, text, err := list.Workflow(name)
	if err != nil {
		return b, err
	}
	agent, err := a.agent(settings)
	if err != nil {
		return b, err
	}
	b.Created.AgentTyped = agentTyped(settings)
	if kept := o.keptAgent(agent); kept != nil {
		agent, b.Created.AgentTyped = kept, o.keepTyped
	}
	settings.Config.Installed = a.InstalledAgents(settings.Config.Cards)
	plan, findings := workflows.Resolve(w, &settings.Config, agent)
	held, more := workflows.ResolveHoldout(o.pinned, &settings.Config)
	findings = append(findings, more...)
	if len(findings) > 0 {
		return b, workspace.Wrong(findings)
	}
	plan.Holdout = held
	b.Plan, b.Workflow, b.Exclude = plan, text, guardText(&settings.Config)
	b.PlanText, b.Created.PlanDigest = workflows.EncodePlan(plan)
	b.Created.Budget = o.budget
	b.Created.Goal, b.Created.Workflow, b.Created.Start = o.goal, w.Name, w.Start
	b.Created.Laps, b.Created.Agent = w.Laps != nil, agentName(&plan.Agent)
	return b, nil
}

// agentTyped reports whether the agent is of the command line or the environment, and no file's.
func agentTyped(settings *workflows.Settings) bool {
	for _, key := range []string{"agent.use", "agent.command", "agent.script"} {
		if x, ok := settings.Get(key); ok && (x.Source == workflows.FromFlag || x.Source == workflows.FromEnvironment) {
			return true
		}
	}
	return false
}

// agent is who works, with the text of its script; nil when nobody is named.
func (a *app) agent(settings *workflows.Settings) (*workflows.Agent, error) {
	agent := settings.Config.Agent
	x, ok := settings.Get("agent.script")
	if !ok {
		if agent.Command.IsZero() && agent.Card == nil {
			return nil, nil
		}
		return &agent, nil
	}
	text, err := a.readScript(x, agent.ScriptPath)
	if err != nil {
		return nil, &usageError{fmt.Sprintf("the agent's script cannot be read: %v", err), "wfs config list --show-origin"}
	}
	if _, err := phases.ParseScript(string(text)); err != nil {
		return nil, &usageError{fmt.Sprintf("%s: %v", filepath.Base(agent.ScriptPath), err), "wfs new --help"}
	}
	agent.Script, agent.ScriptPath = string(text), ""
	return &agent, nil
}

// readScript reads a script from where its layer may point: a repository not out of itself, by links neither. Only a
// regular file of a bounded size is read: whoever wrote the path may not have been a person.
func (a *app) readScript(x workflows.Setting, path string) ([]byte, error) {
	path = filepath.FromSlash(path)
	if x.Source == workflows.FromRepository {
		root, err := os.OpenRoot(a.Repo.Root())
		if err != nil {
			return nil, err
		}
		defer root.Close()
		if _, err := root.Stat(path); err != nil { // a link that leads out, for one
			return nil, err
		}
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(a.Repo.Root(), path)
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil, err
	}
	return durable.ReadFile(real, workflows.MaxFileSize)
}

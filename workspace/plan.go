package workspace

import (
	"bytes"
	"context"
	"os"
	"path/filepath"

	"github.com/wfs-dev/wfs/engine/history"
	"github.com/wfs-dev/wfs/engine/transition"
	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/phases/agent"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/session/codec"
	"github.com/wfs-dev/wfs/workflows"
	"github.com/wfs-dev/wfs/workflows/plans"
)

// Pinning has the parts of a plan that are not from the configuration.
type Pinning struct {
	Goal      string
	Agent     string // from the command line
	Budget    workflows.Budget
	Holdout   *workflows.Holdout
	Keep      *workflows.Agent // agent of a session that is pinned again
	KeepTyped bool             // it was typed, and is not from the configuration
}

// Plan returns the plan that a session would get with these settings.
func (c *Config) Plan(settings *workflows.Settings, list Rules, o Pinning) (transition.Birth, error) {
	var b transition.Birth
	config := &settings.Config
	name := config.Workflow
	if name == "" {
		name = config.DefaultWorkflow()
	}
	w, text, err := list.Workflow(name)
	if err != nil {
		return b, err
	}
	agent, err := c.Agent(settings)
	if err != nil {
		return b, err
	}
	b.Created.AgentTyped = agentTyped(settings)
	if o.Keep != nil && o.Agent == "" && (o.KeepTyped || agent == nil) { // there is no other agent to replace it
		agent, b.Created.AgentTyped = o.Keep, o.KeepTyped
	}
	config.Installed = c.InstalledAgents(config.Cards)
	plan, findings := plans.Resolve(w, config, agent)
	held, more := workflows.ResolveHoldout(o.Holdout, config)
	if findings = append(findings, more...); len(findings) > 0 {
		return b, Wrong(findings)
	}
	plan.Holdout = held
	b.Plan, b.Workflow = plan, text
	b.Exclude = codec.WithGuard(nil, session.Guard{MaxFileSize: config.MaxFileSize, MaxNewFiles: config.MaxNewFiles})
	b.PlanText, b.Created.PlanDigest = plans.Encode(plan)
	b.Created.Budget = o.Budget
	b.Created.Goal, b.Created.Workflow, b.Created.Start = o.Goal, w.Name, w.Start
	b.Created.Laps, b.Created.Agent = w.Laps != nil, AgentName(&plan.Agent)
	return b, nil
}

// AgentName returns an agent's display name: its card, or its command.
func AgentName(agent *workflows.Agent) string {
	switch {
	case agent.Script != "":
		return "script"
	case agent.Use != "":
		return agent.Use
	}
	return agent.Command.Text()
}

// agentTyped reports whether the agent is from the command line or the environment, and not from a file.
func agentTyped(settings *workflows.Settings) bool {
	for _, key := range []string{"agent.use", "agent.command", "agent.script"} {
		if x, ok := settings.Get(key); ok && (x.Source == workflows.FromFlag || x.Source == workflows.FromEnvironment) {
			return true
		}
	}
	return false
}

// Agent returns the configured agent, with the text of its script; nil if there is none.
func (c *Config) Agent(settings *workflows.Settings) (*workflows.Agent, error) {
	configured := settings.Config.Agent
	x, ok := settings.Get("agent.script")
	if !ok {
		if configured.Command.IsZero() && configured.Card == nil {
			return nil, nil
		}
		return &configured, nil
	}
	text, err := c.readScript(x, configured.ScriptPath)
	if err != nil {
		return nil, session.Refuse(session.RefuseUsage, "wfs config list --show-origin",
			"the agent's script cannot be read: %v", err)
	}
	if _, err := agent.ParseScript(string(text)); err != nil {
		return nil, session.Refuse(session.RefuseUsage, "wfs new --help", "%s: %v", filepath.Base(configured.ScriptPath), err)
	}
	configured.Script, configured.ScriptPath = string(text), ""
	return &configured, nil
}

// readScript reads a script from a place that its layer may use: one from a repository must be inside it, also after
// following links. It reads only a regular file of limited size, because the path may not be written by a person.
func (c *Config) readScript(x workflows.Setting, path string) ([]byte, error) {
	path, top := filepath.FromSlash(path), c.w.Repo.Root()
	if x.Source == workflows.FromRepository {
		root, err := os.OpenRoot(top)
		if err != nil {
			return nil, err
		}
		defer root.Close()
		if _, err := root.Stat(path); err != nil { // for instance, a link to a place outside
			return nil, err
		}
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(top, path)
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil, err
	}
	return durable.ReadFile(real, workflows.MaxFileSize)
}

// Drift lists the differences between a session's plan and the one that it would get now. The values of agree and of a
// typed agent are kept, because they need not be in any file.
func (c *Config) Drift(list Rules, s *session.Session, pinned *workflows.Plan) ([]string, error) {
	settings, err := c.Settings(list)
	if err != nil {
		return nil, err
	}
	settings.Config.Workflow = s.Workflow
	if pinned.Workflow.Laps != nil {
		settings.Config.Agree = pinned.Workflow.Laps.Agree
	}
	b, err := c.Plan(settings, list, Pinning{Keep: &pinned.Agent, KeepTyped: s.AgentTyped, Holdout: pinned.Holdout})
	if err != nil {
		return nil, err
	}
	return plans.Differences(pinned, b.Plan), nil
}

// GuardFile returns a file with a session's exclude rules, for examining a work tree before the session exists. nil: no
// rules.
func (c *Config) GuardFile(text []byte) (string, error) {
	if text == nil {
		text = codec.WithGuard(nil, session.Guard{})
	}
	dir := c.w.Repo.StateDir()
	path := filepath.Join(dir, "held-out")
	if old, err := durable.ReadFile(path, int64(len(text))); err == nil && bytes.Equal(old, text) {
		return path, nil
	}
	if err := durable.MkdirAll(dir); err != nil {
		return "", err
	}
	return path, durable.WriteFile(path, text, 0o600)
}

// PinnedPlan reads a session's pinned plan.
func (c *Config) PinnedPlan(ctx context.Context, v history.View) (*workflows.Plan, error) {
	data := c.w.Clone.Session(v.Session.ID).Tip(v.Tip)[session.FilePlan]
	if data == nil {
		var err error
		if data, err = c.w.Repo.File(ctx, v.Tip, session.FilePlan); err != nil {
			return nil, err
		}
	}
	return plans.Decode(data)
}

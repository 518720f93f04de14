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

// Pinning has the parts of a session's plan that do not come from the configuration.
type Pinning struct {
	Goal      string
	Agent     string // name or command of the agent, from the command line
	Budget    workflows.Budget
	Holdout   *workflows.Holdout
	Keep      *workflows.Agent // the agent that a session has now, if a new plan is made for it
	KeepTyped bool             // Keep was named on the command line, and not in the configuration
}

// Plan returns a birth (the data of a new session) with the plan that a session would get with these settings.
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
	// keep the agent of the session: no other agent was named
	if o.Keep != nil && o.Agent == "" && (o.KeepTyped || agent == nil) {
		agent, b.Created.AgentTyped = o.Keep, o.KeepTyped
	}
	config.Installed = c.InstalledAgents(config.Cards)
	plan, findings := plans.Resolve(w, config, agent)
	held, more := plans.ResolveHoldout(o.Holdout, config)
	if findings = append(findings, more...); len(findings) > 0 {
		return b, Wrong(findings)
	}
	plan.Holdout = held
	b.Plan, b.Workflow = plan, text
	b.Exclude = codec.WithGuard(nil, session.Guard{MaxFileSize: config.MaxFileSize, MaxNewFiles: config.MaxNewFiles})
	b.PlanText, b.Created.PlanDigest = plans.Encode(plan)
	b.Created.Budget = o.Budget
	w = &plan.Workflow
	b.Created.Goal, b.Created.Workflow, b.Created.Start = o.Goal, w.Name, w.LapStart()
	if w.Start != w.LapStart() {
		b.Created.First = w.Start
	}
	if to := w.AfterLaps(); to != workflows.Done {
		b.Created.Then = to
	}
	b.Created.Laps, b.Created.Agent = w.Laps != nil, AgentName(&plan.Agent)
	return b, nil
}

// AgentName returns an agent's display name: the name of its card, its command, or "script".
func AgentName(agent *workflows.Agent) string {
	switch {
	case agent.Script != "":
		return "script"
	case agent.Use != "":
		return agent.Use
	}
	return agent.Command.Text()
}

// agentTyped reports whether the agent was named on the command line or in the environment, and not in a file.
func agentTyped(settings *workflows.Settings) bool {
	for _, key := range []string{"agent.use", "agent.command", "agent.script"} {
		if x, ok := settings.Get(key); ok && (x.Source == workflows.FromFlag || x.Source == workflows.FromEnvironment) {
			return true
		}
	}
	return false
}

// Agent returns the configured agent, nil if there is none. If it is a script, Agent reads the script's text.
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

// readScript reads an agent's script. A path that the repository's configuration names must lead to a file inside the
// repository, also after following links. The file must be a regular one of limited size, because the path may not have
// been written by the user.
func (c *Config) readScript(x workflows.Setting, path string) ([]byte, error) {
	path, top := filepath.FromSlash(path), c.w.Repo.Root()
	if x.Source == workflows.FromRepository {
		root, err := os.OpenRoot(top)
		if err != nil {
			return nil, err
		}
		defer root.Close()
		if _, err := root.Stat(path); err != nil { // fails for a link to a place outside, for instance
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

// Drift returns the differences between a session's pinned plan and the plan that it would get from the current
// configuration. It ignores `agree` and an agent that was named on the command line, because they need not be in any
// file.
func (c *Config) Drift(list Rules, s *session.Session, pinned *workflows.Plan) ([]string, error) {
	settings, err := c.Settings(list)
	if err != nil {
		return nil, err
	}
	settings.Config.Workflow = s.Workflow
	settings.Config.Autonomy, settings.Config.Complexity = pinned.Autonomy, pinned.Complexity
	if pinned.Workflow.Laps != nil {
		settings.Config.Agree = pinned.Workflow.Laps.Agree
	}
	b, err := c.Plan(settings, list, Pinning{Keep: &pinned.Agent, KeepTyped: s.AgentTyped, Holdout: pinned.Holdout})
	if err != nil {
		return nil, err
	}
	return plans.Differences(pinned, b.Plan), nil
}

// GuardFile returns the path of a file that contains `text`, the exclude rules of a session that does not exist yet. A
// snapshot of the work tree needs such a file. nil stands for no rules.
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

// PinnedPlan returns a session's pinned plan.
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

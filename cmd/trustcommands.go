package cmd

import (
	"fmt"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/workflows"
	"github.com/wfs-dev/wfs/workspace"
)

// fileCommands lists the commands that a file below .wfs/ would run. For a file with errors, which runs nothing, it
// returns the first error instead.
func fileCommands(f workspace.RulesFile, cards workflows.Cards) []string {
	if source, ok := f.Source(); ok {
		settings, findings := cards.Read(workflows.Layer{Source: source, Name: f.Path, Text: f.Text})
		if len(findings) > 0 {
			return []string{findings[0].String()}
		}
		return configCommands(settings)
	}
	if f.IsCard() {
		c, findings := workflows.ParseCard(f.Path, f.Text)
		if len(findings) > 0 {
			return []string{findings[0].String()}
		}
		return cardCommands(c)
	}
	if !strings.HasPrefix(f.Path, workspace.WorkflowsDir) {
		return nil
	}
	w, findings := workflows.ParseWorkflow(f.Path, f.Text)
	if len(findings) > 0 {
		return []string{findings[0].String()}
	}
	return workflowCommands(w)
}

// configCommands lists all commands that a configuration can make wfs run, and what else it permits.
func configCommands(s *workflows.Settings) []string {
	var list []string
	for _, x := range s.Commands() {
		label := x.Key
		if strings.HasPrefix(label, "agents.") {
			continue // agents follow below
		}
		if label == "worktree.setup" {
			label = "set-up of a work tree"
		}
		if gate, ok := strings.CutPrefix(label, "gates."); ok {
			label = "gate " + strings.TrimSuffix(gate, ".run")
		}
		list = append(list, fmt.Sprintf("%s: %s", strings.TrimSuffix(label, ".command"), x.Text()))
	}
	list = append(list, agentCommands("agent", &s.Config.Agent)...)
	for _, name := range sortedKeys(s.Config.Agents) {
		agent := s.Config.Agents[name]
		if !agent.Command.IsZero() {
			list = append(list, "agent "+name+": "+agent.Command.Text())
		}
		list = append(list, agentCommands("agent "+name, &agent)...)
	}
	if file := s.Config.Agent.ScriptPath; file != "" {
		list = append(list, "agent: plays "+file)
	}
	if len(s.Config.Env) > 0 {
		list = append(list, "may see: "+strings.Join(s.Config.Env, " "))
	}
	if names := slices.Concat(s.Config.Worktree.Copy, s.Config.Worktree.Link); len(names) > 0 {
		list = append(list, "brought into a work tree: "+strings.Join(names, " "))
	}
	if s.Config.Agree == workflows.AgreeAuto {
		list = append(list, "does not ask you whether nothing is left to do (agree: auto)")
	}
	return list
}

func workflowCommands(w *workflows.Workflow) []string {
	var list []string
	for _, p := range w.Phases {
		if !p.Run.Agent && !p.Run.Human {
			list = append(list, fmt.Sprintf("phase %s: %s", p.Name, p.Run.Command.Text()))
		}
		for _, g := range p.Gates {
			if !g.Run.IsZero() {
				list = append(list, fmt.Sprintf("gate %s: %s", g.Name, g.Run.Text()))
			}
		}
	}
	return list
}

func planCommands(p *workflows.Plan) []string {
	list := pinnedAgent("agent", &p.Agent)
	for _, name := range sortedKeys(p.Agents) {
		agent := p.Agents[name]
		list = append(list, pinnedAgent("agent "+name, &agent)...)
	}
	list = append(list, workflowCommands(&p.Workflow)...)
	for _, g := range p.Baseline {
		list = append(list, fmt.Sprintf("gate %s, on the base: %s", g.Name, g.Run.Text()))
	}
	if len(p.Env) > 0 {
		list = append(list, "may see: "+strings.Join(p.Env, " "))
	}
	return list
}

func pinnedAgent(label string, agent *workflows.Agent) []string {
	if agent.Card == nil {
		return append([]string{label + ": " + workspace.AgentName(agent)}, agentCommands(label, agent)...)
	}
	return agentCommands(label, agent)
}

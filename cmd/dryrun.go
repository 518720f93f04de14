package cmd

import (
	"context"
	"fmt"
	"strings"

	"github.com/wfs-dev/wfs/cmd/internal/present"
	"github.com/wfs-dev/wfs/engine/decide"
	"github.com/wfs-dev/wfs/internal/safetext"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
	"github.com/wfs-dev/wfs/workspace"
)

// dryRun prints what the next attempt would do, without starting it or writing anything.
func (a *runVerb) dryRun(ctx context.Context, name string) error {
	v, err := a.OpenView(ctx, name)
	if err != nil {
		return err
	}
	plan, err := a.PinnedPlan(ctx, v)
	if err != nil {
		return err
	}
	s := &v.Session
	d := decide.Decide(s, plan, decide.Facts{Now: a.env.Now(), RunID: "dry-run"})
	argv := a.commandLine(ctx, s, plan, d)
	if a.json {
		return a.answer(dryJSON{jsonVersion, s.ID, s.Phase, s.Lap, string(d.Effect), commandOf(plan, s.Phase), argv,
			gatesOf(plan, s.Phase)})
	}
	a.out("%s  %s", s.ID, present.Standing(s))
	if d.Effect == decide.EffectStop {
		a.next(a.nextIn(s, a.Here()))
		return nil
	}
	a.sayDrift(ctx, s, plan)
	who := whoRuns(plan, s, d)
	a.out("would run in %s: %s", s.Phase, who)
	if ph := plan.Workflow.Phase(s.Phase); len(argv) > 0 && ph.Run.Agent && plan.AgentOf(ph).Card != nil {
		a.out("  %s", safetext.Line(shellLine(argv), maxShownLine))
	}
	for _, g := range gatesOf(plan, s.Phase) {
		a.out("  then judge with gate %s", g)
	}
	return nil
}

// whoRuns returns the name of the agent, or the command, that would make the next attempt.
func whoRuns(plan *workflows.Plan, s *session.Session, d decide.Decision) string {
	for _, b := range d.Events {
		if started, ok := b.(session.AttemptStarted); ok && started.Agent != "" {
			return workspace.AgentName(plan.AgentOf(decide.PhaseOf(plan, started))) +
				" (the breaker opens if it gets no further)"
		}
	}
	return commandOf(plan, s.Phase)
}

type dryJSON struct {
	Version int               `json:"version"`
	Session session.ID        `json:"session"`
	Phase   session.PhaseName `json:"phase"`
	Lap     int               `json:"lap"`
	Effect  string            `json:"effect"`
	Run     string            `json:"run"`
	Argv    []string          `json:"argv,omitempty"`
	Gates   []string          `json:"gates"`
}

// maxShownLine is how many characters of a command line wfs prints at most.
const maxShownLine = 4000

// commandLine returns the command line of the attempt that the decision d begins. It returns nil if d begins none, or
// if a person works on it.
func (a *runVerb) commandLine(ctx context.Context, s *session.Session, plan *workflows.Plan,
	d decide.Decision) []string {
	for _, b := range d.Events {
		started, ok := b.(session.AttemptStarted)
		ph := decide.PhaseOf(plan, started)
		if !ok || ph == nil || ph.Run.Human {
			continue
		}
		runner := a.Engine.Works.(*works).runner()
		runner.Prober = nil // a dry run starts no programs
		return runner.CommandLine(ctx,
			session.RunRequest{Session: *s, Phase: *ph, Started: started, RunDir: "{run}", Plan: *plan,
				Conversation: decide.Conversation(s, plan, started)})
	}
	return nil
}

// gateText describes what a gate checks.
func gateText(g workflows.Gate) string {
	switch {
	case g.Document != "" && len(g.Needs) > 0:
		return fmt.Sprintf("%s: the document %s, with %s", g.Name, g.Document, strings.Join(texts(g.Needs), ", "))
	case g.Document != "":
		return fmt.Sprintf("%s: the document %s", g.Name, g.Document)
	case len(g.Changes) > 0:
		return fmt.Sprintf("%s: a change of %s", g.Name, strings.Join(g.Changes, ", "))
	}
	return fmt.Sprintf("%s (expect %s): %s", g.Name, g.Expect, g.Run.Text())
}

func texts[T ~string](list []T) []string {
	out := make([]string, len(list))
	for i, x := range list {
		out[i] = string(x)
	}
	return out
}

func commandOf(p *workflows.Plan, phase session.PhaseName) string {
	ph := p.Workflow.Phase(phase)
	if ph == nil {
		return ""
	}
	if ph.Run.Human {
		return "nothing: a person works there, and approves or rejects"
	}
	if !ph.Run.Agent {
		return ph.Run.Command.Text()
	}
	return workspace.AgentName(p.AgentOf(ph))
}

func gatesOf(p *workflows.Plan, phase session.PhaseName) []string {
	list := []string{}
	if ph := p.Workflow.Phase(phase); ph != nil {
		for _, g := range ph.Gates {
			list = append(list, gateText(g))
		}
	}
	return list
}

package cmd

import (
	"context"

	"github.com/wfs-dev/wfs/cmd/internal/present"
	"github.com/wfs-dev/wfs/engine/decide"
	"github.com/wfs-dev/wfs/internal/safetext"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
	"github.com/wfs-dev/wfs/workspace"
)

// dryRun says what the next attempt would be. It writes nothing.
func (a *app) dryRun(ctx context.Context, name string) error {
	v, err := a.OpenView(ctx, name)
	if err != nil {
		return err
	}
	plan, err := a.planAt(ctx, v)
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
	who := commandOf(plan, s.Phase)
	for _, b := range d.Events {
		if started, ok := b.(session.AttemptStarted); ok && started.Agent != "" {
			who = workspace.AgentName(plan.AgentOf(decide.PhaseOf(plan, started))) + " (the breaker opens if it gets no further)"
		}
	}
	a.out("would run in %s: %s", s.Phase, who)
	if ph := plan.Workflow.Phase(s.Phase); len(argv) > 0 && ph.Run.Agent && plan.AgentOf(ph).Card != nil {
		a.out("  %s", safetext.Line(shellLine(argv), maxShownLine))
	}
	for _, g := range gatesOf(plan, s.Phase) {
		a.out("  then judge with gate %s", g)
	}
	return nil
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

// maxShownLine bounds a command line that is shown, in characters.
const maxShownLine = 4000

// commandLine is what the attempt that a decision begins would be started with.
func (a *app) commandLine(ctx context.Context, s *session.Session, plan *workflows.Plan, d decide.Decision) []string {
	for _, b := range d.Events {
		started, ok := b.(session.AttemptStarted)
		ph := decide.PhaseOf(plan, started)
		if !ok || ph == nil || ph.Run.Human {
			continue
		}
		runner := a.Engine.Works.(*works).runner()
		runner.Prober = nil // this command starts nothing
		return runner.CommandLine(ctx,
			session.RunRequest{Session: *s, Phase: *ph, Started: started, RunDir: "{run}", Plan: *plan,
				Conversation: decide.Conversation(s, plan, started)})
	}
	return nil
}

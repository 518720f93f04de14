package cmd

import (
	"context"

	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
	"github.com/wfs-dev/wfs/workspace"
)

// sayDrift says that the files differ now from what a session has pinned. The session goes on with what it has: a gate
// that could be changed while it judges would be no gate.
func (a *app) sayDrift(ctx context.Context, s *session.Session, pinned *workflows.Plan) {
	const most = 5
	saySpecEdited(a.note, a.specEdited(ctx, s))
	list, err := a.Rules(ctx)
	if err == nil && len(list) == 0 {
		return // nothing is said here; the session may have been begun in another work tree
	}
	var changes []string
	if err == nil {
		changes, err = a.drift(list, s, pinned)
	}
	if err != nil {
		a.note("what is configured now cannot be used (wfs workflow check says why); this session runs what it has pinned")
		return
	}
	if len(changes) == 0 {
		return
	}
	a.note("the configuration has changed, and this session runs what it has pinned; to take what is configured now: %s", a.typedFor("wfs edit --reload", s.ID, ""))
	for _, line := range changes[:min(len(changes), most)] {
		a.note("    %s", line)
	}
	if n := len(changes) - most; n > 0 {
		a.note("    … and %d more: %s", n, a.typedFor("wfs edit --reload --dry-run", s.ID, ""))
	}
}

// drift says in what a session's plan differs from the one that it would get now. Who agrees is taken over, and so is an
// agent that was typed: they need not be in any file.
func (a *app) drift(list workspace.Rules, s *session.Session, pinned *workflows.Plan) ([]string, error) {
	settings, err := a.Settings(list)
	if err != nil {
		return nil, err
	}
	settings.Config.Workflow = s.Workflow
	if pinned.Workflow.Laps != nil {
		settings.Config.Agree = pinned.Workflow.Laps.Agree
	}
	b, err := a.planOf(settings, list, newOptions{keep: &pinned.Agent, keepTyped: s.AgentTyped, pinned: pinned.Holdout})
	if err != nil {
		return nil, err
	}
	return workflows.Differences(pinned, b.Plan), nil
}

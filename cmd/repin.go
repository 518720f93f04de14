package cmd

import (
	"context"
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"github.com/wfs-dev/wfs/engine"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

func (a *app) repinCmd() *cobra.Command {
	var agent, workflow, phase, held string
	var dry bool
	c := &cobra.Command{
		Use: "repin [SESSION]", Short: "let a session run what the configuration says now",
		Long: `A session runs what was pinned when it began. Repin takes the configuration, the agent and the workflow from the files
as they are now, shows what differs, and records it. An agent that was typed stays, unless another one is typed here.
Commands that you have not trusted are refused as by wfs new. The breaker is closed, and a block is over.

What the gates said about the base stays as it was; a session at its beginning runs them again. A gate that is new
further on counts from there, also for what was red before. Nothing is pinned in the middle of an attempt.`,
		Example: "  wfs repin\n  wfs repin --agent 'codex exec'\n  wfs repin --workflow ours --phase GREEN\n  wfs repin --holdout ~/holdout/csv\n  wfs repin --dry-run",
		Args:    upTo(1),
		RunE: func(c *cobra.Command, args []string) error {
			return a.repin(c.Context(), first(args), newOptions{agent: agent, workflow: workflow, holdout: held}, phase, dry)
		},
	}
	f := c.Flags()
	f.StringVar(&agent, "agent", "", "who works in the phases from now on: a `name` (wfs agent list), a command, or script:FILE")
	f.StringVar(&workflow, "workflow", "", "`name` of another workflow")
	f.StringVar(&held, "holdout", "", "`directory` or ref with tests that the agent never sees, in place of those that there are; none takes them away")
	f.StringVar(&phase, "phase", "", "`name` of the phase in which the session goes on")
	f.BoolVar(&dry, "dry-run", false, "only show what would change")
	return c
}

func (a *app) repin(ctx context.Context, name string, o newOptions, phase string, dry bool) error {
	h, err := a.inHand(ctx, "wfs repin", name)
	if err != nil {
		return err
	}
	o.goal, o.keep, o.keepTyped, o.pinned = h.S.Goal, &h.Plan.Agent, h.S.AgentTyped, h.Plan.Holdout
	if err := a.takeHoldout(ctx, &o); err != nil {
		return err
	}
	if o.workflow == "" {
		o.workflow = h.S.Workflow
	}
	b, _, err := a.pin(ctx, o)
	if err != nil {
		return err
	}
	c := b.Created
	r := engine.Repin{Plan: b.Plan, PlanText: b.PlanText, PlanDigest: c.PlanDigest, Workflow: b.Workflow, Agent: c.Agent, AgentTyped: c.AgentTyped,
		Phase: session.PhaseName(phase)}
	_, r.Limits = session.SplitGuard(b.Exclude)
	e, err := h.PlanRepin(r)
	var refused *session.Refusal
	if errors.As(err, &refused) {
		if phase, ok := strings.CutPrefix(refused.Hint, "wfs repin --phase "); ok {
			refused.Hint = a.again() + " --phase " + phase
		}
	}
	if err != nil {
		return err
	}
	if dry {
		return a.sayWouldChange(h.ID, e.Changes)
	}
	if err := a.keepHoldout(h.ID, &o); err != nil {
		return err
	}
	if len(e.Changes) > 0 { // before it is pinned: a kill in between must not leave a session that its owner does not trust
		if err := a.trustNow(c.PlanDigest, "session "+string(h.ID)); err != nil {
			return err
		}
	}
	_, n, err := h.Repin(ctx, r)
	if err != nil {
		return err
	}
	if e.Baseline {
		e.Changes = append(e.Changes, "the gates run on the base again before the next attempt")
	}
	return a.sayChanged(ctx, h, "repinned", n, e.Changes)
}

func (a *app) sayWouldChange(id session.ID, changes []string) error {
	if a.json {
		return a.answer(recordedJSON{Version: jsonVersion, Did: "nothing", Session: id, Changes: changes, Next: []string{"wfs repin " + string(id)}})
	}
	for _, line := range changes {
		a.out("%s", line)
	}
	if len(changes) == 0 {
		a.out("nothing would change: %s runs what the files say", id)
		return nil
	}
	a.out("nothing was changed")
	return nil
}

// keptAgent is the agent of a session that is pinned anew, when neither the command line nor the configuration has one to
// put in its place.
func (o *newOptions) keptAgent(found *workflows.Agent) *workflows.Agent {
	if o.keep != nil && o.agent == "" && (o.keepTyped || found == nil) {
		return o.keep
	}
	return nil
}

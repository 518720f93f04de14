package cmd

import (
	"context"
	"errors"
	"strings"

	"github.com/wfs-dev/wfs/engine/steering"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/session/codec"
	"github.com/wfs-dev/wfs/workspace"
)

// repin makes the session use the current configuration, with the given flags. The session then keeps a copy of it
// ("pins" it).
func (a *editVerb) repin(ctx context.Context, name string) error {
	h, err := a.InHand(ctx, workspace.Request{Command: "wfs edit", Session: name})
	if err != nil {
		return err
	}
	n := &newborn{app: a.app, o: a.pin}
	o := &n.o
	o.goal, o.keep, o.keepTyped, o.pinned = h.S.Goal, &h.Plan.Agent, h.S.AgentTyped, h.Plan.Holdout
	if err := n.takeHoldout(ctx); err != nil {
		return err
	}
	if o.workflow == "" {
		o.workflow = h.S.Workflow
	}
	if o.autonomy == "" {
		o.autonomy = string(h.Plan.Autonomy)
	}
	if o.complexity == "" {
		o.complexity = string(h.Plan.Complexity)
	}
	if err := n.pin(ctx); err != nil {
		return err
	}
	b := n.b
	c := b.Created
	r := steering.Repin{Plan: b.Plan, PlanText: b.PlanText, PlanDigest: c.PlanDigest, Workflow: b.Workflow,
		Agent: c.Agent, AgentTyped: c.AgentTyped,
		Phase: session.PhaseName(a.phase)}
	_, r.Limits = codec.SplitGuard(b.Exclude)
	e, err := h.PlanRepin(r)
	var refused *session.Refusal
	if errors.As(err, &refused) {
		if phase, ok := strings.CutPrefix(refused.Hint, "wfs edit --phase "); ok {
			refused.Hint = a.again() + " --phase " + phase
		}
	}
	if err != nil {
		return err
	}
	if a.dry {
		return a.sayWouldChange(h.ID, e.Changes)
	}
	if err := n.keepHoldout(h.ID); err != nil {
		return err
	}
	// Trust the new plan before the session pins it: if wfs is killed in between, the session must not be left with a
	// plan that its owner does not trust.
	if len(e.Changes) > 0 {
		if err := a.TrustNow(c.PlanDigest, "session "+string(h.ID)); err != nil {
			return err
		}
	}
	_, op, err := h.Repin(ctx, r)
	if err != nil {
		return err
	}
	if e.Baseline {
		e.Changes = append(e.Changes, "the gates run on the base again before the next attempt")
	}
	return a.sayChanged(ctx, h, "repinned", op, e.Changes)
}

func (a *editVerb) sayWouldChange(id session.ID, changes []string) error {
	if a.json {
		return a.answer(recordedJSON{Version: jsonVersion, Did: "nothing", Session: id, Changes: changes,
			Next: []string{"wfs edit " + string(id) + " --reload"}})
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

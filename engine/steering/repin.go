package steering

import (
	"context"
	"fmt"
	"strings"

	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
	"github.com/wfs-dev/wfs/workflows/plans"
	"github.com/wfs-dev/wfs/workflows/spelling"
)

// otherHoldout reports whether the new plan `is` has other hold-out tests than the plan `was`. These have not run on
// the base.
func otherHoldout(was, is *workflows.Plan) bool {
	return is.Holdout != nil && (was.Holdout == nil || was.Holdout.Digest != is.Holdout.Digest)
}

// Repin describes the new plan of a session.
type Repin struct {
	Plan       *workflows.Plan
	PlanText   []byte
	PlanDigest string
	Workflow   []byte // text of the workflow file
	Agent      string // the agent as it is shown to people
	AgentTyped bool
	Phase      session.PhaseName // the new current phase, "": unchanged
	Limits     session.Guard     // the configured limits; no other fields are used
}

// PlanRepin returns the event that would replace the session's plan, without writing it. Its Changes is empty if
// nothing changes.
func (h *Steering) PlanRepin(r Repin) (session.Repinned, error) {
	s, w := &h.S, &r.Plan.Workflow
	e := session.Repinned{Workflow: w.Name, Start: w.LapStart(), Laps: w.Laps != nil, PlanDigest: r.PlanDigest,
		Agent: r.Agent, AgentTyped: r.AgentTyped,
		Phase: s.Phase, Changes: plans.Differences(h.Plan, r.Plan)}
	if to := w.AfterLaps(); to != workflows.Done {
		e.Then = to
	}
	// a breakpoint at which the session waits does not stop any more
	if old := h.Plan.Workflow.Phase(s.Phase); old != nil && old.Approves != "" && w.Phase(s.Phase) == nil {
		e.Phase = old.On[workflows.Pass]
	}
	if err := h.mayChange(); err != nil {
		return e, err
	}
	if o := s.Open; o != nil {
		return e, session.Refuse(session.RefuseAttempt, "wfs run --max-attempts 1, then wfs edit --reload",
			"attempt %d at %s is not judged yet, and is judged with the former configuration", o.Attempt, o.Phase)
	}
	if r.Phase != "" {
		e.Phase = r.Phase
	}
	if e.Phase != s.Phase {
		e.Changes = append(e.Changes, fmt.Sprintf("current phase: %s → %s", s.Phase, e.Phase))
	}
	if differ, err := h.LimitsDiffer(r.Limits); err != nil {
		return e, err
	} else if differ {
		size, files := r.Limits.Limits()
		e.Changes = append(e.Changes, fmt.Sprintf(
			"untracked files above %d bytes and new directories above %d files are not included", size, files))
	}
	if e.Phase != workflows.Done && w.Phase(e.Phase) == nil {
		var names []string
		for _, p := range w.Phases {
			names = append(names, string(p.Name))
		}
		near := spelling.Suggest(string(e.Phase), names)
		if near == "" {
			near = names[0]
		}
		return e, session.Refuse(session.RefuseUsage, "wfs edit --phase "+near,
			"the workflow %s has no phase %s; it has: %s. Choose where the session continues", w.Name, e.Phase,
			strings.Join(names, ", "))
	}
	// After checkpoint 0 the gates cannot run on the base any more, because the base's files are not checked out.
	e.Baseline = s.Current == 0 && s.Tries == 0 && s.Fork == nil &&
		(!plans.SameBaseline(h.Plan, r.Plan) || otherHoldout(h.Plan, r.Plan))
	return e, nil
}

// Repin replaces the plan that is stored with the session. It returns its event and the operation's number, or nil and
// 0 if nothing changes.
func (h *Steering) Repin(ctx context.Context, r Repin) (*session.Repinned, int64, error) {
	e, err := h.PlanRepin(r)
	if err != nil || len(e.Changes) == 0 {
		return nil, 0, err
	}
	if err := h.Limit(r.Limits); err != nil {
		return nil, 0, err
	}
	h.PlanText, h.Plan = r.PlanText, r.Plan
	h.KeepDoc(session.FilePlan, r.PlanText)
	h.KeepDoc(session.FileWorkflow, r.Workflow)
	n, err := h.RecordOp(ctx, func(t session.Turn) session.Body {
		e.Turn = t
		return e
	})
	return &e, n, err
}

package steering

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/engine/decide"
	"github.com/wfs-dev/wfs/internal/safetext"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/session/items"
	"github.com/wfs-dev/wfs/workflows"
	"github.com/wfs-dev/wfs/workflows/spelling"
)

// WorkOn reopens work that seemed complete, with a person's note.
func (h *Steering) WorkOn(ctx context.Context, text string) error {
	if err := h.Append(session.Noted{Text: text, Back: true}); err != nil {
		return err
	}
	return h.Lead(ctx, h.BackToWork(safetext.WithReason("there is still something to do", text)))
}

// BackToWork returns the event that moves a session from completed work back to the first open item, or to the last
// item if none is open.
func (h *Steering) BackToWork(why string) session.PhaseMoved {
	w := &h.Plan.Workflow
	b := session.PhaseMoved{From: h.S.Phase, To: decide.WorkingPhase(w), Lap: h.S.Lap, Why: why}
	if w.Laps != nil {
		b.To, b.NewLap = w.LapStart(), true
		if open := items.Open(&h.S); len(open) > 0 {
			b.Lap = open[0].Number
		}
	}
	return b
}

// PhaseBack moves the session back to the earlier phase `to`; with "", to the phase before the current one.
func (h *Steering) PhaseBack(ctx context.Context, to session.PhaseName, why string) error {
	if err := h.mayLead(ctx); err != nil {
		return err
	}
	phases, at := h.Plan.Workflow.Phases, h.phaseIndex(h.S.Phase)
	if at < 0 {
		at = len(phases) // the work is done
	}
	if to == "" {
		if at == 0 {
			return session.Refuse(session.RefuseUsage, "wfs resume @CHECKPOINT", "%s is the first phase", h.S.Phase)
		}
		to = phases[at-1].Name
	}
	switch i := h.phaseIndex(to); {
	case i < 0:
		return h.noPhase(to)
	case i == at:
		return session.Refuse(session.RefuseUsage, `wfs note "what to do differently"`, "the work is in %s now", to)
	case i > at:
		return session.Refuse(session.RefuseUsage, `wfs approve --anyway "why"`,
			"%s does not come before %s", to, h.S.Phase)
	}
	tests := slices.ContainsFunc(phases[h.phaseIndex(to):at], func(p workflows.Phase) bool { return p.WritesTests() })
	return h.Lead(ctx, session.PhaseMoved{From: h.S.Phase, To: to, Lap: h.S.Lap, Tests: tests,
		Why: safetext.OneLine(why, 500)})
}

// PhaseSkip continues as if the current phase had passed. It judges nothing. To be handed over, the work must still
// pass, and the message of the handover commit lists the skipped phases.
func (h *Steering) PhaseSkip(ctx context.Context, why string) error { return h.pass(ctx, why, false) }

// pass moves the session to the phase that follows when the current phase passes, without a verdict.
func (h *Steering) pass(ctx context.Context, why string, anyway bool) error {
	if err := h.mayLead(ctx); err != nil {
		return err
	}
	if h.phaseIndex(h.S.Phase) < 0 {
		return session.Refuse(session.RefuseUsage, "wfs finish", "the work is done: there is no phase to skip")
	}
	target, err := decide.Next(&h.Plan.Workflow, h.S.Phase, session.Pass)
	if err != nil {
		return err
	}
	b := session.PhaseMoved{From: h.S.Phase, To: target, Lap: h.S.Lap, Skip: true, Anyway: anyway,
		Why: safetext.OneLine(why, 500)}
	if target == workflows.NextLap {
		b.NewLap = true
		b.To, b.Lap = decide.EndLap(&h.S, h.Plan)
	} else if h.S.Lap == 0 && target == h.Plan.Workflow.LapStart() {
		b.NewLap, b.Lap = true, 1
	}
	return h.Lead(ctx, b)
}

func (h *Steering) mayLead(ctx context.Context) error {
	if err := h.MayDrive(ctx); err != nil {
		return err
	}
	if h.S.Open != nil {
		return session.Refuse(session.RefuseUsage, "wfs run --max-attempts 1",
			"an attempt at %s is not judged yet", h.S.Open.Phase)
	}
	return h.NoSurvivors()
}

func (h *Steering) phaseIndex(name session.PhaseName) int {
	for i, p := range h.Plan.Workflow.Phases {
		if p.Name == name {
			return i
		}
	}
	return -1
}

func (h *Steering) noPhase(name session.PhaseName) error {
	var names []string
	for _, p := range h.Plan.Workflow.Phases {
		names = append(names, string(p.Name))
	}
	r := session.Refuse(session.RefuseUsage, "wfs workflow show "+h.S.Workflow,
		"workflow %s has no phase %q: %s", h.S.Workflow, name, strings.Join(names, ", "))
	if near := spelling.Suggest(string(name), names); near != "" {
		r.Hint = "wfs reject --to " + near
	}
	return r
}

// Lead moves the session to another phase, as an operation that `wfs undo` can undo.
func (h *Steering) Lead(ctx context.Context, b session.PhaseMoved) error {
	if ph := h.Plan.Workflow.Phase(b.To); ph != nil && ph.Run.Human {
		b.Ask = decide.Question(ph)
	}
	_, err := h.RecordOp(ctx, func(t session.Turn) session.Body {
		b.Turn = t
		return b
	})
	return err
}

// ApproveAnyway passes the current phase although no gate has judged the work, or a gate failed. Since it judges
// nothing, every report of the work mentions it.
func (h *Steering) ApproveAnyway(ctx context.Context, why string) error {
	if w := h.S.Waiting; h.S.Status == session.StatusWaiting && w.Agree {
		return session.Refuse(session.RefuseUsage, fmt.Sprintf("wfs approve %s -m WHY", h.ID),
			"it needs a yes or a no")
	}
	return h.pass(ctx, why, true)
}

// WriteTestsAnew moves the work back to the phase that writes tests, as an attempt has requested. `text` is the user's
// reason; with "" the request of the attempt is the reason.
func (h *Steering) WriteTestsAnew(ctx context.Context, text string) error {
	red := h.Plan.Workflow.Red()
	why := h.S.TestChange
	if h.S.LastResult != nil && h.S.LastResult.TestChange != "" {
		why = h.S.LastResult.TestChange
	}
	if text != "" {
		why = text
	}
	return h.Lead(ctx, session.PhaseMoved{From: h.S.Phase, To: red.Name, Lap: h.S.Lap, Tests: true,
		Why: safetext.OneLine(why, 500)})
}

// InPlan refuses an answer about a phase that the workflow does not have.
func (h *Steering) InPlan() error {
	if h.S.Phase == workflows.Done || h.phaseIndex(h.S.Phase) >= 0 {
		return nil
	}
	return h.noPhase(h.S.Phase)
}

package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/session/items"
	"github.com/wfs-dev/wfs/workflows"
)

// Approve is a person's yes to what the session waits for: the work of a phase of theirs, which the phase's gates judge
// now, or the question whether nothing is left. text, which may be empty, is kept with it.
func (h *Hand) Approve(ctx context.Context, text string) error { return h.answer(ctx, text, false) }

// Reject is a person's no. why goes into the next brief.
func (h *Hand) Reject(ctx context.Context, why string) error { return h.answer(ctx, why, true) }

func (h *Hand) answer(ctx context.Context, text string, no bool) error {
	since := h.S.Seq
	if err := h.give(ctx, text, no); err != nil {
		return err
	}
	return h.logAnswer(context.WithoutCancel(ctx), since)
}

// isAnswer reports whether an event is something that a person said.
func isAnswer(b session.Body) bool {
	switch b := b.(type) {
	case session.Noted:
		return !b.Meanwhile
	case session.Allowed, session.BudgetSet:
		return true
	case session.Agreed:
		return b.By == "person"
	}
	return false
}

// logAnswer makes an operation of what a person said since an event, if no turn has made one of it: `wfs undo`
// takes it back.
func (h *Hand) logAnswer(ctx context.Context, since int64) error {
	var kind string
	var what []string
	for _, ev := range h.live {
		if ev.Seq <= since {
			continue
		}
		switch b := ev.Body.(type) {
		case session.Noted:
			if b.Meanwhile {
				continue
			}
			kind, what = OpNote, append(what, b.Text)
			if b.Back {
				kind = OpReject
			}
		case session.Allowed:
			kind, what = OpAllow, append(what, b.Paths...)
		case session.BudgetSet:
			kind = OpBudget
		case session.Agreed:
			kind = OpApprove
		}
	}
	if kind == "" {
		return nil
	}
	summary := kind + " " + string(h.ID)
	if len(what) > 0 {
		summary = said(summary, firstOf(what))
	}
	_, err := h.recordOp(ctx, func(t session.Turn) session.Body {
		return session.Answered{Op: kind, Summary: summary, Since: since, Turn: t}
	})
	return err
}

// give carries an answer out.
func (h *Hand) give(ctx context.Context, text string, no bool) error {
	work := context.WithoutCancel(ctx)
	if err := h.mayDrive(work); err != nil {
		return err
	}
	if o := h.S.Open; o != nil && o.Run != nil && (o.Run.Approved || o.Run.Rejected) {
		if o.Run.Rejected == no { // the answer was given already, and what came of it was not recorded
			return h.carryOut(ctx, nil)
		}
		if err := h.append(session.Interrupted{Why: "answered again"}); err != nil {
			return err
		}
		if err := h.rest(""); err != nil {
			return err
		}
	}
	if err := errors.Join(h.askAgain(), h.waitAgain()); err != nil {
		return err
	}
	at, stay := stands(&h.S), stood(&h.S)
	agrees := h.S.Status == session.StatusWaiting && h.S.Waiting.Agree
	switch {
	case !agrees && h.answered(no, text): // by somebody whose process died before it could say so
		return h.carryOut(ctx, nil)
	case no && h.S.Status == session.StatusCompleted:
		return session.Refuse(session.RefuseUsage, fmt.Sprintf(`wfs run %s --note "what is still to be done"`, h.ID),
			"%s is completed, and is not waiting for an answer", h.ID)
	case at.yes == 0:
		return session.Refuse(session.RefuseUsage, "wfs status "+string(h.ID),
			"%s is not waiting for an answer", h.ID)
	case agrees && no && h.S.Phase == workflows.Done:
		return h.workOn(ctx, text)
	case agrees && no:
		return h.append(session.Noted{Text: text, Back: true},
			session.Paused{Why: said("there is still something to do", text)})
	case at.yes == yesWords:
		return session.Refuse(session.RefuseUsage, `wfs run --note "your answer"`,
			"the agent asks a question that needs more than yes or no: %s", h.S.Waiting.Ask)
	case at.yes == yesDone && !no && text != "":
		return h.append(session.Noted{Text: text}, session.Agreed{By: "person"})
	case at.yes == yesDone && !no:
		return h.append(session.Agreed{By: "person"})
	case at.yes == yesBack && !no:
		return h.writeTestsAnew(ctx, text)
	}
	if err := errors.Join(h.NoSurvivors(), h.inPlan()); err != nil {
		return err
	}
	snap, err := h.snapshot(work)
	if err != nil {
		return err
	}
	if no && h.S.Status == session.StatusBlocked { // who works next knows more than those before
		if err := h.append(session.BreakerReset{}); err != nil {
			return err
		}
	}
	run := session.RunResult{Outcome: session.OutcomeOK, Note: oneLine(text, 500), Rejected: no, Approved: !no}
	err = h.append(session.AttemptStarted{Number: h.S.Runs + 1, Phase: h.S.Phase, Lap: h.S.Lap,
		Attempt: h.S.Visit.Attempts + 1,
		RunID:   h.e.NewRunID(h.ID, h.S.Runs+1), Tree: snap.Tree, Runner: runnerPerson},
		session.RunEnded{RunResult: run, Tree: snap.Tree})
	if err != nil {
		return err
	}
	if text != "" { // in the reason it is cut to a line
		if err := h.append(session.Noted{Text: text, Back: no}); err != nil {
			return err
		}
	}
	h.e.hit("answer/given")
	return h.carryOut(ctx, stay)
}

// workOn takes work that seemed to be complete back to where its first open item is worked on, with a person's word.
func (h *Hand) workOn(ctx context.Context, text string) error {
	if err := h.append(session.Noted{Text: text, Back: true}); err != nil {
		return err
	}
	return h.lead(ctx, h.backToWork(said("there is still something to do", text)))
}

// backToWork leads from work that is complete to where its first open item is worked on, or its last one.
func (h *Hand) backToWork(why string) session.PhaseMoved {
	w := &h.Plan.Workflow
	b := session.PhaseMoved{From: h.S.Phase, To: workingPhase(w), Lap: h.S.Lap, Why: why}
	if w.Laps != nil {
		b.To, b.NewLap = w.Start, true
		if open := items.Open(&h.S); len(open) > 0 {
			b.Lap = open[0].Number
		}
	}
	return b
}

// workingPhase is the last phase in which an agent does the work and does not review it, the first one when
// there is none.
func workingPhase(w *workflows.Workflow) session.PhaseName {
	for _, ph := range slices.Backward(w.Phases) {
		if ph.Run.Agent && ph.Review == nil {
			return ph.Name
		}
	}
	return w.Start
}

// waitAgain lets a phase of a person wait when something interrupted that.
func (h *Hand) waitAgain() error {
	ph := h.Plan.Workflow.Phase(h.S.Phase)
	if ph == nil || !ph.Run.Human || h.S.Open != nil || h.S.Conclude {
		return nil
	}
	switch {
	case h.S.Status == session.StatusInterrupted, h.S.Status == session.StatusPaused, h.S.Status == session.StatusRunning,
		h.S.Status == session.StatusBlocked && h.S.Blocked.Reason == session.BlockGate: // it could not be judged
		return h.rest("")
	}
	return nil
}

// answered reports whether this very answer has just become a checkpoint.
func (h *Hand) answered(no bool, text string) bool {
	c := h.S.At(h.S.Current)
	switch {
	case c == nil || h.S.Last == nil:
		return false
	case no:
		told := h.S.Status == session.StatusPaused &&
			slices.ContainsFunc(h.S.Said, func(x session.Said) bool { return x.Text == text && !x.Told })
		return c.Class == session.ClassRejected && (h.S.Conclude || told)
	}
	return c.Class == session.ClassApproved && (h.S.Conclude || h.S.Status == session.StatusCompleted)
}

// carryOut judges the open attempt of a person, makes its checkpoint, and stops there: nobody else is set to work. stay
// is where the session stands when a gate says no to a yes, nil for where that leads.
func (h *Hand) carryOut(ctx context.Context, stay session.Body) error {
	work := context.WithoutCancel(ctx)
	for h.S.Open != nil {
		d := Decide(&h.S, h.Plan, Facts{Now: h.e.Clock.Now()})
		if err := h.append(d.Events...); err != nil {
			return err
		}
		done, err := h.perform(ctx, work, d, RunOptions{})
		if err != nil || done {
			return err
		}
	}
	if d, done := conclusion(&h.S, h.Plan, Facts{}); done {
		return h.append(d.Events...)
	}
	if stay != nil && h.S.Last.Verdict != session.Pass && h.S.Last.Class != session.ClassRejected {
		return h.append(stay)
	}
	why := string(h.S.Last.Class)
	if h.S.Last.Verdict != session.Pass && h.S.Last.Class != session.ClassRejected { // a gate had the last word
		why = said("the approval was refused: "+why, oneLine(h.S.Last.Reason, 200))
	}
	return h.rest(why)
}

// rest ends a person's act: the session waits for the next one if its phase is a person's, and else for a run.
func (h *Hand) rest(why string) error {
	if h.S.Phase == workflows.Done { // completed, or a question about what nothing judged
		return nil
	}
	if ph := h.Plan.Workflow.Phase(h.S.Phase); ph != nil && ph.Run.Human {
		return h.append(asking(question(ph)))
	}
	return h.append(session.Paused{Why: why})
}

// PhaseBack takes the session back to an earlier phase: the named one, or the one before the present one.
func (h *Hand) PhaseBack(ctx context.Context, to session.PhaseName, why string) error {
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
	case i >= at:
		return session.Refuse(session.RefuseUsage, `wfs approve --anyway "why"`,
			"%s does not come before %s", to, h.S.Phase)
	}
	tests := slices.ContainsFunc(phases[h.phaseIndex(to):at], func(p workflows.Phase) bool { return p.WritesTests() })
	return h.lead(ctx, session.PhaseMoved{From: h.S.Phase, To: to, Lap: h.S.Lap, Tests: tests, Why: oneLine(why, 500)})
}

// PhaseSkip goes on as if the present phase had been passed. Nothing is judged by that: what is handed over later must
// still be green, and says what was skipped.
func (h *Hand) PhaseSkip(ctx context.Context, why string) error { return h.pass(ctx, why, false) }

// pass leaves the present phase forward without a verdict.
func (h *Hand) pass(ctx context.Context, why string, anyway bool) error {
	if err := h.mayLead(ctx); err != nil {
		return err
	}
	if h.phaseIndex(h.S.Phase) < 0 {
		return session.Refuse(session.RefuseUsage, "wfs finish", "the work is done: there is no phase to skip")
	}
	target, err := next(&h.Plan.Workflow, h.S.Phase, session.Pass)
	if err != nil {
		return err
	}
	b := session.PhaseMoved{From: h.S.Phase, To: target, Lap: h.S.Lap, Skip: true, Anyway: anyway, Why: oneLine(why, 500)}
	if target == workflows.NextLap {
		b.NewLap, b.To, b.Lap = true, h.Plan.Workflow.Start, lapAfter(&h.S, h.Plan)
		if b.Lap == 0 {
			b.To, b.Lap = workflows.Done, h.S.Lap
		}
	}
	return h.lead(ctx, b)
}

func (h *Hand) mayLead(ctx context.Context) error {
	if err := h.mayDrive(ctx); err != nil {
		return err
	}
	if h.S.Open != nil {
		return session.Refuse(session.RefuseUsage, "wfs run --max-attempts 1",
			"an attempt at %s is not judged yet", h.S.Open.Phase)
	}
	return h.NoSurvivors()
}

func (h *Hand) phaseIndex(name session.PhaseName) int {
	for i, p := range h.Plan.Workflow.Phases {
		if p.Name == name {
			return i
		}
	}
	return -1
}

func (h *Hand) noPhase(name session.PhaseName) error {
	var names []string
	for _, p := range h.Plan.Workflow.Phases {
		names = append(names, string(p.Name))
	}
	r := session.Refuse(session.RefuseUsage, "wfs workflow show "+h.S.Workflow,
		"workflow %s has no phase %q: %s", h.S.Workflow, name, strings.Join(names, ", "))
	if near := workflows.Suggest(string(name), names); near != "" {
		r.Hint = "wfs reject --to " + near
	}
	return r
}

func (h *Hand) lead(ctx context.Context, b session.PhaseMoved) error {
	if ph := h.Plan.Workflow.Phase(b.To); ph != nil && ph.Run.Human {
		b.Ask = question(ph)
	}
	_, err := h.recordOp(ctx, func(t session.Turn) session.Body {
		b.Turn = t
		return b
	})
	return err
}

// nothingToHand refuses to hand over what changes nothing. A run would do nothing either, of a session that is
// completed or waits for the word that it is.
func (h *Hand) nothingToHand(onto session.Commit) error {
	r := session.Refuse(session.RefuseNotGreen, "wfs run",
		"there is nothing to hand over: the files are the same as on the base")
	switch w := h.S.Waiting; {
	case h.S.Status == session.StatusWaiting && w != nil && w.Agree:
		r.Hint = `wfs reject -m "what is still missing" && wfs run, or wfs abandon`
	case h.S.Status == session.StatusCompleted:
		r.Hint = `wfs run --note "what is to be done", or wfs abandon`
	}
	if onto != h.S.Base {
		r.Message = "there is nothing to hand over: " + short(h.S.BaseRef) + " has all of it"
		if m := h.movedBase(); m != nil && m.Old != "" && m.New != "" {
			r.Message += fmt.Sprintf(", and was moved during a run, from %s to %s", m.Old.Short(), m.New.Short())
			r.Hint = fmt.Sprintf("git update-ref %s %s %s", m.Ref, m.Old, m.New)
		}
	}
	return r
}

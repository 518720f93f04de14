package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/wfs-dev/wfs/engine/decide"
	"github.com/wfs-dev/wfs/internal/safetext"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

// Approve answers yes to a session that waits or is blocked. The phase's gates then judge the current work tree; or, if
// the question is whether an item or all work is done, that is accepted. decide.Stands has all cases. `text`, which may
// be empty, is recorded with the answer.
func (h *Hand) Approve(ctx context.Context, text string) error { return h.answer(ctx, text, false) }

// Reject answers no to a session that waits or is blocked. The next brief contains the reason `why`.
func (h *Hand) Reject(ctx context.Context, why string) error { return h.answer(ctx, why, true) }

func (h *Hand) answer(ctx context.Context, text string, no bool) error {
	since := h.S.Seq
	if err := h.give(ctx, text, no); err != nil {
		return err
	}
	return h.LogAnswer(context.WithoutCancel(ctx), since)
}

// give carries out an answer, but does not log it as an operation. `no` means a rejection.
func (h *Hand) give(ctx context.Context, text string, no bool) error {
	work := context.WithoutCancel(ctx)
	if err := h.MayDrive(work); err != nil {
		return err
	}
	if o := h.S.Open; o != nil && o.Run != nil && (o.Run.Approved || o.Run.Rejected) {
		if o.Run.Rejected == no { // the same answer was given already, but its outcome was not recorded
			return h.carryOut(ctx, nil)
		}
		if err := h.Append(session.Interrupted{Why: "answered again"}); err != nil {
			return err
		}
		if err := h.rest(""); err != nil {
			return err
		}
	}
	if err := errors.Join(h.askAgain(), h.waitAgain()); err != nil {
		return err
	}
	at, stay := decide.Stands(&h.S), decide.Stood(&h.S)
	agrees := h.S.Status == session.StatusWaiting && h.S.Waiting.Agree
	switch {
	case !agrees && h.answered(no, text): // a process that died had already carried out this answer
		return h.carryOut(ctx, nil)
	case no && h.S.Status == session.StatusCompleted:
		return session.Refuse(session.RefuseUsage, fmt.Sprintf(`wfs run %s --note "what is still to be done"`, h.ID),
			"%s is completed, and is not waiting for an answer", h.ID)
	case at.Yes == 0 && h.S.Status == session.StatusPaused:
		return session.Refuse(session.RefuseUsage, "wfs run "+string(h.ID),
			"%s is not waiting for an answer: it is paused in %s", h.ID, h.S.Phase)
	case at.Yes == 0:
		return session.Refuse(session.RefuseUsage, "wfs status "+string(h.ID),
			"%s is not waiting for an answer", h.ID)
	case agrees && no && h.S.Phase == workflows.Done:
		return h.WorkOn(ctx, text)
	case agrees && no:
		return h.Append(session.Noted{Text: text, Back: true},
			session.Paused{Why: safetext.WithReason("there is still something to do", text)})
	case at.Yes == decide.YesWords:
		return session.Refuse(session.RefuseUsage, `wfs run --note "your answer"`,
			"the agent asks a question that needs more than yes or no: %s", h.S.Waiting.Ask)
	case at.Yes == decide.YesDone && !no && text != "":
		return h.Append(session.Noted{Text: text}, session.Agreed{By: "person"})
	case at.Yes == decide.YesDone && !no:
		return h.Append(session.Agreed{By: "person"})
	case at.Yes == decide.YesBack && !no:
		return h.WriteTestsAnew(ctx, text)
	}
	if err := errors.Join(h.NoSurvivors(), h.InPlan()); err != nil {
		return err
	}
	snap, err := h.Snapshot(work)
	if err != nil {
		return err
	}
	if no && h.S.Status == session.StatusBlocked { // the next attempt knows the person's reason, unlike those that failed
		if err := h.Append(session.BreakerReset{}); err != nil {
			return err
		}
	}
	run := session.RunResult{Outcome: session.OutcomeOK, Note: safetext.OneLine(text, 500), Rejected: no, Approved: !no}
	err = h.Append(session.AttemptStarted{Number: h.S.Runs + 1, Phase: h.S.Phase, Lap: h.S.Lap,
		Attempt: h.S.Visit.Attempts + 1,
		RunID:   h.Engine.NewRunID(h.ID, h.S.Runs+1), Tree: snap.Tree, Runner: decide.RunnerPerson},
		session.RunEnded{RunResult: run, Tree: snap.Tree})
	if err != nil {
		return err
	}
	if text != "" { // RunResult.Note has only its beginning, on one line
		if err := h.Append(session.Noted{Text: text, Back: no}); err != nil {
			return err
		}
	}
	h.Engine.Hit("answer/given")
	return h.carryOut(ctx, stay)
}

// waitAgain makes a session in a human phase wait for its answer again, after an interruption, or after gates that
// could not judge the answered attempt.
func (h *Hand) waitAgain() error {
	ph := h.Plan.Workflow.Phase(h.S.Phase)
	if ph == nil || !ph.Run.Human || h.S.Open != nil || h.S.Conclude {
		return nil
	}
	switch {
	case h.S.Status == session.StatusInterrupted, h.S.Status == session.StatusPaused, h.S.Status == session.StatusRunning,
		h.S.Status == session.StatusBlocked && h.S.Blocked.Reason == session.BlockGate: // the gates could not judge
		return h.rest("")
	}
	return nil
}

// answered reports whether the current checkpoint already results from the same answer.
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

// carryOut judges the attempt that an answer has opened and makes its checkpoint. It starts no agent. If a gate fails
// an approved attempt, `stay` becomes the session's state; if `stay` is nil, the verdict decides.
func (h *Hand) carryOut(ctx context.Context, stay session.Body) error {
	work := context.WithoutCancel(ctx)
	for h.S.Open != nil {
		d := decide.Decide(&h.S, h.Plan, decide.Facts{Now: h.Engine.Clock.Now()})
		if err := h.Append(d.Events...); err != nil {
			return err
		}
		done, err := h.perform(ctx, work, d, RunOptions{})
		if err != nil || done {
			return err
		}
	}
	if d, done := decide.Conclusion(&h.S, h.Plan, decide.Facts{}); done {
		return h.Append(d.Events...)
	}
	if stay != nil && h.S.Last.Verdict != session.Pass && h.S.Last.Class != session.ClassRejected {
		return h.Append(stay)
	}
	why := string(h.S.Last.Class)
	// a gate failed although the person approved
	if h.S.Last.Verdict != session.Pass && h.S.Last.Class != session.ClassRejected {
		why = safetext.WithReason("the approval was refused: "+why, safetext.OneLine(h.S.Last.Reason, 200))
	}
	return h.rest(why)
}

// rest ends a person's action. In a human phase the session waits for the next answer. In all other phases it is paused
// until the next run, for the reason `why`.
func (h *Hand) rest(why string) error {
	if h.S.Phase == workflows.Done { // the session is completed, or asks whether work that no gate judged is done
		return nil
	}
	if ph := h.Plan.Workflow.Phase(h.S.Phase); ph != nil && ph.Run.Human {
		return h.Append(decide.Asking(decide.Question(ph)))
	}
	return h.Append(session.Paused{Why: why})
}

// askAgain makes a session wait for the answer to its last judgement's question, if the run died after the checkpoint
// and before it could do so.
func (h *Drive) askAgain() error {
	if h.S.Open != nil || !h.S.Conclude || h.S.Last == nil || h.S.Last.Class != session.ClassAsked {
		return nil
	}
	return h.Append(decide.WaitsForAnswer(&h.S))
}

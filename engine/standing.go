package engine

import (
	"context"
	"fmt"

	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

// yes is what a person's yes means to a session that stands still.
type yes int

const (
	yesJudge yes = iota + 1 // the gates of the phase judge the work tree as it is now, and what was found in it is allowed
	yesDone                 // the item, or the work, is done
	yesBack                 // a test is wrong: the work goes back to where tests are written
	yesWords                // none: it asks for more than yes or no
)

// standing is a row of the table of what a session can stand still for.
type standing struct {
	yes   yes
	stays bool // it stands there still when a gate says no: what stopped it has nothing to do with that
}

// standings are the rows for sessions that are blocked, but for tests that were changed; see stands.
var standings = map[session.BlockReason]standing{
	session.BlockBreaker:   {yesJudge, true},
	session.BlockGate:      {yesJudge, false},
	session.BlockRunner:    {yesJudge, true},
	session.BlockConflict:  {yesJudge, true},
	session.BlockSurvivors: {yesJudge, true},
	session.BlockTamper:    {yesJudge, false},
	session.BlockBudget:    {yesJudge, true},
	session.BlockLimit:     {yesDone, false},
}

// stands says what an answer means to a session where it stands. It is zero for one that waits for none.
func stands(s *session.Session) standing {
	switch w := s.Waiting; {
	case s.Status == session.StatusBlocked && s.Blocked.Reason == session.BlockTamper && s.Last != nil &&
		s.Last.Class == session.ClassTestChange:
		return standing{yes: yesBack}
	case s.Status == session.StatusBlocked:
		return standings[s.Blocked.Reason]
	case s.Status != session.StatusWaiting:
		return standing{}
	case w.Reason == session.WaitLimit:
		return standing{yesJudge, true}
	case w.Agree:
		return standing{yes: yesDone}
	case w.Approve:
		return standing{yes: yesJudge}
	}
	return standing{yes: yesWords}
}

// stood is the event that lets a session stand where it stood, nil where a no of the gates is an answer by itself.
func stood(s *session.Session) session.Body {
	switch {
	case !stands(s).stays:
		return nil
	case s.Status == session.StatusWaiting:
		return *s.Waiting
	}
	b := *s.Blocked
	b.Answered = true
	return b
}

// ApproveAnyway lets the present phase pass although nothing judged it so, or a gate says no. Nothing is judged by
// that: it is told wherever the work is told of.
func (h *Hand) ApproveAnyway(ctx context.Context, why string) error {
	if w := h.S.Waiting; h.S.Status == session.StatusWaiting && w.Agree {
		return session.Refuse(session.RefuseUsage, fmt.Sprintf("wfs approve %s -m WHY", h.ID),
			"it needs a yes or a no")
	}
	return h.pass(ctx, why, true)
}

// writeTestsAnew takes the work back to where tests are written, as its attempts ask for.
func (h *Hand) writeTestsAnew(ctx context.Context, text string) error {
	red := h.Plan.Workflow.Red()
	why := h.S.TestChange
	if h.S.LastResult != nil && h.S.LastResult.TestChange != "" {
		why = h.S.LastResult.TestChange
	}
	if text != "" {
		why = text
	}
	return h.lead(ctx, session.PhaseMoved{From: h.S.Phase, To: red.Name, Lap: h.S.Lap, Tests: true,
		Why: oneLine(why, 500)})
}

// inPlan refuses an answer about a phase that the workflow does not have.
func (h *Hand) inPlan() error {
	if h.S.Phase == workflows.Done || h.phaseIndex(h.S.Phase) >= 0 {
		return nil
	}
	return h.noPhase(h.S.Phase)
}

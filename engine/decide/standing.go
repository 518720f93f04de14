package decide

import (
	"github.com/wfs-dev/wfs/session"
)

// yes is the effect of a person's approval on a session that has stopped.
type yes int

const (
	yesJudge yes = iota + 1 // the phase's gates judge the current work tree; its tamper findings are allowed
	YesDone                 // the item, or all work, is done
	YesBack                 // a test is wrong: return to the phase that writes tests
	YesWords                // none: the question needs more than yes or no
)

// standing is a row of the table of reasons why a session stops.
type standing struct {
	Yes   yes
	stays bool // the session stays stopped when a gate fails: its reason is unrelated to gates
}

// standings has the rows of blocked sessions, except those with changed tests; see Stands.
var standings = map[session.BlockReason]standing{
	session.BlockBreaker:   {yesJudge, true},
	session.BlockGate:      {yesJudge, false},
	session.BlockRunner:    {yesJudge, true},
	session.BlockConflict:  {yesJudge, true},
	session.BlockSurvivors: {yesJudge, true},
	session.BlockTamper:    {yesJudge, false},
	session.BlockBudget:    {yesJudge, true},
	session.BlockLimit:     {YesDone, false},
}

// Stands returns the effect of an answer on a session. It is zero for a session that waits for none.
func Stands(s *session.Session) standing {
	switch w := s.Waiting; {
	case s.Status == session.StatusBlocked && s.Blocked.Reason == session.BlockTamper && s.Last != nil &&
		s.Last.Class == session.ClassTestChange:
		return standing{Yes: YesBack}
	case s.Status == session.StatusBlocked:
		return standings[s.Blocked.Reason]
	case s.Status != session.StatusWaiting:
		return standing{}
	case w.Reason == session.WaitLimit:
		return standing{yesJudge, true}
	case w.Agree:
		return standing{Yes: YesDone}
	case w.Approve:
		return standing{Yes: yesJudge}
	}
	return standing{Yes: YesWords}
}

// Stood returns the event that keeps a session stopped as before, nil if failing gates change its state.
func Stood(s *session.Session) session.Body {
	switch {
	case !Stands(s).stays:
		return nil
	case s.Status == session.StatusWaiting:
		return *s.Waiting
	}
	b := *s.Blocked
	b.Answered = true
	return b
}

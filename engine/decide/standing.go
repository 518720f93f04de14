package decide

import (
	"github.com/wfs-dev/wfs/session"
)

// yes is the effect of a person's approval on a session that has stopped.
type yes int

const (
	yesJudge yes = iota + 1 // the phase's gates judge the current work tree; tests that were weakened before are accepted
	YesDone                 // the item, or all work, is done
	YesBack                 // a test is wrong: return to the phase that writes tests
	YesWords                // approval is not possible: the question needs more than yes or no
)

// standing says how an answer affects a session that has stopped for a certain reason. The zero value means that the
// session waits for no answer.
type standing struct {
	Yes yes
	// the session stays stopped if a gate fails the approved work, because it has stopped for a reason unrelated to gates
	stays bool
}

// standings has the effect of an answer on a blocked session, by the reason of the block. Stands handles all others,
// such as sessions whose agent asks to change tests.
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

// Stands returns the effect of an answer on a session. It is zero for a session that waits for no answer.
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

// Stood returns the event that stops a session again as before, after a gate has failed the work that a person
// approved. It returns nil if the verdict of the gates determines the new state.
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

package decide

import (
	"github.com/wfs-dev/wfs/session"
)

// yes is what a person's yes means to a session that stands still.
type yes int

const (
	yesJudge yes = iota + 1 // the gates of the phase judge the work tree as it is now, and what was found in it is allowed
	YesDone                 // the item, or the work, is done
	YesBack                 // a test is wrong: the work goes back to where tests are written
	YesWords                // none: it asks for more than yes or no
)

// standing is a row of the table of what a session can stand still for.
type standing struct {
	Yes   yes
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
	session.BlockLimit:     {YesDone, false},
}

// Stands says what an answer means to a session where it stands. It is zero for one that waits for none.
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

// Stood is the event that lets a session stand where it stood, nil where a no of the gates is an answer by itself.
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

package fold

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/looplab/fsm"

	"github.com/wfs-dev/wfs/session"
)

// The states of the life cycle that are no status: unborn is before the first event, the others are stages of
// an attempt during a run, and operations that have begun.
const (
	unborn    = "[*]"
	started   = "started"
	ran       = "ran"
	judged    = "judged"
	decided   = "decided"
	moving    = "moving"
	finishing = "finishing"
	deleting  = "deleting"
)

// groups of states that the table names together.
var groups = map[string][]string{
	"rest":    {"created", "running", "paused", "interrupted", "waiting", "blocked", "completed"},
	"attempt": {started, ran, judged, decided},
	"over":    {"finished", "abandoned"},
	"begun":   {moving, finishing, deleting},
}

// unchanged stands for the state before the event.
const unchanged = "unchanged"

// transition is a line of the life cycle: events of these kinds lead from each of some states to one of others.
type transition struct {
	kinds    []session.Kind
	from, to string // states and groups
}

// lifecycle is every order that the events of a session can have. An attempt can be left after its run has
// ended: then a person may do what can be done at rest, but for what would be about another attempt.
var lifecycle = []transition{
	{[]session.Kind{session.KindCreated}, unborn, "created waiting completed"}, // a fork may begin with finished work
	{[]session.Kind{session.KindBaseline}, "rest", unchanged},

	{[]session.Kind{session.KindDriving}, "rest ran", "running waiting ran"},
	{[]session.Kind{session.KindAttemptStarted}, "rest", started},
	{[]session.Kind{session.KindRunEnded}, started, ran},
	{[]session.Kind{session.KindJudged}, ran, judged},
	{[]session.Kind{session.KindDecided}, judged, decided},
	{[]session.Kind{session.KindReopened}, "ran judged decided", ran},
	{[]session.Kind{session.KindCheckpointed}, decided, "running waiting completed"},
	{[]session.Kind{session.KindCheckpointed}, ran, "running"},
	{[]session.Kind{session.KindCheckpointed}, "rest over", unchanged},
	{[]session.Kind{session.KindVoided}, "started ran", "running"},
	{[]session.Kind{session.KindInterrupted}, "rest attempt", "interrupted"},
	{[]session.Kind{session.KindPaused}, "rest attempt", "paused"},
	{[]session.Kind{session.KindWaiting}, "rest attempt", "waiting"},
	{[]session.Kind{session.KindBlocked}, "rest attempt", "blocked"},

	{[]session.Kind{session.KindStrayed, session.KindUsageFound, session.KindBudgetWarned, session.KindBudgetSet,
		session.KindAllowed, session.KindNoted}, "rest attempt over",
		unchanged},
	{[]session.Kind{session.KindNoted}, "waiting", "paused"},
	{[]session.Kind{session.KindBudgetSet, session.KindBreakerReset}, "blocked", "paused"},
	{[]session.Kind{session.KindBreakerReset}, "rest ran", unchanged},
	{[]session.Kind{session.KindAgreed, session.KindPhaseMoved}, "rest", "paused waiting completed"},
	{[]session.Kind{session.KindRenamed, session.KindAnswered}, "rest ran over", unchanged},
	{[]session.Kind{session.KindEdited}, "rest ran", "unchanged paused waiting completed"},
	{[]session.Kind{session.KindRepinned}, "rest", "unchanged paused"},
	{[]session.Kind{session.KindTakenBack}, "rest ran over", "rest ran over"},
	{[]session.Kind{session.KindAbandoned}, "rest ran", "abandoned"},
	{[]session.Kind{session.KindRevived}, "abandoned", "rest"},

	{[]session.Kind{session.KindMoveStarted}, "rest ran over moving", moving},
	{[]session.Kind{session.KindMoved}, moving, "rest ran over"},
	{[]session.Kind{session.KindFinishStarted}, "rest ran", finishing},
	{[]session.Kind{session.KindFinished}, finishing, "finished"},
	{[]session.Kind{session.KindDeleteStarted}, "rest ran over", deleting},
	{[]session.Kind{session.KindDropped}, "begun", "rest ran over"},
	{[]session.Kind{session.KindDropped}, "rest attempt over begun", unchanged}, // a turn before it
}

// states are the states that a list of states and groups names.
func states(list string) (all []string) {
	for _, name := range strings.Fields(list) {
		if group, ok := groups[name]; ok {
			all = append(all, group...)
		} else {
			all = append(all, name)
		}
	}
	return all
}

// machine says which events are possible in a state. What they lead to depends on their contents, and is up to
// the fold.
var machine = sync.OnceValue(func() *fsm.FSM {
	var events fsm.Events
	for _, t := range lifecycle {
		for _, k := range t.kinds {
			events = append(events, fsm.EventDesc{Name: string(k), Src: states(t.from), Dst: t.to})
		}
	}
	return fsm.NewFSM(unborn, events, nil)
})

var machineLock sync.Mutex // of its current state

// state is where the session is in its life cycle.
func state(s *session.Session) string {
	switch o := s.Open; {
	case s.Version == 0:
		return unborn
	case s.Deleting != nil:
		return deleting
	case s.Finishing != nil:
		return finishing
	case s.Moving != nil:
		return moving
	case o == nil || s.Status != session.StatusRunning: // what was interrupted may be gone on with, or be left
		return string(s.Status)
	case o.Decided != nil:
		return decided
	case o.Judgement != nil:
		return judged
	case o.Run != nil:
		return ran
	}
	return started
}

// mayFollow refuses an event that is against the life cycle.
func mayFollow(s *session.Session, k session.Kind) error {
	state := state(s)
	machineLock.Lock()
	defer machineLock.Unlock()
	m := machine()
	if m.SetState(state); m.Can(string(k)) {
		return nil
	}
	switch {
	case state == unborn:
		return fmt.Errorf("%s is not possible before the session is created", k)
	case slices.Contains(groups["attempt"], state):
		return fmt.Errorf("%s is not possible while the session is running (attempt %s)", k, state)
	}
	return fmt.Errorf("%s is not possible while the session is %s", k, state)
}

package session

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/looplab/fsm"
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
	kinds    []Kind
	from, to string // states and groups
}

// lifecycle is every order that the events of a session can have. An attempt can be left after its run has
// ended: then a person may do what can be done at rest, but for what would be about another attempt.
var lifecycle = []transition{
	{[]Kind{KindCreated}, unborn, "created waiting completed"}, // a fork may begin with finished work
	{[]Kind{KindBaseline}, "rest", unchanged},

	{[]Kind{KindDriving}, "rest ran", "running waiting ran"},
	{[]Kind{KindAttemptStarted}, "rest", started},
	{[]Kind{KindRunEnded}, started, ran},
	{[]Kind{KindJudged}, ran, judged},
	{[]Kind{KindDecided}, judged, decided},
	{[]Kind{KindReopened}, "ran judged decided", ran},
	{[]Kind{KindCheckpointed}, decided, "running waiting completed"},
	{[]Kind{KindCheckpointed}, ran, "running"},
	{[]Kind{KindCheckpointed}, "rest over", unchanged},
	{[]Kind{KindVoided}, "started ran", "running"},
	{[]Kind{KindInterrupted}, "rest attempt", "interrupted"},
	{[]Kind{KindPaused}, "rest attempt", "paused"},
	{[]Kind{KindWaiting}, "rest attempt", "waiting"},
	{[]Kind{KindBlocked}, "rest attempt", "blocked"},

	{[]Kind{KindStrayed, KindUsageFound, KindBudgetWarned, KindBudgetSet, KindAllowed, KindNoted}, "rest attempt over",
		unchanged},
	{[]Kind{KindNoted}, "waiting", "paused"},
	{[]Kind{KindBudgetSet, KindBreakerReset}, "blocked", "paused"},
	{[]Kind{KindBreakerReset}, "rest ran", unchanged},
	{[]Kind{KindAgreed, KindPhaseMoved}, "rest", "paused waiting completed"},
	{[]Kind{KindRenamed, KindAnswered}, "rest ran over", unchanged},
	{[]Kind{KindEdited}, "rest ran", "unchanged paused waiting completed"},
	{[]Kind{KindRepinned}, "rest", "unchanged paused"},
	{[]Kind{KindTakenBack}, "rest ran over", "rest ran over"},
	{[]Kind{KindAbandoned}, "rest ran", "abandoned"},
	{[]Kind{KindRevived}, "abandoned", "rest"},

	{[]Kind{KindMoveStarted}, "rest ran over moving", moving},
	{[]Kind{KindMoved}, moving, "rest ran over"},
	{[]Kind{KindFinishStarted}, "rest ran", finishing},
	{[]Kind{KindFinished}, finishing, "finished"},
	{[]Kind{KindDeleteStarted}, "rest ran over", deleting},
	{[]Kind{KindDropped}, "begun", "rest ran over"},
	{[]Kind{KindDropped}, "rest attempt over begun", unchanged}, // a turn before it
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
func (s *Session) state() string {
	switch o := s.Open; {
	case s.Version == 0:
		return unborn
	case s.Deleting != nil:
		return deleting
	case s.Finishing != nil:
		return finishing
	case s.Moving != nil:
		return moving
	case o == nil || s.Status != StatusRunning: // what was interrupted may be gone on with, or be left
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
func (s *Session) mayFollow(k Kind) error {
	state := s.state()
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

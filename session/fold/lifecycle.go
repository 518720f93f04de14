package fold

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/looplab/fsm"

	"github.com/wfs-dev/wfs/session"
)

// States of the life cycle that are not a status of a session. unborn is the state before the first event. The others
// are stages of an attempt, and operations in progress.
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

// groups names sets of states, for use in the table lifecycle.
var groups = map[string][]string{
	"rest":    {"created", "running", "paused", "interrupted", "waiting", "blocked", "completed"},
	"attempt": {started, ran, judged, decided},
	"over":    {"finished", "abandoned"},
	"begun":   {moving, finishing, deleting},
}

// unchanged stands for the state in which the session was before the event.
const unchanged = "unchanged"

// transition is a line of the table lifecycle: in any of the states `from`, an event of one of these kinds is possible,
// and leads to one of the states `to`.
type transition struct {
	kinds    string
	from, to string // names of states and groups
}

// lifecycle has all possible orders of a session's events. While the result of a run is not judged yet, the events
// between attempts are possible as well, except the start of another attempt.
var lifecycle = []transition{
	{"created", unborn, "created waiting completed"}, // a fork may begin with finished work
	{"baseline", "rest", unchanged},

	{"driving", "rest ran", "running waiting ran"},
	{"attempt_started", "rest", started},
	{"run_ended", started, ran},
	{"judged", ran, judged},
	{"decided", judged, decided},
	{"reopened", "ran judged decided", ran},
	{"checkpointed", decided, "running waiting completed"},
	{"checkpointed", ran, "running"},
	{"checkpointed", "rest over", unchanged},
	{"voided", "started ran", "running"},
	{"interrupted", "rest attempt", "interrupted"},
	{"paused", "rest attempt", "paused"},
	{"waiting", "rest attempt", "waiting"},
	{"blocked", "rest attempt", "blocked"},

	{"strayed usage_found budget_warned budget_set allowed noted", "rest attempt over",
		unchanged},
	{"noted", "waiting", "paused"},
	{"budget_set breaker_reset", "blocked", "paused"},
	{"breaker_reset", "rest ran", unchanged},
	{"agreed phase_moved", "rest", "paused waiting completed"},
	{"renamed answered", "rest ran over", unchanged},
	{"edited", "rest ran", "unchanged paused waiting completed"},
	{"repinned", "rest", "unchanged paused"},
	{"taken_back", "rest ran over", "rest ran over"},
	{"abandoned", "rest ran", "abandoned"},
	{"revived", "abandoned", "rest"},

	{"move_started", "rest ran over moving", moving},
	{"moved", moving, "rest ran over"},
	{"finish_started", "rest ran", finishing},
	{"finished", finishing, "finished"},
	{"delete_started", "rest ran over", deleting},
	{"dropped", "begun", "rest ran over"},
	{"dropped", "rest attempt over begun", unchanged}, // an earlier turn was dropped
}

// states returns the states in a list, with groups expanded.
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

// machine knows which events are possible in a state. It does not determine the next state: that depends on the event's
// content, so the fold does it.
var machine = sync.OnceValue(func() *fsm.FSM {
	var events fsm.Events
	for _, t := range lifecycle {
		for k := range strings.FieldsSeq(t.kinds) {
			events = append(events, fsm.EventDesc{Name: k, Src: states(t.from), Dst: t.to})
		}
	}
	return fsm.NewFSM(unborn, events, nil)
})

var machineLock sync.Mutex // guards the current state of machine

// state returns the state of the session in the life cycle: its status, or one of the states above.
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
	case o == nil || s.Status != session.StatusRunning: // an interrupted attempt may be continued or given up
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

// mayFollow returns an error if the life cycle does not allow an event of this kind in the session's state.
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

package session

import "github.com/wfs-dev/wfs/workflows"

// The events of this file change what is said of a session, or what it runs, and touch no file of the work tree.

// Abandoned says that nobody goes on with the session. Everything of it is kept, and it can be brought back. (turn)
type Abandoned struct {
	body
	Reason  string `json:"reason,omitempty" text:"free"`
	Summary string `json:"summary"`          // of the operation
	Undoes  int64  `json:"undoes,omitempty"` // operation that it takes back
	Turn    Turn   `json:"turn"`
}

// Revived brings an abandoned session back. (turn)
type Revived struct {
	body
	Status  Status `json:"status"` // that it has from now on
	Why     string `json:"why,omitempty" text:"free"`
	Summary string `json:"summary"`
	Undoes  int64  `json:"undoes,omitempty"`
	Turn    Turn   `json:"turn"`
}

// Renamed changes what the session is called. Its id, its refs and the goal that agents are told stay. (turn)
type Renamed struct {
	body
	Title string `json:"title" text:"free"`
	Turn  Turn   `json:"turn"`
}

// Edited changes what is wanted. (turn)
type Edited struct {
	body
	Goal string `json:"goal,omitempty" text:"free"` // "" leaves it as it is
	Spec bool   `json:"spec,omitempty"`             // there is another spec: the fields below count
	// Items is the whole checklist from now on: those that are done, the present one, then those to come.
	Items      []string  `json:"items,omitempty"`
	SpecPath   string    `json:"spec_path,omitempty"`
	SpecDigest string    `json:"spec_digest,omitempty"`
	Lap        int       `json:"lap,omitempty"`                 // present lap from now on
	Phase      PhaseName `json:"phase,omitempty"`               // and its phase
	Left       string    `json:"left,omitempty"`                // item whose lap had begun, and ends without it: a lap begins anew
	Changes    []string  `json:"changes,omitempty" text:"free"` // for people, one line each
	Turn       Turn      `json:"turn"`
}

// Repinned replaces what the session runs by what the files say now. (turn)
type Repinned struct {
	body
	Workflow   string    `json:"workflow"`
	Start      PhaseName `json:"start"`
	Laps       bool      `json:"laps,omitempty"`
	PlanDigest string    `json:"plan_digest"`
	Agent      string    `json:"agent"`
	AgentTyped bool      `json:"agent_typed,omitempty"`
	Phase      PhaseName `json:"phase"`                         // present phase from now on
	Baseline   bool      `json:"baseline,omitempty"`            // the gates run on the base again before the next attempt
	Changes    []string  `json:"changes,omitempty" text:"free"` // for people, one line each
	Turn       Turn      `json:"turn"`
}

// TakenBack takes an operation back that touched no file, or does it again: what it changed is what it was. (turn)
type TakenBack struct {
	body
	Summary string `json:"summary"` // of this operation
	Undoes  int64  `json:"undoes"`
	Former  Former `json:"former"`
	Turn    Turn   `json:"turn"`
}

// Answered makes an operation of what a person said in the events right before it: an answer, a note, an allowance or a
// budget. It changes nothing by itself. (turn)
type Answered struct {
	body
	Op      string `json:"op"` // kind of the operation, "" for none: it ends a journal that goes
	Summary string `json:"summary" text:"free"`
	Since   int64  `json:"since"` // the event before the first of those
	Turn    Turn   `json:"turn"`
}

// DeleteStarted is said before the session's refs are moved out of sight.
type DeleteStarted struct {
	body
	Summary string `json:"summary"`
	Undoes  int64  `json:"undoes,omitempty"` // operation that it takes back, when a deletion is done again
	Turn    Turn   `json:"turn"`
}

// applyRecord folds the events of this file. It reports false for others.
func (s *Session) applyRecord(body Body) bool {
	switch b := body.(type) {
	case Abandoned:
		s.Status, s.Why, s.Open, s.Abandoned = StatusAbandoned, b.Reason, nil, &b
	case Revived:
		s.Status, s.Why = b.Status, b.Why
	case Renamed:
		s.Title = b.Title
	case Edited:
		s.edited(b)
	case Repinned:
		s.repinned(b)
	case TakenBack:
		s.bringBack(b.Former)
	case Answered:
	case DeleteStarted:
		s.Deleting = &b
	default:
		return false
	}
	return true
}

func (s *Session) edited(b Edited) {
	s.Visit.Conversation = nil // it was told of something else
	s.Reworded = s.Status == StatusBlocked
	if b.Goal != "" {
		s.Goal = b.Goal
	}
	if !b.Spec {
		return
	}
	s.Items, s.SpecPath, s.SpecDigest = b.Items, b.SpecPath, b.SpecDigest
	if b.Left != "" {
		s.thaw()
		s.Said, s.Review, s.Rounds, s.Failed = nil, nil, nil, 0
	}
	if b.Phase != s.Phase || b.Lap != s.Lap || b.Left != "" { // more is to do than was, or less: a lap ends or begins here
		s.Phase, s.Lap, s.Visit, s.Targets, s.Expected, s.Waiting, s.Blocked = b.Phase, b.Lap, Visit{}, nil, nil, nil, nil
		if c := s.At(s.Current); c != nil {
			s.LapTree = c.Tree
		}
		s.Status, s.Why = StatusPaused, "the checklist was edited"
	}
	if s.Phase == workflows.Done {
		s.complete()
	}
}

func (s *Session) repinned(b Repinned) {
	s.Workflow, s.Start, s.Laps, s.PlanDigest, s.Agent, s.AgentTyped = b.Workflow, b.Start, b.Laps, b.PlanDigest, b.Agent, b.AgentTyped
	s.Visit = Visit{Tree: s.Visit.Tree, Recovered: s.Visit.Recovered} // who works now, and by which rules, is another matter than before
	if b.Phase != s.Phase {
		s.Visit = Visit{}
	}
	over := s.Status == StatusBlocked || s.Status == StatusCompleted && b.Phase != workflows.Done
	if w := s.Waiting; w != nil && (w.Approve || w.Reason == WaitHuman && b.Phase != s.Phase) {
		s.Waiting, over = nil, true // the question was that of a phase as it was
	}
	if w := s.Waiting; w != nil && w.Reason == WaitLimit { // it may have been that of another agent
		s.Waiting, over = nil, true
	}
	s.Phase, s.Failed, s.Blocked, s.Hindered = b.Phase, 0, nil, nil
	if b.Baseline {
		s.Base0 = nil
	}
	if over {
		s.Status, s.Why = StatusPaused, "configuration updated"
	}
}

// Headline is what the session is called: its title, or the goal.
func (s *Session) Headline() string {
	if s.Title != "" {
		return s.Title
	}
	return s.Goal
}

// Alive is the status of a session that is brought back, by what is known of it.
func (s *Session) Alive() Status {
	switch {
	case s.Phase == workflows.Done && s.Waiting == nil:
		return StatusCompleted
	case s.Blocked != nil:
		return StatusBlocked
	case s.Waiting != nil:
		return StatusWaiting
	case s.Runs == 0:
		return StatusCreated
	}
	return StatusPaused
}

// BuildsOn says of each checkpoint but the first which one the session stood on when it was made, out of a whole history.
func BuildsOn(events []Event) map[int]int {
	below := map[int]int{}
	current := -1
	for i, e := range events {
		if e.Kind().IsTurn() && i+1 < len(events) && events[i+1].Kind() == KindDropped {
			continue
		}
		switch b := e.Body.(type) {
		case Checkpointed:
			if current >= 0 {
				below[b.Number] = current
			}
			current = b.Number
		case Moved:
			if b.To >= 0 {
				current = b.To
			}
		}
	}
	return below
}

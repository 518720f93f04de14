package session

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/wfs-dev/wfs/workflows"
)

// Former is what was said of a session before an operation, as far as that operation changed it: what an undo brings
// back. Nil is what it left alone.
type Former struct {
	Title *string      `json:"title,omitempty"` // as of `renamed`
	Goal  *string      `json:"goal,omitempty"`  // as of `edited`
	Spec  *FormerSpec  `json:"spec,omitempty"`  // the spec before
	Plan  *FormerPlan  `json:"plan,omitempty"`  // the plan before
	Stand *FormerStand `json:"stand,omitempty"` // phase, lap and status before

	Notes   *[]string         `json:"notes,omitempty"`   // this and the following fields: as in Session
	Allowed *[]string         `json:"allowed,omitempty"` // paths that were allowed before
	Budget  *workflows.Budget `json:"budget,omitempty"`  // caps from before
	Settled *[]Settlement     `json:"settled,omitempty"` // its `settlements`
}

// FormerSpec is a spec and its checklist.
type FormerSpec struct {
	Items  []string `json:"items,omitempty"`  // the whole checklist
	Path   string   `json:"path,omitempty"`   // where the spec was read from (path)
	Digest string   `json:"digest,omitempty"` // SHA-256 of the spec
}

// FormerPlan is what a session ran, and what its gates had said about the base.
type FormerPlan struct {
	Workflow   string    `json:"workflow"`              // name of the workflow
	Start      PhaseName `json:"start"`                 // its first phase
	Laps       bool      `json:"laps,omitempty"`        // whether it has laps
	PlanDigest string    `json:"plan_digest"`           // SHA-256 of `plan.json`
	Agent      string    `json:"agent"`                 // the agent before
	AgentTyped bool      `json:"agent_typed,omitempty"` // as in `created`
	Base0      *Baseline `json:"baseline,omitempty"`    // results of the gates on the base before
}

// FormerStand is where a session stood.
type FormerStand struct {
	Status  Status     `json:"status"`            // of the session
	Waiting *Waiting   `json:"waiting,omitempty"` // what it was waiting for
	Blocked *BlockedBy `json:"blocked,omitempty"` // what it was blocked by
	Why     string     `json:"why,omitempty"`     // why it had that status

	Phase  PhaseName `json:"phase"`                 // phase it was in
	Lap    int       `json:"lap"`                   // lap it was in
	Visit  Visit     `json:"visit"`                 // what the breaker had counted
	Failed int       `json:"failed_runs,omitempty"` // runs in a row that failed
	Terms

	Rounds map[PhaseName]int `json:"rounds,omitempty"` // as in Session

	Tampered    []Tampering `json:"tampered,omitempty"`     // as in Session
	TestChange  string      `json:"test_change,omitempty"`  // as in Session
	TestChanges int         `json:"test_changes,omitempty"` // as in Session

	Last      *Decided     `json:"last,omitempty"`       // newest decision
	LastGates []GateResult `json:"last_gates,omitempty"` // its gates
	NotRun    []NotRun     `json:"not_run,omitempty"`    // gates that it passed over
	LastRun   string       `json:"last_run,omitempty"`   // its run
}

// FormerOf is what an operation changed, as it was before.
func FormerOf(before, after *Session) Former {
	var f Former
	if before.Title != after.Title {
		f.Title = &before.Title
	}
	if before.Goal != after.Goal {
		f.Goal = &before.Goal
	}
	if b := specOf(before); !same(b, specOf(after)) {
		f.Spec = &b
	}
	if b := planOf(before); !same(b, planOf(after)) {
		f.Plan = &b
	}
	if b := standOf(before); !same(b, standOf(after)) {
		f.Stand = &b
	}
	f.Notes, f.Allowed = listBefore(before.Notes, after.Notes), listBefore(before.Allowed, after.Allowed)
	f.Settled = listBefore(before.Settlements, after.Settlements)
	if before.Budget != after.Budget {
		f.Budget = &before.Budget
	}
	return f
}

// listBefore is a list as it was before it was changed, nil when it was not. In a file it differs from nil when
// it is empty.
func listBefore[T any](before, after []T) *[]T {
	if len(before) == len(after) && (len(before) == 0 || same(before, after)) {
		return nil
	}
	list := append([]T{}, before...)
	return &list
}

// WithStand is f with where the session stood before, which going to another checkpoint changes in any case.
func (f Former) WithStand(before *Session) Former {
	stand := standOf(before)
	f.Stand = &stand
	return f
}

// Nothing reports whether the operation changed nothing of this.
func (f Former) Nothing() bool { return f == Former{} }

// Overtaken says what somebody has changed since of what f would bring back, "" for nothing. after is the session as
// the operation left it.
func (f Former) Overtaken(after, now *Session) string {
	plan, planNow := planOf(after), planOf(now)
	plan.Base0, planNow.Base0 = nil, nil // what the gates said since, by the plan that goes
	switch {
	case f.Title != nil && after.Title != now.Title:
		return fmt.Sprintf("it is now called %q", now.Headline())
	case f.Goal != nil && after.Goal != now.Goal:
		return fmt.Sprintf("its goal is now %q", now.Goal)
	case f.Spec != nil && !same(specOf(after), specOf(now)):
		return "its spec has changed since"
	case f.Plan != nil && !same(plan, planNow):
		return "its configuration has changed since"
	case f.Notes != nil && listBefore(after.Notes, now.Notes) != nil:
		return "an attempt has already used it"
	case f.Allowed != nil && listBefore(after.Allowed, now.Allowed) != nil:
		return "the allowed paths have changed since"
	case f.Budget != nil && after.Budget != now.Budget:
		return "its budget has changed since"
	case f.Stand != nil && !same(standOf(after), standOf(now)):
		if now.Phase == workflows.Done {
			return fmt.Sprintf("it has continued since, and is %s", now.Status)
		}
		return fmt.Sprintf("it has continued since, and is %s in %s", now.Status, now.Phase)
	}
	return ""
}

// bringBack makes what was so once so again.
func (s *Session) bringBack(f Former) {
	if f.Title != nil {
		s.Title = *f.Title
	}
	if f.Goal != nil || f.Spec != nil {
		s.Reworded = false
	}
	if f.Goal != nil {
		s.Goal = *f.Goal
	}
	if b := f.Spec; b != nil {
		s.Items, s.SpecPath, s.SpecDigest = b.Items, b.Path, b.Digest
	}
	if b := f.Plan; b != nil {
		s.Workflow, s.Start, s.Laps, s.PlanDigest, s.Agent, s.AgentTyped, s.Base0 = b.Workflow, b.Start, b.Laps,
			b.PlanDigest, b.Agent, b.AgentTyped, b.Base0
	}
	if b := f.Stand; b != nil {
		s.Status, s.Waiting, s.Blocked, s.Why = b.Status, b.Waiting, b.Blocked, b.Why
		s.Phase, s.Lap, s.Visit, s.Failed, s.Terms = b.Phase, b.Lap, b.Visit, b.Failed, b.Terms
		s.Last, s.LastGates, s.NotRun, s.LastRun = b.Last, b.LastGates, b.NotRun, b.LastRun
		s.Rounds, s.Tampered, s.TestChange, s.TestChanges = b.Rounds, b.Tampered, b.TestChange, b.TestChanges
	}
	if f.Notes != nil {
		s.Notes = *f.Notes
	}
	if f.Allowed != nil {
		s.Allowed = *f.Allowed
	}
	if f.Settled != nil {
		s.Settlements = *f.Settled
	}
	if f.Budget != nil {
		s.Budget = *f.Budget
	}
}

func specOf(s *Session) FormerSpec { return FormerSpec{s.Items, s.SpecPath, s.SpecDigest} }

func planOf(s *Session) FormerPlan {
	return FormerPlan{s.Workflow, s.Start, s.Laps, s.PlanDigest, s.Agent, s.AgentTyped, s.Base0}
}

func standOf(s *Session) FormerStand {
	return FormerStand{Status: s.Status, Waiting: s.Waiting, Blocked: s.Blocked, Why: s.Why,
		Phase: s.Phase, Lap: s.Lap, Visit: s.Visit, Failed: s.Failed, Terms: s.Terms, Rounds: s.Rounds,
		Tampered: s.Tampered, TestChange: s.TestChange, TestChanges: s.TestChanges,
		Last: s.Last, LastGates: s.LastGates, NotRun: s.NotRun, LastRun: s.LastRun}
}

// same compares values as files have them: one that was read back from JSON has no empty lists.
func same(a, b any) bool {
	x, err := json.Marshal(a)
	y, err2 := json.Marshal(b)
	return err == nil && err2 == nil && bytes.Equal(x, y)
}

package session

import "github.com/wfs-dev/wfs/workflows"

// Former has the values that a session had before an operation changed them; an undo restores them. A nil field means
// that the operation did not change that value.
type Former struct {
	Title *string      `json:"title,omitempty"` // the title before
	Goal  *string      `json:"goal,omitempty"`  // the goal before
	Spec  *FormerSpec  `json:"spec,omitempty"`  // the spec before
	Plan  *FormerPlan  `json:"plan,omitempty"`  // the plan before
	Stand *FormerStand `json:"stand,omitempty"` // phase, lap and status before

	Notes   *[]string         `json:"notes,omitempty"`   // notes that were pending before
	Allowed *[]string         `json:"allowed,omitempty"` // paths that were allowed before
	Budget  *workflows.Budget `json:"budget,omitempty"`  // caps from before
	Settled *[]Settlement     `json:"settled,omitempty"` // the session's `settlements` before
}

// FormerSpec is a spec and its checklist before an operation.
type FormerSpec struct {
	Items  []string `json:"items,omitempty"`  // the whole checklist before
	Path   string   `json:"path,omitempty"`   // file of the spec (path)
	Digest string   `json:"digest,omitempty"` // SHA-256 of the spec
}

// FormerPlan is a session's plan before an operation, with the results of its gates on the base.
type FormerPlan struct {
	Workflow   string    `json:"workflow"`              // name of the workflow
	Start      PhaseName `json:"start"`                 // first phase of the workflow, or of each lap
	Then       PhaseName `json:"then,omitempty"`        // phase that follows the last lap
	Laps       bool      `json:"laps,omitempty"`        // the workflow has laps
	PlanDigest string    `json:"plan_digest"`           // SHA-256 of `plan.json`
	Agent      string    `json:"agent"`                 // the agent before
	AgentTyped bool      `json:"agent_typed,omitempty"` // the agent was named on the command line
	Base0      *Baseline `json:"baseline,omitempty"`    // results of the gates on the base before
}

// FormerStand is the phase, lap and status of a session before an operation.
type FormerStand struct {
	Status  Status     `json:"status"`            // status of the session before
	Waiting *Waiting   `json:"waiting,omitempty"` // the fields of `waiting`, if the session was waiting
	Blocked *BlockedBy `json:"blocked,omitempty"` // the fields of `blocked`, if the session was blocked
	Why     string     `json:"why,omitempty"`     // why the session had that status

	Phase  PhaseName `json:"phase"`                 // phase it was in
	Lap    int       `json:"lap"`                   // lap it was in
	Visit  Visit     `json:"visit"`                 // the breaker's counts
	Failed int       `json:"failed_runs,omitempty"` // runs in a row that failed
	Terms

	Rounds map[PhaseName]int `json:"rounds,omitempty"` // by phase, how often reviewers had sent the work back

	Tampered    []Tampering `json:"tampered,omitempty"`     // findings about tests
	TestChange  string      `json:"test_change,omitempty"`  // why the work had gone back to change tests
	TestChanges int         `json:"test_changes,omitempty"` // how often it had gone back in this lap

	Last      *Decided     `json:"last,omitempty"`       // newest decision
	LastGates []GateResult `json:"last_gates,omitempty"` // gate results of that decision
	NotRun    []NotRun     `json:"not_run,omitempty"`    // gates that its judgement skipped
	LastRun   string       `json:"last_run,omitempty"`   // run id of its attempt
}

// Nothing reports whether the operation changed none of these values.
func (f Former) Nothing() bool { return f == Former{} }

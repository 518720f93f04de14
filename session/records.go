package session

// The events of this file change the description, the status or the plan of a session, and no file of the work tree.

// Abandoned ends the session without handing its work over. Everything is kept, so the session can be revived. (turn)
type Abandoned struct {
	body
	Reason  string `json:"reason,omitempty" text:"free"` // the person's reason
	Summary string `json:"summary"`                      // one line about the operation
	Undoes  int64  `json:"undoes,omitempty"`             // number of the operation that this one undoes
	Turn    Turn   `json:"turn"`                         // empty: no ref and no file moved
}

// Revived makes an abandoned session usable again. (turn)
type Revived struct {
	body
	Status  Status `json:"status"`                    // the status from now on
	Why     string `json:"why,omitempty" text:"free"` // why the session has this status
	Summary string `json:"summary"`                   // one line about the operation
	Undoes  int64  `json:"undoes,omitempty"`          // number of the operation that this one undoes
	Turn    Turn   `json:"turn"`                      // empty: no ref and no file moved
}

// Renamed changes the session's title. The session's id, its refs and the goal in briefs do not change. (turn)
type Renamed struct {
	body
	Title string `json:"title" text:"free"` // the new title
	Turn  Turn   `json:"turn"`              // empty: no ref and no file moved
}

// Edited changes the goal or the spec. (turn)
type Edited struct {
	body
	Goal string `json:"goal,omitempty" text:"free"` // the new goal; none: it is unchanged
	// the spec was replaced: the fields from here to `phase` apply
	Spec bool `json:"spec,omitempty"`
	// the whole checklist from now on: finished items, the current one, and open ones
	Items []string `json:"items,omitempty"`
	// file of the spec, relative to the top of the work tree; a file outside of it is relative to the top of the main
	// work tree (`../spec.md`) (path)
	SpecPath   string    `json:"spec_path,omitempty"`
	SpecDigest string    `json:"spec_digest,omitempty"` // SHA-256 of the spec
	Lap        int       `json:"lap,omitempty"`         // lap from now on
	Phase      PhaseName `json:"phase,omitempty"`       // phase from now on
	// the item of the current lap, if the new spec does not have it: a new lap begins from the current tree
	Left string `json:"left,omitempty"`
	// what changed, one line each, for people
	Changes []string `json:"changes,omitempty" text:"free"`
	Turn    Turn     `json:"turn"` // empty: no ref and no file moved
}

// Repinned replaces the session's plan by a plan from the current configuration files. (turn)
type Repinned struct {
	body
	Workflow   string    `json:"workflow"`              // name of the workflow
	Start      PhaseName `json:"start"`                 // first phase of the workflow, or of each lap
	Then       PhaseName `json:"then,omitempty"`        // phase that follows the last lap
	Laps       bool      `json:"laps,omitempty"`        // the workflow has laps
	PlanDigest string    `json:"plan_digest"`           // SHA-256 of `plan.json`
	Agent      string    `json:"agent"`                 // name of the agent, for people
	AgentTyped bool      `json:"agent_typed,omitempty"` // the agent was named on the command line
	Phase      PhaseName `json:"phase"`                 // phase from now on
	// the gates must run on the base again before the next attempt
	Baseline bool `json:"baseline,omitempty"`
	// what changed, one line each, for people
	Changes []string `json:"changes,omitempty" text:"free"`
	Turn    Turn     `json:"turn"` // empty: no ref and no file moved
}

// TakenBack undoes or redoes an operation that changed no files, by restoring the values from before it. (turn)
type TakenBack struct {
	body
	Summary string `json:"summary"` // one line about this operation
	Undoes  int64  `json:"undoes"`  // number of the operation that this one undoes
	Former  Former `json:"former"`  // the values that it restores
	Turn    Turn   `json:"turn"`    // empty: no ref and no file moved
}

// Answered combines the person's events right before it (an answer, a note, an allowance or a budget) into one
// operation, which can be undone. It changes nothing else. (turn)
type Answered struct {
	body
	// kind of the operation. Empty: there is no operation; the event then only ends a journal that `uninstall` removes
	Op      string `json:"op"`
	Summary string `json:"summary" text:"free"` // one line about the operation
	Since   int64  `json:"since"`               // `seq` of the last event before the combined events
	Turn    Turn   `json:"turn"`                // empty: no ref and no file moved
}

// DeleteStarted is written before the session's refs are moved below `refs/wfs-deleted/`.
type DeleteStarted struct {
	body
	Summary string `json:"summary"`          // one line about the operation
	Undoes  int64  `json:"undoes,omitempty"` // number of the operation that this one undoes
	// the refs that will move: first the refs that are created, then the refs that are deleted, the ledger last
	Turn Turn `json:"turn"`
}

package session

// The events of this file change a session's description or its plan, and no file of the work tree.

// Abandoned ends the session without handing work over. Everything is kept, and the session can be revived. (turn)
type Abandoned struct {
	body
	Reason  string `json:"reason,omitempty" text:"free"` // the person's reason
	Summary string `json:"summary"`                      // of the operation
	Undoes  int64  `json:"undoes,omitempty"`             // operation that this undoes
	Turn    Turn   `json:"turn"`                         // empty: nothing moved
}

// Revived resumes an abandoned session. (turn)
type Revived struct {
	body
	Status  Status `json:"status"`                    // the status from now on
	Why     string `json:"why,omitempty" text:"free"` // why it has that status
	Summary string `json:"summary"`                   // of the operation
	Undoes  int64  `json:"undoes,omitempty"`          // operation that this undoes
	Turn    Turn   `json:"turn"`                      // empty: nothing moved
}

// Renamed changes the session's title. Its id, its refs and the goal in briefs stay. (turn)
type Renamed struct {
	body
	Title string `json:"title" text:"free"` // the new title
	Turn  Turn   `json:"turn"`              // empty: nothing moved
}

// Edited changes the goal or the spec. (turn)
type Edited struct {
	body
	Goal string `json:"goal,omitempty" text:"free"` // the new goal; none: it is unchanged
	// there is another spec, and the fields from here to `phase` count
	Spec bool `json:"spec,omitempty"`
	// the whole checklist from now on: items that are done, the current one, those to come
	Items []string `json:"items,omitempty"`
	// file of the spec: below the work tree, or relative to the top of the main work tree (`../spec.md`) (path)
	SpecPath   string    `json:"spec_path,omitempty"`
	SpecDigest string    `json:"spec_digest,omitempty"` // SHA-256 of the spec
	Lap        int       `json:"lap,omitempty"`         // lap from now on
	Phase      PhaseName `json:"phase,omitempty"`       // phase from now on
	// the item whose lap had begun, if the new spec does not have it: a new lap begins, from the current tree
	Left string `json:"left,omitempty"`
	// what changed, one line each, for people
	Changes []string `json:"changes,omitempty" text:"free"`
	Turn    Turn     `json:"turn"` // empty: nothing moved
}

// Repinned replaces the session's plan by one made from the current files. (turn)
type Repinned struct {
	body
	Workflow   string    `json:"workflow"`              // name of the workflow
	Start      PhaseName `json:"start"`                 // its first phase
	Laps       bool      `json:"laps,omitempty"`        // whether it has laps
	PlanDigest string    `json:"plan_digest"`           // SHA-256 of `plan.json`
	Agent      string    `json:"agent"`                 // the agent, for people
	AgentTyped bool      `json:"agent_typed,omitempty"` // as in `created`
	Phase      PhaseName `json:"phase"`                 // phase from now on
	// the gates run on the base again before the next attempt
	Baseline bool `json:"baseline,omitempty"`
	// what changed, one line each, for people
	Changes []string `json:"changes,omitempty" text:"free"`
	Turn    Turn     `json:"turn"` // empty: nothing moved
}

// TakenBack undoes or redoes an operation that touched no file, by restoring the values from before. (turn)
type TakenBack struct {
	body
	Summary string `json:"summary"` // of this operation
	Undoes  int64  `json:"undoes"`  // operation that this undoes
	Former  Former `json:"former"`  // what it restores
	Turn    Turn   `json:"turn"`    // empty: nothing moved
}

// Answered makes one operation out of the person's events right before it: an answer, a note, an allowance or a budget.
// It changes nothing by itself. (turn)
type Answered struct {
	body
	// kind of the operation; empty if there is none: the event then ends a journal that `uninstall` removes
	Op      string `json:"op"`
	Summary string `json:"summary" text:"free"` // of the operation
	Since   int64  `json:"since"`               // `seq` of the event before the first of those
	Turn    Turn   `json:"turn"`                // empty: nothing moved
}

// DeleteStarted is written before the session's refs are moved below `refs/wfs-deleted/`.
type DeleteStarted struct {
	body
	Summary string `json:"summary"`          // of the operation
	Undoes  int64  `json:"undoes,omitempty"` // operation that this undoes
	// what will move: first the refs that are made, then those that are deleted, the ledger last
	Turn Turn `json:"turn"`
}

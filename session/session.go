package session

// Session is what is true of a session: the fold of its events. Documents keep it in the ledger, as a cache.
type Session struct {
	Version int   `json:"version"`          // SessionVersion
	Folded  int   `json:"folded,omitempty"` // FoldVersion; it may differ while events and documents can be read
	Seq     int64 `json:"seq"`              // of the newest event that is folded in

	Created
	CreatedAt int64 `json:"created_at"` // Unix seconds
	UpdatedAt int64 `json:"updated_at"`

	Status  Status     `json:"status"`
	Waiting *Waiting   `json:"waiting,omitempty"` // with StatusWaiting
	Blocked *BlockedBy `json:"blocked,omitempty"` // with StatusBlocked
	Why     string     `json:"why,omitempty"`     // with StatusPaused and StatusInterrupted
	// Reworded: the goal or the spec was edited since the session was blocked.
	Reworded bool `json:"reworded,omitempty"`

	Phase PhaseName `json:"phase"` // present phase, workflows.Done when there is none
	Lap   int       `json:"lap"`   // from 1
	Open  *Open     `json:"open,omitempty"`

	Visit Visit `json:"visit"` // what happened at this visit of the phase
	Tries int   `json:"tries"` // attempts of the whole session that were judged
	Runs  int   `json:"runs"`  // attempts that were started, also those that failed to run
	Terms

	Base0       *Baseline    `json:"baseline,omitempty"`
	Checkpoints []Checkpoint `json:"checkpoints"`
	Current     int          `json:"current"`        // number of the checkpoint that the branch stands on
	Last        *Decided     `json:"last,omitempty"` // newest decision, since the session went to another checkpoint
	LastGates   []GateResult `json:"last_gates,omitempty"`
	NotRun      []NotRun     `json:"not_run,omitempty"`  // gates that the newest judgement passed over
	LastRun     string       `json:"last_run,omitempty"` // run id of the newest judged attempt, likewise
	Started     string       `json:"started,omitempty"`  // run id of the newest attempt that was started

	Proof *Proof `json:"proof,omitempty"` // newest one
	// Holdout is the newest word of hold-out tests, but for that about the base.
	Holdout     *HoldoutResult `json:"holdout,omitempty"`
	Tampered    []Tampering    `json:"tampered,omitempty"`     // what was done to them, as the newest judgement at this visit found it
	TestChange  string         `json:"test_change,omitempty"`  // why the work went back to change tests
	TestChanges int            `json:"test_changes,omitempty"` // how often in this lap
	// GateRuns are results of gates that run something, GatesCached those of them that were known already.
	GateRuns    int      `json:"gate_runs,omitempty"`
	GatesCached int      `json:"gates_cached,omitempty"`
	Flaky       []TestID `json:"flaky,omitempty"` // tests that judgements found flaky, sorted, at most MaxNamed

	// Settlements are the ends of laps that no judgement brought, also on lines of checkpoints that were gone back from.
	Settlements []Settlement `json:"settlements,omitempty"`

	Rounds map[PhaseName]int `json:"rounds,omitempty"` // how often reviewers have sent the work back since somebody approved

	Claims  int       `json:"claims"`            // times that an agent said it was done
	Refuted []Refuted `json:"refuted,omitempty"` // and the facts said otherwise
	Notes   []string  `json:"notes,omitempty"`   // a person's words that no attempt has been told yet
	// Meanwhile are notes that came while a run drove the session: they may not be from a person. No attempt has been
	// told yet.
	Meanwhile []string `json:"meanwhile,omitempty"`
	Heard     []string `json:"heard,omitempty"` // ids of the newest requests that became events
	CostUSD   float64  `json:"cost_usd,omitempty"`
	Spent     Spent    `json:"spent"`
	Drive     *Drive   `json:"drive,omitempty"`       // the newest run
	Failed    int      `json:"failed_runs,omitempty"` // runs in a row that failed without changing anything
	Allowed   []string `json:"allowed,omitempty"`     // paths that a person lets in although they would be held out, sorted

	Used        Usage          `json:"used,omitzero"`          // in all, also by what was gone back from
	Fresh       Usage          `json:"fresh,omitzero"`         // of that, since the newest checkpoint
	PhaseUsage  []PhaseUsage   `json:"phase_usage,omitempty"`  // by phase and lap, without what Checkpoint.Used says of its own
	RecentUsage []QuarterUsage `json:"recent_usage,omitempty"` // and by time
	Rates       []Rate         `json:"rates,omitempty"`        // the newest last
	Calls       []int64        `json:"calls,omitempty"`        // Unix seconds: when agents were started in the last hour
	Hindered    *Hindered      `json:"hindered,omitempty"`
	LastResult  *RunResult     `json:"last_result,omitempty"` // of the newest run that ended
	Warned      []string       `json:"warned,omitempty"`      // keys of budgets that were nearly used up

	Unseen *Strayed `json:"unseen,omitempty"` // what runs changed beside the session and no person has seen yet; no locks

	Keep []Commit `json:"keep,omitempty"` // what refs had that were moved during runs, until a checkpoint holds it

	Finished  *Finished  `json:"finished,omitempty"`
	Abandoned *Abandoned `json:"abandoned,omitempty"` // the newest time, also when it was brought back since
	Title     string     `json:"title,omitempty"`     // what people call it, instead of the goal
	// Conclude is true right after an attempt's checkpoint, until the engine has drawn its conclusions.
	Conclude bool `json:"conclude,omitempty"`

	Moving    *MoveStarted   `json:"moving,omitempty"` // a move that began and is not done
	Finishing *FinishStarted `json:"finishing,omitempty"`
	Deleting  *DeleteStarted `json:"deleting,omitempty"` // a deletion that began and is not done
}

// Open is an attempt that has begun and has no checkpoint yet.
type Open struct {
	AttemptStarted
	Run       *RunResult `json:"run,omitempty"`
	After     Tree       `json:"after,omitempty"` // the tree that the run left
	Told      int        `json:"told,omitempty"`  // how many notes its brief held
	Said      int        `json:"said,omitempty"`  // how many of Session.Said
	Judgement *Judgement `json:"judgement,omitempty"`
	Decided   *Decided   `json:"decided,omitempty"`
	Found     bool       `json:"found,omitempty"` // what its run used up is counted, although nobody saw its end
}

// Terms are what the work is held to. A checkpoint keeps them, and a session that goes there returns to them.
type Terms struct {
	Targets  []TestID `json:"targets,omitempty"`  // this lap's tests
	Expected []string `json:"expected,omitempty"` // packages and files whose tests must run once they can be built
	// TargetsOf is the gate that they are of, "" for the only one that expects red.
	TargetsOf string `json:"targets_of,omitempty"`
	// Gone are tests of this lap's start, or of this lap, that went with a yes: of experiments, or a person's.
	Gone          []TestID       `json:"gone,omitempty"`
	LapTree       Tree           `json:"lap_tree,omitempty"`       // the tree that the present lap began with
	Frozen        Tree           `json:"frozen,omitempty"`         // the tree whose tests hold: what RED was passed with
	SkippedPhases []SkippedPhase `json:"skipped_phases,omitempty"` // that a person left, and that did not pass afterwards in the same lap
	Said          []Said         `json:"said,omitempty"`           // a person's words that stay in the briefs for a while
	Review        *Review        `json:"review,omitempty"`         // the newest of a reviewer's that sent the work back, until it is answered
}

// Checkpoint is one entry of a session's history.
type Checkpoint struct {
	Number  int       `json:"number"`
	At      int64     `json:"at"`
	Trigger Trigger   `json:"trigger"`
	Code    Commit    `json:"code"`
	Tree    Tree      `json:"tree"`
	Phase   PhaseName `json:"phase"`
	Lap     int       `json:"lap"`
	Attempt int       `json:"attempt,omitempty"`
	Verdict Verdict   `json:"verdict,omitempty"`
	Class   Class     `json:"class,omitempty"`
	Green   bool      `json:"green,omitempty"`   // its gates passed with nothing red: it can be handed over
	Approve bool      `json:"approve,omitempty"` // as the attempt's decision says
	// TooSmall is the phase that was left out after it, because the lap changed little code.
	TooSmall PhaseName `json:"too_small,omitempty"`
	Claimed  bool      `json:"claimed,omitempty"` // its agent said that it is done, and a person is asked whether that is so
	Summary  string    `json:"summary"`
	On       int       `json:"on,omitempty"` // checkpoint that the session stood on when this one was made
	// What the session returns to when it is resumed here.
	Next    PhaseName `json:"next"`
	NextLap int       `json:"next_lap"`
	Terms
	Tampered   []Tampering `json:"tampered,omitempty"`   // what of its tests asks for less, at most 10
	Ticked     []int       `json:"ticked,omitempty"`     // numbers of the items that its documents tick
	Incomplete bool        `json:"incomplete,omitempty"` // something could not be held, or is held out
	Skipped    []Skip      `json:"skipped,omitempty"`    // the former, at most MaxNamed
	HeldOut    []Held      `json:"held_out,omitempty"`   // the latter, at most MaxNamed
	Deleted    *Deleted    `json:"deleted,omitempty"`    // more than half of the files are gone
	Used       Usage       `json:"used,omitzero"`        // since the checkpoint that was made before
}

// SkippedPhase is a phase that a person left forward, whatever its gates said. Each stands once for each lap.
type SkippedPhase struct {
	Phase PhaseName `json:"phase"`
	Lap   int       `json:"lap"`
	Why   string    `json:"why,omitempty"`
	// Anyway: it was worked at, and passed on a person's word without a verdict.
	Anyway bool `json:"anyway,omitempty"`
}

// Refuted is a claim that the facts contradicted.
type Refuted struct {
	Checkpoint int       `json:"checkpoint"`
	Phase      PhaseName `json:"phase"`
	Lap        int       `json:"lap"`
	Reason     string    `json:"reason"`
	// Fingerprint is of all gates that did not pass.
	Fingerprint string `json:"fingerprint,omitempty"`
	Approved    int    `json:"approved,omitempty"` // checkpoint at which a person said yes to what it was refuted for
}

// Spent is where the time went.
type Spent struct {
	RunMillis  int64 `json:"run_ms,omitempty"`  // agents and commands worked
	GateMillis int64 `json:"gate_ms,omitempty"` // gates ran
	Waited     int64 `json:"waited,omitempty"`  // seconds that runs waited for limits, but for the present wait
	Since      int64 `json:"since,omitempty"`   // Unix seconds: the present wait for a limit began
}

// Drive is what the session was like when the newest run took it.
type Drive struct {
	At          int64 `json:"at"`              // Unix seconds
	Ended       int64 `json:"ended,omitempty"` // Unix seconds, 0 while it goes on; a wait for a limit may be its end or not
	Laps        int   `json:"laps"`
	Tries       int   `json:"tries"`
	Refuted     int   `json:"refuted"`
	Checkpoints int   `json:"checkpoints"`
	Used        Usage `json:"used,omitzero"`
}

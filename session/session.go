package session

import (
	"slices"

	"github.com/wfs-dev/wfs/session/cost"
)

// SessionVersion is the version of session.json. wfs ignores an older file and refuses a newer one.
const SessionVersion = 2

// FoldVersion is raised whenever the same events fold to a different session. wfs does not use a session.json with
// another fold version: it folds the session's events again.
const FoldVersion = 7

// UpToDate reports whether s was written with the current SessionVersion and FoldVersion. If it was not, s must be
// folded from its events again.
func (s *Session) UpToDate() bool { return s.Version == SessionVersion && s.Folded == FoldVersion }

// Session is the current state of a session: the fold of its events. Each ledger commit has it as a cache, in
// session.json and further documents.
type Session struct {
	Version int `json:"version"` // version of this file's format: 2
	// version of the fold that wrote this file. It is raised whenever the same events give another result; wfs ignores
	// a file with a different fold version
	Folded int   `json:"folded,omitempty"`
	Seq    int64 `json:"seq"` // number of the newest event that is folded into it

	Created
	CreatedAt int64 `json:"created_at"` // when the session was created (Unix time)
	UpdatedAt int64 `json:"updated_at"` // when the newest event happened (Unix time)

	// `created`, `running`, `paused`, `interrupted`, `waiting`, `blocked`, `completed`, `finished`, `abandoned`
	Status  Status     `json:"status"`
	Waiting *Waiting   `json:"waiting,omitempty"` // the fields of the event `waiting`, until the wait is over
	Blocked *BlockedBy `json:"blocked,omitempty"` // the fields of the event `blocked`, until a person acts
	Limits  []Limit    `json:"limits,omitempty"`  // newest usage limits of agents that another may replace
	Why     string     `json:"why,omitempty"`     // why the session has its status
	// the goal or the spec was edited since the session was blocked
	Reworded bool `json:"reworded,omitempty"`

	Phase PhaseName `json:"phase"`          // current phase, `done` when there is none
	Lap   int       `json:"lap"`            // current lap, from 1
	Open  *Open     `json:"open,omitempty"` // the attempt in progress

	Visit Visit `json:"visit"` // the breaker's counts for the current phase
	Tries int   `json:"tries"` // attempts that were judged
	Runs  int   `json:"runs"`  // attempts that were started
	Terms

	// the fields of the event `baseline`: results of the gates on the base
	Base0       *Baseline    `json:"baseline,omitempty"`
	Checkpoints []Checkpoint `json:"checkpoints"` // all checkpoints, by number
	Current     int          `json:"current"`     // number of the checkpoint that the branch points to
	// the fields of the newest event `decided`; none if the session has moved to another checkpoint since
	Last *Decided `json:"last,omitempty"`
	// gate results of the newest judgement; none if the session has moved to another checkpoint since
	LastGates []GateResult `json:"last_gates,omitempty"`
	NotRun    []NotRun     `json:"not_run,omitempty"`  // gates that the newest judgement skipped
	LastRun   string       `json:"last_run,omitempty"` // run id of the newest judged attempt
	// run id of the newest attempt that was started
	Started string `json:"started,omitempty"`

	Proof   *Proof         `json:"proof,omitempty"`   // the newest proof (gates in a clean tree), of any tree
	Holdout *HoldoutResult `json:"holdout,omitempty"` // the newest results of hold-out tests, on any tree but the base
	// changes of tests that the newest judgement at this visit found
	Tampered    []Tampering `json:"tampered,omitempty"`
	TestChange  string      `json:"test_change,omitempty"`  // why the work went back to change tests
	TestChanges int         `json:"test_changes,omitempty"` // how often the work went back to change tests in this lap
	GateRuns    int         `json:"gate_runs,omitempty"`    // number of results of gates that run commands
	// number of those results that an older version of wfs took from its cache
	GatesCached int `json:"gates_cached,omitempty"`
	// tests that judgements found flaky; sorted, at most 50. Tests that are flaky on the base are in `baseline`
	Flaky []TestID `json:"flaky,omitempty"`

	// laps and items that ended without a judgement, on all lines of checkpoints
	Settlements []Settlement `json:"settlements,omitempty"`

	// by phase, how often reviewers have sent the work back since the last approval
	Rounds map[PhaseName]int `json:"rounds,omitempty"`

	// number of claims of the agent that it is done, which wfs could check
	Claims  int       `json:"claims"`
	Refuted []Refuted `json:"refuted,omitempty"` // claims that the gates contradicted
	Notes   []string  `json:"notes,omitempty"`   // notes from a person that have not been in a brief yet
	// notes that came during a run and have not been in a brief yet: they may not be from a person
	Meanwhile []string `json:"meanwhile,omitempty"`
	// ids of the newest requests that became events, at most 16
	Heard   []string `json:"heard,omitempty"`
	CostUSD float64  `json:"cost_usd,omitempty"` // sum of the costs that runs reported
	Spent   Spent    `json:"spent"`              // time that the session took
	Drive   *Drive   `json:"drive,omitempty"`    // state of the session when the newest `wfs run` began
	// runs in a row that failed without changing anything
	Failed int `json:"failed_runs,omitempty"`
	// paths that the guard would hold out of checkpoints, and that a person allowed with `wfs allow`; sorted
	Allowed []string `json:"allowed,omitempty"`

	cost.Account
	// the newest runs in a row that a limit or an error of the provider stopped
	Hindered   *Hindered  `json:"hindered,omitempty"`
	LastResult *RunResult `json:"last_result,omitempty"` // result of the newest run that ended
	Warned     []string   `json:"warned,omitempty"`      // keys of the newest 50 events `budget_warned`

	// `refs`, `files`, `made` and `was` of all events `strayed` that no person has seen yet
	Unseen *Strayed `json:"unseen,omitempty"`

	// commits that refs pointed to before they were moved or deleted during runs. The next checkpoint keeps these
	// commits reachable
	Keep []Commit `json:"keep,omitempty"`

	Finished *Finished `json:"finished,omitempty"` // the fields of the event `finished`
	// the fields of the newest event `abandoned`, even if the session has been revived since
	Abandoned *Abandoned `json:"abandoned,omitempty"`
	Title     string     `json:"title,omitempty"` // title that is shown instead of the goal
	// an attempt's checkpoint was made, and the event that follows from it (such as `paused` or `blocked`) is still
	// missing
	Conclude bool `json:"conclude,omitempty"`

	// the fields of `move_started`, if the move is unfinished
	Moving *MoveStarted `json:"moving,omitempty"`
	// the fields of `finish_started`, if the finish is unfinished
	Finishing *FinishStarted `json:"finishing,omitempty"`
	// the fields of `delete_started`, if the deletion is unfinished
	Deleting *DeleteStarted `json:"deleting,omitempty"`
}

// Open is an attempt that has begun and has no checkpoint yet.
type Open struct {
	AttemptStarted
	Run       *RunResult `json:"run,omitempty"`       // result of the run, once it has ended
	After     Tree       `json:"after,omitempty"`     // tree after the run
	Told      int        `json:"told,omitempty"`      // number of `notes` in its brief
	Said      int        `json:"said,omitempty"`      // number of the session's `said` in its brief
	Judgement *Judgement `json:"judgement,omitempty"` // the judgement, once there is one
	Decided   *Decided   `json:"decided,omitempty"`   // the fields of `decided`
	// the run was cut off, and its usage is counted already
	Found bool `json:"found,omitempty"`
}

// Terms are the requirements that the work must meet. Each checkpoint stores the terms that applied after it; a session
// that returns to that checkpoint restores them.
type Terms struct {
	Targets  []TestID `json:"targets,omitempty"`  // tests of this lap, which must pass
	Expected []string `json:"expected,omitempty"` // packages and test files of this lap whose tests cannot be built yet
	// name of the gate that runs `targets`; none: it is the only gate that expects red
	TargetsOf string `json:"targets_of,omitempty"`
	// tests of this lap, or of the tree at its start, that may be missing: experiments or a person accepted their
	// removal
	Gone    []TestID `json:"gone,omitempty"`
	LapTree Tree     `json:"lap_tree,omitempty"` // tree that the current lap began with
	// tree that passed RED, or that a person has approved since. Its tests are frozen: they may not be weakened
	Frozen Tree `json:"frozen,omitempty"`
	// phases that a person skipped, and that have not passed later in the same lap
	SkippedPhases []SkippedPhase `json:"skipped_phases,omitempty"`
	// messages of a person that stay in the briefs for some time
	Said []Said `json:"said,omitempty"`
	// the newest review that rejected the work, until a phase answers it
	Review *Review `json:"review,omitempty"`
}

// Checkpoint is one entry of a session's history.
type Checkpoint struct {
	Number  int       `json:"number"`            // number of the checkpoint, from 0
	At      int64     `json:"at"`                // when (Unix time)
	Trigger Trigger   `json:"trigger"`           // why it was made, see `checkpointed`
	Code    Commit    `json:"code"`              // the code commit
	Tree    Tree      `json:"tree"`              // tree of the code commit
	Phase   PhaseName `json:"phase"`             // phase in which it was made
	Lap     int       `json:"lap"`               // lap in which it was made
	Attempt int       `json:"attempt,omitempty"` // number of the attempt at its phase; none outside attempts
	Verdict Verdict   `json:"verdict,omitempty"` // none if nothing was judged
	Class   Class     `json:"class,omitempty"`   // none if nothing was judged
	// the gates of its attempt passed, and no test failed: it can be handed over
	Green   bool `json:"green,omitempty"`
	Approve bool `json:"approve,omitempty"` // no gate judged it: a person has to approve it, see `decided`
	// the phase that was skipped after this checkpoint, because the lap changed little code
	TooSmall PhaseName `json:"too_small,omitempty"`
	// the agent of its attempt said that it is done, and a person was asked whether that is true
	Claimed bool   `json:"claimed,omitempty"`
	Summary string `json:"summary"` // the commit's subject without its prefix
	// number of the checkpoint that it was made on; 0 if left out
	On int `json:"on,omitempty"`
	// phase in which the session continues after this checkpoint, and when it is resumed here
	Next    PhaseName `json:"next"`
	NextLap int       `json:"next_lap"` // lap of that phase
	Terms
	Tampered []Tampering `json:"tampered,omitempty"` // findings about weakened tests; at most 10
	// items of the checklist, from 1, that documents of the session tick
	Ticked     []int      `json:"ticked,omitempty"`
	Incomplete bool       `json:"incomplete,omitempty"` // paths were skipped or are held out
	Skipped    []Skip     `json:"skipped,omitempty"`    // at most 50
	HeldOut    []Held     `json:"held_out,omitempty"`   // at most 50
	Deleted    *Deleted   `json:"deleted,omitempty"`    // counts, if more than half of the files are deleted
	Used       cost.Usage `json:"used,omitzero"`        // usage since the previous checkpoint
}

// SkippedPhase records that work went past a phase in a lap without a verdict of its gates: a person skipped it, or it
// was done before, in another session manager.
type SkippedPhase struct {
	Phase PhaseName `json:"phase"`         // the skipped phase
	Lap   int       `json:"lap"`           // the lap in which it was skipped
	Why   string    `json:"why,omitempty"` // the person's reason
	// there were attempts at the phase, and a person let it pass without a verdict
	Anyway bool `json:"anyway,omitempty"`
	Before bool `json:"before,omitempty"` // another session manager says that it was done; no person skipped it
}

// Unjudged reports whether the phase was worked on, but passed without a verdict.
func (p SkippedPhase) Unjudged() bool { return p.Anyway || p.Before }

// Refuted is a claim of the agent that the gates contradicted.
type Refuted struct {
	Checkpoint  int       `json:"checkpoint"`            // checkpoint of the attempt with the claim
	Phase       PhaseName `json:"phase"`                 // phase of the attempt
	Lap         int       `json:"lap"`                   // lap of the attempt
	Reason      string    `json:"reason"`                // why the gates contradicted the claim
	Fingerprint string    `json:"fingerprint,omitempty"` // fingerprint of all gates that did not pass
	// number of the checkpoint at which a person approved the findings against the claim. On every line of checkpoints
	// that includes this checkpoint, the claim counts as true
	Approved int `json:"approved,omitempty"`
}

// Spent measures the time that a session took.
type Spent struct {
	// milliseconds that agents and commands worked; time in which the machine slept is not counted
	RunMillis int64 `json:"run_ms,omitempty"`
	// milliseconds that gates ran; time in which the machine slept is not counted
	GateMillis int64 `json:"gate_ms,omitempty"`
	// seconds that the session waited until limits reset, without the current wait
	Waited int64 `json:"waited,omitempty"`
	Since  int64 `json:"since,omitempty"` // when the current wait until a limit resets began (Unix time)
}

// Drive is the state of the session when the newest `wfs run` began, so that its report can show the difference.
type Drive struct {
	At int64 `json:"at"` // when that `wfs run` began (Unix time)
	// when it ended. A wait until a limit resets counts as the end, until the next attempt begins (Unix time)
	Ended       int64      `json:"ended,omitempty"`
	Laps        int        `json:"laps"`          // laps that had ended before it
	Tries       int        `json:"tries"`         // attempts that had been judged before it
	Refuted     int        `json:"refuted"`       // claims that the gates had contradicted before it
	Checkpoints int        `json:"checkpoints"`   // number of checkpoints before it
	Used        cost.Usage `json:"used,omitzero"` // usage before it
}

// Branch returns the full name of the session's branch.
func (s *Session) Branch() string { return BranchOf(s.ID) }

// Approved reports whether a person approved the work in this attempt.
func (o *Open) Approved() bool { return o.Run != nil && o.Run.Approved }

// Answered reports whether a person approved or rejected the work.
func (o *Open) Answered() bool { return o.Approved() || o.Run != nil && o.Run.Rejected }

// Claimed reports whether the agent said that it is done and wfs checked that claim. An unchecked claim counts as
// neither true nor refuted.
func (o *Open) Claimed() bool {
	d := o.Decided
	judged := d.Refuted || o.Judgement != nil &&
		slices.ContainsFunc(o.Judgement.Gates, func(g GateResult) bool { return g.Where != InTree })
	return o.Run != nil && o.Run.Done && judged && d.Verdict != Blocked && !d.NothingLeft
}

// Said is a message of a person that stays in every brief for a while: the answer to an agent's question until the lap
// ends, or the reason for a rejection until the phase that rejected the work passes.
type Said struct {
	Text string    `json:"text"`           // the message
	Ask  string    `json:"ask,omitempty"`  // the agent's question that it answers
	From PhaseName `json:"from,omitempty"` // the phase that rejected the work
	Told bool      `json:"told,omitempty"` // the message was in the brief of an attempt that was judged
}

// AsksMore reports whether notes are pending for the next attempt.
func (s *Session) AsksMore() bool { return len(s.Notes)+len(s.Meanwhile) > 0 }

// Status is the stage of a session's life.
type Status string

const (
	StatusCreated     Status = "created"
	StatusRunning     Status = "running"
	StatusPaused      Status = "paused"
	StatusInterrupted Status = "interrupted" // computed: the newest event says running, but no process drives it
	StatusWaiting     Status = "waiting"
	StatusBlocked     Status = "blocked"
	StatusCompleted   Status = "completed"
	StatusFinished    Status = "finished"
	StatusAbandoned   Status = "abandoned"
)

// Final reports whether the session is finished or abandoned: it cannot be run, and its status does not change with
// time.
func (s Status) Final() bool { return s == StatusFinished || s == StatusAbandoned }

// Fork is the history of a forked checkpoint. It is stored in the new session, which continues that checkpoint of
// another session.
type Fork struct {
	// the line of checkpoints that ends in the forked one. Their `number` is 0, because they belong to the other
	// session
	Line []Checkpoint `json:"line"`
	// settlements that are valid on that line, with `checkpoint` set to 0
	Settlements []Settlement `json:"settlements,omitempty"`
	// results of the gates on the tree of the forked checkpoint, if that checkpoint is `green`
	Gates []GateResult `json:"gates,omitempty"`
}

// Headline returns the session's display name: its title, or the goal.
func (s *Session) Headline() string {
	if s.Title != "" {
		return s.Title
	}
	return s.Goal
}

package session

import (
	"slices"

	"github.com/wfs-dev/wfs/session/cost"
)

// SessionVersion is the version of session.json. wfs ignores an older file and refuses a newer one.
const SessionVersion = 2

// FoldVersion is raised whenever the same events fold to a different session. A session.json with another one is folded
// again.
const FoldVersion = 6

// UpToDate reports whether this version of wfs would fold the events to the same session.
func (s *Session) UpToDate() bool { return s.Version == SessionVersion && s.Folded == FoldVersion }

// Session is the current state of a session: the fold of its events. The ledger keeps it in documents, as a cache.
type Session struct {
	Version int `json:"version"` // 2
	// version of the fold that wrote it. It is raised whenever the same events give another result; wfs ignores a file
	// with a different one
	Folded int   `json:"folded,omitempty"`
	Seq    int64 `json:"seq"` // number of the newest event in it

	Created
	CreatedAt int64 `json:"created_at"` // birth (Unix time)
	UpdatedAt int64 `json:"updated_at"` // newest event (Unix time)

	// `created`, `running`, `paused`, `interrupted`, `waiting`, `blocked`, `completed`, `finished`, `abandoned`
	Status  Status     `json:"status"`
	Waiting *Waiting   `json:"waiting,omitempty"` // the fields of `waiting`
	Blocked *BlockedBy `json:"blocked,omitempty"` // the fields of `blocked`
	Why     string     `json:"why,omitempty"`     // why it has that status
	// the goal or the spec was edited since the session was blocked
	Reworded bool `json:"reworded,omitempty"`

	Phase PhaseName `json:"phase"`          // current phase, `done` when there is none
	Lap   int       `json:"lap"`            // current lap, from 1
	Open  *Open     `json:"open,omitempty"` // the attempt in progress

	Visit Visit `json:"visit"` // the breaker's counts
	Tries int   `json:"tries"` // attempts that were judged
	Runs  int   `json:"runs"`  // attempts that were started
	Terms

	Base0       *Baseline    `json:"baseline,omitempty"` // the fields of `baseline`
	Checkpoints []Checkpoint `json:"checkpoints"`        // all, by number
	Current     int          `json:"current"`            // the checkpoint that the branch stands on
	// the fields of `decided`, newest since the session moved to another checkpoint
	Last *Decided `json:"last,omitempty"`
	// gates of the newest judgement, since the session moved to another checkpoint
	LastGates []GateResult `json:"last_gates,omitempty"`
	NotRun    []NotRun     `json:"not_run,omitempty"`  // gates that the newest judgement skipped
	LastRun   string       `json:"last_run,omitempty"` // run id of the newest judged attempt
	// run id of the newest attempt that was started
	Started string `json:"started,omitempty"`

	Proof   *Proof         `json:"proof,omitempty"`   // the newest one, of any tree
	Holdout *HoldoutResult `json:"holdout,omitempty"` // the newest one, of any tree but the base
	// changes of tests that the newest judgement at this visit found
	Tampered    []Tampering `json:"tampered,omitempty"`
	TestChange  string      `json:"test_change,omitempty"`  // why the work went back to change tests
	TestChanges int         `json:"test_changes,omitempty"` // how often in this lap
	GateRuns    int         `json:"gate_runs,omitempty"`    // results of gates that run something
	// number of those that an older version took from its cache
	GatesCached int `json:"gates_cached,omitempty"`
	// tests that judgements found flaky; sorted, at most 50. Those of the base are in `baseline`
	Flaky []TestID `json:"flaky,omitempty"`

	// laps that ended without a judgement, on every line of checkpoints
	Settlements []Settlement `json:"settlements,omitempty"`

	// by phase, how often reviewers have sent the work back since the last approval
	Rounds map[PhaseName]int `json:"rounds,omitempty"`

	// how often the agent said that it is done, and wfs could check it
	Claims  int       `json:"claims"`
	Refuted []Refuted `json:"refuted,omitempty"` // claims that the gates contradicted
	Notes   []string  `json:"notes,omitempty"`   // notes from a person that no brief has held yet
	// notes that came during a run of the session, and that no brief has held yet: they may not be from a person
	Meanwhile []string `json:"meanwhile,omitempty"`
	// ids of the newest requests that became events, at most 16
	Heard   []string `json:"heard,omitempty"`
	CostUSD float64  `json:"cost_usd,omitempty"` // sum of the costs that runs reported
	Spent   Spent    `json:"spent"`              // use of time
	Drive   *Drive   `json:"drive,omitempty"`    // state of the session when the newest run began
	// runs in a row that failed without changing anything
	Failed int `json:"failed_runs,omitempty"`
	// paths that a person allowed although they would be held out; sorted
	Allowed []string `json:"allowed,omitempty"`

	cost.Account
	// runs in a row that a limit or an error of the provider stopped
	Hindered   *Hindered  `json:"hindered,omitempty"`
	LastResult *RunResult `json:"last_result,omitempty"` // result of the newest run that ended
	Warned     []string   `json:"warned,omitempty"`      // keys of `budget_warned`, the newest 50

	// `refs`, `files`, `made` and `was` of all `strayed` that no person has seen yet
	Unseen *Strayed `json:"unseen,omitempty"`

	// commits of refs that were moved during runs, until a checkpoint keeps them reachable
	Keep []Commit `json:"keep,omitempty"`

	Finished *Finished `json:"finished,omitempty"` // the fields of `finished`
	// the fields of the newest `abandoned`, also when the session was revived since
	Abandoned *Abandoned `json:"abandoned,omitempty"`
	Title     string     `json:"title,omitempty"` // title that is shown instead of the goal
	// right after an attempt's checkpoint, until its conclusions are drawn
	Conclude bool `json:"conclude,omitempty"`

	// the fields of `move_started`, of an unfinished move
	Moving *MoveStarted `json:"moving,omitempty"`
	// the fields of `finish_started`, of an unfinished finish
	Finishing *FinishStarted `json:"finishing,omitempty"`
	// the fields of `delete_started`, of an unfinished deletion
	Deleting *DeleteStarted `json:"deleting,omitempty"`
}

// Open is an attempt that has begun and has no checkpoint yet.
type Open struct {
	AttemptStarted
	Run       *RunResult `json:"run,omitempty"`       // once the run has ended
	After     Tree       `json:"after,omitempty"`     // tree after the run
	Told      int        `json:"told,omitempty"`      // how many notes its brief held
	Said      int        `json:"said,omitempty"`      // how many of the session's `said` its brief held
	Judgement *Judgement `json:"judgement,omitempty"` // once it is judged
	Decided   *Decided   `json:"decided,omitempty"`   // the fields of `decided`
	// the usage of its run is counted, although the run was cut off
	Found bool `json:"found,omitempty"`
}

// Terms are the requirements on the work. A checkpoint keeps them, and a session that returns to it gets them back.
type Terms struct {
	Targets  []TestID `json:"targets,omitempty"`  // of this lap
	Expected []string `json:"expected,omitempty"` // names of this lap's tests that cannot be built yet
	// the gate that `targets` belong to; none: the only one that expects red
	TargetsOf string `json:"targets_of,omitempty"`
	// tests of this lap or its start whose removal experiments or a person accepted
	Gone    []TestID `json:"gone,omitempty"`
	LapTree Tree     `json:"lap_tree,omitempty"` // tree that the current lap began with
	// tree that RED passed with, or that a person has approved since: its tests are frozen
	Frozen Tree `json:"frozen,omitempty"`
	// phases that a person ended without a verdict, and that did not pass later in the same lap
	SkippedPhases []SkippedPhase `json:"skipped_phases,omitempty"`
	// messages of a person that stay in the briefs for a while
	Said []Said `json:"said,omitempty"`
	// the newest review that sent the work back, until it is answered
	Review *Review `json:"review,omitempty"`
}

// Checkpoint is one entry of a session's history.
type Checkpoint struct {
	Number  int       `json:"number"`            // from 0
	At      int64     `json:"at"`                // when (Unix time)
	Trigger Trigger   `json:"trigger"`           // as in `checkpointed`
	Code    Commit    `json:"code"`              // the code commit
	Tree    Tree      `json:"tree"`              // its tree
	Phase   PhaseName `json:"phase"`             // phase in which it was made
	Lap     int       `json:"lap"`               // lap in which it was made
	Attempt int       `json:"attempt,omitempty"` // none outside attempts
	Verdict Verdict   `json:"verdict,omitempty"` // none when nothing was judged
	Class   Class     `json:"class,omitempty"`   // none when nothing was judged
	// its gates passed with no failing test: it can be handed over
	Green   bool `json:"green,omitempty"`
	Approve bool `json:"approve,omitempty"` // as in `decided`
	// the phase that was skipped after it, because the lap changed little code
	TooSmall PhaseName `json:"too_small,omitempty"`
	// its agent said that it is done, and a person is asked whether that is true
	Claimed bool   `json:"claimed,omitempty"`
	Summary string `json:"summary"` // the commit's subject without its prefix
	// the checkpoint that was current when this one was made; 0 if left out
	On int `json:"on,omitempty"`
	// phase that the session returns to when it is resumed here
	Next    PhaseName `json:"next"`
	NextLap int       `json:"next_lap"` // lap that it returns to
	Terms
	Tampered []Tampering `json:"tampered,omitempty"` // how its tests are weakened; at most 10
	// items of the checklist, from 1, that documents of the session tick
	Ticked     []int      `json:"ticked,omitempty"`
	Incomplete bool       `json:"incomplete,omitempty"` // paths were skipped or are held out
	Skipped    []Skip     `json:"skipped,omitempty"`    // at most 50
	HeldOut    []Held     `json:"held_out,omitempty"`   // at most 50
	Deleted    *Deleted   `json:"deleted,omitempty"`    // more than half of the files are deleted
	Used       cost.Usage `json:"used,omitzero"`        // usage since the checkpoint before
}

// SkippedPhase is a phase that a person skipped, regardless of its gates. There is one entry for each lap.
type SkippedPhase struct {
	Phase PhaseName `json:"phase"`         // the phase
	Lap   int       `json:"lap"`           // in which it was skipped
	Why   string    `json:"why,omitempty"` // the person's reason
	// it was worked on, and a person passed it without a verdict
	Anyway bool `json:"anyway,omitempty"`
}

// Refuted is a claim of the agent that the gates contradicted.
type Refuted struct {
	Checkpoint  int       `json:"checkpoint"`            // checkpoint of the attempt with the claim
	Phase       PhaseName `json:"phase"`                 // phase of the attempt
	Lap         int       `json:"lap"`                   // lap of the attempt
	Reason      string    `json:"reason"`                // reason of the gates
	Fingerprint string    `json:"fingerprint,omitempty"` // fingerprint of all gates that did not pass
	// checkpoint at which a person approved the findings against the claim: on a line with this checkpoint the
	// claim counts as true
	Approved int `json:"approved,omitempty"`
}

// Spent measures the time that a session took.
type Spent struct {
	// milliseconds that agents and commands worked; time in which the machine slept is not counted
	RunMillis  int64 `json:"run_ms,omitempty"`
	GateMillis int64 `json:"gate_ms,omitempty"` // milliseconds that gates ran, likewise
	// seconds of waiting for limits, without the current wait
	Waited int64 `json:"waited,omitempty"`
	Since  int64 `json:"since,omitempty"` // when the current wait for a limit began (Unix time)
}

// Drive is the state of the session when the newest run began.
type Drive struct {
	At int64 `json:"at"` // when the run began (Unix time)
	// when it ended; a wait for a limit counts as the end until the next attempt begins (Unix time)
	Ended       int64      `json:"ended,omitempty"`
	Laps        int        `json:"laps"`          // laps that had ended before it
	Tries       int        `json:"tries"`         // attempts that had been judged before it
	Refuted     int        `json:"refuted"`       // claims that the gates had contradicted before it
	Checkpoints int        `json:"checkpoints"`   // checkpoints before it
	Used        cost.Usage `json:"used,omitzero"` // usage before it
}

// Branch returns the full name of the session's branch.
func (s *Session) Branch() string { return BranchOf(s.ID) }

// Approved reports whether a person approved the work in this attempt.
func (o *Open) Approved() bool { return o.Run != nil && o.Run.Approved }

// Answered reports whether a person approved or rejected the work.
func (o *Open) Answered() bool { return o.Approved() || o.Run != nil && o.Run.Rejected }

// Claimed reports whether the agent said that it is done and wfs checked that. A claim that was not checked is neither
// true nor refuted.
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
	From PhaseName `json:"from,omitempty"` // the phase that the work was sent back from
	Told bool      `json:"told,omitempty"` // its text was in the brief of a judged attempt
}

// AsksMore reports whether a note is pending for the next attempt.
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

// Final reports whether neither time nor `wfs run` changes this status.
func (s Status) Final() bool { return s == StatusFinished || s == StatusAbandoned }

// Fork is the history of the checkpoint of another session that a session continues.
type Fork struct {
	// its line of checkpoints; the last is the forked one. Their `number` is 0, because they are not of this session
	Line []Checkpoint `json:"line"`
	// settlements that are valid on that line, with `checkpoint` 0
	Settlements []Settlement `json:"settlements,omitempty"`
	// results of the gates on its tree, if it is `green`
	Gates []GateResult `json:"gates,omitempty"`
}

// Headline returns the session's display name: its title, or the goal.
func (s *Session) Headline() string {
	if s.Title != "" {
		return s.Title
	}
	return s.Goal
}

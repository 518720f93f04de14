package session

import "github.com/wfs-dev/wfs/workflows"

// Kinds of events that code refers to by name.
const (
	KindDriving        Kind = "driving"
	KindAttemptStarted Kind = "attempt_started"
	KindRunEnded       Kind = "run_ended"
	KindStrayed        Kind = "strayed"
	KindDecided        Kind = "decided"
	KindCheckpointed   Kind = "checkpointed"
	KindVoided         Kind = "voided"
	KindInterrupted    Kind = "interrupted"
	KindWaiting        Kind = "waiting"
	KindBlocked        Kind = "blocked"
	KindNoted          Kind = "noted"
	KindAgreed         Kind = "agreed"
	KindFinishStarted  Kind = "finish_started"
	KindDropped        Kind = "dropped"
	KindAnswered       Kind = "answered"
	KindBudgetWarned   Kind = "budget_warned"
)

// bodies has an empty body of every kind of event, in the order in which a session meets them. A kind marked "turn"
// ends the events.jsonl of a ledger commit. While such an event is only in a journal, it is an intention, not a fact.
var bodies = map[Kind]Body{
	"created":          Created{},
	"baseline":         Baseline{},
	KindDriving:        Driving{}, // a `wfs run` took the session
	KindAttemptStarted: AttemptStarted{},
	KindRunEnded:       RunEnded{},
	KindStrayed:        Strayed{}, // a run changed refs or files outside its session
	"judged":           Judged{},
	"reopened":         Reopened{}, // the attempt is judged a second time: the tree may have changed since
	KindDecided:        Decided{},
	KindCheckpointed:   Checkpointed{}, // turn
	KindVoided:         Voided{},       // an attempt that could not run, and changed nothing
	KindInterrupted:    Interrupted{},
	"paused":           Paused{},
	KindWaiting:        Waiting{},
	KindBlocked:        BlockedBy{},
	KindNoted:          Noted{},
	KindAgreed:         Agreed{},
	"breaker_reset":    BreakerReset{},
	"phase_moved":      PhaseMoved{}, // turn: a person changed the phase without a verdict
	"allowed":          Allowed{},    // a person allowed paths that the guard holds out, or revoked that
	"move_started":     MoveStarted{},
	"moved":            Moved{}, // turn
	KindFinishStarted:  FinishStarted{},
	"finished":         Finished{},  // turn
	KindDropped:        Dropped{},   // the events right before it did not happen
	"abandoned":        Abandoned{}, // turn
	"revived":          Revived{},   // turn
	"renamed":          Renamed{},   // turn
	"edited":           Edited{},    // turn
	"repinned":         Repinned{},  // turn
	"taken_back":       TakenBack{}, // turn
	KindAnswered:       Answered{},  // turn
	"delete_started":   DeleteStarted{},
	"usage_found":      UsageFound{}, // the usage of a run that was cut off
	"budget_set":       BudgetSet{},
	KindBudgetWarned:   BudgetWarned{},
}

// IsTurn reports whether events of this kind take effect with a ledger commit.
func (k Kind) IsTurn() bool {
	switch bodies[k].(type) {
	case Checkpointed, Moved, Finished, Abandoned, Revived, Renamed, Edited, Repinned, TakenBack, Answered, PhaseMoved:
		return true
	}
	return false
}

// Created is a session's first event. Only Edited and Repinned change the values that it pins.
type Created struct {
	body
	ID    ID       `json:"id"`               // the session's id
	Goal  string   `json:"goal" text:"free"` // the goal, as it was typed
	Items []string `json:"items,omitempty"`  // open items of the spec's checklist, in order
	// file of the spec: below the work tree, or relative to the top of the main work tree (`../spec.md`) (path)
	SpecPath   string    `json:"spec_path,omitempty"`
	SpecDigest string    `json:"spec_digest,omitempty"` // SHA-256 of the spec
	Workflow   string    `json:"workflow"`              // name of the workflow
	Start      PhaseName `json:"start"`                 // its first phase
	Laps       bool      `json:"laps,omitempty"`        // whether it has laps
	PlanDigest string    `json:"plan_digest"`           // SHA-256 of `plan.json`
	Agent      string    `json:"agent"`                 // the agent, for people
	// the agent was typed for `wfs new`, and is not from the configuration
	AgentTyped bool `json:"agent_typed,omitempty"`
	// branch that the session was created from, if any (ref)
	BaseRef string `json:"base_ref,omitempty"`
	// where the session's work begins; the parent of the commit that `finish` makes
	Base   Commit `json:"base"`
	Parent string `json:"parent,omitempty"` // `<id>@<checkpoint>` that it was forked from
	// uncommitted changes that checkpoint 0 holds (paths)
	Carried []string `json:"carried,omitempty"`
	// uncommitted changes left behind on the user's branch (paths)
	Left    []string `json:"left,omitempty"`
	HeldOut []string `json:"held_out,omitempty"` // paths held out of checkpoint 0
	// caps from the command line; they override those of the plan
	Budget workflows.Budget `json:"budget,omitzero"`
	// the checkpoint of `parent` that the session continues
	Fork *Fork `json:"fork,omitempty"`
}

// Baseline has the results of the gates on the base, before any work.
type Baseline struct {
	body
	Tree  Tree         `json:"tree"`              // the tree that was judged
	Gates []GateResult `json:"gates" text:"free"` // one for each gate
	Red   []TestID     `json:"red,omitempty"`     // failed on the base; ignored in the session
	// failed and passed on the same tree; ignored in the session
	Flaky []TestID `json:"flaky,omitempty"`
	// results of the hold-out tests, most of which fail here
	Holdout *HoldoutResult `json:"holdout,omitempty"`
}

// Driving marks that a run began.
type Driving struct {
	body
	MaxAttempts int    `json:"max_attempts,omitempty"` // limit of this run, from the command line
	Version     string `json:"version"`                // of wfs
	// process ids of survivors of the previous run, left alone because of `--ignore-survivors`
	Ignored []int `json:"ignored_survivors,omitempty"`
	// process ids of survivors of the previous run that this run ended: they were proven to belong to that run
	Ended []int `json:"ended_survivors,omitempty"`
	Now   bool  `json:"now,omitempty"` // `--now` ended a wait
}

// AttemptStarted is written before the runner is started.
type AttemptStarted struct {
	body
	Number  int       `json:"number"`  // number of the attempt in the session, from 1
	Phase   PhaseName `json:"phase"`   // phase
	Lap     int       `json:"lap"`     // lap, from 1
	Attempt int       `json:"attempt"` // number of the attempt at this visit of the phase, from 1
	RunID   string    `json:"run_id"`  // id of the run; names its directory
	Tree    Tree      `json:"tree"`    // the tree that it starts from
	// `agent`, `command`, `script`, or `person`: no process was started, edits to completed work are judged
	Runner string `json:"runner"`
	// the breaker lets one more attempt through, with instructions to try another approach
	HalfOpen bool `json:"half_open,omitempty"`
	// name of the agent that works instead of the phase's agent, because of `half-open`
	Agent string `json:"agent,omitempty"`
	// git locks that existed before, by their names below the git directory: this run did not leave them
	Locks []string `json:"locks,omitempty"`
	// how many of the session's `meanwhile` its brief holds
	Meanwhile int `json:"meanwhile,omitempty"`
}

// RunEnded is the end of a run, with its result.
type RunEnded struct {
	body
	RunResult
	Tree Tree `json:"tree"` // tree of the work tree after the run
}

// Judged is the judgement of the tree after the run.
type Judged struct {
	body
	Judgement
}

// Reopened drops the judgement of the open attempt.
type Reopened struct {
	body
	Why string `json:"why" text:"free"` // reason
}

// Decided is the conclusion of an attempt. The next checkpoint makes it durable.
type Decided struct {
	body
	Verdict  Verdict   `json:"verdict"`             // `pass`, `fail`, `blocked`
	Class    Class     `json:"class"`               // the reason behind it, see Class
	Reason   string    `json:"reason" text:"free"`  // one sentence
	Next     PhaseName `json:"next"`                // the phase that follows, or `done`
	NextLap  int       `json:"next_lap"`            // its lap
	LapEnded bool      `json:"lap_ended,omitempty"` // a lap is over
	Progress bool      `json:"progress"`            // the attempt made progress
	// which progress, when it did not pass: `ahead` (further than any attempt at this visit), `moved` (a new failure
	// on a new tree, and nothing more is broken), `looked` (it only read files, which is excused once), `unsigned`
	// (its gates pass, and the agent did not report that it is done)
	Step Step `json:"step,omitempty"`
	// the agent said that it is done, and the gates disagree
	Refuted bool `json:"refuted,omitempty"`
	// no gate judged it: a person has to approve it at the end of the work
	Approve bool `json:"approve,omitempty"`
	// the start phase added nothing, and the agent said that nothing is left
	NothingLeft bool `json:"nothing_left,omitempty"`
	// the existing test that the agent named as evidence, which ran and passes
	Shown TestID `json:"shown,omitempty"`
	// the phase that is skipped because the lap changed little code (`refactor: auto`)
	TooSmall PhaseName `json:"too_small,omitempty"`
	// as in the judgement; if a person rejected it, the question that they answered
	Question *Question `json:"question,omitempty" text:"free"`
}

// Trigger says why a checkpoint was made.
type Trigger string

const (
	TriggerBirth    Trigger = "birth"
	TriggerBaseline Trigger = "baseline" // the gates ran on the base after files had been moved there
	TriggerAttempt  Trigger = "attempt"
	TriggerManual   Trigger = "manual"
	// edits made before an attempt, saved before its runner can overwrite them
	TriggerFound       Trigger = "found"
	TriggerInterrupted Trigger = "interrupted"
	TriggerSwitch      Trigger = "switch" // the session's edits, before HEAD moves to another branch
	TriggerHook        Trigger = "hook"   // by the agent's hooks, while a person works with it
)

// Checkpointed is a checkpoint: a code commit and its verdict. (turn)
type Checkpointed struct {
	body
	Number int `json:"number"` // from 0, without a gap, never reused
	// `birth`, `baseline` (the gates ran on the base after files had been moved there), `attempt`, `manual`, `found`
	// (edits made before an attempt), `interrupted`, `switch` (the session's edits, before HEAD moves to
	// another branch), `hook` (by the agent's hooks, while a person works with it)
	Trigger Trigger   `json:"trigger"`
	Code    Commit    `json:"code"`                // the code commit
	Tree    Tree      `json:"tree"`                // its tree
	Phase   PhaseName `json:"phase"`               // phase in which it was made
	Lap     int       `json:"lap"`                 // lap in which it was made
	Attempt int       `json:"attempt,omitempty"`   // at this visit of the phase; none outside attempts
	Verdict Verdict   `json:"verdict,omitempty"`   // none when nothing was judged
	Class   Class     `json:"class,omitempty"`     // none when nothing was judged
	Summary string    `json:"summary" text:"free"` // the commit's subject without its prefix
	Adopted []Commit  `json:"adopted,omitempty"`   // tips that other processes made since the last checkpoint
	Skipped []Skip    `json:"skipped,omitempty"`   // paths that the commit cannot hold
	// paths that the commit does not hold until a person allows them; at most 50
	HeldOut []Held   `json:"held_out,omitempty"`
	Deleted *Deleted `json:"deleted,omitempty"` // more than half of the files are deleted
	Turn    Turn     `json:"turn"`              // what moved
}

// Deleted counts the deleted files of a checkpoint that lacks more than half of the files of the checkpoint before it.
// Renamed files do not count.
type Deleted struct {
	Files int `json:"files"` // deleted files
	Of    int `json:"of"`    // files before
}

// Voided ends an attempt whose run failed and changed nothing. Such an attempt does not count.
type Voided struct {
	body
	Why string `json:"why" text:"free"` // reason
}

// Interrupted ends an open attempt that was cut off, or the judging of one whose run had ended.
type Interrupted struct {
	body
	// `ctrl-c`, `killed`, `terminated`, `the terminal was closed`, `stopped at once, on request`; an older wfs wrote
	// `stopped at once, as asked`
	Why     string `json:"why" text:"free"`
	Request string `json:"request,omitempty"` // id of the request that caused it
	// the attempt's run had ended: it stays open, and the next `wfs run` judges its result first
	Unjudged bool `json:"unjudged,omitempty"`
}

// Paused ends a run normally before the work is done.
type Paused struct {
	body
	Why     string `json:"why" text:"free"`   // reason
	Request string `json:"request,omitempty"` // id of the request that caused it
}

// WaitReason says whether a session waits for a time or for a person.
type WaitReason string

const (
	WaitLimit WaitReason = "limit" // until a time
	WaitHuman WaitReason = "human" // an answer to Ask
)

// WaitCause says why a session waits until a time.
type WaitCause string

const (
	CauseLimit       WaitCause = "usage_limit"    // the provider's limit
	CauseRateLimited WaitCause = "rate_limited"   // too many requests
	CauseOverloaded  WaitCause = "overloaded"     // an error of the provider or the network
	CauseAsked       WaitCause = "asked"          // the agent or command asked to wait
	CauseCalls       WaitCause = "calls_per_hour" // wfs's own limit
)

// Waiting says that nothing is wrong, but the engine cannot continue by itself now. An open attempt ends without
// counting.
type Waiting struct {
	body
	// `limit` (until a time), `human` (an answer to `ask`)
	Reason WaitReason `json:"reason"`
	Until  int64      `json:"until,omitempty"` // for `limit` (Unix time)
	// of a `limit`: `usage_limit` (the provider's), `rate_limited` (too many requests), `overloaded` (an error of the
	// provider or the network), `asked` (the agent or command asked to wait), `calls_per_hour` (wfs's own limit)
	Cause WaitCause `json:"cause,omitempty"`
	Why   string    `json:"why,omitempty" text:"free"` // the cause as text, for people
	// maximum duration of this wait in seconds, even if the clock is set back
	Longest int64  `json:"longest,omitempty"`
	Ask     string `json:"ask,omitempty" text:"free"` // the question
	// the question is whether nothing is left; `wfs approve` and `wfs finish` answer yes, `wfs reject` no
	Agree bool `json:"agree,omitempty"`
	// it waits for `wfs approve` or `wfs reject`: in a phase that a person does, or because a judgement has a question
	Approve bool `json:"approve,omitempty"`
	// details of `ask`, when it comes from a judgement
	Question *Question `json:"question,omitempty" text:"free"`
}

// BlockReason says why a session is blocked.
type BlockReason string

const (
	BlockBreaker   BlockReason = "breaker"
	BlockGate      BlockReason = "gate"
	BlockRunner    BlockReason = "runner"
	BlockConflict  BlockReason = "conflict"
	BlockSurvivors BlockReason = "survivors"
	BlockTamper    BlockReason = "tamper" // a run changed the session's own records
	BlockLimit     BlockReason = "laps"
	BlockBudget    BlockReason = "budget"
)

// BlockedBy stops the session until a person acts.
type BlockedBy struct {
	body
	// `breaker`, `gate` (could not judge), `runner` (the agent keeps failing and changes nothing), `conflict` (a merge
	// or rebase is unfinished), `survivors` (processes of a run still live), `tamper` (the session's ledger was moved
	// during a run, and put back), `laps`, `budget` (a cap is reached)
	Reason   BlockReason `json:"reason"`
	Evidence []string    `json:"evidence" text:"free"` // short lines written by wfs
	Hint     string      `json:"hint" text:"free"`     // one command to type
	// a person has approved since, and a gate failed: the next run tries once more
	Answered bool `json:"answered,omitempty"`
}

// Noted is a message from a person for the next attempts.
type Noted struct {
	body
	Text    string `json:"text" text:"free"`  // the message
	Request string `json:"request,omitempty"` // id of the request that brought it
	Back    bool   `json:"back,omitempty"`    // it is the reason for a rejection
	// it came during a run of the session, or was still pending when the next one began: it may not be from a person,
	// and answers no question
	Meanwhile bool `json:"meanwhile,omitempty"`
}

// Agreed is a person's approval, as the answer to the pending question.
type Agreed struct {
	body
	By string `json:"by"` // `person` or `auto`
}

// Allowed adds paths, with everything below them, to checkpoints although the session's guard holds them out.
type Allowed struct {
	body
	Paths   []string `json:"paths"`             // the paths
	Revoked bool     `json:"revoked,omitempty"` // they are held out again
	Request string   `json:"request,omitempty"` // id of the request that caused it
}

// BreakerReset sets the counts of the phase's breaker to zero.
type BreakerReset struct{ body }

// PhaseMoved is a person's decision to continue in another phase, regardless of the gates. It judges nothing. (turn)
type PhaseMoved struct {
	body
	From   PhaseName `json:"from"`              // the phase that ends
	To     PhaseName `json:"to"`                // the phase that begins, or `done`
	Lap    int       `json:"lap"`               // lap in which the work continues
	Skip   bool      `json:"skip,omitempty"`    // forward, as if `from` had passed
	NewLap bool      `json:"new_lap,omitempty"` // it ended a lap
	// back to the phase that writes tests: they may be changed, and are judged without the lap's code
	Tests bool `json:"tests,omitempty"`
	// `wfs approve --anyway`: `from` was worked on, and the person passes it regardless of its gates
	Anyway bool   `json:"anyway,omitempty"`
	Why    string `json:"why,omitempty" text:"free"` // the person's reason
	// if a person does the phase that begins: its question. The session waits for the answer
	Ask  string `json:"ask,omitempty" text:"free"`
	Turn Turn   `json:"turn"` // empty: nothing moved
}

// MoveKind is the operation that moves a work tree.
type MoveKind string

const (
	MoveNew    MoveKind = "new"
	MoveResume MoveKind = "resume"
	MoveSwitch MoveKind = "switch"
	MoveLeave  MoveKind = "leave" // to a branch of the user's
	MoveUndo   MoveKind = "undo"
)

// MoveStarted is written before the first file of a work tree is changed.
type MoveStarted struct {
	body
	// `new`, `resume`, `switch`, `leave` (to a branch of the user's), `undo`
	How     MoveKind `json:"kind"`
	Summary string   `json:"summary"` // one line
	// checkpoint that becomes current; -1: the session stays where it is
	To     int     `json:"to"`
	Undoes int64   `json:"undoes,omitempty"` // operation that it undoes
	Status Status  `json:"status,omitempty"` // status after an undo of `new`
	Former *Former `json:"former,omitempty"` // other values that an undo restores
	// ledger commit whose `lap.json` and `evidence.json` are valid again
	Docs Commit `json:"docs,omitempty"`
	// if the files come from an auto-save: the tree that the visit of the interrupted attempt began with
	Since Tree `json:"since,omitempty"`
	// why the move could be neither completed nor undone; the event is then written a second time
	Stuck string `json:"stuck,omitempty"`
	Turn  Turn   `json:"turn"` // what will move
}

// GiveUp is a git command that changes no file. It moves HEAD elsewhere, so the next wfs command gives up an unfinished
// move. It creates a branch because wfs cannot switch to a session without one.
const GiveUp = "git switch -c put-aside"

// Moved is a completed move. (turn)
type Moved struct {
	MoveStarted
}

// FinishStarted is written before the user's branch is created.
type FinishStarted struct {
	body
	Branch string `json:"branch"` // full name (ref)
	Base   Commit `json:"base"`   // where it begins
	Tree   Tree   `json:"tree"`   // the tree that it will hold
	Turn   Turn   `json:"turn"`   // what will move
}

// Dropped says that the turn right before it, or the finish or deletion that was started, did not happen: its ledger
// commit was never published, and its changes to the repository were undone.
type Dropped struct {
	body
	Why string `json:"why" text:"free"` // reason
	// the move that was started is given up as well: HEAD was moved elsewhere in the middle of it, or it failed and the
	// files were restored
	Move bool `json:"move,omitempty"`
}

// Finished says that the work was handed over to the user's branch. (turn)
type Finished struct {
	body
	Branch     string `json:"branch"`     // full name (ref)
	Commit     Commit `json:"commit"`     // its tip
	Checkpoint int    `json:"checkpoint"` // the checkpoint that was handed over
	// reason for handing it over although something was still open (`finish --anyway`)
	Anyway string `json:"anyway,omitempty" text:"free"`
	// changes that were uncommitted when the session was created were left out
	WithoutCarried bool           `json:"without_carried,omitempty"`
	Kept           bool           `json:"kept,omitempty"`    // the checkpoints themselves were handed over
	Proof          *Proof         `json:"proof,omitempty"`   // when it was made for this
	Holdout        *HoldoutResult `json:"holdout,omitempty"` // when hold-out tests were run for this
	Turn           Turn           `json:"turn"`              // what moved
}

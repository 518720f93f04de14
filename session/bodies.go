package session

import "github.com/wfs-dev/wfs/workflows"

// Kinds of events to which other code refers by name.
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

// bodies has an empty body for every kind of event, roughly in the order of a session's life. An event of a kind marked
// "turn" is the last one in the events.jsonl of its ledger commit. While such an event is only in a journal, it is an
// intention, not a fact.
var bodies = map[Kind]Body{
	"created":          Created{},
	"baseline":         Baseline{},
	KindDriving:        Driving{}, // a `wfs run` began to drive the session
	KindAttemptStarted: AttemptStarted{},
	KindRunEnded:       RunEnded{},
	KindStrayed:        Strayed{}, // a run changed refs or files outside its session
	"judged":           Judged{},
	"reopened":         Reopened{}, // the attempt is judged again, because its tree may have changed
	KindDecided:        Decided{},
	KindCheckpointed:   Checkpointed{}, // turn
	KindVoided:         Voided{},       // the run of an attempt failed and changed nothing
	KindInterrupted:    Interrupted{},
	"paused":           Paused{},
	KindWaiting:        Waiting{},
	KindBlocked:        BlockedBy{},
	KindNoted:          Noted{},
	KindAgreed:         Agreed{},
	"breaker_reset":    BreakerReset{},
	"phase_moved":      PhaseMoved{}, // turn: a person changed the phase without a verdict
	"allowed":          Allowed{},    // a person allowed paths that the guard holds out of checkpoints, or revoked that
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

// IsTurn reports whether an event of this kind is a turn: it takes effect only when its ledger commit is published.
func (k Kind) IsTurn() bool {
	switch bodies[k].(type) {
	case Checkpointed, Moved, Finished, Abandoned, Revived, Renamed, Edited, Repinned, TakenBack, Answered, PhaseMoved:
		return true
	}
	return false
}

// Created is a session's first event. Later, only Edited and Repinned change the goal, the spec, the plan and the agent
// that it sets.
type Created struct {
	body
	ID    ID       `json:"id"`               // the session's id
	Goal  string   `json:"goal" text:"free"` // the goal, as it was typed
	Items []string `json:"items,omitempty"`  // open items of the spec's checklist, in their order
	// file of the spec, relative to the top of the work tree; a file outside of it is relative to the top of the main
	// work tree (`../spec.md`) (path)
	SpecPath   string    `json:"spec_path,omitempty"`
	SpecDigest string    `json:"spec_digest,omitempty"` // SHA-256 of the spec
	Workflow   string    `json:"workflow"`              // name of the workflow
	Start      PhaseName `json:"start"`                 // first phase of the workflow, or of each lap
	// phase before the laps at which the session begins, in lap 0
	First      PhaseName `json:"first,omitempty"`
	Then       PhaseName `json:"then,omitempty"` // phase that follows the last lap
	Laps       bool      `json:"laps,omitempty"` // the workflow has laps
	PlanDigest string    `json:"plan_digest"`    // SHA-256 of `plan.json`
	Agent      string    `json:"agent"`          // name of the agent, for people
	// the agent was named on the command line of `wfs new`, not by the configuration
	AgentTyped bool `json:"agent_typed,omitempty"`
	// the session is deleted once its work is handed over
	Temporary bool `json:"temporary,omitempty"`
	// branch that the session was created from, if any (ref)
	BaseRef string `json:"base_ref,omitempty"`
	// commit that the session's work begins at, and the parent of the commit that `finish` makes
	Base   Commit `json:"base"`
	Parent string `json:"parent,omitempty"` // `<id>@<checkpoint>` that it was forked from
	// uncommitted changes that checkpoint 0 holds (paths)
	Carried []string `json:"carried,omitempty"`
	// uncommitted changes left behind on the user's branch (paths)
	Left    []string `json:"left,omitempty"`
	HeldOut []string `json:"held_out,omitempty"` // paths held out of checkpoint 0
	// caps from the command line; they override the caps of the plan
	Budget workflows.Budget `json:"budget,omitzero"`
	// the checkpoint of `parent` that the session continues
	Fork *Fork `json:"fork,omitempty"`
	// the state of another session manager that the session continues
	Imported *Imported `json:"imported,omitempty"`
}

// Imported is where the session of another session manager stood. wfs has judged none of it.
type Imported struct {
	From     string      `json:"from"`               // name of the file that it was read from
	ID       string      `json:"id" text:"free"`     // the session's name there
	Phase    PhaseName   `json:"phase"`              // phase in which this session begins
	Unjudged []PhaseName `json:"unjudged,omitempty"` // phases before it
	Note     string      `json:"note" text:"free"`   // note for the first attempt
}

// Baseline has the results of the gates on the base, before any work.
type Baseline struct {
	body
	Tree  Tree         `json:"tree"`              // the tree that was judged
	Gates []GateResult `json:"gates" text:"free"` // one result for each gate
	Red   []TestID     `json:"red,omitempty"`     // tests that fail on the base; later failures of them are ignored
	// tests that both failed and passed on the base; ignored later
	Flaky []TestID `json:"flaky,omitempty"`
	// results of the hold-out tests on the base, where most of them fail
	Holdout *HoldoutResult `json:"holdout,omitempty"`
}

// Driving marks that a `wfs run` began.
type Driving struct {
	body
	// maximum number of attempts in this `wfs run`, from the command line
	MaxAttempts int    `json:"max_attempts,omitempty"`
	Version     string `json:"version"` // version of wfs
	// ids of processes that outlived the previous run, and that were left alone because of `--ignore-survivors`
	Ignored []int `json:"ignored_survivors,omitempty"`
	// ids of processes that outlived the previous run, and that this run ended: it was proven that they belonged to
	// that run
	Ended []int `json:"ended_survivors,omitempty"`
	Now   bool  `json:"now,omitempty"` // `--now` ended a wait
}

// AttemptStarted begins an attempt. It is written before the process of the agent, command or script starts.
type AttemptStarted struct {
	body
	Number  int       `json:"number"`  // number of the attempt among all attempts of the session, from 1
	Phase   PhaseName `json:"phase"`   // phase of the attempt
	Lap     int       `json:"lap"`     // lap of the attempt, from 1; 0: before the first lap
	Attempt int       `json:"attempt"` // number of the attempt since the session entered this phase, from 1
	RunID   string    `json:"run_id"`  // id of the run; names its directory
	Tree    Tree      `json:"tree"`    // tree of the files that it starts from
	// `agent`, `command`, `script`, or `person`: no process was started, and a person's edits to completed work are
	// judged
	Runner string `json:"runner"`
	// the breaker lets one more attempt through, with instructions to try another approach
	HalfOpen bool `json:"half_open,omitempty"`
	// name of the agent that works instead of the phase's agent, because the breaker is half-open and the workflow says
	// so, or because of `limited`
	Agent string `json:"agent,omitempty"`
	// the usage limit because of which `agent` works
	Limited *Limit `json:"limited,omitempty"`
	// git's lock files that existed before the run, by their names below the git directory: this run did not leave them
	Locks []string `json:"locks,omitempty"`
	// number of the session's `meanwhile` in its brief
	Meanwhile int `json:"meanwhile,omitempty"`
}

// RunEnded ends the run of an attempt, and has the run's result.
type RunEnded struct {
	body
	RunResult
	Tree Tree `json:"tree"` // tree of the work tree after the run
}

// Judged is the judgement of the tree that a run left.
type Judged struct {
	body
	Judgement
}

// Reopened discards the judgement of the open attempt, so that the attempt is judged again.
type Reopened struct {
	body
	Why string `json:"why" text:"free"` // the reason
}

// Decided is the conclusion that wfs draws from a judgement. The checkpoint after it makes it durable.
type Decided struct {
	body
	Verdict  Verdict   `json:"verdict"`             // `pass`, `fail`, `blocked`
	Class    Class     `json:"class"`               // class of the reason for the verdict, see Class
	Reason   string    `json:"reason" text:"free"`  // one sentence
	Next     PhaseName `json:"next"`                // phase that follows, or `done`
	NextLap  int       `json:"next_lap"`            // lap of that phase
	LapEnded bool      `json:"lap_ended,omitempty"` // the attempt ended its lap, or the phases before the first lap
	Progress bool      `json:"progress"`            // the attempt made progress
	// the kind of progress of an attempt that did not pass: `ahead` (further than any earlier attempt since the phase
	// was entered), `moved` (a new failure on a new tree, and nothing more is broken), `looked` (it only read files,
	// which is excused once), `unsigned` (its gates pass, and the agent did not report that it is done)
	Step Step `json:"step,omitempty"`
	// the agent said that it is done, and the gates disagree
	Refuted bool `json:"refuted,omitempty"`
	// no gate judged the attempt: a person has to approve the result at the end of the work
	Approve bool `json:"approve,omitempty"`
	// an attempt at the start phase added nothing, and the agent said that nothing is left to do
	NothingLeft bool `json:"nothing_left,omitempty"`
	// the existing test that the agent named as evidence; it ran and passes
	Shown TestID `json:"shown,omitempty"`
	// the phase that is skipped because the lap changed little code (`refactor: auto`)
	TooSmall PhaseName `json:"too_small,omitempty"`
	// the question of the judgement; if a person rejected the work, the question that the person answered
	Question *Question `json:"question,omitempty" text:"free"`
}

// Trigger says why a checkpoint was made.
type Trigger string

const (
	TriggerBirth Trigger = "birth"
	// at the start of a `wfs run`, the gates ran on the base because their results were missing
	TriggerBaseline Trigger = "baseline"
	TriggerAttempt  Trigger = "attempt"
	TriggerManual   Trigger = "manual"
	// a person's edits, saved before an attempt's runner can overwrite them
	TriggerFound       Trigger = "found"
	TriggerInterrupted Trigger = "interrupted"
	TriggerSwitch      Trigger = "switch" // the session's edits, before HEAD moves to another branch
	TriggerHook        Trigger = "hook"   // by the agent's hooks, while a person works with it
)

// Checkpointed is a checkpoint: a code commit and its verdict. (turn)
type Checkpointed struct {
	body
	Number int `json:"number"` // from 0, without a gap, never reused
	// `birth`, `baseline` (at the start of a `wfs run`, the gates ran on the base because their results were missing),
	// `attempt`, `manual`, `found` (a person's edits, saved before an attempt), `interrupted`, `switch` (the session's
	// edits, before HEAD moves to another branch), `hook` (by the agent's hooks, while a person works with it)
	Trigger Trigger   `json:"trigger"`
	Code    Commit    `json:"code"`  // the code commit
	Tree    Tree      `json:"tree"`  // tree of the code commit
	Phase   PhaseName `json:"phase"` // phase in which it was made
	Lap     int       `json:"lap"`   // lap in which it was made
	// number of the attempt since the phase was entered; none outside attempts
	Attempt int     `json:"attempt,omitempty"`
	Verdict Verdict `json:"verdict,omitempty"`   // none if nothing was judged
	Class   Class   `json:"class,omitempty"`     // none if nothing was judged
	Summary string  `json:"summary" text:"free"` // the commit's subject without its prefix
	// tips of the commits that other processes made since the last checkpoint
	Adopted []Commit `json:"adopted,omitempty"`
	Skipped []Skip   `json:"skipped,omitempty"` // paths that the commit cannot hold
	// paths that the guard held out of the commit: they are added once a person allows them; at most 50
	HeldOut []Held   `json:"held_out,omitempty"`
	Deleted *Deleted `json:"deleted,omitempty"` // counts, if more than half of the files are deleted
	Turn    Turn     `json:"turn"`              // the refs and files that moved
}

// Deleted says how many files a checkpoint lacks of the previous checkpoint. It is set only if it lacks more than half
// of them. Renamed files do not count as deleted.
type Deleted struct {
	Files int `json:"files"` // deleted files
	Of    int `json:"of"`    // files of the previous checkpoint
}

// Voided ends an attempt whose run failed and changed nothing. Such an attempt does not count.
type Voided struct {
	body
	Why string `json:"why" text:"free"` // the reason
}

// Interrupted ends an open attempt whose run was cut off. If the run had ended already, it ends the judging.
type Interrupted struct {
	body
	// `ctrl-c`, `killed`, `terminated`, `the terminal was closed`, `stopped at once, on request`; an older wfs wrote
	// `stopped at once, as asked`
	Why     string `json:"why" text:"free"`
	Request string `json:"request,omitempty"` // id of the request that caused it
	// the attempt's run had ended. The attempt stays open, and the next `wfs run` judges its result first
	Unjudged bool `json:"unjudged,omitempty"`
}

// Paused ends a `wfs run` in an orderly way before the work is done.
type Paused struct {
	body
	Why     string `json:"why" text:"free"`   // the reason
	Request string `json:"request,omitempty"` // id of the request that caused it
}

// WaitReason says whether a session waits for a time or for a person.
type WaitReason string

const (
	WaitLimit WaitReason = "limit" // the session waits until a time
	WaitHuman WaitReason = "human" // the session waits for a person's answer to Ask
)

// WaitCause says why a session waits until a time; it goes with WaitLimit.
type WaitCause string

const (
	CauseLimit       WaitCause = "usage_limit"    // the provider's usage limit
	CauseRateLimited WaitCause = "rate_limited"   // too many requests
	CauseOverloaded  WaitCause = "overloaded"     // an error of the provider or the network
	CauseAsked       WaitCause = "asked"          // the agent or command asked to be called again later
	CauseCalls       WaitCause = "calls_per_hour" // wfs's own limit of agent starts per hour
)

// Waiting stops the session until a time or until a person answers. It is not a failure. An open attempt ends, and does
// not count.
type Waiting struct {
	body
	// `limit` (the session waits until a time), `human` (it waits for a person's answer to `ask`)
	Reason WaitReason `json:"reason"`
	Until  int64      `json:"until,omitempty"` // end of the wait, for `limit` (Unix time)
	// why it waits until a time: `usage_limit` (the provider's), `rate_limited` (too many requests), `overloaded` (an
	// error of the provider or the network), `asked` (the agent or command asked to be called again later),
	// `calls_per_hour` (wfs's own limit of agent starts)
	Cause WaitCause `json:"cause,omitempty"`
	Why   string    `json:"why,omitempty" text:"free"` // the cause as text, for people
	// the agent that has reached a usage limit, if another one may work instead
	Limited *Limit `json:"limited,omitempty"`
	// maximum duration of this wait in seconds, even if the clock is set back
	Longest int64  `json:"longest,omitempty"`
	Ask     string `json:"ask,omitempty" text:"free"` // the question
	// the question is whether the work is done; `wfs approve` and `wfs finish` answer yes, `wfs reject` no
	Agree bool `json:"agree,omitempty"`
	// the session waits for `wfs approve` or `wfs reject`: in a phase that a person does, or because a judgement has a
	// question
	Approve bool `json:"approve,omitempty"`
	// details of `ask`, when it comes from a judgement
	Question *Question `json:"question,omitempty" text:"free"`
}

// Limit is the usage limit of an agent.
type Limit struct {
	Agent string `json:"agent"` // name of the agent
	Until int64  `json:"until"` // when it may work again (Unix time)
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
	// `breaker`, `gate` (a gate could not judge), `runner` (the agent keeps failing and changes nothing), `conflict` (a
	// merge or rebase is unfinished), `survivors` (processes of a run are still alive), `tamper` (the session's ledger
	// was moved during a run, and wfs restored it), `laps` (the maximum number of laps is reached), `budget` (a cap is
	// reached)
	Reason   BlockReason `json:"reason"`
	Evidence []string    `json:"evidence" text:"free"` // short lines written by wfs
	Hint     string      `json:"hint" text:"free"`     // one command for the person to type
	// after the session was blocked, a person approved the work, but a gate failed: the next `wfs run` tries once more
	Answered bool `json:"answered,omitempty"`
}

// Noted is a message from a person for the next attempts.
type Noted struct {
	body
	Text    string `json:"text" text:"free"`  // the message
	Request string `json:"request,omitempty"` // id of the request that brought it
	Back    bool   `json:"back,omitempty"`    // the message is the reason for a rejection
	// the message came during a run, or was still pending when the next run began. It may not be from a person, and
	// answers no question
	Meanwhile bool `json:"meanwhile,omitempty"`
	// the agent of the open attempt read the message while it worked. The next brief has it only if the attempt is not
	// judged
	Given bool `json:"given,omitempty"`
}

// Agreed answers the pending question whether the work is done with yes.
type Agreed struct {
	body
	// who answered: `person`, or `auto` (wfs itself, as configured or as requested with `wfs run --auto`)
	By string `json:"by"`
}

// Allowed adds paths, with everything below them, to future checkpoints, although the session's guard would hold them
// out of checkpoints.
type Allowed struct {
	body
	Paths   []string `json:"paths"`             // the paths
	Revoked bool     `json:"revoked,omitempty"` // the paths are held out again
	Request string   `json:"request,omitempty"` // id of the request that caused it
}

// BreakerReset sets the breaker's counts for the current phase to zero.
type BreakerReset struct{ body }

// PhaseMoved is a person's decision to continue in another phase, regardless of the gates. It judges nothing. (turn)
type PhaseMoved struct {
	body
	From   PhaseName `json:"from"`              // the phase that ends
	To     PhaseName `json:"to"`                // the phase that begins, or `done`
	Lap    int       `json:"lap"`               // lap in which the work continues
	Skip   bool      `json:"skip,omitempty"`    // the work goes forward, as if `from` had passed
	NewLap bool      `json:"new_lap,omitempty"` // the move ended a lap
	// the work goes back to the phase that writes tests: tests may be changed, and are judged without the lap's code
	Tests bool `json:"tests,omitempty"`
	// `wfs approve --anyway`: there were attempts at `from`, and the person lets it pass regardless of its gates
	Anyway bool   `json:"anyway,omitempty"`
	Why    string `json:"why,omitempty" text:"free"` // the person's reason
	// if `to` is a phase that a person does: the question that the session then waits for an answer to
	Ask  string `json:"ask,omitempty" text:"free"`
	Turn Turn   `json:"turn"` // empty: no ref and no file moved
}

// MoveKind is the operation that moves a work tree.
type MoveKind string

const (
	MoveNew    MoveKind = "new"
	MoveResume MoveKind = "resume"
	MoveSwitch MoveKind = "switch"
	MoveLeave  MoveKind = "leave" // from a session to a branch of the user
	MoveUndo   MoveKind = "undo"
)

// MoveStarted is written before the first file of a work tree is changed.
type MoveStarted struct {
	body
	// `new`, `resume`, `switch`, `leave` (from a session to a branch of the user), `undo`
	How     MoveKind `json:"kind"`
	Summary string   `json:"summary"` // one line
	// number of the checkpoint that becomes current; -1: the current checkpoint stays
	To     int     `json:"to"`
	Undoes int64   `json:"undoes,omitempty"` // number of the operation that it undoes
	Status Status  `json:"status,omitempty"` // the session's status after an undo of `new`
	Former *Former `json:"former,omitempty"` // other values that an undo restores
	// ledger commit whose `lap.json` and `evidence.json` apply again
	Docs Commit `json:"docs,omitempty"`
	// if the files come from an auto-save: the tree at the start of the phase in which the attempt was interrupted
	Since Tree `json:"since,omitempty"`
	// why the move could be neither completed nor undone. wfs writes the event again to record this
	Stuck string `json:"stuck,omitempty"`
	Turn  Turn   `json:"turn"` // the refs and files that will move
}

// GiveUp is a git command that a user can type when an unfinished move is stuck. It changes no file, but moves HEAD
// away, so the next wfs command gives up the move. It creates a branch because wfs cannot switch to a session from a
// detached HEAD.
const GiveUp = "git switch -c put-aside"

// Moved is a completed move. (turn)
type Moved struct {
	MoveStarted
}

// FinishStarted begins a finish. It is written before the user's branch is created.
type FinishStarted struct {
	body
	Branch string `json:"branch"` // full name of the user's new branch (ref)
	Base   Commit `json:"base"`   // the commit that the branch starts from
	Tree   Tree   `json:"tree"`   // the tree of the commit that finish makes
	Turn   Turn   `json:"turn"`   // the refs and files that will move
}

// Dropped says that the turn right before it did not happen, or the finish or deletion that was started: its ledger
// commit was never published, and its changes to the repository were undone.
type Dropped struct {
	body
	Why string `json:"why" text:"free"` // the reason
	// an unfinished move is given up as well: HEAD was moved elsewhere in the middle of it, or the move failed and its
	// files were restored
	Move bool `json:"move,omitempty"`
}

// Finished says that the work was handed over to the user's branch. (turn)
type Finished struct {
	body
	Branch     string `json:"branch"`     // full name of the user's branch (ref)
	Commit     Commit `json:"commit"`     // tip of that branch
	Checkpoint int    `json:"checkpoint"` // the checkpoint that was handed over
	// reason of the person for handing over the work although it was incomplete (`finish --anyway`)
	Anyway string `json:"anyway,omitempty" text:"free"`
	// uncommitted changes that were carried into the session were left out
	WithoutCarried bool `json:"without_carried,omitempty"`
	// the branch has the commits of the checkpoints, in place of one commit
	Kept    bool           `json:"kept,omitempty"`
	Proof   *Proof         `json:"proof,omitempty"`   // the proof, if finish had to make one
	Holdout *HoldoutResult `json:"holdout,omitempty"` // results of the hold-out tests, if finish ran them
	Turn    Turn           `json:"turn"`              // the refs and files that moved
}

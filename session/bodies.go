package session

import (
	"maps"
	"slices"

	"github.com/wfs-dev/wfs/workflows"
)

// The kinds of events, in the order in which a session meets them. Those marked "turn" end the events.jsonl of a ledger
// commit: while they stand in a journal only, they are an intention, not a fact.
const (
	KindCreated        Kind = "created"
	KindBaseline       Kind = "baseline"
	KindDriving        Kind = "driving" // a `wfs run` took the session
	KindAttemptStarted Kind = "attempt_started"
	KindRunEnded       Kind = "run_ended"
	KindStrayed        Kind = "strayed" // a run changed what is not the session's
	KindJudged         Kind = "judged"
	KindReopened       Kind = "reopened" // a judgement is to be made again: the tree may have changed since
	KindDecided        Kind = "decided"
	KindCheckpointed   Kind = "checkpointed" // turn
	KindVoided         Kind = "voided"       // an attempt that could not run, and changed nothing
	KindInterrupted    Kind = "interrupted"
	KindPaused         Kind = "paused"
	KindWaiting        Kind = "waiting"
	KindBlocked        Kind = "blocked"
	KindNoted          Kind = "noted"
	KindAgreed         Kind = "agreed"
	KindBreakerReset   Kind = "breaker_reset"
	KindPhaseMoved     Kind = "phase_moved" // turn: a person leads on where no verdict did
	KindAllowed        Kind = "allowed"     // a person lets in what is held out, or takes that back
	KindMoveStarted    Kind = "move_started"
	KindMoved          Kind = "moved" // turn
	KindFinishStarted  Kind = "finish_started"
	KindFinished       Kind = "finished"   // turn
	KindDropped        Kind = "dropped"    // what stands before it did not happen
	KindAbandoned      Kind = "abandoned"  // turn
	KindRevived        Kind = "revived"    // turn
	KindRenamed        Kind = "renamed"    // turn
	KindEdited         Kind = "edited"     // turn
	KindRepinned       Kind = "repinned"   // turn
	KindTakenBack      Kind = "taken_back" // turn
	KindAnswered       Kind = "answered"   // turn
	KindDeleteStarted  Kind = "delete_started"
	KindUsageFound     Kind = "usage_found" // what a run used up whose end nobody saw
	KindBudgetSet      Kind = "budget_set"
	KindBudgetWarned   Kind = "budget_warned"
)

// bodies has an empty body of every kind.
var bodies = map[Kind]Body{
	KindCreated: Created{}, KindBaseline: Baseline{}, KindDriving: Driving{}, KindAttemptStarted: AttemptStarted{},
	KindRunEnded: RunEnded{}, KindJudged: Judged{}, KindStrayed: Strayed{}, KindReopened: Reopened{}, KindDecided: Decided{}, KindCheckpointed: Checkpointed{}, KindInterrupted: Interrupted{}, KindPaused: Paused{}, KindWaiting: Waiting{}, KindBlocked: BlockedBy{}, KindNoted: Noted{}, KindAgreed: Agreed{}, KindBreakerReset: BreakerReset{},
	KindPhaseMoved: PhaseMoved{}, KindAllowed: Allowed{}, KindMoveStarted: MoveStarted{}, KindMoved: Moved{},
	KindFinishStarted: FinishStarted{}, KindDropped: Dropped{}, KindVoided: Voided{}, KindFinished: Finished{},
	KindAbandoned: Abandoned{}, KindRevived: Revived{}, KindRenamed: Renamed{}, KindEdited: Edited{}, KindRepinned: Repinned{}, KindTakenBack: TakenBack{}, KindAnswered: Answered{}, KindDeleteStarted: DeleteStarted{},
	KindUsageFound: UsageFound{}, KindBudgetSet: BudgetSet{}, KindBudgetWarned: BudgetWarned{},
}

// Kinds lists every kind of event, sorted.
func Kinds() []Kind { return slices.Sorted(maps.Keys(bodies)) }

// IsTurn reports whether events of this kind become true by a ledger commit.
func (k Kind) IsTurn() bool {
	switch bodies[k].(type) {
	case Checkpointed, Moved, Finished, Abandoned, Revived, Renamed, Edited, Repinned, TakenBack, Answered, PhaseMoved:
		return true
	}
	return false
}

// Created is a session's birth. What it pins changes by Edited and Repinned only.
type Created struct {
	body
	ID         ID        `json:"id"`
	Goal       string    `json:"goal" text:"free"`
	Items      []string  `json:"items,omitempty"`     // open items of the spec's checklist, in order
	SpecPath   string    `json:"spec_path,omitempty"` // where the spec was read from, relative to the work tree
	SpecDigest string    `json:"spec_digest,omitempty"`
	Workflow   string    `json:"workflow"`
	Start      PhaseName `json:"start"`
	Laps       bool      `json:"laps,omitempty"`
	PlanDigest string    `json:"plan_digest"`           // sha256 of plan.json
	Agent      string    `json:"agent"`                 // for people
	AgentTyped bool      `json:"agent_typed,omitempty"` // it was typed, and is not the configuration's
	BaseRef    string    `json:"base_ref,omitempty"`    // branch that HEAD was on, "" when it was named otherwise
	Base       Commit    `json:"base"`
	Parent     string    `json:"parent,omitempty"`  // "auth@4" when forked from a checkpoint
	Carried    []string  `json:"carried,omitempty"` // paths of uncommitted changes that checkpoint 0 holds
	Left       []string  `json:"left,omitempty"`    // paths of uncommitted changes that stayed behind with the user's branch
	HeldOut    []string  `json:"held_out,omitempty"`
	// Budget are caps that were typed, over those of the plan.
	Budget workflows.Budget `json:"budget,omitzero"`
	// Fork says how Parent came to be there: the session goes on in the same phase and lap, held to the same tests.
	Fork *Fork `json:"fork,omitempty"`
}

// Baseline is what the gates said about the base, before anybody worked.
type Baseline struct {
	body
	Tree  Tree         `json:"tree"`
	Gates []GateResult `json:"gates" text:"free"`
	// Red and Flaky tests are never held against the session.
	Red   []TestID `json:"red,omitempty"`
	Flaky []TestID `json:"flaky,omitempty"`
	// Holdout is what hold-out tests said about the base, where most of them fail.
	Holdout *HoldoutResult `json:"holdout,omitempty"`
}

// Driving marks that a run began.
type Driving struct {
	body
	MaxAttempts int    `json:"max_attempts,omitempty"`
	Version     string `json:"version"` // of wfs
	Ignored     []int  `json:"ignored_survivors,omitempty"`
	Ended       []int  `json:"ended_survivors,omitempty"`
	Now         bool   `json:"now,omitempty"` // a wait until a time is over
}

// AttemptStarted is said before the runner is started.
type AttemptStarted struct {
	body
	Number   int       `json:"number"` // of the attempt in the session, from 1
	Phase    PhaseName `json:"phase"`
	Lap      int       `json:"lap"`
	Attempt  int       `json:"attempt"` // at this visit of the phase, from 1
	RunID    string    `json:"run_id"`
	Tree     Tree      `json:"tree"` // what it starts from
	Runner   string    `json:"runner"`
	HalfOpen bool      `json:"half_open,omitempty"`
	Agent    string    `json:"agent,omitempty"` // name of the agent that works in place of the phase's, for half-open
	Locks    []string  `json:"locks,omitempty"` // of git's that were there before: names below the git directory
	// Meanwhile is how many of Session.Meanwhile its brief holds: a reviewer is shown none.
	Meanwhile int `json:"meanwhile,omitempty"`
}

// RunEnded is the runner's observation.
type RunEnded struct {
	body
	RunResult
	Tree Tree `json:"tree"` // what it left in the work tree
}

// Judged is what the engine found on the tree that the run left.
type Judged struct {
	body
	Judgement
}

// Reopened drops the judgement of the open attempt.
type Reopened struct {
	body
	Why string `json:"why" text:"free"`
}

// Decided is the conclusion that the next checkpoint makes durable.
type Decided struct {
	body
	Verdict     Verdict   `json:"verdict"`
	Class       Class     `json:"class"`
	Reason      string    `json:"reason" text:"free"`
	Next        PhaseName `json:"next"` // a phase, or workflows.Done
	NextLap     int       `json:"next_lap"`
	LapEnded    bool      `json:"lap_ended,omitempty"`
	Progress    bool      `json:"progress"`
	Step        Step      `json:"step,omitempty"`                 // what kind of progress, "" for none
	Refuted     bool      `json:"refuted,omitempty"`              // the agent claimed to be done and the facts say otherwise
	Approve     bool      `json:"approve,omitempty"`              // no gate judged it: at the end of the work a person does
	NothingLeft bool      `json:"nothing_left,omitempty"`         // the start phase added nothing and said that nothing is left
	Shown       TestID    `json:"shown,omitempty"`                // by this test, which was there before and passes
	TooSmall    PhaseName `json:"too_small,omitempty"`            // the phase that is left out because the lap changed little code
	Question    *Question `json:"question,omitempty" text:"free"` // as in the judgement; with a person's no, what it was said to
}

// Trigger says why a checkpoint was made.
type Trigger string

const (
	TriggerBirth       Trigger = "birth"
	TriggerBaseline    Trigger = "baseline" // the gates ran on the base after files had been moved there
	TriggerAttempt     Trigger = "attempt"
	TriggerManual      Trigger = "manual"
	TriggerFound       Trigger = "found" // edits that were there before an attempt, kept before its runner can overwrite them
	TriggerInterrupted Trigger = "interrupted"
	TriggerSwitch      Trigger = "switch" // the session's edits, before HEAD goes elsewhere
	TriggerHook        Trigger = "hook"   // while a person works with an agent, from the agent's hooks
)

// Checkpointed is a checkpoint: a code commit, and what was concluded about it. (turn)
type Checkpointed struct {
	body
	Number  int       `json:"number"`
	Trigger Trigger   `json:"trigger"`
	Code    Commit    `json:"code"`
	Tree    Tree      `json:"tree"`
	Phase   PhaseName `json:"phase"`
	Lap     int       `json:"lap"`
	Attempt int       `json:"attempt,omitempty"` // 0 outside attempts
	Verdict Verdict   `json:"verdict,omitempty"` // "" when nothing was judged
	Class   Class     `json:"class,omitempty"`
	Summary string    `json:"summary" text:"free"` // the commit's subject without its prefix
	Adopted []Commit  `json:"adopted,omitempty"`   // tips that others made since the last checkpoint
	Skipped []Skip    `json:"skipped,omitempty"`   // what it does not hold because it cannot
	HeldOut []Held    `json:"held_out,omitempty"`  // what it does not hold until a person allows it, at most MaxNamed
	Deleted *Deleted  `json:"deleted,omitempty"`   // more than half of the files are gone
	Turn    Turn      `json:"turn"`
}

// Deleted says that a checkpoint lacks more than half of the files that the one before it had. Files that only have
// another name now do not count.
type Deleted struct {
	Files int `json:"files"` // gone
	Of    int `json:"of"`    // that were there
}

// Voided ends an attempt whose run failed without changing anything: it says nothing about the work and does not count.
type Voided struct {
	body
	Why string `json:"why" text:"free"`
}

// Interrupted ends an open attempt that nobody finished, or the judging of one whose run had ended.
type Interrupted struct {
	body
	Why     string `json:"why" text:"free"` // "ctrl-c", "killed", "terminated", "stopped at once, on request"
	Request string `json:"request,omitempty"`
	// Unjudged: the attempt's run had ended. It stays open, and what it left is judged next.
	Unjudged bool `json:"unjudged,omitempty"`
}

// Paused is a run's ordinary end before the work is done.
type Paused struct {
	body
	Why     string `json:"why" text:"free"`
	Request string `json:"request,omitempty"` // id of the request that asked for it
}

// WaitReason says what a session waits for.
type WaitReason string

const (
	WaitLimit WaitReason = "limit" // until a time
	WaitHuman WaitReason = "human" // an answer to Ask
)

// WaitCause says what is behind a wait until a time.
type WaitCause string

const (
	CauseLimit       WaitCause = "usage_limit"    // of the provider's
	CauseRateLimited WaitCause = "rate_limited"   // too many requests
	CauseOverloaded  WaitCause = "overloaded"     // the provider's trouble, or the network's
	CauseAsked       WaitCause = "asked"          // by whoever worked
	CauseCalls       WaitCause = "calls_per_hour" // our own limit
)

// Waiting says that nothing is wrong and the engine cannot go on by itself now. An open attempt ends without counting.
type Waiting struct {
	body
	Reason WaitReason `json:"reason"`
	Until  int64      `json:"until,omitempty"` // Unix seconds
	// Cause and Why, one line for people, say more about a wait until a time. It takes at most Longest seconds, whatever
	// becomes of the clock meanwhile.
	Cause   WaitCause `json:"cause,omitempty"`
	Why     string    `json:"why,omitempty" text:"free"`
	Longest int64     `json:"longest,omitempty"`
	Ask     string    `json:"ask,omitempty" text:"free"`
	// Agree: the question is whether nothing is left; `wfs approve` or `wfs finish` answers yes, `wfs reject` no.
	Agree bool `json:"agree,omitempty"`
	// Approve: a phase whose work is a person's waits for `wfs approve` or `wfs reject`.
	Approve bool `json:"approve,omitempty"`
	// Question says more about Ask, where a judgement asks.
	Question *Question `json:"question,omitempty" text:"free"`
}

// BlockReason says what stopped a session.
type BlockReason string

const (
	BlockBreaker   BlockReason = "breaker"
	BlockGate      BlockReason = "gate"
	BlockRunner    BlockReason = "runner"
	BlockConflict  BlockReason = "conflict"
	BlockSurvivors BlockReason = "survivors"
	BlockTamper    BlockReason = "tamper" // a run laid hands on the session's own records
	BlockLimit     BlockReason = "laps"
	BlockBudget    BlockReason = "budget"
)

// BlockedBy stops the session until somebody does something explicit.
type BlockedBy struct {
	body
	Reason   BlockReason `json:"reason"`
	Evidence []string    `json:"evidence" text:"free"` // short lines of the engine's own
	Hint     string      `json:"hint" text:"free"`     // one command to type
	// Answered: a person has said yes since, and a gate said no.
	Answered bool `json:"answered,omitempty"`
}

// Noted is a person's word for the next attempts.
type Noted struct {
	body
	Text    string `json:"text" text:"free"`
	Request string `json:"request,omitempty"` // id of the request that brought it
	Back    bool   `json:"back,omitempty"`    // it says why work is sent back
	// Meanwhile: it came while a run drove the session, so that nobody knows whether a person wrote it.
	Meanwhile bool `json:"meanwhile,omitempty"`
}

// Agreed is a person's yes to the pending question.
type Agreed struct {
	body
	By string `json:"by"` // "person" or "auto"
}

// Allowed lets paths into checkpoints that the session's guard holds out, with everything below them.
type Allowed struct {
	body
	Paths   []string `json:"paths"`
	Revoked bool     `json:"revoked,omitempty"` // takes that back
	Request string   `json:"request,omitempty"` // id of the request that asked for it
}

// BreakerReset lets the phase try again from zero.
type BreakerReset struct{ body }

// PhaseMoved is a person's decision that the work goes on in another phase, whatever the gates said. It judges nothing.
// (turn)
type PhaseMoved struct {
	body
	From   PhaseName `json:"from"`
	To     PhaseName `json:"to"`             // a phase, or workflows.Done
	Lap    int       `json:"lap"`            // in which it goes on
	Skip   bool      `json:"skip,omitempty"` // forward, as if From had been passed
	NewLap bool      `json:"new_lap,omitempty"`
	Tests  bool      `json:"tests,omitempty"` // back to where tests are written
	// Anyway: the person lets From pass, whatever its gates say, and does not leave it out.
	Anyway bool   `json:"anyway,omitempty"`
	Why    string `json:"why,omitempty" text:"free"`
	Ask    string `json:"ask,omitempty" text:"free"` // the phase that is entered is a person's: this is what it asks
	Turn   Turn   `json:"turn"`
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

// MoveStarted is said before the first file of a work tree is touched.
type MoveStarted struct {
	body
	How     MoveKind `json:"kind"`
	Summary string   `json:"summary"`
	To      int      `json:"to"`               // checkpoint that becomes current, -1: the session stays where it is
	Undoes  int64    `json:"undoes,omitempty"` // operation number
	Status  Status   `json:"status,omitempty"` // status that an undo of new leads to
	Former  *Former  `json:"former,omitempty"` // what else an undo brings back
	Docs    Commit   `json:"docs,omitempty"`   // ledger commit whose lap.json and evidence.json hold again, "": they stay
	Since   Tree     `json:"since,omitempty"`  // of an auto-save's files: what the interrupted attempt's visit began with
	Stuck   string   `json:"stuck,omitempty"`  // of one that is said again: why it could be neither carried out nor taken back
	Turn    Turn     `json:"turn"`
}

// GiveUp is a command of git's that touches no file and after which the next command of ours gives a move up: HEAD is
// elsewhere. It leads to a branch, for without one no session can be gone to.
const GiveUp = "git switch -c put-aside"

// Moved is a move that is done. (turn)
type Moved struct {
	MoveStarted
}

// FinishStarted is said before the user's branch is made.
type FinishStarted struct {
	body
	Branch string `json:"branch"` // full ref name
	Base   Commit `json:"base"`
	Tree   Tree   `json:"tree"`
	Turn   Turn   `json:"turn"`
}

// Dropped says that the turn right before it, or the finish or deletion that was started, did not happen: its ledger commit was
// never published, and what it had made in the repository has been taken back.
type Dropped struct {
	body
	Why  string `json:"why" text:"free"`
	Move bool   `json:"move,omitempty"` // the move that was started is given up, too
}

// Finished hands the work over. (turn)
type Finished struct {
	body
	Branch         string `json:"branch"`
	Commit         Commit `json:"commit"`
	Checkpoint     int    `json:"checkpoint"`
	Anyway         string `json:"anyway,omitempty" text:"free"` // why, although not all was done that was agreed
	WithoutCarried bool   `json:"without_carried,omitempty"`
	Kept           bool   `json:"kept,omitempty"`  // the history was kept instead of squashed
	Proof          *Proof `json:"proof,omitempty"` // when it was made for this
	// Holdout is what hold-out tests said, when they were run for this.
	Holdout *HoldoutResult `json:"holdout,omitempty"`
	Turn    Turn           `json:"turn"`
}

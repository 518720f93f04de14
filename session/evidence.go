package session

import "slices"

// TestID names one test as its runner reports it: "pkg.TestName/sub" for Go, "classname::name" for JUnit.
type TestID string

// TestStatus is what one test did in one run.
type TestStatus string

const (
	TestPass TestStatus = "pass"
	TestFail TestStatus = "fail"
	TestSkip TestStatus = "skip"
	// TestError: it could not be run (a build or load failure). Never red by itself, never green.
	TestError TestStatus = "error"
)

// Tests are the results of one gate run, by test.
type Tests map[TestID]TestStatus

// Counts sums a run up.
type Counts struct {
	Passed  int `json:"passed"`
	Failed  int `json:"failed"`
	Skipped int `json:"skipped"`
	Errors  int `json:"errors,omitempty"`
	Flaky   int `json:"flaky,omitempty"` // did now this and now that on the same files; in none of the others
}

// Total is the number of tests that were reported.
func (c Counts) Total() int { return c.Passed + c.Failed + c.Skipped + c.Errors + c.Flaky }

// Count sums tests up.
func (t Tests) Count() Counts {
	var c Counts
	for _, s := range t {
		switch s {
		case TestPass:
			c.Passed++
		case TestFail:
			c.Failed++
		case TestSkip:
			c.Skipped++
		default:
			c.Errors++
		}
	}
	return c
}

// Class is the reason behind a verdict, from a fixed list, so that people, the breaker and scripts can tell them apart.
type Class string

const (
	ClassGreen           Class = "green"            // everything expected passed
	ClassTargetFailed    Class = "target_failed"    // RED: a new or changed test fails by assertion
	ClassMissingSymbol   Class = "missing_symbol"   // RED: a new test cannot be built solely for a symbol that does not exist yet, or types that do not fit yet
	ClassUnexpectedGreen Class = "unexpected_green" // RED: new tests pass already
	ClassNothingAdded    Class = "nothing_added"    // RED: no new or changed test
	ClassNoTests         Class = "no_tests"         // the runner ran no test
	ClassBuildBroken     Class = "build_broken"     // something cannot be built for another reason
	ClassBrokeGreen      Class = "broke_green"      // a test that was green before fails, is skipped or is gone
	ClassTargetMissing   Class = "target_missing"   // GREEN: a test of this lap is gone or skipped
	ClassTargetFailing   Class = "target_failing"   // GREEN: a test of this lap fails
	ClassFlaky           Class = "flaky"            // GREEN: a test of this lap, or a new one, passes in some runs on the same tree only
	ClassCommandFailed   Class = "command_failed"   // an exit-code gate said no
	ClassGuard           Class = "guard"            // the attempt changed paths that its phase may not change
	ClassKey             Class = "key"              // the attempt put a key into a tracked file, which no checkpoint may have
	ClassTampered        Class = "tampered"         // tests were changed so that they ask for less
	ClassTestChange      Class = "test_change"      // the attempt asks to go back and change tests
	ClassGateChangedTree Class = "gate_changed_tree"
	ClassInfraError      Class = "infra_error"     // the gate could not run: could not judge
	ClassTimeout         Class = "timeout"         // the gate did not end in time: the attempt fails
	ClassDocument        Class = "document"        // a document is missing, or lacks what it must hold
	ClassUnchanged       Class = "unchanged"       // what must change did not
	ClassNotClean        Class = "not_clean"       // finished work fails in a clean tree where its base passes
	ClassHoldout         Class = "holdout_failing" // it passes, but not the tests that whoever works never sees
	ClassLeadsBack       Class = "leads_back"      // a module of the project would be found outside of the clean tree
	ClassRoomChanged     Class = "room_changed"    // what is installed in the clean tree was changed while a gate ran there
	ClassApproved        Class = "approved"        // a person said yes, and no gate says no
	ClassRejected        Class = "rejected"        // a person said no, or a reviewer
	ClassReviewed        Class = "reviewed"        // a reviewer said yes, and no gate says no
	ClassUnsigned        Class = "unsigned"        // the gates pass, and the agent did not say that the work is done
	ClassNoReview        Class = "no_review"       // a reviewer gave no verdict
	ClassAsked           Class = "asked"           // only a person can tell: neither passed nor failed until that answer
)

// InTree stands in GateResult.Where for gates that looked at the tree and ran nothing.
const InTree = "tree"

// GateResult is what the engine saw when it ran one gate. It holds names, counts and digests, never output: output
// stays in the run's directory outside Git.
type GateResult struct {
	Gate        string   `json:"gate"`
	Where       string   `json:"where"`
	Expect      string   `json:"expect,omitempty"`
	Verdict     Verdict  `json:"verdict"`
	Class       Class    `json:"class"`
	Reason      string   `json:"reason" text:"free"` // one sentence of the engine's own
	Exit        int      `json:"exit"`
	Millis      int64    `json:"millis"`
	Cached      bool     `json:"cached,omitempty"`   // versions before this one kept results: it was not run
	TestsOf     *int     `json:"tests_of,omitempty"` // it judged with the frozen tests, those of this checkpoint, in place of the attempt's own
	Counts      Counts   `json:"counts"`
	Failing     []TestID `json:"failing,omitempty"`     // tests that are held against the attempt, sorted, at most MaxNamed
	KnownRed    []TestID `json:"known_red,omitempty"`   // failing in the baseline too; never held against anybody
	Flaky       []TestID `json:"flaky,omitempty"`       // failed, then passed on the same tree; named, not held against anybody
	Targets     []TestID `json:"targets,omitempty"`     // RED: the tests that this lap is about from now on
	Expected    []string `json:"expected,omitempty"`    // RED by missing_symbol: packages and files whose tests must run once they can be built
	Passing     int      `json:"passing,omitempty"`     // GREEN: how many targets pass
	Left        int      `json:"left,omitempty"`        // a document whose tasks must be ticked: one more than the tasks that are not
	FirstError  string   `json:"first_error,omitempty"` // the line of its output that says what is wrong first, without secrets
	Fingerprint string   `json:"fingerprint,omitempty"` // digest of the failure with paths, numbers, times and addresses taken out
}

// MaxNamed is how many test names one result carries; counts are always complete.
const MaxNamed = 50

// Evidence is the document behind a judgement: every test of every gate. It is kept in the ledger beside the events.
type Evidence struct {
	Tree  Tree             `json:"tree"`
	Gates map[string]Tests `json:"gates"`
}

// Judgement is what guards and gates said about one tree.
type Judgement struct {
	Tree    Tree         `json:"tree"`
	Verdict Verdict      `json:"verdict"`
	Class   Class        `json:"class"`
	Reason  string       `json:"reason" text:"free"`
	Gates   []GateResult `json:"gates,omitempty" text:"free"`
	Guarded []string     `json:"guarded,omitempty"` // paths that a guard forbids, at most MaxNamed
	Proof   *Proof       `json:"proof,omitempty"`   // of work that is complete with this judgement
	// Holdout is what tests said that whoever works never sees, when they were run.
	Holdout  *HoldoutResult `json:"holdout,omitempty"`
	Ungated  bool           `json:"ungated,omitempty"`              // no command was run, though other phases have gates that run some
	Evidence Evidence       `json:"-"`                              // goes to the ledger as a document of its own
	NotRun   []NotRun       `json:"not_run,omitempty"`              // gates of the phase that judge later; a pass says nothing of them
	Tampered []Tampering    `json:"tampered,omitempty" text:"free"` // what was done to tests, the grave ones first, at most MaxNamed
	Ticked   []int          `json:"ticked,omitempty"`               // numbers of the items that documents of the session tick
	// Gone are tests that do not run any more, and that experiments or a person let go.
	Gone []TestID `json:"gone,omitempty"`
	// Experiments are what was tried with a tree that passes, in the order of trying.
	Experiments []Experiment `json:"experiments,omitempty"`
	// Shown is the existing test that the run named as showing what is wanted, if it ran and passes.
	Shown TestID `json:"shown,omitempty"`
	// Beside are files that were changed in a phase that added no test, at most MaxNamed: something was left to do.
	Beside []string `json:"beside,omitempty"`
	// Lines of code that the lap changed, tests not counted, where that decides which phase follows.
	Lines *int `json:"lines,omitempty"`
	// Question is what a person is asked, with Blocked and ClassAsked; Reason is its sentence.
	Question *Question `json:"question,omitempty" text:"free"`
}

// Experiment is one thing that was tried to see what a pass is worth.
type Experiment struct {
	Kind   string `json:"kind"`   // frozen_tests, canary, hollow, mutants
	Result string `json:"result"` // holds, fails, not_tried
	Says   string `json:"says"`   // one sentence
	Runs   int    `json:"runs"`   // of a gate
	Millis int64  `json:"millis"`
}

// NotRun is a gate that was not asked, and why.
type NotRun struct {
	Gate string `json:"gate"`
	Why  string `json:"why"`
}

// Built returns the result of the gate that has found the tests of what could not be built in RED, nil for none.
func (j *Judgement) Built() *GateResult {
	i := slices.IndexFunc(j.Gates, func(g GateResult) bool {
		return g.Expect != "red" && g.Verdict == Pass && len(g.Targets) > 0
	})
	if i < 0 {
		return nil
	}
	return &j.Gates[i]
}

// Red returns the result that a lap's targets come from: that of the gate that expects red, of several the one that has
// targets, nil where none does.
func (j *Judgement) Red() *GateResult {
	i := slices.IndexFunc(j.Gates, func(g GateResult) bool {
		return g.Expect == "red" && g.Verdict == Pass && len(g.Targets)+len(g.Expected) > 0
	})
	if i < 0 {
		i = slices.IndexFunc(j.Gates, func(g GateResult) bool { return g.Expect == "red" })
	}
	if i < 0 {
		return nil
	}
	return &j.Gates[i]
}

// CountsOf sums up the tests of gates.
func CountsOf(gates []GateResult) Counts {
	var c Counts
	for _, g := range gates {
		n := g.Counts
		c = Counts{c.Passed + n.Passed, c.Failed + n.Failed, c.Skipped + n.Skipped, c.Errors + n.Errors, c.Flaky + n.Flaky}
	}
	return c
}

// Outcome is how a run ended. It says nothing about the work.
type Outcome string

const (
	OutcomeOK          Outcome = "ok"          // ended by itself with exit 0
	OutcomeFailed      Outcome = "failed"      // ended by itself with another exit code
	OutcomeNotStarted  Outcome = "not_started" // could not be started at all (no such command)
	OutcomeIdle        Outcome = "idle"        // stopped: no output for too long
	OutcomeTimeout     Outcome = "timeout"     // stopped: ran too long
	OutcomeWait        Outcome = "wait"        // asks to be called again later (exit 75)
	OutcomeAsk         Outcome = "ask"         // needs an answer from a person
	OutcomeInterrupted Outcome = "interrupted" // stopped by the user, or the engine died

	// Of agents whose stream is understood. Those that tell of the provider or of the set-up say nothing about the work:
	// they spend no attempt.
	OutcomeDenied      Outcome = "denied"       // ended in good order, but calls were refused for want of a permission
	OutcomeCapped      Outcome = "capped"       // ended at a cap of turns or money that it was started with
	OutcomeLimit       Outcome = "limit"        // usage limit of the provider's, until WaitUntil
	OutcomeRateLimited Outcome = "rate_limited" // too many requests
	OutcomeOverloaded  Outcome = "overloaded"   // the provider's trouble, or the network's
	OutcomeAuth        Outcome = "auth"         // not logged in, or a key that is refused
	OutcomeBilling     Outcome = "billing"      // no credit
	OutcomeConfig      Outcome = "config"       // flags, model or settings that cannot work
	OutcomeTooLong     Outcome = "too_long"     // its context is full
	OutcomeRefused     Outcome = "refused"      // the model declined
	OutcomeHung        Outcome = "hung"         // stopped: it printed signs of life, and did nothing
	OutcomeNoResult    Outcome = "no_result"    // exit 0, and no word of how it ended
)

// Orderly reports whether a run ended in good order, or because it was told to: then its last lines explain nothing.
func (o Outcome) Orderly() bool {
	switch o {
	case OutcomeOK, OutcomeAsk, OutcomeWait, OutcomeInterrupted, OutcomeCapped, OutcomeDenied, OutcomeRefused:
		return true
	}
	return false
}

// MaxPrinted bounds RunResult.Printed.
const MaxPrinted = 5

// RunResult is the observation of one run of an agent or command.
type RunResult struct {
	Outcome Outcome `json:"outcome"`
	Exit    int     `json:"exit"`
	Millis  int64   `json:"millis"`
	Done    bool    `json:"done,omitempty"` // the agent's claim that the phase's work is done
	// NothingLeft is the claim that nothing is left to do: the existing test that shows it.
	NothingLeft string `json:"nothing_left,omitempty" text:"free"`
	Note        string `json:"note,omitempty" text:"free"` // what it wants the next attempt to know
	Ask         string `json:"ask,omitempty" text:"free"`  // its question
	// TestChange is why it asks to go back to where tests are written.
	TestChange string  `json:"test_change,omitempty" text:"free"`
	WaitUntil  int64   `json:"wait_until,omitempty"` // Unix seconds; 0: it did not say
	CostUSD    float64 `json:"cost_usd,omitempty"`
	// EstimatedUSD is Session.Estimate of a run that did not say what it cost.
	EstimatedUSD float64 `json:"estimated_usd,omitempty"`
	Survivors    []int   `json:"survivors,omitempty"`          // pids of the run that could not be ended
	Rejected     bool    `json:"rejected,omitempty"`           // a person's no; Note says why
	Approved     bool    `json:"approved,omitempty"`           // a person's yes
	NotDone      bool    `json:"not_done,omitempty"`           // it says that the work is not done yet
	Unread       bool    `json:"unread,omitempty"`             // its answer could not be read; Note says why
	Review       *Review `json:"review,omitempty" text:"free"` // of a phase that is a review

	// Of agents whose stream is understood.
	Agent        string `json:"agent,omitempty"` // name of its card
	AgentVersion string `json:"agent_version,omitempty"`
	Model        string `json:"model,omitempty"`
	Conversation string `json:"conversation,omitempty"`      // the agent's own id of it
	Place        string `json:"place,omitempty"`             // digest of the directory that it worked in
	Tokens       Tokens `json:"tokens,omitzero"`             // of this run alone, as CostUSD is
	Total        Total  `json:"conversation_total,omitzero"` // where the agent counts whole conversations
	Turns        int    `json:"turns,omitempty"`
	Tools        int    `json:"tools,omitempty"`   // tool calls
	Denials      int    `json:"denials,omitempty"` // calls that nobody was there to permit
	// Printed are the last lines of a run that failed: those of its standard error, or of all that it printed.
	Printed []string `json:"printed,omitempty"`
	// LeftRunning: it had ended its work, and something that it had started did not end. It was waited for in vain.
	LeftRunning bool `json:"left_running,omitempty"`
	// Denied are the names of the tools of those calls, each once, without what they were called with. At most MaxNamed.
	Denied []string `json:"denied,omitempty"`
	// Refused are the beginnings of commands among those calls ("make lint"), each once, at most MaxNamed.
	Refused []RefusedCommand `json:"refused,omitempty" text:"free"`
	Message string           `json:"message,omitempty" text:"free"` // why it ended so, in the agent's own words: one line
}

// RefusedCommand is what a run wanted to run and was not permitted to.
type RefusedCommand struct {
	Text  string `json:"command" text:"free"`
	Times int    `json:"times"`
	// Whole is the first of those commands as it was given, when that is more than its beginning.
	Whole string `json:"whole,omitempty" text:"free"`
	// Variable: it was refused for a variable or a substitution, which no permission changes.
	Variable bool `json:"variable,omitempty"`
}

// Repin is the command by which a session takes what this agent is allowed now: one that was typed stays until it is typed
// again.
func (s *Session) Repin(agent string) string {
	if s.AgentTyped && agent == s.Agent {
		return "wfs edit --agent " + agent
	}
	return "wfs edit --reload"
}

// Tokens are what a model read and wrote.
type Tokens struct {
	Input      int64 `json:"input,omitempty"` // without those from a cache
	Output     int64 `json:"output,omitempty"`
	CacheRead  int64 `json:"cache_read,omitempty"`
	CacheWrite int64 `json:"cache_write,omitempty"`
}

// Sum is all of them.
func (t Tokens) Sum() int64 { return t.Input + t.Output + t.CacheRead + t.CacheWrite }

// New are those that were not read from a cache.
func (t Tokens) New() int64 { return t.Sum() - t.CacheRead }

// Total is what a conversation has used up over all its runs.
type Total struct {
	CostUSD float64 `json:"cost_usd,omitempty"`
	Tokens
}

// Passing is how many of the lap's target tests pass.
func (j *Judgement) Passing() int {
	n := 0
	for _, g := range j.Gates {
		n += g.Passing
	}
	if j.Class == ClassTampered { // what passes with other tests than the tree's is not true of the tree
		return 0
	}
	return n
}

// Fingerprint tells one failure from another across attempts; "" for a pass.
func (j *Judgement) Fingerprint() string {
	if j.Class == ClassTampered {
		return string(j.Class)
	}
	for _, g := range j.Gates {
		if g.Verdict != Pass && g.Fingerprint != "" {
			return g.Gate + ":" + g.Fingerprint
		}
	}
	if j.Verdict == Pass {
		return ""
	}
	return string(j.Class)
}

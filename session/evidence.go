package session

import (
	"slices"

	"github.com/wfs-dev/wfs/session/cost"
)

// TestID names one test as its runner reports it: "pkg.TestName/sub" for Go, "classname::name" for JUnit.
type TestID string

// TestStatus is the result of one test in one run.
type TestStatus string

const (
	TestPass TestStatus = "pass"
	TestFail TestStatus = "fail"
	TestSkip TestStatus = "skip"
	// TestError means that the test could not be run (a build or load failure). By itself that is neither red nor
	// green.
	TestError TestStatus = "error"
)

// Tests maps each test of one gate run to its result.
type Tests map[TestID]TestStatus

// Counts has the number of tests by result.
type Counts struct {
	Passed  int `json:"passed"`           // tests that passed
	Failed  int `json:"failed"`           // tests that failed
	Skipped int `json:"skipped"`          // tests that were skipped
	Errors  int `json:"errors,omitempty"` // tests that could not be run
	// tests with different results on the same files; the other numbers do not include them
	Flaky int `json:"flaky,omitempty"`
}

// Total returns the number of reported tests.
func (c Counts) Total() int { return c.Passed + c.Failed + c.Skipped + c.Errors + c.Flaky }

// Count returns the number of tests by result. A test with an unknown status counts as an error.
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

// Class is the reason for a verdict, from a fixed list, so that people, the breaker and scripts can distinguish the
// causes of a verdict.
type Class string

const (
	ClassGreen        Class = "green"         // all expected tests pass
	ClassTargetFailed Class = "target_failed" // RED: a new or changed test fails by assertion
	// RED: a new test cannot be built, and the only causes are symbols that do not exist yet or types that do not fit
	// yet
	ClassMissingSymbol   Class = "missing_symbol"
	ClassUnexpectedGreen Class = "unexpected_green" // RED: new tests already pass
	ClassNothingAdded    Class = "nothing_added"    // RED: no new or changed test
	ClassNoTests         Class = "no_tests"         // the runner ran no test
	// something cannot be built, and not for the reasons of missing_symbol
	ClassBuildBroken   Class = "build_broken"
	ClassBrokeGreen    Class = "broke_green"    // a test that passed before fails, is skipped or is missing
	ClassTargetMissing Class = "target_missing" // GREEN: a test of this lap is missing or skipped
	ClassTargetFailing Class = "target_failing" // GREEN: a test of this lap fails
	// GREEN: a test of this lap, or a new test, passes only in some runs on the same tree
	ClassFlaky         Class = "flaky"
	ClassCommandFailed Class = "command_failed" // the command of an exit-code gate failed
	ClassGuard         Class = "guard"          // the attempt changed paths that its phase may not change
	// the attempt wrote a key into a tracked file; checkpoints must not contain keys
	ClassKey             Class = "key"
	ClassTampered        Class = "tampered"    // tests were weakened
	ClassTestChange      Class = "test_change" // the attempt asks to return to the phase that writes tests
	ClassGateChangedTree Class = "gate_changed_tree"
	ClassInfraError      Class = "infra_error"     // the gate could not run: no judgement possible
	ClassTimeout         Class = "timeout"         // the gate did not end in time: the attempt fails
	ClassDocument        Class = "document"        // a document is missing, or lacks required content
	ClassNumber          Class = "number"          // a number that a gate read is not as required
	ClassUnchanged       Class = "unchanged"       // a required change is missing
	ClassNotClean        Class = "not_clean"       // finished work fails in a clean tree, where its base passes
	ClassHoldout         Class = "holdout_failing" // the gates pass, but hold-out tests, which agents never see, fail
	// in the clean tree, a module of the project would be loaded from outside of it
	ClassLeadsBack Class = "leads_back"
	// a gate changed packages that are installed in the clean tree while it ran
	ClassRoomChanged Class = "room_changed"
	ClassApproved    Class = "approved"  // a person approved, and no gate failed
	ClassRejected    Class = "rejected"  // a person or a reviewer rejected
	ClassReviewed    Class = "reviewed"  // a reviewer approved, and no gate failed
	ClassUnsigned    Class = "unsigned"  // the gates pass, but the agent did not report that it is done
	ClassNoReview    Class = "no_review" // a reviewer gave no verdict
	// a person must answer a question; until then the attempt has neither passed nor failed
	ClassAsked Class = "asked"
)

// InTree is the value of GateResult.Where for gates that only look at the tree and run nothing.
const InTree = "tree"

// GateResult is the result of one run of a gate. It holds names, counts and digests, but not the gate's output, which
// stays in the run's directory outside of Git.
type GateResult struct {
	Gate string `json:"gate"` // name of the gate
	// where the gate ran: `in-place` (in the work tree), `clean` (in a clean tree), or `tree` (it only looks at the
	// tree and runs nothing)
	Where   string  `json:"where"`
	Expect  string  `json:"expect,omitempty"`   // required result of the tests: `pass` or `red`; none on the base
	Verdict Verdict `json:"verdict"`            // `pass`, `fail`, `blocked`
	Class   Class   `json:"class"`              // see Class
	Reason  string  `json:"reason" text:"free"` // one sentence
	Exit    int     `json:"exit"`               // exit code of the command
	Millis  int64   `json:"millis"`             // duration in milliseconds
	// the gate did not run, because its result on the base was cached. Older versions cached results of attempts as
	// well
	Cached bool `json:"cached,omitempty"`
	// the gate judged with the frozen tests of the checkpoint with this number, because the attempt had changed them
	TestsOf *int   `json:"tests_of,omitempty"`
	Counts  Counts `json:"counts"` // numbers of all tests, even if not all are named
	// tests because of which the attempt fails; sorted, at most 50
	Failing  []TestID `json:"failing,omitempty"`
	KnownRed []TestID `json:"known_red,omitempty"` // failing tests that also fail on the base
	Flaky    []TestID `json:"flaky,omitempty"`     // tests that failed and passed on the same tree
	// of a gate that expects red: the lap's tests from now on. Of another gate: tests of packages that could not be
	// built before
	Targets []TestID `json:"targets,omitempty"`
	// packages and test files that cannot be built yet: once they can, tests must run in them. An older wfs wrote names
	// of tests, for a method of a Go test suite `import/path.*/TestName`
	Expected []string `json:"expected,omitempty"`
	Passing  int      `json:"passing,omitempty"` // how many of the lap's tests pass
	// of a gate that requires that all tasks in a document are ticked: the number of open tasks plus one
	Left int `json:"left,omitempty"`
	// numbers that the gate read from its output, by name
	Numbers map[string]float64 `json:"numbers,omitempty"`
	// requirements on numbers that wfs cannot judge, because the session's base does not have the number
	Unjudged []string `json:"unjudged,omitempty"`
	// of a failing gate: the first line of its output that names an error, such as a compiler error
	FirstError string `json:"first_error,omitempty"`
	// digest of the failure, without its paths, numbers, times and addresses, to recognise the same failure again
	Fingerprint string `json:"fingerprint,omitempty"`
}

// MaxNamed is the maximum number of names in one list of a result. Counts include the tests beyond it.
const MaxNamed = 50

// Evidence has the result of every test of every gate, as the basis of a judgement. The ledger keeps it as a document
// next to the events.
type Evidence struct {
	Tree Tree `json:"tree"` // the tree that was judged
	// results by gate and test: `pass`, `fail`, `skip`, or `error` (could not be run)
	Gates map[string]Tests `json:"gates"`
}

// Judgement is the verdict of guards and gates on one tree, with the details that led to it.
type Judgement struct {
	Tree    Tree         `json:"tree"`                        // the tree that was judged
	Verdict Verdict      `json:"verdict"`                     // `pass`, `fail`, `blocked` (could not judge)
	Class   Class        `json:"class"`                       // class of the gate or guard that decided
	Reason  string       `json:"reason" text:"free"`          // one sentence
	Gates   []GateResult `json:"gates,omitempty" text:"free"` // one for each gate that was run
	// changed files that the phase's guard forbids to change; at most 50 (paths)
	Guarded []string `json:"guarded,omitempty"`
	// if this judgement completes the work: results of the gates in a clean tree
	Proof *Proof `json:"proof,omitempty"`
	// if this judgement completes the work, or if the phase requires it: results of the hold-out tests
	Holdout *HoldoutResult `json:"holdout,omitempty"`
	// no gate ran a command in this judgement, but gates of other phases do: a pass then does not make the tree green
	Ungated  bool     `json:"ungated,omitempty"`
	Evidence Evidence `json:"-"` // the ledger keeps it as a separate document
	// gates of the phase that did not judge now and will judge later: a pass says nothing about them
	NotRun []NotRun `json:"not_run,omitempty"`
	// findings about changed tests, grave findings first; at most 50
	Tampered []Tampering `json:"tampered,omitempty" text:"free"`
	// items of the checklist, from 1, that documents of the session tick
	Ticked []int `json:"ticked,omitempty"`
	// tests that no longer run, if experiments or a person accepted that
	Gone []TestID `json:"gone,omitempty"`
	// the experiments that tested a pass, in the order in which they ran
	Experiments []Experiment `json:"experiments,omitempty"`
	// the existing test that the agent named as evidence that nothing is left to do, if it ran and passes
	Shown TestID `json:"shown,omitempty"`
	// files that changed although the phase added no test: `nothing_left` then does not count; at most 50 (paths)
	Beside []string `json:"beside,omitempty"`
	// number of changed lines of code in the lap, without tests; set only if it decides which phase follows
	Lines *int `json:"lines,omitempty"`
	// the question for a person, if the verdict is `blocked` and the class `asked`; its text is in `reason`
	Question *Question `json:"question,omitempty" text:"free"`
}

// Experiment is one experiment on work that passes its gates: does the pass prove anything?
type Experiment struct {
	// `frozen_tests`, `canary`, `hollow`, `results`, `mutants`
	Kind   string `json:"kind"`
	Result string `json:"result"` // `holds` (the pass is confirmed), `fails`, `not_tried`
	Says   string `json:"says"`   // the result in one sentence
	Runs   int    `json:"runs"`   // how often a gate ran
	Millis int64  `json:"millis"` // duration of those runs in milliseconds
}

// NotRun is a gate that did not run, and the reason.
type NotRun struct {
	Gate string `json:"gate"` // a gate that did not run
	Why  string `json:"why"`  // why, in words
}

// Built returns the result of the gate that found tests in packages that could not be built in RED, nil for none.
func (j *Judgement) Built() *GateResult {
	i := slices.IndexFunc(j.Gates, func(g GateResult) bool {
		return g.Expect != "red" && g.Verdict == Pass && len(g.Targets) > 0
	})
	if i < 0 {
		return nil
	}
	return &j.Gates[i]
}

// Red returns the result of the gate that expects red, nil without such a gate. The targets of a lap come from it. If
// several gates expect red, it prefers a result with targets.
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

// CountsOf adds up the test counts of several gates.
func CountsOf(gates []GateResult) Counts {
	var c Counts
	for _, g := range gates {
		n := g.Counts
		c = Counts{c.Passed + n.Passed, c.Failed + n.Failed, c.Skipped + n.Skipped, c.Errors + n.Errors, c.Flaky + n.Flaky}
	}
	return c
}

// Outcome says how a run ended. It says nothing about the quality of the work.
type Outcome string

const (
	OutcomeOK          Outcome = "ok"          // ended by itself with exit 0
	OutcomeFailed      Outcome = "failed"      // ended by itself with another exit code
	OutcomeNotStarted  Outcome = "not_started" // could not be started at all (no such command)
	OutcomeIdle        Outcome = "idle"        // stopped: no output for too long
	OutcomeTimeout     Outcome = "timeout"     // stopped: ran too long
	OutcomeWait        Outcome = "wait"        // asked to be called again later (exit 75)
	OutcomeAsk         Outcome = "ask"         // needs an answer from a person
	OutcomeInterrupted Outcome = "interrupted" // stopped by the user, or the engine died

	// The following outcomes exist for agents whose output wfs understands. Outcomes that are about the provider or the
	// set-up say nothing about the work, and use up no attempt.
	// ended normally, but tool calls were refused because their permission was missing
	OutcomeDenied      Outcome = "denied"
	OutcomeCapped      Outcome = "capped"       // ended at a cap of turns or money that it was started with
	OutcomeLimit       Outcome = "limit"        // the provider's usage limit, which resets at WaitUntil
	OutcomeRateLimited Outcome = "rate_limited" // too many requests
	OutcomeOverloaded  Outcome = "overloaded"   // an error of the provider or the network
	OutcomeAuth        Outcome = "auth"         // not logged in, or the key was rejected
	OutcomeBilling     Outcome = "billing"      // no credit
	OutcomeConfig      Outcome = "config"       // flags, model or settings that cannot work
	OutcomeTooLong     Outcome = "too_long"     // the context of the model is full
	OutcomeRefused     Outcome = "refused"      // the model declined
	OutcomeHung        Outcome = "hung"         // stopped: it printed signs of life, but did nothing
	OutcomeNoResult    Outcome = "no_result"    // exit 0, without a final report
)

// Orderly reports whether a run ended normally, or because it was stopped on request. The last lines of its output then
// do not explain the end.
func (o Outcome) Orderly() bool {
	switch o {
	case OutcomeOK, OutcomeAsk, OutcomeWait, OutcomeInterrupted, OutcomeCapped, OutcomeDenied, OutcomeRefused:
		return true
	}
	return false
}

// MaxPrinted is the maximum length of RunResult.Printed.
const MaxPrinted = 5

// RunResult is the result of one run of an agent or command, as wfs observed it.
type RunResult struct {
	// `ok` (exit 0), `failed` (another exit code), `not_started`, `idle` (no output for too long), `timeout`, `wait`
	// (asked to be called again later), `ask` (asks a question), `interrupted`. For agents whose output wfs understands
	// also `denied` (tool calls were refused because their permission was missing), `capped` (ended at a cap of turns
	// or money that it was started with), `limit` (usage limit, until `wait_until`), `rate_limited`, `overloaded`,
	// `auth` (not logged in), `billing` (no credit), `config`, `too_long` (its context is full), `refused` (the model
	// declined), `hung` (signs of life, but nothing done), `no_result`
	Outcome Outcome `json:"outcome"`
	// exit code; 128 plus the number for a signal, -1 if the process could not be started or did not end
	Exit   int   `json:"exit"`
	Millis int64 `json:"millis"`         // duration in milliseconds
	Done   bool  `json:"done,omitempty"` // the agent said that the phase's work is done
	// the agent said that nothing is left to do, and named this existing test as evidence
	NothingLeft string `json:"nothing_left,omitempty" text:"free"`
	Note        string `json:"note,omitempty" text:"free"` // message of the agent for the next attempt
	Ask         string `json:"ask,omitempty" text:"free"`  // the agent's question
	// if the agent asks to return to the phase that writes tests: why
	TestChange string `json:"test_change,omitempty" text:"free"`
	// when the agent wants to be called again; left out if it did not say (Unix time)
	WaitUntil int64   `json:"wait_until,omitempty"`
	CostUSD   float64 `json:"cost_usd,omitempty"` // cost that the agent reported
	// an estimate of the cost, by the rate of the session's earlier runs, if the run was ended before it reported its
	// cost
	EstimatedUSD float64 `json:"estimated_usd,omitempty"`
	Survivors    []int   `json:"survivors,omitempty"` // ids of processes of the run that could not be ended
	Rejected     bool    `json:"rejected,omitempty"`  // a person rejected the work; `note` says why
	Approved     bool    `json:"approved,omitempty"`  // a person approved the work
	NotDone      bool    `json:"not_done,omitempty"`  // the agent said that the work is not done yet
	// the agent's answer could not be read: it counts as not done; `note` says why
	Unread bool `json:"unread,omitempty"`
	// ids of the requests whose notes the agent read while it worked
	Given  []string `json:"given,omitempty"`
	Review *Review  `json:"review,omitempty" text:"free"` // the answer of a reviewer, in a phase that is a review

	// name of the agent's card (what wfs knows about an agent program: its command, flags and output). This and the
	// following fields exist only for agents whose output wfs understands
	Agent        string `json:"agent,omitempty"`
	AgentVersion string `json:"agent_version,omitempty"` // version of the agent, as it reports it
	Model        string `json:"model,omitempty"`         // name of the model, as the agent reports it
	Conversation string `json:"conversation,omitempty"`  // id of the conversation, from the agent
	// digest of the path of the directory that the agent worked in
	Place  string      `json:"place,omitempty"`
	Tokens cost.Tokens `json:"tokens,omitzero"` // tokens of this run alone
	// usage of the whole conversation, if the agent reports it
	Total cost.Total `json:"conversation_total,omitzero"`
	Turns int        `json:"turns,omitempty"` // turns of the conversation
	Tools int        `json:"tools,omitempty"` // tool calls
	// tool calls by tool, the most frequent first; at most 20 tools by name
	ToolUse []ToolUse `json:"tool_use,omitempty"`
	// tool calls that were denied, because no person was there to permit them
	Denials int `json:"denials,omitempty"`
	// of a failed run: the last lines of its output, at most 5; of standard error, where wfs reads that separately
	Printed []string `json:"printed,omitempty"`
	// the agent had finished, but a background process that it had started did not end in time
	LeftRunning bool `json:"left_running,omitempty"`
	// names of the tools whose calls were denied, without their arguments
	Denied []string `json:"denied,omitempty"`
	// the denied shell commands, each once
	Refused []RefusedCommand `json:"refused,omitempty" text:"free"`
	// why the run ended, as the agent reported it: one line
	Message string `json:"message,omitempty" text:"free"`
}

// ToolUse counts the calls of one tool.
type ToolUse struct {
	Name  string `json:"name"`  // name of the tool, as the agent reports it; `others` for the rest
	Calls int    `json:"calls"` // number of calls
	// calls that returned an error; 0 if the agent's output does not tell
	Failed int `json:"failed,omitempty"`
}

// RefusedCommand is a command that a run tried and was not permitted to run.
type RefusedCommand struct {
	// the first words of the refused command: `make lint`; with `variable` the whole part of the command; empty if each
	// part of the command would be permitted alone
	Text  string `json:"command" text:"free"`
	Times int    `json:"times"` // how often it was refused
	// the first such command in full, if it is longer than `command`
	Whole string `json:"whole,omitempty" text:"free"`
	// it was refused because it contains a variable or a substitution, which no permission covers
	Variable bool `json:"variable,omitempty"`
}

// Repin returns the wfs command that applies the agent's current permissions to the session. An agent that was named on
// the command line must be named again; otherwise the configuration is reloaded.
func (s *Session) Repin(agent string) string {
	if s.AgentTyped && agent == s.Agent {
		return "wfs edit --agent " + agent
	}
	return "wfs edit --reload"
}

// Passing returns how many of the lap's target tests pass; 0 if the attempt tampered with tests.
func (j *Judgement) Passing() int {
	n := 0
	for _, g := range j.Gates {
		n += g.Passing
	}
	// the gates then ran other tests than those in the tree, so their results say nothing about the tree
	if j.Class == ClassTampered {
		return 0
	}
	return n
}

// Fingerprint returns a short text that identifies the failure: attempts that fail in the same way have the same one.
// It is "" for a pass.
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

// Spoken returns the gate's reason as a judgement's reason quotes it: if the gate did not pass, it begins with the
// gate's name.
func (g GateResult) Spoken() string {
	if g.Verdict == Pass {
		return g.Reason
	}
	return "gate " + g.Gate + ": " + g.Reason
}

// Question has the details of a question about judged work that only a person can answer. The class of the judgement is
// ClassAsked, and its reason is the text of the question.
type Question struct {
	Paths    []string `json:"paths,omitempty"`                // paths that the question is about; at most 50
	Evidence []string `json:"evidence,omitempty" text:"free"` // lines for the person who answers
	// the question is about the packages that are installed now: after a yes, wfs copies them into clean trees. The
	// answer is not about tests
	Packages bool `json:"packages,omitempty"`
}

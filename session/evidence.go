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
	// TestError: it could not be run (a build or load failure). By itself it is neither red nor green.
	TestError TestStatus = "error"
)

// Tests are the results of one gate run, by test.
type Tests map[TestID]TestStatus

// Counts sums up the results of a run.
type Counts struct {
	Passed  int `json:"passed"`           // tests that passed
	Failed  int `json:"failed"`           // tests that failed
	Skipped int `json:"skipped"`          // tests that were skipped
	Errors  int `json:"errors,omitempty"` // tests that could not be run
	// tests with different results on the same files; in none of the other numbers
	Flaky int `json:"flaky,omitempty"`
}

// Total returns the number of reported tests.
func (c Counts) Total() int { return c.Passed + c.Failed + c.Skipped + c.Errors + c.Flaky }

// Count sums up the results of tests.
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
	ClassGreen        Class = "green"         // all expected tests pass
	ClassTargetFailed Class = "target_failed" // RED: a new or changed test fails by assertion
	// RED: a new test cannot be built solely for a symbol that does not exist yet, or types that do not fit yet
	ClassMissingSymbol   Class = "missing_symbol"
	ClassUnexpectedGreen Class = "unexpected_green" // RED: new tests already pass
	ClassNothingAdded    Class = "nothing_added"    // RED: no new or changed test
	ClassNoTests         Class = "no_tests"         // the runner ran no test
	ClassBuildBroken     Class = "build_broken"     // something cannot be built for another reason
	ClassBrokeGreen      Class = "broke_green"      // a test that passed before fails, is skipped or is missing
	ClassTargetMissing   Class = "target_missing"   // GREEN: a test of this lap is missing or skipped
	ClassTargetFailing   Class = "target_failing"   // GREEN: a test of this lap fails
	// GREEN: a test of this lap, or a new one, passes in some runs on the same tree only
	ClassFlaky         Class = "flaky"
	ClassCommandFailed Class = "command_failed" // the command of an exit-code gate failed
	ClassGuard         Class = "guard"          // the attempt changed paths that its phase may not change
	// the attempt put a key into a tracked file, which no checkpoint may have
	ClassKey             Class = "key"
	ClassTampered        Class = "tampered"    // tests were weakened
	ClassTestChange      Class = "test_change" // the attempt asks to return to the phase that writes tests
	ClassGateChangedTree Class = "gate_changed_tree"
	ClassInfraError      Class = "infra_error"     // the gate could not run: no judgement possible
	ClassTimeout         Class = "timeout"         // the gate did not end in time: the attempt fails
	ClassDocument        Class = "document"        // a document is missing, or lacks required content
	ClassUnchanged       Class = "unchanged"       // a required change is missing
	ClassNotClean        Class = "not_clean"       // finished work fails in a clean tree where its base passes
	ClassHoldout         Class = "holdout_failing" // it passes, but fails hold-out tests, which agents never see
	ClassLeadsBack       Class = "leads_back"      // a module of the project would be loaded from outside
	// a gate changed installed packages of the clean tree while it ran
	ClassRoomChanged Class = "room_changed"
	ClassApproved    Class = "approved"  // a person approved, and no gate failed
	ClassRejected    Class = "rejected"  // a person or a reviewer rejected
	ClassReviewed    Class = "reviewed"  // a reviewer approved, and no gate failed
	ClassUnsigned    Class = "unsigned"  // the gates pass, but the agent did not report that it is done
	ClassNoReview    Class = "no_review" // a reviewer gave no verdict
	ClassAsked       Class = "asked"     // a person must answer a question: neither passed nor failed until then
)

// InTree is the value of GateResult.Where for gates that only look at the tree and run nothing.
const InTree = "tree"

// GateResult is the result of one run of a gate. It holds names, counts and digests, but no output: output stays in the
// run's directory outside Git.
type GateResult struct {
	Gate string `json:"gate"` // name of the gate
	// `in-place`, `clean`, or `tree` for a gate that only looks at the tree
	Where   string  `json:"where"`
	Expect  string  `json:"expect,omitempty"`   // `pass` or `red`; none on the base
	Verdict Verdict `json:"verdict"`            // `pass`, `fail`, `blocked`
	Class   Class   `json:"class"`              // see Class
	Reason  string  `json:"reason" text:"free"` // one sentence
	Exit    int     `json:"exit"`               // exit code of the command
	Millis  int64   `json:"millis"`             // how long it took
	// the gate did not run: its result on the base was cached; older versions cached results of attempts as well
	Cached bool `json:"cached,omitempty"`
	// it judged with the frozen tests of this checkpoint, because the attempt had changed them
	TestsOf *int   `json:"tests_of,omitempty"`
	Counts  Counts `json:"counts"` // always complete
	// tests that count against the attempt; sorted, at most 50
	Failing  []TestID `json:"failing,omitempty"`
	KnownRed []TestID `json:"known_red,omitempty"` // failing on the base too
	Flaky    []TestID `json:"flaky,omitempty"`     // failed and passed on the same tree
	// the lap's tests from now on; of a gate that does not expect red: tests of packages that could not be built
	// before
	Targets []TestID `json:"targets,omitempty"`
	// packages and files of tests that cannot be built yet: once they can, tests must run in them. An older wfs wrote
	// names of tests, a method of a suite in Go as `import/path.*/TestName`
	Expected []string `json:"expected,omitempty"`
	Passing  int      `json:"passing,omitempty"` // how many of the lap's tests pass
	// of a document whose tasks must be ticked: the number of open tasks plus one
	Left int `json:"left,omitempty"`
	// of a failing gate: the first line of its output that names an error, such as a compiler's
	FirstError string `json:"first_error,omitempty"`
	// digest of the failure without paths, numbers, times and addresses
	Fingerprint string `json:"fingerprint,omitempty"`
}

// MaxNamed is the maximum number of test names in one result. Counts are always complete.
const MaxNamed = 50

// Evidence is the document behind a judgement: every test of every gate. The ledger keeps it next to the events.
type Evidence struct {
	Tree Tree `json:"tree"` // the tree that was judged
	// by gate, by test: `pass`, `fail`, `skip`, or `error` (could not be run)
	Gates map[string]Tests `json:"gates"`
}

// Judgement is the verdict of guards and gates on one tree.
type Judgement struct {
	Tree    Tree         `json:"tree"`                        // the tree that was judged
	Verdict Verdict      `json:"verdict"`                     // `pass`, `fail`, `blocked` (could not judge)
	Class   Class        `json:"class"`                       // class of the gate or guard that decided
	Reason  string       `json:"reason" text:"free"`          // one sentence
	Gates   []GateResult `json:"gates,omitempty" text:"free"` // one for each gate that was run
	// changed although a guard forbids it; at most 50 (paths)
	Guarded []string `json:"guarded,omitempty"`
	// if the work is complete with this judgement: results of the gates in a clean tree
	Proof *Proof `json:"proof,omitempty"`
	// if the work is complete, or if the phase requires it: results of the hold-out tests
	Holdout *HoldoutResult `json:"holdout,omitempty"`
	// no gate ran a command, although gates of other phases do: a pass does not make the tree green
	Ungated  bool     `json:"ungated,omitempty"`
	Evidence Evidence `json:"-"` // goes to the ledger as a document of its own
	// gates of the phase that judge later: a pass is not about them
	NotRun []NotRun `json:"not_run,omitempty"`
	// changes of tests that matter, the grave ones first; at most 50
	Tampered []Tampering `json:"tampered,omitempty" text:"free"`
	// items of the checklist, from 1, that documents of the session tick
	Ticked []int `json:"ticked,omitempty"`
	// tests that no longer run, which experiments or a person accepted
	Gone []TestID `json:"gone,omitempty"`
	// the experiments on a tree that passes, in this order
	Experiments []Experiment `json:"experiments,omitempty"`
	// the existing test that the agent named as evidence, if it ran and passes
	Shown TestID `json:"shown,omitempty"`
	// changed in a phase that added no test, at most 50: `nothing_left` does not count then (paths)
	Beside []string `json:"beside,omitempty"`
	// lines of code that the lap changed, without tests, if that decides which phase follows
	Lines *int `json:"lines,omitempty"`
	// the question for a person, with `blocked` and `asked`; `reason` has its text
	Question *Question `json:"question,omitempty" text:"free"`
}

// Experiment is one experiment that tests how much a pass is worth.
type Experiment struct {
	// `frozen_tests`, `canary`, `hollow`, `results`, `mutants`
	Kind   string `json:"kind"`
	Result string `json:"result"` // `holds`, `fails`, `not_tried`
	Says   string `json:"says"`   // one sentence
	Runs   int    `json:"runs"`   // how often a gate ran
	Millis int64  `json:"millis"` // time of those runs
}

// NotRun is a gate that did not run, and the reason.
type NotRun struct {
	Gate string `json:"gate"` // a gate that did not run
	Why  string `json:"why"`  // why, in words
}

// Built returns the result of the gate that found the tests of packages that could not be built in RED, nil for none.
func (j *Judgement) Built() *GateResult {
	i := slices.IndexFunc(j.Gates, func(g GateResult) bool {
		return g.Expect != "red" && g.Verdict == Pass && len(g.Targets) > 0
	})
	if i < 0 {
		return nil
	}
	return &j.Gates[i]
}

// Red returns the result that a lap's targets come from: the result of the gate that expects red, nil without one. Of
// several it returns the one with targets.
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

// CountsOf sums up the test results of gates.
func CountsOf(gates []GateResult) Counts {
	var c Counts
	for _, g := range gates {
		n := g.Counts
		c = Counts{c.Passed + n.Passed, c.Failed + n.Failed, c.Skipped + n.Skipped, c.Errors + n.Errors, c.Flaky + n.Flaky}
	}
	return c
}

// Outcome says how a run ended. It says nothing about the work.
type Outcome string

const (
	OutcomeOK          Outcome = "ok"          // ended by itself with exit 0
	OutcomeFailed      Outcome = "failed"      // ended by itself with another exit code
	OutcomeNotStarted  Outcome = "not_started" // could not be started at all (no such command)
	OutcomeIdle        Outcome = "idle"        // stopped: no output for too long
	OutcomeTimeout     Outcome = "timeout"     // stopped: ran too long
	OutcomeWait        Outcome = "wait"        // asks to be called later (exit 75)
	OutcomeAsk         Outcome = "ask"         // needs an answer from a person
	OutcomeInterrupted Outcome = "interrupted" // stopped by the user, or the engine died

	// Outcomes of agents whose output wfs understands. Those about the provider or the set-up say nothing about the
	// work, and use up no attempt.
	OutcomeDenied      Outcome = "denied"       // ended normally, but tool calls were refused for want of a permission
	OutcomeCapped      Outcome = "capped"       // ended at a cap of turns or money that it was started with
	OutcomeLimit       Outcome = "limit"        // usage limit of the provider, until WaitUntil
	OutcomeRateLimited Outcome = "rate_limited" // too many requests
	OutcomeOverloaded  Outcome = "overloaded"   // an error of the provider or the network
	OutcomeAuth        Outcome = "auth"         // not logged in, or the key was rejected
	OutcomeBilling     Outcome = "billing"      // no credit
	OutcomeConfig      Outcome = "config"       // flags, model or settings that cannot work
	OutcomeTooLong     Outcome = "too_long"     // its context is full
	OutcomeRefused     Outcome = "refused"      // the model declined
	OutcomeHung        Outcome = "hung"         // stopped: it printed signs of life, but did nothing
	OutcomeNoResult    Outcome = "no_result"    // exit 0, without a final report
)

// Orderly reports whether a run ended normally, or because it was stopped on request. Its last lines then explain
// nothing.
func (o Outcome) Orderly() bool {
	switch o {
	case OutcomeOK, OutcomeAsk, OutcomeWait, OutcomeInterrupted, OutcomeCapped, OutcomeDenied, OutcomeRefused:
		return true
	}
	return false
}

// MaxPrinted bounds RunResult.Printed.
const MaxPrinted = 5

// RunResult is the result of one run of an agent or command, as wfs observed it.
type RunResult struct {
	// `ok` (exit 0), `failed` (another exit code), `not_started`, `idle` (no output for too long), `timeout`, `wait`
	// (asks to be called again later), `ask` (asks a question), `interrupted`. For agents whose output wfs understands
	// also `denied` (calls were refused for want of a permission), `capped` (ended at a cap of turns or money that it
	// was started with), `limit` (usage limit, until `wait_until`), `rate_limited`, `overloaded`, `auth` (not logged
	// in), `billing` (no credit), `config`, `too_long` (its context is full), `refused` (the model declined), `hung`
	// (signs of life, but nothing done), `no_result`
	Outcome Outcome `json:"outcome"`
	// exit code; 128 plus the number for a signal, -1 when it never began or never ended
	Exit   int   `json:"exit"`
	Millis int64 `json:"millis"`         // how long it took
	Done   bool  `json:"done,omitempty"` // the agent said that the phase's work is done
	// the agent said that nothing is left to do, and named this existing test as evidence
	NothingLeft string `json:"nothing_left,omitempty" text:"free"`
	Note        string `json:"note,omitempty" text:"free"` // message of the agent for the next attempt
	Ask         string `json:"ask,omitempty" text:"free"`  // the agent's question
	// why the agent asks to go back to the phase that writes tests
	TestChange string `json:"test_change,omitempty" text:"free"`
	// when to call again; left out if the agent did not say (Unix time)
	WaitUntil int64   `json:"wait_until,omitempty"`
	CostUSD   float64 `json:"cost_usd,omitempty"` // cost that the agent reported
	// if the run was ended before it reported its cost: an estimate, by the session's rate
	EstimatedUSD float64 `json:"estimated_usd,omitempty"`
	Survivors    []int   `json:"survivors,omitempty"` // process ids of the run that could not be ended
	Rejected     bool    `json:"rejected,omitempty"`  // a person rejected it; `note` says why
	Approved     bool    `json:"approved,omitempty"`  // a person approved it
	NotDone      bool    `json:"not_done,omitempty"`  // the agent said that the work is not done yet
	// the answer could not be read, which counts as not done; `note` says why
	Unread bool    `json:"unread,omitempty"`
	Review *Review `json:"review,omitempty" text:"free"` // of a phase that is a review

	// name of the agent's card; this and the following fields exist for agents whose output wfs understands
	Agent        string      `json:"agent,omitempty"`
	AgentVersion string      `json:"agent_version,omitempty"` // version of the agent, as it reports it
	Model        string      `json:"model,omitempty"`         // the model that worked, as the agent reports it
	Conversation string      `json:"conversation,omitempty"`  // the agent's own id of its conversation
	Place        string      `json:"place,omitempty"`         // digest of the directory that it worked in
	Tokens       cost.Tokens `json:"tokens,omitzero"`         // Tokens of this run alone
	// Total of the conversation, if the agent reports one
	Total cost.Total `json:"conversation_total,omitzero"`
	Turns int        `json:"turns,omitempty"` // turns of the conversation
	Tools int        `json:"tools,omitempty"` // tool calls
	// tool calls that were denied, because no person was there to permit them
	Denials int `json:"denials,omitempty"`
	// of a failed run: the last lines that it printed, at most 5; of standard error where wfs reads that separately
	Printed []string `json:"printed,omitempty"`
	// the agent had finished, but a process that it had started in the background did not end in time
	LeftRunning bool `json:"left_running,omitempty"`
	// names of the tools of those calls, without their arguments
	Denied []string `json:"denied,omitempty"`
	// the beginnings of the commands among them, each once
	Refused []RefusedCommand `json:"refused,omitempty" text:"free"`
	// reason for this end, as the agent reported it: one line
	Message string `json:"message,omitempty" text:"free"`
}

// RefusedCommand is a command that a run tried and was not permitted to run.
type RefusedCommand struct {
	// the first words of the command that was not permitted: `make lint`; with `variable` all of that part; empty when
	// each part of the command would be permitted alone
	Text  string `json:"command" text:"free"`
	Times int    `json:"times"` // how often
	// the first of those commands in full, if it is longer
	Whole string `json:"whole,omitempty" text:"free"`
	// refused because of a variable or a substitution, regardless of permissions
	Variable bool `json:"variable,omitempty"`
}

// Repin returns the command that applies the agent's current permissions to the session. An agent typed on the command
// line stays until it is typed again.
func (s *Session) Repin(agent string) string {
	if s.AgentTyped && agent == s.Agent {
		return "wfs edit --agent " + agent
	}
	return "wfs edit --reload"
}

// Passing returns how many of the lap's target tests pass.
func (j *Judgement) Passing() int {
	n := 0
	for _, g := range j.Gates {
		n += g.Passing
	}
	if j.Class == ClassTampered { // passing other tests than the tree's says nothing about the tree
		return 0
	}
	return n
}

// Fingerprint returns an identifier of the failure that is the same in all attempts that fail in the same way, "" for a
// pass.
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

// Spoken returns the reason of a gate in the form that a judgement's reason begins with: a gate that did not pass is
// named.
func (g GateResult) Spoken() string {
	if g.Verdict == Pass {
		return g.Reason
	}
	return "gate " + g.Gate + ": " + g.Reason
}

// Question is a question about judged work that only a person can answer; it goes with ClassAsked. The judgement's
// reason is the text of the question.
type Question struct {
	Paths    []string `json:"paths,omitempty"`                // paths that it is about; at most 50
	Evidence []string `json:"evidence,omitempty" text:"free"` // lines for the person who answers
	// it is about the packages that are installed now: after a yes wfs copies them; the answer is not about tests
	Packages bool `json:"packages,omitempty"`
}

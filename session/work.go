package session

import (
	"time"

	"github.com/wfs-dev/wfs/session/cost"
	"github.com/wfs-dev/wfs/workflows"
)

// RunRequest describes one run of the agent, command or script of a phase.
type RunRequest struct {
	Session Session
	Phase   workflows.Phase
	Started AttemptStarted
	RunDir  string
	Plan    workflows.Plan
	Notes   []string
	// Meanwhile are notes that came during a run and may not be from a person.
	Meanwhile []string
	Spec      []byte // the text of the pinned spec, nil without one
	// Baseline has the results of the gates on the session's base. Known are the tests that failed or were flaky on the
	// base.
	Baseline Evidence
	Known    []TestID
	SpecFile string // path of the spec in the work tree during the run, "" if the brief has the whole spec
	// Back are the paths of the newest findings about tests whose files have their former content again: the change was
	// undone.
	Back []string
	// Lines counts the lines that earlier attempts of this lap changed, by checkpoint number and file.
	Lines map[int][]FileLines
	// Conversation is the conversation that the agent may continue; nil begins a new one.
	Conversation *Conversation
	// Remaining budgets for this run; 0 means that there is no such budget.
	LeftUSD    float64
	LeftTokens int64
	LeftTurns  int
	LeftTime   time.Duration
}

// MaxTold is the maximum number of earlier attempts that a brief describes.
const MaxTold = 10

// Conversation is an agent's memory of its work at a visit of a phase. The agent itself stores it, on one machine; wfs
// only knows its id.
type Conversation struct {
	ID      string `json:"id"`                // id of the conversation, from the agent
	Agent   string `json:"agent"`             // name of the agent's card
	Version string `json:"version,omitempty"` // version of the agent
	// digest of the directory, as in RunResult. In another directory, a new conversation begins
	Place string     `json:"place,omitempty"`
	Ended Outcome    `json:"ended,omitempty"` // outcome of the conversation's last run
	Total cost.Total `json:"total,omitzero"`  // usage so far, if the agent reports it over the whole conversation
}

// Remains is the usage and the conversation of a run that was cut off, as far as wfs can find them.
type Remains struct {
	Usage        cost.Usage
	Agent, Model string        // "" if unknown
	Conversation *Conversation // conversation that the agent can continue; nil for none
}

// Process is a process of an earlier run that is still alive. Its command line is for display only and never becomes
// part of an event. PID is 0 when the system reports only that such a process exists.
type Process struct {
	PID     int    `json:"pid,omitempty"`
	Command string `json:"command,omitempty"`
	Own     bool   `json:"own,omitempty"` // it is proven that wfs started the process, so the next run ends it
}

// JudgeRequest describes one judgement of one tree.
type JudgeRequest struct {
	Session ID
	Tree    Tree
	Phase   workflows.Phase
	Plan    workflows.Plan
	RunDir  string
	Changed []Change // changes since the lap began
	Visit   []Change // changes since the visit of the phase began, for guards
	Own     []Change // the part of Visit that attempts changed
	Given   []Skip   // files into which a key was written
	Spec    string   // path of the spec from the top of the work tree, "" without one: editing the spec is not work
	// VisitTree is the tree at the start of the visit. The judge compares it to recognise tests that were renamed
	// since. It may be "".
	VisitTree Tree
	Baseline  Evidence
	Known     []TestID // tests that were red or flaky in the baseline: verdicts ignore them
	LapStart  Evidence
	Targets   []TestID
	Expected  []string
	Gone      []TestID // tests that need not exist any more
	TargetsOf string   // name of the gate that runs Targets, "" for the only gate that expects red
	// All means that this judgement completes the work: every gate of the phase judges, regardless of its `paths` and
	// `when`.
	All bool
	// Frozen is the tree whose tests may not be weakened, "" for none. FrozenAt is the number of the checkpoint with
	// that tree.
	Frozen   Tree
	FrozenAt *int
	// TestChange means that the work went back to the phase that writes tests, because a test must change. Failures are
	// then judged without the code that was written for the former test.
	TestChange bool
	// SentBack means that the work was rejected. An agent that disagrees may change only documents, and explains itself
	// there.
	SentBack bool
	// NothingLeft is the existing test that the agent named as evidence that nothing is left to do, "" for none.
	NothingLeft string
	// BaseNumbers has the numbers that gates read on the base, by gate and name.
	BaseNumbers map[string]map[string]float64
	// Items is the checklist, in a workflow without laps.
	Items   []string
	LapTree Tree // the tree at the start of the lap
	// Approved means that a person has approved the changes to tests. Packages means that a person has approved the
	// packages that are installed now.
	Approved, Packages bool
}

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
	// Meanwhile are notes that may not be from a person.
	Meanwhile []string
	Spec      []byte // the specification as it is pinned, nil without one
	// Baseline has the results of the gates on the session's base. Known are the tests that failed or were flaky there.
	Baseline Evidence
	Known    []TestID
	SpecFile string // path of the specification in the work tree during the run, "" if the brief holds all of it
	// Back are paths of the newest findings that have their former content now: the change was undone.
	Back []string
	// Lines are the lines that earlier attempts of this lap changed, by checkpoint.
	Lines map[int][]FileLines
	// Conversation is the conversation that the agent may continue; nil begins a new one.
	Conversation *Conversation
	// Remaining budgets for this run; 0: there is no such budget.
	LeftUSD    float64
	LeftTokens int64
	LeftTurns  int
	LeftTime   time.Duration
}

// MaxTold is the maximum number of earlier attempts that a brief describes.
const MaxTold = 10

// Conversation is an agent's own memory of its work at a visit of a phase. The agent keeps it, on one machine.
type Conversation struct {
	ID      string `json:"id"`                // the agent's own id of it
	Agent   string `json:"agent"`             // name of its card
	Version string `json:"version,omitempty"` // of the agent
	// as in RunResult; elsewhere, a new conversation begins
	Place string     `json:"place,omitempty"`
	Ended Outcome    `json:"ended,omitempty"` // outcome of its last run
	Total cost.Total `json:"total,omitzero"`  // Total so far, where the agent counts over a conversation
}

// Remains is the usage and conversation of a run that was cut off, as far as they are known.
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
	Own     bool   `json:"own,omitempty"` // proven to be started by wfs: the next run ends it
}

// JudgeRequest is one judgement of one tree.
type JudgeRequest struct {
	Session ID
	Tree    Tree
	Phase   workflows.Phase
	Plan    workflows.Plan
	RunDir  string
	Changed []Change // since the lap began
	Visit   []Change // since the phase was entered, for guards
	Own     []Change // of those, the changes made by attempts
	Given   []Skip   // files into which a key was written
	Spec    string   // path of the specification from the top of the work tree, "" without one: editing it is not work
	// VisitTree is the tree at the start of the visit, to recognise tests that were renamed in it. May be "".
	VisitTree Tree
	Baseline  Evidence
	Known     []TestID // red or flaky in the baseline: ignored in verdicts
	LapStart  Evidence
	Targets   []TestID
	Expected  []string
	Gone      []TestID // tests that need not exist any more
	TargetsOf string   // the gate that Targets belong to, "" for the only one that expects red
	// All: every gate of the phase judges, regardless of its paths and its time. This judgement completes the work.
	All bool
	// Frozen is the tree whose tests must stay unchanged, "" for none. FrozenAt is the checkpoint of that tree.
	Frozen   Tree
	FrozenAt *int
	// TestChange: the work went back to the phase that writes tests, because a test must change. Failures are judged
	// without the code that was written for the test before.
	TestChange bool
	// SentBack: the work was rejected. An agent that disagrees may change only documents, and says why there.
	SentBack bool
	// NothingLeft is the existing test that the agent named as evidence that nothing is left to do, "" for none.
	NothingLeft string
	// Items are the checklist of work without laps.
	Items   []string
	LapTree Tree // the tree at the start of the lap
	// Approved: a person has approved the changes to tests. Packages: a person has approved the packages installed now.
	Approved, Packages bool
}

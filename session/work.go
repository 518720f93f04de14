package session

import (
	"time"

	"github.com/wfs-dev/wfs/session/cost"
	"github.com/wfs-dev/wfs/workflows"
)

// RunRequest is one run of whoever works in a phase.
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
	// Baseline is what gates said of the session's base, and Known are tests that failed or flickered there.
	Baseline Evidence
	Known    []TestID
	SpecFile string // where all of it is in the work tree while the run goes on, "" when the brief holds all of it
	// Back are paths of the newest findings that are as they were by now: somebody has put them back.
	Back []string
	// Lines are what earlier attempts of this lap changed, by checkpoint.
	Lines map[int][]FileLines
	// Conversation is the one that the agent may go on with; nil begins a new one.
	Conversation *Conversation
	// What budgets leave for this run; 0: there is no such budget.
	LeftUSD    float64
	LeftTokens int64
	LeftTurns  int
	LeftTime   time.Duration
}

// MaxTold is how many earlier attempts a brief tells of.
const MaxTold = 10

// Conversation is an agent's own memory of what it did at a visit of a phase. It is kept by the agent, on one machine.
type Conversation struct {
	ID      string `json:"id"`                // the agent's own
	Agent   string `json:"agent"`             // name of its card
	Version string `json:"version,omitempty"` // of the agent
	// as in RunResult: elsewhere, a new conversation is begun
	Place string     `json:"place,omitempty"`
	Ended Outcome    `json:"ended,omitempty"` // outcome of its last run
	Total cost.Total `json:"total,omitzero"`  // Total so far, where the agent counts so
}

// Remains is what is known of a run whose end nobody saw.
type Remains struct {
	Usage        cost.Usage
	Agent, Model string        // "" when that is not known
	Conversation *Conversation // that the agent can go on with; nil for none
}

// Process is a process of a run that lives on. What its command line says is for people alone: it never becomes
// part of an event. PID is 0 when the system does not tell more than that there is one.
type Process struct {
	PID     int    `json:"pid,omitempty"`
	Command string `json:"command,omitempty"`
	Own     bool   `json:"own,omitempty"` // it is proven that wfs started it: the next run ends it
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
	Own     []Change // of those, what attempts changed
	Given   []Skip   // files that were given a key
	Spec    string   // the file of the specification from the top of the work tree, "" without one: to edit it is no work
	// VisitTree is the tree that the phase was entered with, to recognise tests that are renamed in it. May be "".
	VisitTree Tree
	Baseline  Evidence
	Known     []TestID // red or flaky in the baseline: never held against anybody
	LapStart  Evidence
	Targets   []TestID
	Expected  []string
	Gone      []TestID // that need not be there any more
	TargetsOf string   // the gate that they are of, "" for the only one that expects red
	// All: every gate of the phase judges, whatever its paths and its time are. The work is complete by this judgement.
	All bool
	// Frozen is the tree whose tests must stay as they are, "" for none, and FrozenAt the checkpoint that has it.
	Frozen   Tree
	FrozenAt *int
	// TestChange: it goes on where tests are written because one must change. What fails is looked at without the code
	// that was written for the one before.
	TestChange bool
	// SentBack: the work was rejected. Who does not agree may change nothing but the documents, and say why there.
	SentBack bool
	// NothingLeft is the existing test that the run names as showing what is wanted, "" for none.
	NothingLeft string
	// Items are the checklist of work without laps.
	Items   []string
	LapTree Tree // what the lap began with
	// Approved: a person has said yes to what was done to tests. Packages: to what is installed by now.
	Approved, Packages bool
}

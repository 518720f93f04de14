// Package workflows defines workflows, gates and the configuration of a project as data. It reads and checks their
// YAML, and contains the built-in workflows. It knows nothing of Git, processes or sessions.
package workflows

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"
)

// PhaseName names a phase inside one workflow, as its author wrote it ("RED").
type PhaseName string

// Done and NextLap are the two targets of `on:` that are not phases: the end of the work, and the end of a lap.
const (
	Done    PhaseName = "done"
	NextLap PhaseName = "next-lap"
)

// Verdict is the engine's conclusion about one attempt.
type Verdict string

const (
	Pass    Verdict = "pass"
	Fail    Verdict = "fail"
	Blocked Verdict = "blocked" // the engine could not judge, or must not continue by itself
)

// Workflow is one checked workflow file.
type Workflow struct {
	Version     int       `json:"version" is:"version required"`
	Name        string    `json:"name" is:"name required"`
	Description string    `json:"description,omitempty" is:"line"`
	Start       PhaseName `json:"start" is:"name required"`
	Laps        *Laps     `json:"laps,omitempty" is:""` // nil: the phases run once
	Tamper      Tamper    `json:"tamper,omitempty" is:"strict|review|warn|off"`
	Refactor    Refactor  `json:"refactor,omitempty" is:"always|auto"`
	Phases      []Phase   `json:"phases" is:"required" names:"phase"` // in the order of the file
}

// Phase returns the named phase, or nil.
func (w *Workflow) Phase(name PhaseName) *Phase {
	for i := range w.Phases {
		if w.Phases[i].Name == name {
			return &w.Phases[i]
		}
	}
	return nil
}

// LeadsTo reports whether work that passes in one phase reaches another one in the same lap.
func (w *Workflow) LeadsTo(from, to PhaseName) bool {
	seen := map[PhaseName]bool{}
	for p := w.Phase(from); p != nil && !seen[p.Name]; p = w.Phase(p.On[Pass]) {
		seen[p.Name] = true
		if p.On[Pass] == to {
			return true
		}
	}
	return false
}

// Laps says that the phases run many times. With a checklist in the spec, a lap is one item. Without one, laps follow
// until an attempt at the start phase adds nothing and reports that nothing is left, and this is approved.
type Laps struct {
	Agree Agree `json:"agree" is:"person|auto" default:"person"` // who agrees that nothing is left
	Max   int   `json:"max" is:"1..1000" default:"50"`           // the maximum number of laps; 0 means DefaultMaxLaps
}

// Agree says who may approve that nothing is left to do.
type Agree string

const (
	AgreePerson Agree = "person"
	AgreeAuto   Agree = "auto"
)

// DefaultWorkflow returns the workflow of a configuration that names none. tdd needs a gate with per-test results.
func (c *Config) DefaultWorkflow() string {
	tells := func(g Gate) bool { return g.Format.PerTest() }
	if len(c.Gates) > 0 && !slices.ContainsFunc(slices.Collect(maps.Values(c.Gates)), tells) {
		return "loop"
	}
	return "tdd"
}

// DefaultMaxLaps bounds a run whose agent always finds one more thing to do.
const DefaultMaxLaps = 50

// Phase is one step of a workflow: its runner, its gates, and the phase that follows each verdict.
type Phase struct {
	Name   PhaseName             `json:"name"`
	Brief  string                `json:"brief,omitempty" is:"text"` // instructions for the agent
	Run    Run                   `json:"run" is:"" or:"agent|human" default:"agent"`
	Gates  []Gate                `json:"gates" is:"" object:"gateUse"`
	Guards Guards                `json:"guards" is:""`
	On     map[Verdict]PhaseName `json:"on"` // pass and fail; both are always present in a checked workflow
	Limits Limits                `json:"limits" is:""`
	Tamper Tamper                `json:"tamper,omitempty" is:"strict|review|warn|off"` // instead of the workflow's
	// Targets are the targets in the file, until they are moved to On.
	Targets on `json:"-" key:"on" is:"required"`
	// Signal says how the agent's report counts besides the gates; "" is SignalAuto.
	Signal Signal `json:"signal,omitempty" is:"auto|veto|required" default:"veto"`
	// HalfOpen names the agent for the last attempt before the breaker opens; "" is the phase's agent.
	HalfOpen string   `json:"half_open,omitempty"`
	Half     halfOpen `json:"-" key:"half-open" is:""` // in the file, until it is moved to HalfOpen
	Review   *Review  `json:"review,omitempty" is:""`  // the phase is a review
	// Approve: no gate judges this phase, so a person approves its work before the session is complete. Resolve sets
	// it.
	Approve bool `json:"approve,omitempty"`
	// Holdout: a pass of this phase requires a pass of the hold-out tests. They always run on finished work.
	Holdout bool `json:"holdout,omitempty" is:"" default:"false"`
}

type on struct {
	Pass PhaseName `is:"name required"`
	Fail PhaseName `is:"name"`
}

type halfOpen struct {
	Agent string `is:"name required"`
}

// Run says what runs in a phase. Exactly one kind: an agent, a person, or a command of the workflow.
type Run struct {
	_     struct{} `alternatives:"command;agent"`
	Agent bool     `json:"agent,omitempty"`
	// Name, with Agent: an agent of this name instead of the session's.
	Name string `json:"name,omitempty" key:"agent" is:"name"`
	// Human: the session waits until a person approves or rejects.
	Human   bool    `json:"human,omitempty"`
	Command Command `json:"command,omitzero" is:""`
}

// Command is a command to execute: one string for `sh -c`, or an argument list that no shell sees.
type Command struct {
	Shell string   `json:"shell,omitempty"`
	Argv  []string `json:"argv,omitempty"`
}

// IsZero reports whether there is no command.
func (c Command) IsZero() bool { return c.Shell == "" && len(c.Argv) == 0 }

// Text returns the command on one line, "" for none.
func (c Command) Text() string { return cmp.Or(c.Shell, strings.Join(c.Argv, " ")) }

// Format is the format of a gate's output.
type Format string

const (
	FormatGoTest   Format = "go-test-json" // output of `go test -json`
	FormatJUnit    Format = "junit"        // JUnit XML
	FormatJest     Format = "jest-json"    // the file of `jest --json`, and of Vitest's json reporter
	FormatCargo    Format = "cargo-test"   // output of `cargo test`
	FormatUnittest Format = "unittest"     // output of `python -m unittest -v`
	FormatRSpec    Format = "rspec-json"   // the file of `rspec --format json`
	FormatMinitest Format = "minitest"     // output of Minitest with -v
	FormatTRX      Format = "trx"          // the file of `dotnet test --logger trx`
	FormatTAP      Format = "tap"          // Test Anything Protocol, as printed
	FormatExit     Format = "exit-code"    // 0 passes; no results by test, so it cannot carry Expect red
)

// Formats lists every format. Only the last one has no per-test results.
func Formats() []Format {
	return []Format{FormatGoTest, FormatJUnit, FormatJest, FormatCargo, FormatUnittest,
		FormatRSpec, FormatMinitest, FormatTRX, FormatTAP, FormatExit}
}

// PerTest reports whether the format has per-test results.
func (f Format) PerTest() bool { return f != FormatExit && slices.Contains(Formats(), f) }

// InFiles reports whether results are a document: in $WFS_REPORT, in the files of Report, or in the output.
func (f Format) InFiles() bool {
	return f == FormatJUnit || f == FormatJest || f == FormatRSpec || f == FormatTRX
}

// FormatNames returns the formats for a message: "a, b, c".
func FormatNames() string { return strings.Join(formatWords(), ", ") }

func formatWords() []string {
	var words []string
	for _, f := range Formats() {
		words = append(words, string(f))
	}
	return words
}

// Where says where a gate runs.
type Where string

const (
	// Auto is clean if the gate has the same results there as in the work tree on the base, and in place otherwise.
	Auto    Where = "auto"
	InPlace Where = "in-place" // in the session's work tree; ignored files are seen
	Clean   Where = "clean"    // in a directory that holds the tree, and installed packages, and nothing else
)

// Expect is the result that a gate must have for the phase to pass.
type Expect string

const (
	ExpectPass Expect = "pass" // the lap's target tests pass, and no test that passed before fails
	ExpectRed  Expect = "red"  // at least one new or changed test fails for the right reason, and no passing test broke
)

// Need is a requirement on the content of a document.
type Need string

const (
	NeedTasks  Need = "tasks"  // a task list in Markdown with at least one entry
	NeedItems  Need = "items"  // a task for every item of the spec's checklist, in its words
	NeedTicked Need = "ticked" // no unticked task
)

// Gate is one check that the engine makes itself. Exactly one of Run, Document and Changes is its subject, or Use names
// a gate that has one.
type Gate struct {
	_ struct{} `only:"gate" alternatives:"run"`
	_ struct{} `only:"gateUse" alternatives:"use;name run;name document;name changes"`

	Name string `json:"name" only:"gateUse" is:"name"`
	// Use, in a parsed workflow: the name of a gate of the configuration, which Resolve inserts here; else "".
	Use string  `json:"use,omitempty" only:"gateUse" is:"name"`
	Run Command `json:"run" is:""`
	// Document is a required document of the session, below .workflow/<session>/.
	Document string `json:"document,omitempty" only:"gateUse" is:"document"`
	Needs    []Need `json:"needs,omitempty" only:"gateUse" is:"tasks|items|ticked"` // requirements on Document
	// Changes are patterns as of a guard: a path that matches must have changed since the phase began.
	Changes []string `json:"changes,omitempty" only:"gateUse" is:"guard"`
	Format  Format   `json:"format" is:"format" default:"exit-code"`
	// Report is a glob below the work tree, for reports written to files.
	Report string `json:"report,omitempty" is:"glob"`
	Where  Where  `json:"where" is:"auto|in-place|clean" default:"auto"`
	// Expect is set where the gate is used, not where it is defined.
	Expect        Expect        `json:"expect,omitempty" only:"gateUse" is:"pass|red" default:"pass"`
	Timeout       time.Duration `json:"timeout" is:"" default:"10m"`
	MayChangeTree bool          `json:"may_change_tree,omitempty" is:"" default:"false"`
	// Stable is the number of runs that must all pass; 0 is 1.
	Stable int `json:"stable,omitempty" is:"1..10" default:"1"`
	// Paths are patterns as of a guard: the gate runs if a path that matches has changed in the lap. none: it always
	// runs.
	Paths []string `json:"paths,omitempty" is:"guard"`
	When  When     `json:"when,omitempty" is:"attempt|lap|finish" default:"attempt"` // "": in every attempt
}

// When says how early a gate judges. Finished work is judged by all gates in any case.
type When string

const (
	WhenAttempt When = "attempt"
	WhenLap     When = "lap"    // in phases that end a lap, or the work
	WhenFinish  When = "finish" // when the work is complete, and no earlier
)

// Runs reports whether the gate runs a command. The others only look at the tree.
func (g *Gate) Runs() bool { return g.Document == "" && len(g.Changes) == 0 }

// Guards restrict which paths an attempt at a phase may change. Patterns are gitignore-like globs relative to the top
// of the work tree; `**` crosses directories.
type Guards struct {
	Only   []string `json:"only,omitempty" is:"guard"`   // nothing else may change
	Except []string `json:"except,omitempty" is:"guard"` // these may not change
}

// Limits are the breaker's limits for one phase. 0 means the value of DefaultLimits.
type Limits struct {
	Attempts   int `json:"attempts,omitempty" is:"1..1000" default:"12"`   // attempts at one visit of the phase
	NoProgress int `json:"no_progress,omitempty" is:"1..1000" default:"3"` // attempts in a row without progress
	// SameFailure: attempts in a row that fail in the same way.
	SameFailure int `json:"same_failure,omitempty" is:"1..1000" default:"4"`
	// FailedRuns: runs in a row that failed without changing anything.
	FailedRuns int `json:"failed_runs,omitempty" is:"1..1000" default:"3"`
}

// DefaultLimits apply where a phase sets none.
var DefaultLimits = Limits{Attempts: 12, NoProgress: 3, SameFailure: 4, FailedRuns: 3}

// Agent is the agent of phases with `run: agent`.
type Agent struct {
	_ struct{} `short:"command" either:"use command script" with:"model allow args"`

	Command Command `json:"command,omitzero" is:""`
	Script  string  `json:"script,omitempty"` // text of a script for the embedded player, instead of a command
	// ScriptPath is the file of Script, relative to the top of the work tree. Cards.Read does not read it: its caller
	// must fill in Script before Resolve.
	ScriptPath string `json:"script_path,omitempty" key:"script" is:"line"`
	// Card describes a known agent, instead of a command. Use is its name in the configuration.
	Use   string `json:"use,omitempty" is:"name"`
	Card  *Card  `json:"card,omitempty"`
	Model string `json:"model,omitempty" is:"line"`
	// Allow lists the tools that the agent may use unattended, in its own notation; nil: the default of the card.
	Allow []string `json:"allow,omitempty" is:"line"`
	// Args are further arguments for its command line.
	Args []string `json:"args,omitempty" is:"text"`
	// Fresh: every attempt begins a new conversation.
	Fresh bool `json:"fresh,omitempty" key:"conversation" is:"phase|fresh" default:"phase"`
	Push  bool `json:"push,omitempty" is:"refused|allowed" default:"refused"` // its git may push

	Idle    time.Duration `json:"idle" is:"" default:"30m"`   // without output for this long: stopped
	Timeout time.Duration `json:"timeout" is:"" default:"2h"` // in all
}

// Config is `.wfs/config.yaml`.
type Config struct {
	Version  int              `is:"version required"`
	Workflow string           `is:"name"` // default for `wfs new`
	Agent    Agent            `is:""`
	Agents   map[string]Agent `is:""`            // further agents, for phases that name one
	Agree    Agree            `is:"person|auto"` // overrides Laps.Agree
	Refactor Refactor         `is:"always|auto"` // overrides Workflow.Refactor
	// Names of variables that agents and gates may see besides those of the allow-list.
	Env []string `is:"variable"`
	// OnEvent runs on events that a person should know about. Plans do not pin it.
	OnEvent Command `key:"on-event" is:"" personal:"it is for the person who waits, on that person's machine"`
	// Limits for files that a session holds out of its checkpoints: the size of untracked files in bytes, and the
	// number of files in a new directory. 0: the default.
	MaxFileSize int64 `key:"max-file-size" is:"size" default:"10MB"`
	MaxNewFiles int   `key:"max-new-files" is:"1..10000000" default:"1000"`
	// AutoSave is the interval between auto-saves during a run. 0: the default, less: never. Plans do not pin it.
	AutoSave time.Duration `key:"auto-save" is:"" or:"off" default:"30s"`
	// CleanProof says whether finished work must also pass in a clean tree. CleanProvide are patterns of untracked
	// files that clean trees get in addition to the usual dependencies.
	CleanProof   CleanProof      `key:"clean-proof" is:"on|off" default:"on"`
	CleanProvide []string        `key:"clean-provide" is:"copy"`
	Finish       finish          `is:""`                  // not pinned in plans
	Holdout      HoldoutConfig   `is:"" object:"holdout"` // how hold-out tests run, which agents never see
	Gates        map[string]Gate `is:""`
	Budget       Budget          `is:""`
	Limits       calls           `is:"" object:"limits"` // of the budget
	Worktree     Worktree        `is:""`                 // of `wfs new --worktree`
	// Cards are the agents that can be named. nil: the built-in ones.
	Cards Cards
	// Installed are names of Cards whose programs are installed, the preferred one first.
	Installed []string
}

type finish struct {
	Report Report `is:"summary|full|none" default:"summary"`
}

type calls struct {
	CallsPerHour int64 `key:"calls-per-hour" is:"1..1000 lowers" default:"100"`
}

// Report says what the commit of `wfs finish` says besides the goal and its items. "": ReportSummary.
type Report string

const (
	ReportSummary Report = "summary"
	ReportFull    Report = "full"
	ReportNone    Report = "none"
)

// CleanProof says whether finished work must pass in a clean tree. "": it must.
type CleanProof string

const (
	CleanProofOn  CleanProof = "on"
	CleanProofOff CleanProof = "off"
)

// AutoSaveOff turns auto-saves off.
const AutoSaveOff = "off"

// DefaultAutoSave is the default interval between auto-saves during a run.
const DefaultAutoSave = 30 * time.Second

// Plan is the resolved workflow of a session, pinned when the session is created: the workflow with every gate filled
// in, the agent, and the environment. Its canonical JSON is stored in the ledger; trust is bound to its digest.
type Plan struct {
	Workflow Workflow `json:"workflow"`
	Agent    Agent    `json:"agent"`
	// Agents are the agents that phases name, by that name.
	Agents map[string]Agent `json:"agents,omitempty"`
	Env    []string         `json:"env,omitempty"`
	Budget Budget           `json:"budget,omitzero"`
	// Unproven: finished work need not pass in a clean tree. Provide are patterns of untracked files for clean trees.
	Unproven bool     `json:"unproven,omitempty"`
	Provide  []string `json:"provide,omitempty"`
	// Setup is the command that installs what a fresh checkout lacks. It runs in a work tree of a session's own, and in
	// clean trees.
	Setup Command `json:"setup,omitzero"`
	// Holdout are tests that agents never see, nil for none.
	Holdout *Holdout `json:"holdout,omitempty"`
	// Baseline are the gates, each once and without Expect, that run on the base before the first attempt.
	Baseline []Gate `json:"baseline"`
}

// AgentOf returns the agent of a phase with `run: agent`: the agent that the phase names, or the session's.
func (p *Plan) AgentOf(ph *Phase) *Agent {
	if ph.Run.Name != "" {
		if a, ok := p.Agents[ph.Run.Name]; ok {
			return &a
		}
	}
	return &p.Agent
}

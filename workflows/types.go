// Package workflows is the law as data: what a workflow, a gate and a project's configuration are, how their YAML is
// read and checked, and the workflows that are built in. It knows nothing of Git, processes or sessions.
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

// Done and NextLap are the two targets of `on:` that are no phases: the end of the work, and the end of a lap.
const (
	Done    PhaseName = "done"
	NextLap PhaseName = "next-lap"
)

// Verdict is what the engine concluded about one attempt.
type Verdict string

const (
	Pass    Verdict = "pass"
	Fail    Verdict = "fail"
	Blocked Verdict = "blocked" // the engine could not judge, or must not go on by itself
)

// Workflow is one workflow file, checked.
type Workflow struct {
	Version     int       `json:"version" is:"version required"`
	Name        string    `json:"name" is:"name required"`
	Description string    `json:"description,omitempty" is:"line"`
	Start       PhaseName `json:"start" is:"name required"`
	Laps        *Laps     `json:"laps,omitempty" is:""` // nil: the phases are walked once
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

// LeadsTo reports whether work that passes in one phase comes to another one, in the same lap.
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

// Laps says that the phases are walked many times. With a checklist in the spec a lap is one item; without one, laps
// follow until an attempt at the start phase adds nothing and says that nothing is left, and somebody agrees.
type Laps struct {
	Agree Agree `json:"agree" is:"person|auto" default:"person"` // who agrees that nothing is left
	Max   int   `json:"max" is:"1..1000" default:"50"`           // never more laps than this; 0 means DefaultMaxLaps
}

// Agree names who may agree that nothing is left to do.
type Agree string

const (
	AgreePerson Agree = "person"
	AgreeAuto   Agree = "auto"
)

// DefaultWorkflow is the workflow of a configuration that names none: tdd needs a gate that tells tests apart.
func (c *Config) DefaultWorkflow() string {
	tells := func(g Gate) bool { return g.Format.PerTest() }
	if len(c.Gates) > 0 && !slices.ContainsFunc(slices.Collect(maps.Values(c.Gates)), tells) {
		return "loop"
	}
	return "tdd"
}

// DefaultMaxLaps bounds a run whose agent always finds one more thing to do.
const DefaultMaxLaps = 50

// Phase is one station of a workflow: what runs there, what is judged, and where each verdict leads.
type Phase struct {
	Name   PhaseName             `json:"name"`
	Brief  string                `json:"brief,omitempty" is:"text"` // instructions for whoever works here
	Run    Run                   `json:"run" is:"" or:"agent|human" default:"agent"`
	Gates  []Gate                `json:"gates" is:"" object:"gateUse"`
	Guards Guards                `json:"guards" is:""`
	On     map[Verdict]PhaseName `json:"on"` // pass and fail; both always present after Check
	Limits Limits                `json:"limits" is:""`
	Tamper Tamper                `json:"tamper,omitempty" is:"strict|review|warn|off"` // instead of the workflow's
	// Targets are those of the file, until they are in On.
	Targets on `json:"-" key:"on" is:"required"`
	// Signal says what an agent's own word counts beside the gates; "" is SignalAuto.
	Signal Signal `json:"signal,omitempty" is:"auto|veto|required" default:"veto"`
	// HalfOpen names the agent that makes the last try before the breaker opens; "" is whoever works here.
	HalfOpen string   `json:"half_open,omitempty"`
	Half     halfOpen `json:"-" key:"half-open" is:""` // of the file, until it is in HalfOpen
	Review   *Review  `json:"review,omitempty" is:""`  // the phase is a review
	// Approve: no gate judges what is done here, and a person approves it before the work is complete. Resolve says so.
	Approve bool `json:"approve,omitempty"`
	// Holdout: what passes here must pass the hold-out tests too, and not finished work alone.
	Holdout bool `json:"holdout,omitempty" is:"" default:"false"`
}

type on struct {
	Pass PhaseName `is:"name required"`
	Fail PhaseName `is:"name"`
}

type halfOpen struct {
	Agent string `is:"name required"`
}

// Run says who works in a phase. Exactly one kind: the session's agent, a person, a command of the workflow's own.
type Run struct {
	_     struct{} `alternatives:"command;agent"`
	Agent bool     `json:"agent,omitempty"`
	// Name, with Agent: not the session's agent but the one of this name.
	Name string `json:"name,omitempty" key:"agent" is:"name"`
	// Human: the session waits there until a person approves or rejects.
	Human   bool    `json:"human,omitempty"`
	Command Command `json:"command,omitzero" is:""`
}

// Command is something to execute: one string for `sh -c`, or an argument list that no shell sees.
type Command struct {
	Shell string   `json:"shell,omitempty"`
	Argv  []string `json:"argv,omitempty"`
}

// IsZero reports whether there is nothing to run.
func (c Command) IsZero() bool { return c.Shell == "" && len(c.Argv) == 0 }

// Text is the command on one line, "" for none.
func (c Command) Text() string { return cmp.Or(c.Shell, strings.Join(c.Argv, " ")) }

// Format is how a gate's output is read.
type Format string

const (
	FormatGoTest   Format = "go-test-json" // what `go test -json` prints
	FormatJUnit    Format = "junit"        // JUnit XML
	FormatJest     Format = "jest-json"    // the file of `jest --json`, and of Vitest's json reporter
	FormatCargo    Format = "cargo-test"   // what `cargo test` prints
	FormatUnittest Format = "unittest"     // what `python -m unittest -v` prints
	FormatRSpec    Format = "rspec-json"   // the file of `rspec --format json`
	FormatMinitest Format = "minitest"     // what Minitest prints with -v
	FormatTRX      Format = "trx"          // the file of `dotnet test --logger trx`
	FormatTAP      Format = "tap"          // Test Anything Protocol, as printed
	FormatExit     Format = "exit-code"    // 0 passes; no results by test, so it cannot carry Expect red
)

// Formats lists every format. The last one alone tells no tests apart.
func Formats() []Format {
	return []Format{FormatGoTest, FormatJUnit, FormatJest, FormatCargo, FormatUnittest,
		FormatRSpec, FormatMinitest, FormatTRX, FormatTAP, FormatExit}
}

// PerTest reports whether the format tells tests apart.
func (f Format) PerTest() bool { return f != FormatExit && slices.Contains(Formats(), f) }

// InFiles reports whether results are a document: in $WFS_REPORT, in the files of Report, or printed.
func (f Format) InFiles() bool {
	return f == FormatJUnit || f == FormatJest || f == FormatRSpec || f == FormatTRX
}

// FormatNames lists the formats for a message: "a, b, c".
func FormatNames() string { return strings.Join(formatWords(), ", ") }

func formatWords() []string {
	var words []string
	for _, f := range Formats() {
		words = append(words, string(f))
	}
	return words
}

// Where a gate runs.
type Where string

const (
	// Auto is clean, if the gate says of the base there what it says in the work tree; in place otherwise.
	Auto    Where = "auto"
	InPlace Where = "in-place" // in the session's work tree; ignored files are seen
	Clean   Where = "clean"    // in a directory that holds the tree, and installed packages, and nothing else
)

// Expect is what a gate's results must show for the phase to pass.
type Expect string

const (
	ExpectPass Expect = "pass" // the lap's target tests pass, and nothing that was green before fails
	ExpectRed  Expect = "red"  // at least one new or changed test fails for the right reason, and nothing green broke
)

// Need is what a document must hold besides some text.
type Need string

const (
	NeedTasks  Need = "tasks"  // a task list in Markdown with at least one entry
	NeedItems  Need = "items"  // a task for every item of the spec's checklist, in its words
	NeedTicked Need = "ticked" // no task that is not ticked
)

// Gate is one check that the engine makes itself. Exactly one of Run, Document and Changes says what it looks at; Use
// stands for a gate that does.
type Gate struct {
	_ struct{} `only:"gate" alternatives:"run"`
	_ struct{} `only:"gateUse" alternatives:"use;name run;name document;name changes"`

	Name string `json:"name" only:"gateUse" is:"name"`
	// Use, in a parsed workflow: the gate of the configuration that Resolve puts here; else "".
	Use string  `json:"use,omitempty" only:"gateUse" is:"name"`
	Run Command `json:"run" is:""`
	// Document is one of the session, below .workflow/<session>/, that must be there.
	Document string `json:"document,omitempty" only:"gateUse" is:"document"`
	Needs    []Need `json:"needs,omitempty" only:"gateUse" is:"tasks|items|ticked"` // and what it must hold
	// Changes are patterns as of a guard: one path that fits must have changed since the phase was entered.
	Changes []string `json:"changes,omitempty" only:"gateUse" is:"guard"`
	Format  Format   `json:"format" is:"format" default:"exit-code"`
	// Report is a glob below the work tree, for reports written to files.
	Report string `json:"report,omitempty" is:"glob"`
	Where  Where  `json:"where" is:"auto|in-place|clean" default:"auto"`
	// Expect is set where the gate is used, not where it is defined.
	Expect        Expect        `json:"expect,omitempty" only:"gateUse" is:"pass|red" default:"pass"`
	Timeout       time.Duration `json:"timeout" is:"" default:"10m"`
	MayChangeTree bool          `json:"may_change_tree,omitempty" is:"" default:"false"`
	// Stable says how many runs must agree that all is well; 0 is 1.
	Stable int `json:"stable,omitempty" is:"1..10" default:"1"`
	// Paths are patterns as of a guard: the gate is run when a path that fits has changed in the lap. none: it is
	// run always.
	Paths []string `json:"paths,omitempty" is:"guard"`
	When  When     `json:"when,omitempty" is:"attempt|lap|finish" default:"attempt"` // "": in every attempt
}

// When says how early a gate judges. Finished work is judged by all gates, whatever they say.
type When string

const (
	WhenAttempt When = "attempt"
	WhenLap     When = "lap"    // in phases that end a lap, or the work
	WhenFinish  When = "finish" // when the work is complete, and no earlier
)

// Runs reports whether the gate runs a command. The others only look at the tree.
func (g *Gate) Runs() bool { return g.Document == "" && len(g.Changes) == 0 }

// Guards restrict the paths that an attempt at a phase may change. Patterns are gitignore-like globs relative to the
// top of the work tree; `**` crosses directories.
type Guards struct {
	Only   []string `json:"only,omitempty" is:"guard"`   // nothing else may change
	Except []string `json:"except,omitempty" is:"guard"` // these may not change
}

// Limits are the breaker's numbers for one phase. 0 means the default of DefaultLimits.
type Limits struct {
	Attempts   int `json:"attempts,omitempty" is:"1..1000" default:"12"`   // attempts at one visit of the phase
	NoProgress int `json:"no_progress,omitempty" is:"1..1000" default:"3"` // attempts in a row without progress
	// SameFailure: attempts in a row that fail in the same way.
	SameFailure int `json:"same_failure,omitempty" is:"1..1000" default:"4"`
	// FailedRuns: runs in a row that failed without changing anything.
	FailedRuns int `json:"failed_runs,omitempty" is:"1..1000" default:"3"`
}

// DefaultLimits are used where a phase sets none.
var DefaultLimits = Limits{Attempts: 12, NoProgress: 3, SameFailure: 4, FailedRuns: 3}

// Agent is who works in phases with `run: agent`.
type Agent struct {
	_ struct{} `short:"command" either:"use command script" with:"model allow args"`

	Command Command `json:"command,omitzero" is:""`
	Script  string  `json:"script,omitempty"` // text of a script for the embedded player, instead of a command
	// ScriptPath is where Script is read from, relative to the top of the work tree. ParseConfig reads no file: its
	// caller fills Script in before Resolve.
	ScriptPath string `json:"script_path,omitempty" key:"script" is:"line"`
	// Card drives a known agent instead. Use is its name, as the configuration has it.
	Use   string `json:"use,omitempty" is:"name"`
	Card  *Card  `json:"card,omitempty"`
	Model string `json:"model,omitempty" is:"line"`
	// Allow is what it may do unattended, in its own words; nil: what the card says.
	Allow []string `json:"allow,omitempty" is:"line"`
	// Args are further words for its command line.
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
	Agents   map[string]Agent `is:""`            // further ones, for phases that name theirs
	Agree    Agree            `is:"person|auto"` // overrides Laps.Agree
	Refactor Refactor         `is:"always|auto"` // overrides Workflow.Refactor
	// Names of variables that agents and gates may see, besides the allow-list.
	Env []string `is:"variable"`
	// OnEvent is run when a person should know of something; pinned in no plan.
	OnEvent Command `key:"on-event" is:"" personal:"it is for the person who waits, on that person's machine"`
	// What a session holds out of its checkpoints: untracked files that are larger, in bytes, and new directories with
	// more files. 0: the default.
	MaxFileSize int64 `key:"max-file-size" is:"size" default:"10MB"`
	MaxNewFiles int   `key:"max-new-files" is:"1..10000000" default:"1000"`
	// AutoSave is how often the files are saved while somebody works. 0: the default, less: never. Pinned in no plan.
	AutoSave time.Duration `key:"auto-save" is:"" or:"off" default:"30s"`
	// CleanProof says whether finished work must also pass in a clean tree. CleanProvide are patterns of untracked files
	// that clean trees get besides the usual dependencies.
	CleanProof   CleanProof      `key:"clean-proof" is:"on|off" default:"on"`
	CleanProvide []string        `key:"clean-provide" is:"copy"`
	Finish       finish          `is:""`                  // pinned in no plan
	Holdout      HoldoutConfig   `is:"" object:"holdout"` // how tests are run that whoever works never sees
	Gates        map[string]Gate `is:""`
	Budget       Budget          `is:""`
	Limits       calls           `is:"" object:"limits"` // of the budget
	Worktree     Worktree        `is:""`                 // of `wfs new --worktree`
	// Cards are the agents that can be named here. nil: the built-in ones.
	Cards Cards
	// Installed are names of Cards whose programs are there, the one to take first in front.
	Installed []string
}

type finish struct {
	Report Report `is:"summary|full|none" default:"summary"`
}

type calls struct {
	CallsPerHour int64 `key:"calls-per-hour" is:"1..1000 lowers" default:"100"`
}

// Report is what the commit of `wfs finish` says beside the goal and its items. "": ReportSummary.
type Report string

const (
	ReportSummary Report = "summary"
	ReportFull    Report = "full"
	ReportNone    Report = "none"
)

// CleanProof says whether finished work is proven in a clean tree. "": it is.
type CleanProof string

const (
	CleanProofOn  CleanProof = "on"
	CleanProofOff CleanProof = "off"
)

// AutoSaveOff switches auto-saves off.
const AutoSaveOff = "off"

// DefaultAutoSave is how often the files are saved while somebody works.
const DefaultAutoSave = 30 * time.Second

// Plan is what a session runs, resolved and pinned at its birth: the workflow with every gate filled in, the agent,
// and the environment. Its canonical JSON is stored in the ledger; its digest is what trust is bound to.
type Plan struct {
	Workflow Workflow `json:"workflow"`
	Agent    Agent    `json:"agent"`
	// Agents are those that phases name, by that name.
	Agents map[string]Agent `json:"agents,omitempty"`
	Env    []string         `json:"env,omitempty"`
	Budget Budget           `json:"budget,omitzero"`
	// Unproven: finished work need not pass in a clean tree. Provide are patterns of untracked files for clean trees.
	Unproven bool     `json:"unproven,omitempty"`
	Provide  []string `json:"provide,omitempty"`
	// Setup is the command that installs what a fresh checkout lacks: in a work tree of a session's own, and in clean
	// trees.
	Setup Command `json:"setup,omitzero"`
	// Holdout are tests that whoever works never sees, nil without any.
	Holdout *Holdout `json:"holdout,omitempty"`
	// Baseline are the gates, each once and without Expect, that are run on the base before the first attempt.
	Baseline []Gate `json:"baseline"`
}

// AgentOf is who works in a phase with `run: agent`: the one that it names, or the session's.
func (p *Plan) AgentOf(ph *Phase) *Agent {
	if ph.Run.Name != "" {
		if a, ok := p.Agents[ph.Run.Name]; ok {
			return &a
		}
	}
	return &p.Agent
}

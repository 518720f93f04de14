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

// PhaseName is the name of a phase in its workflow, such as "RED".
type PhaseName string

// Done and NextLap are the targets of `on:` that are not phases. NextLap ends a lap, and Done ends the work.
const (
	Done    PhaseName = "done"
	NextLap PhaseName = "next-lap"
)

// Verdict is what wfs concludes about one attempt.
type Verdict string

const (
	Pass    Verdict = "pass"
	Fail    Verdict = "fail"
	Blocked Verdict = "blocked" // wfs could not judge, or must not continue without a person
)

// Workflow is the content of a workflow file that was read and checked.
type Workflow struct {
	Version     int       `json:"version" is:"version required"`
	Name        string    `json:"name" is:"name required"`
	Description string    `json:"description,omitempty" is:"line"`
	Start       PhaseName `json:"start" is:"name required"`
	Laps        *Laps     `json:"laps,omitempty" is:""` // nil: the workflow has no laps
	Tamper      Tamper    `json:"tamper,omitempty" is:"strict|review|warn|off"`
	Refactor    Refactor  `json:"refactor,omitempty" is:"always|auto"`
	Phases      []Phase   `json:"phases" is:"required" names:"phase"` // phases in the order of the file
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

// LeadsTo reports whether work that passes phase `from`, and the phases that follow, reaches phase `to` in the same
// lap.
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

// Laps makes the phases run repeatedly. With a checklist in the spec, each lap is for one item. Without a checklist,
// laps end when an attempt at the start phase adds nothing, the agent reports that nothing is left to do, and this is
// approved.
type Laps struct {
	// First is the first phase of each lap; "" means the workflow's Start. Phases before it run once.
	First PhaseName `json:"first,omitempty" is:"name"`
	// Then is the phase that follows the last lap; "" means that the work is done.
	Then  PhaseName `json:"then,omitempty" is:"name"`
	Agree Agree     `json:"agree" is:"person|auto" default:"person"` // who approves that nothing is left to do
	Max   int       `json:"max" is:"1..1000" default:"50"`           // the maximum number of laps; 0 means DefaultMaxLaps
}

// Agree says who may approve that nothing is left to do.
type Agree string

const (
	AgreePerson Agree = "person"
	AgreeAuto   Agree = "auto"
)

// DefaultWorkflow returns the workflow to use if the configuration names none: "tdd", or "loop" if no gate has the
// per-test results that tdd needs.
func (c *Config) DefaultWorkflow() string {
	tells := func(g Gate) bool { return g.Format.PerTest() }
	if len(c.Gates) > 0 && !slices.ContainsFunc(slices.Collect(maps.Values(c.Gates)), tells) {
		return "loop"
	}
	return "tdd"
}

// DefaultMaxLaps is the default maximum number of laps. It stops an agent that always finds one more thing to do.
const DefaultMaxLaps = 50

// Phase is one step of a workflow: its runner, its gates, and the phase that follows each verdict.
type Phase struct {
	Name   PhaseName `json:"name"`
	Brief  string    `json:"brief,omitempty" is:"text"` // instructions for the agent
	Run    Run       `json:"run" is:"" or:"agent|human" default:"agent"`
	Gates  []Gate    `json:"gates" is:"" object:"gateUse"`
	Guards Guards    `json:"guards" is:""`
	// the next phase after pass and after fail; a checked workflow always has both
	On     map[Verdict]PhaseName `json:"on"`
	Limits Limits                `json:"limits" is:""`
	// overrides the workflow's policy
	Tamper Tamper `json:"tamper,omitempty" is:"strict|review|warn|off"`
	// Targets has the targets while the file is read; check then moves them to On.
	Targets on `json:"-" key:"on" is:"required"`
	// Signal says how the agent's own report counts in addition to the gates; "" means SignalAuto.
	Signal Signal `json:"signal,omitempty" is:"auto|veto|required" default:"veto"`
	// HalfOpen is the name of the agent that makes the last attempt before the breaker stops the session; "" means the
	// phase's agent.
	HalfOpen string `json:"half_open,omitempty"`
	// the value while the file is read; check then moves it to HalfOpen
	Half   halfOpen `json:"-" key:"half-open" is:""`
	Review *Review  `json:"review,omitempty" is:""` // if set, the phase is a review
	// Approve means that no gate judges this phase, so a person must approve the work before the session is complete.
	// plans.Resolve sets it.
	Approve bool `json:"approve,omitempty"`
	// Breakpoint says at which autonomy a person must approve what passed this phase; "" means never.
	Breakpoint Breakpoint `json:"breakpoint,omitempty" is:"always|balanced|cautious"`
	// Approves is the phase whose work this phase presents to a person. plans.Resolve makes such phases from breakpoints.
	Approves PhaseName `json:"approves,omitempty"`
	// Complexity has the complexities at which work goes through the phase; plans.Resolve drops it at others. nil means
	// all.
	Complexity []Complexity `json:"complexity,omitempty" is:"simple|medium|complex"`
	// Holdout means that this phase passes only if the hold-out tests pass. On finished work they run in any case.
	Holdout bool `json:"holdout,omitempty" is:"" default:"false"`
}

type on struct {
	Pass PhaseName `is:"name required"`
	Fail PhaseName `is:"name"`
}

type halfOpen struct {
	Agent string `is:"name required"`
}

// Run says what works in a phase: exactly one of an agent, a person, or a command of the workflow.
type Run struct {
	_     struct{} `alternatives:"command;agent"`
	Agent bool     `json:"agent,omitempty"`
	// Name is the name of an agent that works instead of the session's agent. It may be set if Agent is.
	Name string `json:"name,omitempty" key:"agent" is:"name"`
	// Human means that the session waits until a person approves or rejects the work.
	Human   bool    `json:"human,omitempty"`
	Command Command `json:"command,omitzero" is:""`
}

// Command is a command to execute: either one string for `sh -c`, or a list of arguments that is run without a shell.
type Command struct {
	Shell string   `json:"shell,omitempty"`
	Argv  []string `json:"argv,omitempty"`
}

// IsZero reports whether there is no command.
func (c Command) IsZero() bool { return c.Shell == "" && len(c.Argv) == 0 }

// Text returns the command as one text for display, "" for none.
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
	// exit code 0 passes. There are no per-test results, so a gate with this format cannot have ExpectRed
	FormatExit Format = "exit-code"
)

// Formats returns all formats. Only the last one, FormatExit, has no per-test results.
func Formats() []Format {
	return []Format{FormatGoTest, FormatJUnit, FormatJest, FormatCargo, FormatUnittest,
		FormatRSpec, FormatMinitest, FormatTRX, FormatTAP, FormatExit}
}

// PerTest reports whether the format has per-test results.
func (f Format) PerTest() bool { return f != FormatExit && slices.Contains(Formats(), f) }

// InFiles reports whether the results are a document, which the gate's command writes to $WFS_REPORT, to the files of
// Gate.Report, or to its output.
func (f Format) InFiles() bool {
	return f == FormatJUnit || f == FormatJest || f == FormatRSpec || f == FormatTRX
}

// FormatNames returns the names of all formats for a message, separated by commas.
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
	// Auto means Clean if the gate had the same results in a clean tree as in the work tree when both ran on the base,
	// and InPlace otherwise.
	Auto    Where = "auto"
	InPlace Where = "in-place" // in the session's work tree, where it also sees ignored files
	// in a clean tree: a directory with the files of the judged tree and installed packages, and nothing else
	Clean Where = "clean"
)

// Expect is the result that a gate must have for its phase to pass.
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
	NeedOrder  Need = "order"  // no task before one that it depends on, see checklist.Order
	// a diagram in Mermaid, and each one is well-formed
	NeedDiagrams Need = "diagrams"
)

// Gate is one check that wfs makes itself. Exactly one of Run, Document and Changes says what is checked, or Use names
// a gate of the configuration.
type Gate struct {
	_ struct{} `only:"gate" alternatives:"run"`
	_ struct{} `only:"gateUse" alternatives:"use;name run;name document;name file;name changes"`

	Name string `json:"name" only:"gateUse" is:"name"`
	// Use is the name of a gate of the configuration, in a workflow as it was read. plans.Resolve replaces the
	// reference by that gate. It is "" otherwise.
	Use string  `json:"use,omitempty" only:"gateUse" is:"name"`
	Run Command `json:"run" is:""`
	// Document is the path below .workflow/<session>/ of a document that the session must have.
	Document string `json:"document,omitempty" only:"gateUse" is:"document"`
	// File has patterns like those of a guard. The gate passes if a matching file exists and meets the requirements.
	File []string `json:"file,omitempty" only:"gateUse" is:"guard"`
	// requirements on the content of Document, or of one matching file
	Needs    []Need   `json:"needs,omitempty" only:"gateUse" is:"tasks|items|ticked|order|diagrams"`
	Contains []string `json:"contains,omitempty" only:"gateUse" is:"line"` // texts that it contains, in any case
	// Changes has patterns like those of a guard. The gate passes if a matching path has changed.
	Changes []string `json:"changes,omitempty" only:"gateUse" is:"guard"`
	// Since says since when paths must have changed: "" means since the phase began for Changes, and any time for File.
	Since Since `json:"since,omitempty" only:"gateUse" is:"phase|lap|session"`
	// Complexity has the complexities at which the phase uses the gate; plans.Resolve drops it at others. nil means all.
	Complexity []Complexity `json:"complexity,omitempty" only:"gateUse" is:"simple|medium|complex"`
	// Optional means that the gate is left out if the configuration has none of this name.
	Optional bool `json:"optional,omitempty" only:"gateUse" is:"" default:"false"`
	// Require has requirements on numbers that the gate reads, such as "coverage >= 80"; see measure.Parse.
	Require []string `json:"require,omitempty" only:"gateUse" is:"requirement"`
	// Numbers has regular expressions for the numbers that the gate reads from its output, by name; see measure.Read.
	Numbers map[string]string `json:"numbers,omitempty" is:"number"`
	Format  Format            `json:"format" is:"format" default:"exit-code"`
	// Report is a pattern for paths in the work tree, if the command writes its results to files.
	Report string `json:"report,omitempty" is:"glob"`
	Where  Where  `json:"where" is:"auto|in-place|clean" default:"auto"`
	// Expect is set where a phase uses the gate, not where the gate is defined.
	Expect        Expect        `json:"expect,omitempty" only:"gateUse" is:"pass|red" default:"pass"`
	Timeout       time.Duration `json:"timeout" is:"" default:"10m"`
	MayChangeTree bool          `json:"may_change_tree,omitempty" is:"" default:"false"`
	// Stable is how often the gate must run and pass; 0 means once.
	Stable int `json:"stable,omitempty" is:"1..10" default:"1"`
	// Paths has patterns like those of a guard. The gate runs only if a matching path has changed in the lap; without
	// patterns it always runs.
	Paths []string `json:"paths,omitempty" is:"guard"`
	When  When     `json:"when,omitempty" is:"attempt|lap|finish" default:"attempt"` // "" means in every attempt
}

// When says when a gate judges. When the work is complete, all gates judge, regardless of When.
type When string

const (
	WhenAttempt When = "attempt"
	WhenLap     When = "lap"    // only in phases that end a lap or the work
	WhenFinish  When = "finish" // only when the work is complete
)

// Runs reports whether the gate runs a command. A gate about a document, files or changes only looks at the tree.
func (g *Gate) Runs() bool { return g.Document == "" && len(g.File)+len(g.Changes) == 0 }

// Since says from when changes of files count.
type Since string

const (
	SincePhase   Since = "phase" // since the visit of the phase began
	SinceLap     Since = "lap"
	SinceSession Since = "session"
)

// Guards restrict which paths an attempt at a phase may change. Patterns are gitignore-like globs relative to the top
// of the work tree; `**` crosses directories.
type Guards struct {
	Only   []string `json:"only,omitempty" is:"guard"`   // only matching paths may change
	Except []string `json:"except,omitempty" is:"guard"` // matching paths may not change
}

// Limits are the breaker's limits for one phase. 0 means the value of DefaultLimits.
type Limits struct {
	// attempts at the phase in a row, since the session entered it
	Attempts   int `json:"attempts,omitempty" is:"1..1000" default:"12"`
	NoProgress int `json:"no_progress,omitempty" is:"1..1000" default:"3"` // attempts in a row without progress
	// SameFailure limits the attempts in a row that fail in the same way.
	SameFailure int `json:"same_failure,omitempty" is:"1..1000" default:"4"`
	// FailedRuns limits the runs in a row that fail and change nothing.
	FailedRuns int `json:"failed_runs,omitempty" is:"1..1000" default:"3"`
}

// DefaultLimits has the limits that apply if a phase does not set them.
var DefaultLimits = Limits{Attempts: 12, NoProgress: 3, SameFailure: 4, FailedRuns: 3}

// Agent configures the agent that works in phases with `run: agent`: a command, a script, or a known agent with its
// card.
type Agent struct {
	_ struct{} `short:"command" either:"use command script" with:"model allow args"`

	Command Command `json:"command,omitzero" is:""`
	Script  string  `json:"script,omitempty"` // text of a script that wfs itself plays, instead of a command
	// ScriptPath is the path of the script's file, relative to the top of the work tree. Cards.Read only reads the
	// path; its caller must fill in Script before plans.Resolve.
	ScriptPath string `json:"script_path,omitempty" key:"script" is:"line"`
	// Card says how to run the program of a known agent, instead of Command. Use is the name of that agent in the
	// configuration.
	Use   string `json:"use,omitempty" is:"name"`
	Card  *Card  `json:"card,omitempty"`
	Model string `json:"model,omitempty" is:"line"`
	// Allow lists the tools that the agent may use without asking a person, in the agent's own notation; nil means the
	// default of the card.
	Allow []string `json:"allow,omitempty" is:"line"`
	// Args has further arguments for the agent's command line.
	Args []string `json:"args,omitempty" is:"text"`
	// Fresh means that every attempt begins a new conversation, instead of continuing the one of the attempt before.
	Fresh bool `json:"fresh,omitempty" key:"conversation" is:"phase|fresh" default:"phase"`
	Push  bool `json:"push,omitempty" is:"refused|allowed" default:"refused"` // the agent's git may push

	// OnLimit names the agent that works while this one has reached a usage limit.
	OnLimit OnLimit `json:"on_limit,omitzero" is:""`

	Idle    time.Duration `json:"idle" is:"" default:"30m"`   // the run is stopped if it prints nothing for this long
	Timeout time.Duration `json:"timeout" is:"" default:"2h"` // the run is stopped after this time
}

// OnLimit is the configuration of what happens at a usage limit of an agent.
type OnLimit struct {
	Agent string `json:"agent" is:"name required"`
}

// Config is the content of the configuration files, such as .wfs/config.yaml.
type Config struct {
	Version  int              `is:"version required"`
	Workflow string           `is:"name"` // default for `wfs new`
	Agent    Agent            `is:""`
	Agents   map[string]Agent `is:""` // further agents by name, for phases that name one
	// PhaseAgents has names of agents by the names of phases: they work there instead of the session's agent.
	PhaseAgents map[string]string `key:"phase-agents" is:"name"`
	Autonomy    Autonomy          `is:"cautious|balanced|aggressive" default:"balanced"`
	Complexity  Complexity        `is:"simple|medium|complex" default:"medium"`
	Agree       Agree             `is:"person|auto"` // overrides Laps.Agree
	Refactor    Refactor          `is:"always|auto"` // overrides Workflow.Refactor
	// Names of environment variables that agents and gates may see, in addition to those that wfs always passes on.
	Env []string `is:"variable"`
	// OnEvent is a command that runs on events that a person should know about. Plans do not pin it.
	OnEvent Command `key:"on-event" is:"" personal:"it is for the person who waits, on that person's machine"`
	// Limits of the guard that holds untracked files out of checkpoints: the maximum size of a file in bytes, and the
	// maximum number of files in a new directory. 0 means the default.
	MaxFileSize int64    `key:"max-file-size" is:"size" default:"10MB"`
	MaxNewFiles int      `key:"max-new-files" is:"1..10000000" default:"1000"`
	AutoSave    AutoSave `key:"auto-save" is:"" object:"auto-save"` // not pinned in plans
	// CleanProof says whether finished work must also pass in a clean tree. CleanProvide has patterns of untracked
	// files that clean trees get in addition to the usual dependencies.
	CleanProof   CleanProof      `key:"clean-proof" is:"on|off" default:"on"`
	CleanProvide []string        `key:"clean-provide" is:"copy"`
	Finish       finish          `is:""`                  // not pinned in plans
	Holdout      HoldoutConfig   `is:"" object:"holdout"` // how hold-out tests run (tests that agents never see)
	Gates        map[string]Gate `is:""`
	Budget       Budget          `is:""`
	Limits       calls           `is:"" object:"limits"` // further limits of Budget
	Worktree     Worktree        `is:""`                 // settings of `wfs new --worktree`
	// Cards has the known agents, which the configuration may name. nil means the built-in ones.
	Cards Cards
	// Installed has the names of the Cards whose programs are installed, in order of preference.
	Installed []string
}

type finish struct {
	Report Report `is:"summary|full|none" default:"summary"`
}

type calls struct {
	CallsPerHour int64 `key:"calls-per-hour" is:"1..1000 lowers" default:"100"`
}

// Report says what the commit message of `wfs finish` has in addition to the goal and its items. "" means
// ReportSummary.
type Report string

const (
	ReportSummary Report = "summary"
	ReportFull    Report = "full"
	ReportNone    Report = "none"
)

// CleanProof says whether finished work must pass in a clean tree. "" means CleanProofOn.
type CleanProof string

const (
	CleanProofOn  CleanProof = "on"
	CleanProofOff CleanProof = "off"
)

// AutoSave says when the files are saved during a run. Zero values mean the defaults, negative ones never.
type AutoSave struct {
	_ struct{} `short:"time"`

	Time  time.Duration `is:"" or:"off" default:"30s"` // if negative, the other triggers save nothing either
	Calls int           `is:"1..10000" or:"off" default:"20"`
	Files int           `is:"1..1000000" or:"off" default:"20"` // number of changed files
}

// Or returns the settings with the defaults in place of zero values.
func (a AutoSave) Or() AutoSave {
	return AutoSave{Time: cmp.Or(a.Time, 30*time.Second), Calls: cmp.Or(a.Calls, 20), Files: cmp.Or(a.Files, 20)}
}

// Plan is everything that a session runs, pinned when the session is created: its workflow with all gates filled in,
// its agents, and its environment. Its canonical JSON is stored in the ledger. Trust (the user's permission to run its
// commands) is bound to the digest of that JSON.
type Plan struct {
	Workflow Workflow `json:"workflow"`
	Agent    Agent    `json:"agent"`
	// Agents has the agents that phases name, by name.
	Agents map[string]Agent `json:"agents,omitempty"`
	// Autonomy decides which breakpoints stop, Complexity which phases there are. "" is the default of Config.
	Autonomy   Autonomy   `json:"autonomy,omitempty"`
	Complexity Complexity `json:"complexity,omitempty"`
	Env        []string   `json:"env,omitempty"`
	Budget     Budget     `json:"budget,omitzero"`
	// Unproven means that finished work need not pass in a clean tree. Provide has patterns of untracked files that
	// clean trees get.
	Unproven bool     `json:"unproven,omitempty"`
	Provide  []string `json:"provide,omitempty"`
	// Setup is the command that installs what a fresh checkout lacks. It runs in a new work tree for a session, and in
	// clean trees.
	Setup Command `json:"setup,omitzero"`
	// Holdout describes the hold-out tests, which agents never see; nil for none.
	Holdout *Holdout `json:"holdout,omitempty"`
	// Baseline has the gates that run on the base before the first attempt, each once and without Expect.
	Baseline []Gate `json:"baseline"`
}

// AgentOf returns the agent of a phase with `run: agent`: the agent that the phase names, or the session's agent if it
// names none.
func (p *Plan) AgentOf(ph *Phase) *Agent {
	if ph.Run.Name != "" {
		if a, ok := p.Agents[ph.Run.Name]; ok {
			return &a
		}
	}
	return &p.Agent
}

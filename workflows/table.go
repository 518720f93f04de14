package workflows

import (
	"slices"
	"strconv"
)

// The table below is the one place that says which keys there are in a workflow file and in a configuration. The decoder
// takes the keys that it knows from here, the JSON Schema is written from it, and so are the rules by which layers of
// configuration are merged. A key that is in the table must be read in decode.go or gate.go, and be described in
// docs/workflows.md: tests look for both.

// object is a mapping with a fixed set of keys.
type object struct {
	name  string // in the schema's definitions; "" for the top of a file
	about string
	keys  []key
	// short is the key that a value which is no mapping stands for: `agent: claude -p` means its command.
	short string
	// either names keys of which only one may be there. Of two layers the higher one's displaces the lower one's.
	either []string
	// with are keys that mean something only beside the first of either. They go when a higher layer chooses another one.
	with []string
	// elsewhere are keys that people look for here, and where they belong.
	elsewhere map[string]string
	// oneOf are groups of keys, exactly one of which must be there.
	oneOf [][]string
}

// key is one key of an object.
type key struct {
	name     string
	about    string // one sentence or two, which an editor shows
	value    shape
	required bool
	fallback string // what holds when the key is left out, as it would be written; "" when that is nothing or depends
	// personal says why a repository's configuration may not set the key, "" when it may. It is for what concerns
	// one person or one machine.
	personal string
	// lowers says that a repository may lower what the person's own configuration sets, and not raise it.
	lowers bool
}

// shape is what a value may be.
type shape struct {
	kind      shapeKind
	words     []string // of aWord
	low, high int      // of aNumber
	of        *shape   // of aList: its items; of aMap: its values
	object    *object  // of anObject
	either    []shape  // of anyOf
	names     string   // of aMap: a pattern for its keys, "" for that of names
}

type shapeKind int

const (
	aVersion   shapeKind = iota
	aText                // not blank
	aLine                // a text of one line
	aName                // of a workflow, phase or gate
	aVariable            // name of an environment variable
	aVariables           // the same, or NAME_* for all that begin so
	aPattern             // as in a .gitignore
	aWord                // one of words
	aNumber              // whole, from low to high
	aMoney               // dollars
	aTruth               // true or false
	aDuration            // 90s, 10m
	aSize                // 500KB, 10MB
	aCommand             // text for the shell, or a list of arguments
	aList                // of values, not empty
	aMap                 // of names to values; layers merge it by name
	anObject
	anyOf
)

func word[T ~string](words ...T) shape {
	s := shape{kind: aWord}
	for _, w := range words {
		s.words = append(s.words, string(w))
	}
	return s
}

func number(low, high int) shape { return shape{kind: aNumber, low: low, high: high} }
func listOf(item shape) shape    { return shape{kind: aList, of: &item} }
func mapOf(value shape) shape    { return shape{kind: aMap, of: &value} }
func isA(o *object) shape        { return shape{kind: anObject, object: o} }

// names returns the keys in the order of the table, for messages.
func (o *object) names() []string {
	names := make([]string, len(o.keys))
	for i, k := range o.keys {
		names[i] = k.name
	}
	return names
}

// key returns the named key, or nil.
func (o *object) key(name string) *key {
	for i := range o.keys {
		if o.keys[i].name == name {
			return &o.keys[i]
		}
	}
	return nil
}

var versionKey = key{name: "version", about: "Version of the format.", value: shape{kind: aVersion}, required: true}

// The configuration.

var configObject = &object{
	about: "Configuration of wfs: how a project is judged, and who works in it.",
	keys: []key{
		versionKey,
		{name: "workflow", about: "The workflow of `wfs new` when no other is named.", value: shape{kind: aName}},
		{name: "agent", about: "Who works in phases with `run: agent`: an agent that wfs knows, a command, or a mapping.", value: isA(agentObject)},
		{name: "agents", about: "Further agents by name, for phases with `run: {agent: NAME}`.", value: mapOf(isA(agentObject))},
		{name: "agree", about: "Who agrees that nothing is left to do: a person, or auto (no one). Overrides the workflow's laps.agree.",
			value: word(AgreePerson, AgreeAuto)},
		{name: "refactor", about: refactorAbout + " Overrides the workflow's refactor.",
			value: word(RefactorAlways, RefactorAuto)},
		{name: "env", about: "Names of variables that agents and gates may see besides the usual ones. Never values.",
			value: listOf(shape{kind: aVariable})},
		{name: "on-event", about: "A command that is run when a session is blocked, waits, is completed, or needs a person. It gets JSON on standard input.",
			value: shape{kind: aCommand}, personal: "it is for the person who waits, on that person's machine"},
		{name: "max-file-size", about: "Larger untracked files stay out of checkpoints until wfs allow permits them.",
			value: shape{kind: aSize}, fallback: "10MB"},
		{name: "max-new-files", about: "A new directory with more files stays out of checkpoints until wfs allow permits it.",
			value: number(1, maxNewFiles), fallback: "1000"},
		{name: "auto-save", about: "How often files are backed up while an agent works in a session, or off.",
			value: shape{kind: anyOf, either: []shape{word(AutoSaveOff), {kind: aDuration}}}, fallback: shortDuration(DefaultAutoSave)},
		{name: "clean-proof", about: "Whether finished work must also pass in a clean checkout: the checkpoint's files and the dependencies, nothing else.",
			value: word(CleanProofOn, CleanProofOff), fallback: string(CleanProofOn)},
		{name: "clean-provide", about: "Patterns of untracked and ignored files that clean checkouts get besides the usual dependencies, from the top: .env.test, data/*.bin.",
			value: listOf(shape{kind: aPattern})},
		{name: "finish", about: "How work is handed over.", value: isA(finishObject)},
		{name: "holdout", about: "How tests run that the agent never sees.", value: isA(holdoutObject)},
		{name: "gates", about: "Gates by name: commands that wfs runs itself, and that decide.", value: mapOf(isA(gateObject))},
		{name: "budget", about: "Cost limits.", value: isA(budgetObject)},
		{name: "limits", about: "Rate limits.", value: isA(callsObject)},
		{name: "worktree", about: "How a work tree of a session's own is made (`wfs new --worktree`).", value: isA(worktreeObject)},
	},
}

var finishObject = &object{
	name: "finish", about: "How work is handed over.",
	keys: []key{
		{name: "report", about: "What the commit says beside the goal and its items. summary: what was tested and approved. full: also attempts, and reports of the agent that were not true.",
			value: word(ReportSummary, ReportFull, ReportNone), fallback: string(ReportSummary)},
	},
}

var worktreeObject = &object{
	name: "worktree", about: "How a work tree of a session's own is made (`wfs new --worktree`).",
	keys: []key{
		{name: "dir", about: "Where: a path with {slug}, the session's name, and {repo}, that of the main work tree's directory. Relative to the main work tree.",
			value: shape{kind: aLine}, fallback: DefaultWorktreeDir},
		{name: "copy", about: "Patterns of untracked and ignored files of the main work tree that are copied, from its top: .env, config/*.local.yaml.",
			value: listOf(shape{kind: aPattern})},
		{name: "link", about: "Paths of untracked and ignored files and directories of the main work tree that are linked to: they are shared.",
			value: listOf(shape{kind: aLine})},
		{name: "setup", about: "A command that installs what git ignores, in a new work tree and in clean checkouts, before anything is judged there: npm ci.", value: shape{kind: aCommand}},
		{name: "timeout", about: "After this long the set-up is stopped.", value: shape{kind: aDuration}, fallback: shortDuration(DefaultWorktreeTimeout)},
	},
}

var agentObject = &object{
	name: "agent", about: "Who works in phases with `run: agent`.", short: "command",
	either: []string{"use", "command", "script"}, with: []string{"model", "allow", "args"},
	keys: []key{
		{name: "use", about: "The name of an agent that wfs knows: claude, codex, gemini, opencode, or one of .wfs/agents. `wfs agent list` names them.",
			value: shape{kind: aName}},
		{name: "model", about: "Which model it shall use, in the agent's own words.", value: shape{kind: aLine}},
		{name: "allow", about: "What it may do unattended besides what it may anyway, in the agent's own words: \"Bash(go test:*)\".", value: listOf(shape{kind: aLine})},
		{name: "args", about: "Further words of its command line.", value: listOf(shape{kind: aText})},
		{name: "conversation", about: "phase: the attempts at a phase share one conversation. fresh: every attempt begins a new one.",
			value: word(ConversationPhase, ConversationFresh), fallback: ConversationPhase},
		{name: "push", about: "Whether its git may push. A guard against mistakes: git's settings in its environment make a push fail.",
			value: word(PushRefused, PushAllowed), fallback: PushRefused},
		{name: "command", about: "The command. It gets its instructions on standard input and edits files in the work tree.",
			value: shape{kind: aCommand}},
		{name: "script", about: "Path of a file of prepared edits, which wfs plays instead of running a command. For demonstrations and tests.",
			value: shape{kind: aLine}},
		{name: "idle", about: "Without any output for this long, the agent is stopped.", value: shape{kind: aDuration},
			fallback: shortDuration(DefaultAgentIdle)},
		{name: "timeout", about: "After this long, the agent is stopped, whatever it prints.", value: shape{kind: aDuration},
			fallback: shortDuration(DefaultAgentTimeout)},
	},
}

// maxStable bounds the runs of one gate in one attempt: a test that fails once in ten is found by ten runs two times in three.
const maxStable = 10

// definitionKeys are what a gate is, in the configuration and on the spot.
var definitionKeys = []key{
	{name: "run", about: "The command that judges, run in the top directory of the work tree.", value: shape{kind: aCommand}},
	{name: "format", about: "How its output is read. All but exit-code have per-test results.",
		value: word(Formats()...), fallback: string(FormatExit)},
	{name: "report", about: "With a format that is a document (junit, jest-json, rspec-json, trx), a pattern for report files below the work tree. Prefer $WFS_REPORT where a tool accepts a file name.",
		value: shape{kind: aPattern}},
	{name: "paths", about: "It is run when a path that fits one of these patterns has changed in the lap, and when the work is complete. Without it: always.",
		value: listOf(shape{kind: aPattern})},
	{name: "when", about: "How early it judges. attempt: in every attempt. lap: in phases that end a lap or the work. finish: when the work is complete. All judge what is complete.",
		value: word(WhenAttempt, WhenLap, WhenFinish), fallback: string(WhenAttempt)},
	{name: "timeout", about: "After this long the gate is stopped.", value: shape{kind: aDuration},
		fallback: shortDuration(DefaultGateTimeout)},
	{name: "where", about: "Where it runs. in-place: in the work tree. clean: in a directory that holds the checkpoint's tree and installed packages, and nothing else. auto: clean, if it says the same of the base there as in the work tree.", value: word(Auto, InPlace, Clean), fallback: string(Auto)},
	{name: "stable", about: "How many runs in a row must agree that all is well. A test of the lap that passes in some of them only has not passed.",
		value: number(1, maxStable), fallback: "1"},
	{name: "may-change-tree", about: "Whether the gate may change files that git does not ignore.", value: shape{kind: aTruth}, fallback: "false"},
}

var gateObject = &object{
	name: "gate", about: "A command that wfs runs itself to judge what an attempt left.",
	oneOf: [][]string{{"run"}}, keys: definitionKeys,
	elsewhere: map[string]string{"expect": "belongs where a phase uses the gate"},
}

// A workflow.

var workflowObject = &object{
	about: "A workflow of wfs: the phases that work walks through, and when it may leave one.",
	keys: []key{
		versionKey,
		{name: "name", about: "The name that `wfs new --workflow` takes.", value: shape{kind: aName}, required: true},
		{name: "description", about: "One line for lists.", value: shape{kind: aLine}},
		{name: "start", about: "The first phase.", value: shape{kind: aName}, required: true},
		{name: "laps", about: "The phases are walked many times. Without it they are walked once.", value: isA(lapsObject)},
		{name: "tamper", about: tamperAbout, value: word(tamperPolicies...)},
		{name: "refactor", about: refactorAbout, value: word(RefactorAlways, RefactorAuto)},
		{name: "phases", about: "Phases by name.", value: mapOf(isA(phaseObject)), required: true},
	},
}

var lapsObject = &object{
	name: "laps", about: "With laps, a lap is one open item of the spec's checklist.",
	keys: []key{
		{name: "agree", about: "Who agrees that nothing is left: a person, or auto (no one).", value: word(AgreePerson, AgreeAuto), fallback: string(AgreePerson)},
		{name: "max", about: "The maximum number of laps without a checklist; with one, each open item has its lap.", value: number(1, maxCount), fallback: strconv.Itoa(DefaultMaxLaps)},
	},
}

var phaseObject = &object{
	name: "phase", about: "What runs, how it is judged, and where each verdict leads.",
	keys: []key{
		{name: "brief", about: "Instructions for the agent or person of this phase.", value: shape{kind: aText}},
		{name: "run", about: "Who works here: the session's agent, a person, a command of the workflow's own, or an agent by name.",
			value: shape{kind: anyOf, either: []shape{word("agent", "human"), isA(runObject)}}, fallback: "agent"},
		{name: "gates", about: "What decides. Only a phase of a person may do without.", value: listOf(isA(gateUseObject))},
		{name: "guards", about: "Which paths may change while the work is in this phase.", value: isA(guardsObject)},
		{name: "on", about: "Where each verdict leads.", value: isA(onObject), required: true},
		{name: "limits", about: "When the breaker stops the work.", value: isA(limitsObject)},
		{name: "tamper", about: "The same for this phase alone.", value: word(tamperPolicies...)},
		{name: "signal", about: "What the agent's own report counts beside the gates. auto: nothing. veto: its \"not done\" counts. required: it must report that it is done.",
			value: word(SignalAuto, SignalVeto, SignalRequired), fallback: string(SignalVeto)},
		{name: "half-open", about: "What is changed in the last attempt before the breaker opens.", value: isA(halfOpenObject)},
		{name: "holdout", about: "Whether what passes here must also pass the hold-out tests. Without it finished work must.", value: shape{kind: aTruth}, fallback: "false"},
		{name: "review", about: "The phase is a review: its agent approves or rejects the work, and changes nothing.", value: isA(reviewObject)},
	},
}

var runObject = &object{
	name: "run", about: "A command of the workflow's own, or an agent that is not the session's.",
	oneOf: [][]string{{"command"}, {"agent"}},
	keys: []key{
		{name: "command", about: "The command.", value: shape{kind: aCommand}},
		{name: "agent", about: "The name of an agent: of `agents:` in the configuration, or one that wfs knows.", value: shape{kind: aName}},
	},
}

var gateUseObject = &object{
	name: "gateUse", about: "A gate of the configuration (use), or one that belongs to the workflow (name, and what it looks at).",
	oneOf: [][]string{{"use"}, {"name", "run"}, {"name", "document"}, {"name", "changes"}},
	keys: slices.Concat([]key{
		{name: "use", about: "The gate of the configuration, or all: every one of them. Only expect and stable may stand beside it.", value: shape{kind: aName}},
		{name: "name", about: "The name of a gate written on the spot.", value: shape{kind: aName}},
		{name: "expect", about: "pass: the lap's tests pass and no passing test broke. red: a new test fails for the right reason and no passing test broke.",
			value: word(ExpectPass, ExpectRed), fallback: string(ExpectPass)},
	}, definitionKeys, lookingKeys),
}

// lookingKeys are of gates that look at the tree and run nothing.
var lookingKeys = []key{
	{name: "document", about: "A document of the session, below .workflow/SESSION/, that must be there.", value: shape{kind: aLine}},
	{name: "needs", about: "What the document must hold. tasks: a task list. items: a task for every item of the spec's checklist. ticked: no task that is not ticked.",
		value: listOf(word(NeedTasks, NeedItems, NeedTicked))},
	{name: "changes", about: "A path that fits one of these patterns must have changed since the phase was entered.", value: listOf(shape{kind: aPattern})},
}

var guardsObject = &object{
	name: "guards", about: "Paths that an attempt may change. Patterns as in a .gitignore.",
	keys: []key{
		{name: "only", about: "Nothing else may change.", value: listOf(shape{kind: aPattern})},
		{name: "except", about: "These may not change.", value: listOf(shape{kind: aPattern})},
	},
}

var onObject = &object{
	name: "on", about: "Where each verdict leads.",
	keys: []key{
		{name: "pass", about: "Where a passed attempt leads: a phase, next-lap or done.", value: shape{kind: aName}, required: true},
		{name: "fail", about: "Where a failed attempt leads: a phase. The phase itself when left out.", value: shape{kind: aName}},
	},
}

var limitsObject = &object{
	name: "limits", about: "When the breaker stops the work.",
	keys: []key{
		{name: "attempts", about: "Attempts at the phase each time it is entered, without those that leave fewer tasks open than any before.", value: number(1, maxCount), fallback: strconv.Itoa(DefaultLimits.Attempts)},
		{name: "no-progress", about: "Attempts in a row without progress.", value: number(1, maxCount), fallback: strconv.Itoa(DefaultLimits.NoProgress)},
		{name: "same-failure", about: "Attempts in a row that fail in the same way.", value: number(1, maxCount), fallback: strconv.Itoa(DefaultLimits.SameFailure)},
		{name: "failed-runs", about: "Runs in a row that failed without changing anything.", value: number(1, maxCount), fallback: strconv.Itoa(DefaultLimits.FailedRuns)},
	},
}

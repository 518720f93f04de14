package workflows

import (
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/wfs-dev/wfs/internal/lazyregexp"
)

// Card tells how the program of an agent is driven. It is data: `claude`, `codex`, `gemini` and `opencode` are
// built in, others come from .wfs/agents and the person's own configuration. A plan pins the card that it was
// made with.
//
// Command, and every list of words after it, is given to the program as it stands, without a shell. A word in braces is
// filled in; a list whose word has no value is left out as a whole.
type Card struct {
	Version int      `json:"-" key:"version" is:"version required"` // of the file
	Name    string   `json:"name" is:"name required"`
	About   string   `json:"about,omitempty" is:"line"`
	Command []string `json:"command" is:"text required"` // the program, and what it gets at every start
	Prompt  Prompt   `json:"prompt" is:"stdin|argument" default:"stdin"`
	Decoder string   `json:"decoder" is:"decoder" default:"text"` // of its standard output: see internal/agents

	// Begins a conversation; {id} is a UUID that the engine makes.
	New []string `json:"new,omitempty" is:"text" holds:"{id}"`
	// Goes on with the conversation {id}; none: every run is a new one.
	Resume []string `json:"resume,omitempty" is:"text" holds:"{id}"`
	Model  []string `json:"model,omitempty" is:"text" holds:"{model}"` // {model}
	Budget []string `json:"budget,omitempty" is:"text" holds:"{usd}"`  // {usd}: what this run may cost
	// {turns}: how many turns this run may take.
	Turns []string `json:"turns,omitempty" is:"text" holds:"{turns}"`
	// {tools}: what it may do unattended; the word is repeated for each.
	Allow []string `json:"allow,omitempty" is:"text" holds:"{tools}"`
	// A JSON schema for its last answer: {schema}, or {schema-file}, a path.
	Answer []string `json:"answer,omitempty" is:"text" holds:"{schema} {schema-file}"`

	// Interrupt says that an interrupt (SIGINT) ends it in good order, with a last word about what it cost.
	Interrupt bool `json:"interrupt,omitempty" is:"" default:"false"`

	// Loads are the project's rule files, CLAUDE.md say, that it reads by itself when it is started so.
	Loads []string `json:"loads,omitempty" is:"line"`

	// Names of variables that it may see, besides those that all runs see; NAME_* for all that begin so.
	Env []string `json:"env,omitempty" is:"variables"`
	// Variables that it is started with; {tools} is all of Each.
	Set map[string]string `json:"set,omitempty" is:"text" names:"variable"`
	// Texts that are written for each run, by name; {files} in Command is their directory.
	Files map[string]string `json:"files,omitempty" is:"text" names:"file"`
	// JSON for one {tool} of what it may do unattended, for {tools} in Set.
	Each  string   `json:"each,omitempty" is:"line" holds:"{tool}"`
	Probe []string `json:"probe,omitempty" is:"text" holds:""` // prints its version, and costs nothing
	Login string   `json:"login,omitempty" is:"line"`          // what a person types to log in

	// What only the commands that speak to people need.
	Unattended string `json:"unattended,omitempty" is:"line"` // what it may do without Allow, in words
	// A word of Allow for one {command} and whatever follows it: "Bash({command}:*)".
	Permit string `json:"permit,omitempty" is:"line" holds:"{command}"`
	// Ends with 0 when somebody is logged in, and costs nothing.
	LoggedIn []string `json:"logged_in,omitempty" is:"text" holds:""`
	Tested   []string `json:"tested,omitempty" is:"line"` // versions that wfs was tried with

	// File is where the card was read, "" for one that is built in. A plan does not keep it.
	File string `json:"-"`
}

// Prompt says how the brief reaches an agent.
type Prompt string

// An argument is bounded by the system (128 KB on Linux); standard input is not.
const (
	PromptStdin    Prompt = "stdin"
	PromptArgument Prompt = "argument" // the last word of the command
)

// Invocation is what one run fills into a card. What is zero is left out.
type Invocation struct {
	Conversation string // its id
	Resume       bool   // it is there, and the run goes on with it; else the run begins it under that id
	Model        string
	Tools        []string // of Agent.Allow
	USD          float64
	Turns        int
	Schema       string   // JSON
	SchemaFile   string   // a file that holds it
	Files        string   // the directory of Card.Files
	Args         []string // of Agent.Args
	Prompt       string   // goes into the command line only with PromptArgument
}

// Argv is the command line of one run. The conversation comes last, because it is a command of its own for some
// (`codex exec OPTIONS resume ID`).
func (c *Card) Argv(i Invocation) []string {
	argv := slices.Clone(c.Command)
	for n := range argv {
		if len(c.Files) > 0 {
			argv[n] = strings.ReplaceAll(argv[n], "{files}", i.Files)
		}
	}
	add := func(words []string, name string, values ...string) {
		if len(values) == 0 || values[0] == "" {
			return
		}
		for _, w := range words {
			if !strings.Contains(w, name) {
				argv = append(argv, w)
				continue
			}
			for _, v := range values {
				argv = append(argv, strings.ReplaceAll(w, name, v))
			}
		}
	}
	add(c.Model, "{model}", i.Model)
	add(c.Allow, "{tools}", i.Tools...)
	if i.USD > 0 {
		usd := max(math.Round(i.USD*1e4)/1e4, 1e-4) // none would be no bound at all
		add(c.Budget, "{usd}", strconv.FormatFloat(usd, 'f', -1, 64))
	}
	if i.Turns > 0 {
		add(c.Turns, "{turns}", strconv.Itoa(i.Turns))
	}
	if slices.ContainsFunc(c.Answer, func(w string) bool { return strings.Contains(w, "{schema-file}") }) {
		add(c.Answer, "{schema-file}", i.SchemaFile)
	} else {
		add(c.Answer, "{schema}", i.Schema)
	}
	argv = append(argv, i.Args...)
	if i.Resume {
		add(c.Resume, "{id}", i.Conversation)
	} else {
		add(c.New, "{id}", i.Conversation)
	}
	if c.Prompt == PromptArgument {
		argv = append(argv, i.Prompt)
	}
	return argv
}

// Environ are the variables that the program is started with when these may be done unattended, as NAME=value, sorted.
func (c *Card) Environ(tools []string) []string {
	var all strings.Builder
	for _, t := range tools {
		quoted, _ := json.Marshal(t) // a text always can
		all.WriteString(strings.ReplaceAll(c.Each, "{tool}", string(quoted[1:len(quoted)-1])))
	}
	var env []string
	for _, name := range slices.Sorted(maps.Keys(c.Set)) {
		env = append(env, name+"="+strings.ReplaceAll(c.Set[name], "{tools}", all.String()))
	}
	return env
}

// Permits reports whether there is a way to tell the program what it may do unattended.
func (c *Card) Permits() bool { return len(c.Allow) > 0 || c.Each != "" }

// Permission is the word that lets the agent run a command, and whatever follows it, unattended; "" when the card has
// no words for that.
func (c *Card) Permission(command string) string {
	if c.Permit == "" {
		return ""
	}
	return strings.ReplaceAll(c.Permit, "{command}", command)
}

// Origin says where the card comes from: "built in", or its file.
func (c *Card) Origin() string {
	if c.File == "" {
		return "built in"
	}
	return c.File
}

var versionText = lazyregexp.New(`[0-9]+\.[0-9]+[0-9A-Za-z.+-]*`)

// VersionIn finds a version in what a program prints of itself ("codex-cli 0.169.0"), "" when there is none.
func VersionIn(printed string) string {
	return strings.TrimRight(versionText.FindString(printed), ".+-")
}

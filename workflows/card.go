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

// Card describes how to run the program of an agent. It is data: `claude`, `codex`, `gemini` and `opencode` are built
// in, others come from .wfs/agents and the user's own configuration. A plan pins its card.
//
// Command, and every list of words after it, is passed to the program as it is, without a shell. A word in braces is
// replaced by its value; a list whose word has no value is omitted.
type Card struct {
	Version int      `json:"-" key:"version" is:"version required"` // of the file
	Name    string   `json:"name" is:"name required"`
	About   string   `json:"about,omitempty" is:"line"`
	Command []string `json:"command" is:"text required"` // the program, and its arguments at every start
	Prompt  Prompt   `json:"prompt" is:"stdin|argument" default:"stdin"`
	Decoder string   `json:"decoder" is:"decoder" default:"text"` // of its standard output: see internal/agents

	// Arguments that begin a conversation; {id} is a UUID that the engine makes.
	New []string `json:"new,omitempty" is:"text" holds:"{id}"`
	// Arguments that continue the conversation {id}; none: every run is a new one.
	Resume []string `json:"resume,omitempty" is:"text" holds:"{id}"`
	Model  []string `json:"model,omitempty" is:"text" holds:"{model}"` // {model}
	Budget []string `json:"budget,omitempty" is:"text" holds:"{usd}"`  // {usd}: the maximum cost of this run
	// {turns}: the maximum number of turns of this run.
	Turns []string `json:"turns,omitempty" is:"text" holds:"{turns}"`
	// {tools}: what it may do unattended; the word is repeated for each.
	Allow []string `json:"allow,omitempty" is:"text" holds:"{tools}"`
	// A JSON schema for its last answer: {schema}, or {schema-file}, a path.
	Answer []string `json:"answer,omitempty" is:"text" holds:"{schema} {schema-file}"`

	// Interrupt says that an interrupt (SIGINT) ends it normally, with a final report of its cost.
	Interrupt bool `json:"interrupt,omitempty" is:"" default:"false"`

	// Loads are rule files of the project, such as CLAUDE.md, that it reads by itself when started this way.
	Loads []string `json:"loads,omitempty" is:"line"`

	// Names of variables that it may see, besides those that all runs see. NAME_* matches all names that begin so.
	Env []string `json:"env,omitempty" is:"variables"`
	// Variables set for it; {tools} is all of Each.
	Set map[string]string `json:"set,omitempty" is:"text" names:"variable"`
	// Files written for each run, by name; {files} in Command is their directory.
	Files map[string]string `json:"files,omitempty" is:"text" names:"file"`
	// JSON for one {tool} of Allow, for {tools} in Set.
	Each  string   `json:"each,omitempty" is:"line" holds:"{tool}"`
	Probe []string `json:"probe,omitempty" is:"text" holds:""` // prints its version, free of cost
	Login string   `json:"login,omitempty" is:"line"`          // the command to log in

	// Fields that are used for display only.
	Unattended string `json:"unattended,omitempty" is:"line"` // what it may do without Allow, as text
	// A word of Allow for one {command} with any arguments: "Bash({command}:*)".
	Permit string `json:"permit,omitempty" is:"line" holds:"{command}"`
	// Exits with 0 if the user is logged in, and costs nothing.
	LoggedIn []string `json:"logged_in,omitempty" is:"text" holds:""`
	Tested   []string `json:"tested,omitempty" is:"line"` // tested versions of the program

	// File is the path of the card, "" for one that is built in. A plan does not keep it.
	File string `json:"-"`
}

// Prompt says how the agent gets the brief.
type Prompt string

// The system limits the length of an argument (128 KB on Linux), but not standard input.
const (
	PromptStdin    Prompt = "stdin"
	PromptArgument Prompt = "argument" // the last word of the command
)

// Invocation has the values of one run for a card. Zero values are omitted.
type Invocation struct {
	Conversation string // its id
	Resume       bool   // continue an existing conversation; else the run begins one with that id
	Model        string
	Tools        []string // of Agent.Allow
	USD          float64
	Turns        int
	Schema       string   // JSON
	SchemaFile   string   // a file that holds it
	Files        string   // the directory of Card.Files
	Args         []string // of Agent.Args
	Prompt       string   // part of the command line only with PromptArgument
}

// Argv returns the command line of one run. The conversation comes last, because some agents have a subcommand for it
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
		usd := max(math.Round(i.USD*1e4)/1e4, 1e-4) // 0 would mean no limit at all
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

// Environ returns the variables to set for the program, as NAME=value, sorted. tools are those that it may use
// unattended.
func (c *Card) Environ(tools []string) []string {
	var all strings.Builder
	for _, t := range tools {
		quoted, _ := json.Marshal(t) // cannot fail for a string
		all.WriteString(strings.ReplaceAll(c.Each, "{tool}", string(quoted[1:len(quoted)-1])))
	}
	var env []string
	for _, name := range slices.Sorted(maps.Keys(c.Set)) {
		env = append(env, name+"="+strings.ReplaceAll(c.Set[name], "{tools}", all.String()))
	}
	return env
}

// Permits reports whether the card can tell the program what it may do unattended.
func (c *Card) Permits() bool { return len(c.Allow) > 0 || c.Each != "" }

// Permission returns the word that lets the agent run a command with any arguments unattended, "" if the card has no
// such words.
func (c *Card) Permission(command string) string {
	if c.Permit == "" {
		return ""
	}
	return strings.ReplaceAll(c.Permit, "{command}", command)
}

// Origin returns where the card comes from: "built in", or its file.
func (c *Card) Origin() string {
	if c.File == "" {
		return "built in"
	}
	return c.File
}

var versionText = lazyregexp.New(`[0-9]+\.[0-9]+[0-9A-Za-z.+-]*`)

// VersionIn returns the version in the output of a program ("codex-cli 0.169.0"), "" for none.
func VersionIn(printed string) string {
	return strings.TrimRight(versionText.FindString(printed), ".+-")
}

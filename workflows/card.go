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

// Card is what wfs knows about the program of an agent: its command, its flags, and the format of its output. Cards are
// data: those of `claude`, `codex`, `gemini` and `opencode` are built in, others come from .wfs/agents and the user's
// own configuration. A plan pins the card that it uses.
//
// Command and every list of words after it are passed to the program as they are, without a shell. A placeholder in
// braces is replaced by its value. If there is no value for it, the whole list is left out.
type Card struct {
	Version int      `json:"-" key:"version" is:"version required"` // version of the file's format
	Name    string   `json:"name" is:"name required"`
	About   string   `json:"about,omitempty" is:"line"`
	Command []string `json:"command" is:"text required"` // the program, and the arguments that it always gets
	Prompt  Prompt   `json:"prompt" is:"stdin|argument" default:"stdin"`
	Decoder string   `json:"decoder" is:"decoder" default:"text"` // format of its standard output; see internal/agents

	// Arguments that begin a new conversation. {id} is a UUID that wfs chooses as the conversation's id.
	New []string `json:"new,omitempty" is:"text" holds:"{id}"`
	// Arguments that continue the conversation {id}. Without them, every run begins a new conversation.
	Resume []string `json:"resume,omitempty" is:"text" holds:"{id}"`
	Model  []string `json:"model,omitempty" is:"text" holds:"{model}"` // arguments that choose the model {model}
	// arguments that limit the cost of a run to {usd}
	Budget []string `json:"budget,omitempty" is:"text" holds:"{usd}"`
	// Arguments that limit the number of turns of a run to {turns}.
	Turns []string `json:"turns,omitempty" is:"text" holds:"{turns}"`
	// Arguments that permit {tools} without asking a person. A word with {tools} is repeated for each tool.
	Allow []string `json:"allow,omitempty" is:"text" holds:"{tools}"`
	// Arguments that prescribe a JSON schema for its last answer: the schema's text as {schema}, or a file's path as
	// {schema-file}.
	Answer []string `json:"answer,omitempty" is:"text" holds:"{schema} {schema-file}"`

	// Arguments with which it reads messages on standard input while it works: first the brief, then notes. Its decoder
	// knows their form.
	Messages []string `json:"messages,omitempty" is:"text" holds:""`

	// Interrupt says that the program ends normally on an interrupt (SIGINT), and still reports its cost.
	Interrupt bool `json:"interrupt,omitempty" is:"" default:"false"`

	// Loads are files with rules of the project, such as CLAUDE.md, that the program reads by itself if it is started
	// with this card.
	Loads []string `json:"loads,omitempty" is:"line"`

	// Names of environment variables that the program may see, in addition to those that all runs may see. NAME_*
	// stands for all names that begin with NAME_.
	Env []string `json:"env,omitempty" is:"variables"`
	// Environment variables that are set for the program. {tools} is replaced by Each for all permitted tools.
	Set map[string]string `json:"set,omitempty" is:"text" names:"variable"`
	// Files that wfs writes for each run, by name. {files} in Command is the directory that contains them.
	Files map[string]string `json:"files,omitempty" is:"text" names:"file"`
	// Text for one permitted {tool}, usually JSON; these texts together replace {tools} in Set.
	Each string `json:"each,omitempty" is:"line" holds:"{tool}"`
	// command that prints the program's version and costs nothing
	Probe []string `json:"probe,omitempty" is:"text" holds:""`
	Login string   `json:"login,omitempty" is:"line"` // the command with which a user logs in

	// Fields that are used for display only.
	Unattended string `json:"unattended,omitempty" is:"line"` // description of what the program may do without Allow
	// The notation of Allow for running one {command} with any arguments: "Bash({command}:*)".
	Permit string `json:"permit,omitempty" is:"line" holds:"{command}"`
	// Command that exits with 0 if the user is logged in; it costs nothing.
	LoggedIn []string `json:"logged_in,omitempty" is:"text" holds:""`
	Tested   []string `json:"tested,omitempty" is:"line"` // versions of the program with which the card was tested

	// File is the path of the card's file, "" for a built-in card. Plans do not pin it.
	File string `json:"-"`
}

// Prompt says how the program gets the brief.
type Prompt string

// Use stdin where possible: the system limits the length of an argument (128 KB on Linux), but not of standard input.
const (
	PromptStdin    Prompt = "stdin"
	PromptArgument Prompt = "argument" // the brief is the last argument
)

// Invocation has the values of one run that fill in the placeholders of a card. Arguments for zero values are left out.
type Invocation struct {
	Conversation string // id of the conversation
	Resume       bool   // continue that conversation; if false, the run begins it
	Model        string
	Tools        []string // permitted tools, from Agent.Allow
	USD          float64
	Turns        int
	Messages     bool     // it reads messages while it works
	Schema       string   // JSON schema of the last answer
	SchemaFile   string   // path of a file with that schema
	Files        string   // directory that contains Card.Files
	Args         []string // further arguments, from Agent.Args
	Prompt       string   // the brief; it is part of the command line only with PromptArgument
}

// Argv returns the command line of one run. The arguments for the conversation come last, because some agents have a
// subcommand for it (`codex exec OPTIONS resume ID`).
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
	if i.Messages {
		argv = append(argv, c.Messages...)
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

// Environ returns the environment variables to set for the program, as NAME=value, sorted. `tools` are the tools that
// it may use without asking a person.
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

// Permits reports whether the card has a way to permit tools.
func (c *Card) Permits() bool { return len(c.Allow) > 0 || c.Each != "" }

// Permission returns the word of Agent.Allow that permits the agent to run a command with any arguments, "" if the card
// has no notation for it.
func (c *Card) Permission(command string) string {
	if c.Permit == "" {
		return ""
	}
	return strings.ReplaceAll(c.Permit, "{command}", command)
}

// Origin returns the source of the card for display: "built in", or the path of its file.
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

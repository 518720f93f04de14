package mcpserver

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// tool is a command of wfs that an agent can call. Its description, and those of its flags, are the command's own.
type tool struct {
	verb string
	// takes names the arguments: those of the command line in order, then flags. "!" marks one that is required.
	takes  string
	always []string // flags that every call has; arguments of the call may override them
	more   string   // what the agent has to know besides the command's own description
	effect effect
}

// effect says what a call may change. It becomes the hints by which a client decides whether to ask its user.
type effect int

const (
	reads    effect = iota
	adds            // writes, but replaces nothing
	works           // the same, and starts a coding agent, which talks to its model
	replaces        // changes or removes something that exists
)

// tools are always offered. Flags that override a check (--force), raise a budget or name a program to run (--agent)
// are left out on purpose.
var tools = []tool{
	{verb: "list", takes: "--status --skip"},
	{verb: "status", takes: "session --skip", more: "It says what the session waits for, if it does."},
	{verb: "show", takes: "target --run --tools --decisions --errors --files --metrics --skip"},
	{verb: "log", takes: "session --max-count --skip"},
	{verb: "diff", takes: "from to --patch --skip"},
	{verb: "watch", takes: "session --seconds --skip",
		more: "It returns the status of the session when the run has ended, or after the given seconds."},
	{verb: "start", takes: "goal! --spec --workflow --from --until --worktree", always: []string{"--detach"},
		more: "It returns at once: the run continues in the background. Then call watch.", effect: works},
	{verb: "run", takes: "session --max-attempts --until", always: []string{"--detach"},
		more: "It returns at once: the run continues in the background. Then call watch.", effect: works},
	{verb: "note", takes: "session --message!",
		more:   "If the session waits for an answer, the note is the answer: ask the person that you work for first.",
		effect: adds},
	{verb: "fork", takes: "from! name --worktree", effect: adds},
	{verb: "resume", takes: "target", effect: replaces,
		more: "It changes files in the work tree; what was there is saved before, and wfs undo brings it back."},
}

// decisions are offered if the person who started the server has allowed them.
var decisions = []tool{
	{verb: "approve", takes: "session --message", effect: replaces},
	{verb: "reject", takes: "session --message! --to", effect: replaces},
	{verb: "finish", takes: "session --branch --message --keep", effect: replaces},
	{verb: "stop", takes: "session --now", effect: replaces},
	{verb: "undo", takes: "session", effect: replaces},
	{verb: "edit", takes: "session --goal --budget-attempts --budget-time --budget-tokens --budget-turns --budget-usd",
		effect: replaces},
	{verb: "abandon", takes: "session! --message", effect: replaces},
	{verb: "delete", takes: "session!", effect: replaces},
}

// Decisions returns the names of the tools that are not offered unless they are allowed.
func Decisions() []string {
	var names []string
	for _, t := range decisions {
		names = append(names, t.verb)
	}
	return names
}

// offered returns the tools of a server that allows these decisions.
func offered(allow []string) []tool {
	all := slices.Clone(tools)
	for _, t := range decisions {
		if slices.Contains(allow, t.verb) {
			all = append(all, t)
		}
	}
	return all
}

type schema = map[string]any

// own describes the arguments for which the command has no description, or another default.
var own = map[string]schema{
	"session": {"type": "string",
		"description": "name of a session, as list gives it; default: the one checked out here"},
	"target": {"type": "string",
		"description": "a session, or a checkpoint such as csv-export@4; default: the session checked out here"},
	"from":   {"type": "string", "description": "a session, or a checkpoint such as csv-export@4"},
	"to":     {"type": "string", "description": "a second checkpoint, to compare from with"},
	"name":   {"type": "string", "description": "name of the new session"},
	"goal":   {"type": "string", "description": "what is to be done, in a sentence or more"},
	"--spec": {"type": "string", "description": "file of this work tree with the specification"},
	"--worktree": {"type": "boolean", "default": true,
		"description": "in a work tree of its own; false: in this one, whose files then become those of the session"},
	"--patch": {"type": "boolean",
		"description": "the changed lines, as git prints them, instead of the names of the changed files"},
	"--seconds": {"type": "integer", "minimum": 1, "maximum": 600, "default": usualWait,
		"description": "how long to wait at most; your client may allow less"},
	"--skip": {"type": "integer", "minimum": 0,
		"description": "entries of lists, or lines of a patch, to leave out: what earlier calls have shown"},
}

// ours are the arguments that this server carries out itself.
var ours = []string{"--patch", "--seconds", "--skip"}

// arguments calls f for each argument that the tool takes.
func (t *tool) arguments(f func(name string, flag, required bool)) {
	for word := range strings.FieldsSeq(t.takes) {
		name := strings.TrimSuffix(word, "!")
		f(name, strings.HasPrefix(name, "--"), name != word)
	}
}

// describe returns the tool as clients see it. `c` is its command.
func (t *tool) describe(c *cobra.Command) *mcp.Tool {
	properties, needed := schema{}, []string{}
	t.arguments(func(name string, flag, required bool) {
		of := own[name]
		if f := c.Flags().Lookup(strings.TrimPrefix(name, "--")); of == nil && flag && f != nil {
			_, usage := pflag.UnquoteUsage(f)
			of = schema{"type": jsonType(f.Value.Type()), "description": usage}
		}
		name = strings.TrimPrefix(name, "--")
		properties[name] = of
		if required {
			needed = append(needed, name)
		}
	})
	open, replacing := t.effect == works, t.effect == replaces
	hints := &mcp.ToolAnnotations{ReadOnlyHint: t.effect == reads, OpenWorldHint: &open}
	if t.effect != reads {
		hints.DestructiveHint = &replacing
	}
	return &mcp.Tool{
		Name: t.verb, Description: strings.TrimSpace("wfs " + t.verb + ": " + c.Short + ". " + t.more),
		InputSchema: schema{
			"type": "object", "properties": properties, "required": needed, "additionalProperties": false,
		},
		Annotations: hints,
	}
}

// jsonType returns the JSON type of a flag's values.
func jsonType(flag string) string {
	switch flag {
	case "bool":
		return "boolean"
	case "int":
		return "integer"
	}
	return "string"
}

// line returns the command line of a call, without the program. No value can become a flag: those of flags stand after
// "=", and the others after "--".
func (t *tool) line(values map[string]any) ([]string, error) {
	line, words, left := append([]string{t.verb}, t.always...), []string{}, ""
	var err error
	t.arguments(func(name string, flag, required bool) {
		value := values[strings.TrimPrefix(name, "--")]
		text, isText := value.(string)
		switch {
		case value == nil || slices.Contains(ours, name) || isText && text == "" && !required:
			if !flag && left == "" {
				left = name
			}
			return
		case !isText:
			data, _ := json.Marshal(value)
			text = string(data)
		}
		switch {
		case flag:
			line = append(line, name+"="+text)
		case left != "":
			err = fmt.Errorf("%s needs %s as well", name, left)
		default:
			words = append(words, text)
		}
	})
	if values["patch"] != true {
		line = append(line, "--json")
	}
	return append(append(line, "--"), words...), err
}

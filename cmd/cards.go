package cmd

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/workflows"
)

// cardOrigin says where an agent card comes from: "built-in card", or a path. An agent card says what wfs knows of an
// agent's program: its command, flags and output.
func cardOrigin(c *workflows.Card) string {
	switch {
	case c.File == "":
		return "built-in card"
	case filepath.IsAbs(c.File):
		return "your card " + c.File
	}
	return "card " + c.File
}

// startLine returns startArgv as one line, quoted for a shell.
func startLine(agent *workflows.Agent) string { return shellLine(startArgv(agent)) }

// startArgv returns the command line that starts a conversation with an agent. It has placeholders such as {brief} for
// values that differ between runs.
func startArgv(agent *workflows.Agent) []string {
	c := agent.Card
	i := workflows.Invocation{Model: agent.Model, Tools: agent.Allow, Args: agent.Args, Conversation: "{id}",
		Files: "{files}"}
	if c.Prompt == workflows.PromptArgument {
		i.Prompt = "{brief}"
	}
	return c.Argv(i)
}

// shellLine joins words to one line, quoted for a shell.
func shellLine(argv []string) string {
	out := make([]string, len(argv))
	for i, w := range argv {
		if w == "" || strings.ContainsFunc(w, func(c rune) bool {
			return !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' ||
				strings.ContainsRune("-_./:=,@%+{}", c))
		}) {
			w = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
		out[i] = w
	}
	return strings.Join(out, " ")
}

// agentCommands describes how wfs starts an agent that has a card, so that the user can decide whether to trust the
// agent.
func agentCommands(label string, agent *workflows.Agent) []string {
	var list []string
	if agent.Card != nil {
		list = append([]string{label + ": " + startLine(agent)}, cardSees(label, agent.Card)...)
	}
	if agent.Push {
		list = append(list, label+" may push")
	}
	return list
}

// cardCommands lists the commands that a card can make wfs run.
func cardCommands(c *workflows.Card) []string {
	label := "agent " + c.Name
	list := []string{label + ": " + startLine(&workflows.Agent{Card: c})}
	for _, extra := range [][]string{c.Probe, c.LoggedIn} {
		if len(extra) > 0 {
			list = append(list, label+", asked about itself: "+shellLine(extra))
		}
	}
	return append(list, cardSees(label, c)...)
}

func cardSees(label string, c *workflows.Card) []string {
	var list []string
	if len(c.Env) > 0 {
		list = append(list, label+" may see: "+strings.Join(c.Env, " "))
	}
	for _, entry := range c.Environ(nil) {
		list = append(list, label+" is started with: "+entry)
	}
	for _, file := range cardFiles(c) {
		list = append(list, label+" is given the file "+file)
	}
	return list
}

// cardFiles lists the files that wfs writes for an agent's program because its card asks for them, each with its
// content on one line.
func cardFiles(c *workflows.Card) []string {
	var list []string
	for _, name := range slices.Sorted(maps.Keys(c.Files)) {
		list = append(list, name+": "+strings.Join(strings.Fields(c.Files[name]), " "))
	}
	return list
}

package cmd

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/internal/lazyregexp"
	"github.com/wfs-dev/wfs/internal/proc"
	agents "github.com/wfs-dev/wfs/phases/agent"
	"github.com/wfs-dev/wfs/workflows"
	"github.com/wfs-dev/wfs/workflows/spelling"
)

// Values of --agent and --allow that have a meaning of their own.
const (
	noAgent    = "none"  // --agent: configure no agent; --allow: allow no command
	allowTests = "tests" // --allow: the test command
)

// worker determines the agent to configure: the value of --agent, the user's answer or, with --yes, the first installed
// agent. If there is none, it returns an empty agent, and in `next` the flag that wfs start will need.
func (a *setup) worker(ctx context.Context) (agent workflows.Agent, next string, err error) {
	cards, err := a.Cards(nil)
	if err != nil {
		return agent, "", err
	}
	choice, next, err := a.chooseAgent(ctx, cards)
	if err != nil || choice == "" {
		return agent, next, err
	}
	c := cards[choice]
	switch {
	case choice == noAgent:
		return agent, " --agent " + a.someAgent(), nil
	case c == nil:
		if len(a.o.allow) > 0 {
			return agent, "", usage("wfs agent list",
				"--allow is in words of an agent that wfs knows, and %q is none", choice)
		}
		agent.Command = workflows.Command{Shell: choice}
		return agent, "", nil
	}
	agent.Use, agent.Card = choice, c
	var tests workflows.Command
	if len(a.found) > 0 {
		tests = a.found[0].Gate.Run
	}
	allowed := a.o.allow
	if len(allowed) == 0 && c.Permit != "" {
		allowed = a.usualCommands()
	}
	agent.Allow, err = permissions(c, allowed, tests)
	return agent, "", err
}

// chooseAgent returns the user's choice: the name of a card, a command, or noAgent. It returns "" if no agent is to be
// configured. `next` is a flag for the suggested wfs start.
func (a *setup) chooseAgent(ctx context.Context, cards workflows.Cards) (choice, next string, err error) {
	installed := a.InstalledAgents(cards)
	own, err := a.Settings(nil)
	if err != nil {
		return "", "", err
	}
	switch {
	case a.o.typed:
		return "", "", nil
	case a.o.agent != "":
		return a.o.agent, "", nil
	case own.Config.Agent.Use != "" || !own.Config.Agent.Command.IsZero():
		return "", "", nil // the user has one for all repositories
	case len(installed) == 0:
		a.note("no agent found (looked for %s); any command that edits files can be one: --agent 'sh agent.sh'",
			strings.Join(cards.Names(), ", "))
		return "", " --agent " + a.someAgent(), nil
	case a.o.yes:
		return installed[0], "", nil
	case !a.asksHere():
		return "", " --agent " + installed[0], nil
	}
	also := strings.Join(append(slices.Clone(installed[1:]), noAgent), ", ")
	question := fmt.Sprintf("Agent? %s (also here: %s) [%s] ", installed[0],
		strings.Replace(also, ", "+noAgent, "; "+noAgent, 1), installed[0])
	choice, err = a.promptFor(ctx, question, "wfs init --agent NAME", append(cards.Names(), "", noAgent)...)
	return cmp.Or(choice, installed[0]), "", err
}

// knownAgent returns an error for an agent that is neither known nor a command that exists, because with it the first
// attempt would fail.
func (a *app) knownAgent(ctx context.Context, typed string, known []string) error {
	word := first(strings.Fields(typed))
	if slices.Contains(known, typed) || !commandWord.MatchString(word) {
		return nil
	}
	res, err := proc.Run(ctx, proc.Spec{Argv: []string{"sh", "-c", `command -v -- "$0"`, word}, Dir: a.Repo.Root(),
		Env: a.env.Environ})
	if err != nil || res.Ended != proc.Exited || res.Exit == 0 {
		return err
	}
	u := usage("wfs agent list", "--agent: %s is neither an agent that wfs knows nor a program on PATH", word)
	if near := spelling.Suggest(word, known); near != "" {
		u.Hint = "did you mean " + near + "? wfs agent list"
	}
	return u
}

// commandWord matches a word without shell syntax, which wfs can look up on PATH.
var commandWord = lazyregexp.New(`^[A-Za-z0-9_+.-]+$`)

// usualCommands lists the commands that the agent may run by default: the test commands, and the tools of the detected
// projects (go, npm, …). This adds little risk, because the repository's tests could run any command as well, and the
// agents' cards refuse commands that publish or lose work.
func (a *setup) usualCommands() []string {
	var commands []string
	add := func(words ...string) {
		for _, w := range words {
			if w != "" && !slices.Contains(commands, w) {
				commands = append(commands, w)
			}
		}
	}
	for _, group := range a.list {
		for _, p := range group {
			add(agents.Beginning(p.Gate.Run))
		}
	}
	for _, group := range a.Projects() {
		add(group[0].Tools...)
	}
	return slices.DeleteFunc(commands, func(c string) bool { // permitting a command permits all that begin with it
		return slices.ContainsFunc(commands, func(o string) bool { return strings.HasPrefix(c, o+" ") })
	})
}

// permissions converts commands into permissions in the syntax of the card's agent.
func permissions(c *workflows.Card, commands []string, test workflows.Command) ([]string, error) {
	var list []string
	for _, command := range commands {
		if command == noAgent {
			continue
		}
		if command == allowTests {
			if command = agents.Beginning(test); command == "" {
				return nil, usage("wfs init --allow COMMAND",
					"the test command has no beginning that could be allowed: %s", test.Text())
			}
		}
		word := c.Permission(command)
		if word == "" {
			return nil, usage("wfs init --agent "+c.Name,
				"the commands that %s may run cannot be limited: it %s", c.Name, c.Unattended)
		}
		if !slices.Contains(list, word) {
			list = append(list, word)
		}
	}
	return list, nil
}

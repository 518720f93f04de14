package cmd

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/internal/proc"
	"github.com/wfs-dev/wfs/phases/agent"
	"github.com/wfs-dev/wfs/phases/process"
	"github.com/wfs-dev/wfs/workspace/system"

	"github.com/spf13/cobra"

	"github.com/wfs-dev/wfs/cmd/internal/present"
	"github.com/wfs-dev/wfs/workflows"
	"github.com/wfs-dev/wfs/workflows/spelling"
	"github.com/wfs-dev/wfs/workspace"
)

// agentVerb is `wfs agent` and its subcommands.
type agentVerb struct{ *app }

func (a *agentVerb) command() *cobra.Command {
	c := &cobra.Command{
		Use: "agent", Short: "list and check the agents that wfs knows",
		Long: `An agent that wfs knows has a card, which says how to run its program. claude, codex, gemini and
opencode are built in; others are YAML files in .wfs/agents/, or in agents/ beside your own configuration. Any
other program that reads its instructions on standard input and edits files can work too: agent: COMMAND.`,
		Example: "  wfs agent list\n  wfs agent check\n  wfs agent check codex --json",
		Args:    noArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(
		&cobra.Command{Use: "list", Short: "list the agents, and which are installed", Args: noArgs,
			Long: `List names the agents that agent: and --agent take, with the version that is installed, and marks the
one that works here by default. Versions are cached until the program changes.`,
			Example: "  wfs agent list\n  wfs agent list --json",
			RunE:    with(a.list)},
		&cobra.Command{Use: "check [AGENT]", Short: "show how an agent starts, what it may do, and problems", Args: upTo(1),
			Long: `Check shows for one agent, or for the default one: where its program is, its version and whether wfs
was tested with it, whether it is logged in, the command line that starts a conversation, and what it may do
unattended. Of a command of yours it can only check that a program named in a list exists. It starts no
conversation and costs nothing. It exits 1 when it finds a problem.`,
			Example: "  wfs agent check\n  wfs agent check claude\n  wfs agent check --json",
			RunE:    with(a.check)},
		&cobra.Command{Use: "schema", Short: "the JSON Schema of agent cards, for editors", Args: noArgs,
			Long:    "Schema prints the JSON Schema (draft-07) of agent cards. Editors check files against it while you type.",
			Example: "  wfs agent schema > agent.schema.json",
			RunE:    func(*cobra.Command, []string) error { return a.printSchema(workflows.CardSchema()) }},
	)
	return c
}

// prober returns a Prober, which finds agents' programs and asks them for their version and login.
func prober(env *system.Env) *agent.Prober {
	return &agent.Prober{Environ: env.Environ, Cache: env.CacheFile("agents.json")}
}

type agentJSON struct {
	Version      int    `json:"version"`
	Name         string `json:"name"`
	About        string `json:"about"`
	Source       string `json:"source"` // "built in", or a path
	Installed    bool   `json:"installed"`
	Path         string `json:"path,omitempty"`
	AgentVersion string `json:"agent_version,omitempty"`
	Tested       bool   `json:"tested"`
	Default      bool   `json:"default"`
	Problem      string `json:"problem,omitempty"`
}

// agentSettings returns the agent cards and the configuration. Outside a repository they are the user's own. An agent
// card says what wfs knows of an agent's program: its command, flags and output.
func agentSettings(ctx context.Context, w *workspace.Workspace) (*workflows.Settings, workspace.Rules, error) {
	list, err := ownRules(ctx, w)
	if err != nil {
		return nil, nil, err
	}
	s, err := w.Settings(list)
	return s, list, err
}

// mayAsk returns "" if wfs may run a card's program to ask for its version. Otherwise it returns the reason: the card
// comes from this repository, and the user has not trusted the repository's files.
func mayAsk(w *workspace.Workspace, c *workflows.Card, list workspace.Rules) (problem string, err error) {
	if list.Find(c.File) == nil {
		return "", nil
	}
	ok, err := w.Trusted(list.Digest())
	if err != nil || ok {
		return "", err
	}
	return "not trusted", nil
}

func (a *agentVerb) list(ctx context.Context, _ []string) error {
	s, list, err := agentSettings(ctx, a.Workspace)
	if err != nil {
		return err
	}
	all := []agentJSON{}
	var rows [][]any
	for _, name := range s.Config.Cards.Names() {
		c := s.Config.Cards[name]
		j := agentJSON{Version: jsonVersion, Name: name, About: c.About, Source: c.Origin(),
			Default: s.Config.Agent.Use == name}
		if j.Problem, err = mayAsk(a.Workspace, c, list); err != nil {
			return err
		}
		if j.Problem == "" {
			in := prober(&a.env.Env).Find(ctx, c)
			j.Installed, j.Path, j.AgentVersion, j.Problem = in.Path != "", in.Path, in.Version, in.Problem
		}
		j.Tested = slices.Contains(c.Tested, j.AgentVersion)
		all = append(all, j)
		mark := ""
		if j.Default {
			mark = "default"
		}
		rows = append(rows, []any{name, installedCell(j), c.About, j.Source, present.Good(mark)})
	}
	if a.json {
		return a.answer(all)
	}
	a.env.Table(rows)
	if agent := s.Config.Agent; agent.Use == "" && !agent.Command.IsZero() {
		a.out("the default agent is a command: %s", agent.Command.Text())
	}
	return nil
}

func installedCell(j agentJSON) any {
	switch {
	case j.Problem != "" && j.Installed:
		return present.Bad("does not work")
	case j.Problem != "":
		return present.Notable(j.Problem)
	case !j.Installed:
		return "not installed"
	case j.AgentVersion == "":
		return "installed"
	}
	return j.AgentVersion
}

type agentCheckJSON struct {
	agentJSON
	LoggedIn   string        `json:"logged_in"` // "yes", "no" or "unknown"
	Command    []string      `json:"command"`   // starts a conversation
	Unattended string        `json:"unattended,omitempty"`
	Allow      []string      `json:"allow"`
	Variables  []string      `json:"variables"` // variables that are set and that only this agent sees
	Missing    []missingJSON `json:"missing"`
}

type missingJSON struct {
	What string `json:"what"`
	Hint string `json:"hint"`
}

func (a *agentVerb) check(ctx context.Context, args []string) error {
	s, list, err := agentSettings(ctx, a.Workspace)
	if err != nil {
		return err
	}
	agent, err := checkedAgent(s, first(args))
	if err != nil {
		return err
	}
	var j *agentCheckJSON
	if agent.Card == nil {
		j = a.examineCommand(agent)
		j.Default = first(args) == ""
	} else if j, err = a.examine(ctx, agent, list); err != nil {
		return err
	} else {
		j.Default = s.Config.Agent.Use == j.Name
	}
	if a.json {
		err = a.answer(j)
	} else {
		a.say(agent, j)
	}
	if err == nil && len(j.Missing) > 0 {
		err = exitWith(exitError)
	}
	return err
}

// checkedAgent returns the agent that `wfs agent check` checks. Without a name, it is the configured agent. With a
// name, it is the agent of that name below agents: in the configuration, or else the agent card of that name.
func checkedAgent(s *workflows.Settings, name string) (*workflows.Agent, error) {
	agent := s.Config.Agent
	if name != "" && name != agent.Use {
		other, ok := s.Config.Agents[name]
		if card := s.Config.Cards[name]; !ok && card != nil {
			other, ok = workflows.Agent{Use: name, Card: card}, true
		}
		if !ok {
			known := append(s.Config.Cards.Names(), sortedKeys(s.Config.Agents)...)
			r := usage("wfs agent list", "no agent %q; there are: %s", name, strings.Join(known, ", "))
			if near := spelling.Suggest(name, known); near != "" {
				r.Hint = "wfs agent check " + near
			}
			return nil, r
		}
		agent = other
	}
	if agent.Card != nil || !agent.Command.IsZero() || agent.ScriptPath != "" {
		return &agent, nil
	}
	return nil, usage("wfs agent list, then write agent: NAME, or a command of yours, into .wfs/local.yaml",
		"no agent is configured here")
}

func (a *agentVerb) examine(ctx context.Context, agent *workflows.Agent, list workspace.Rules) (*agentCheckJSON,
	error) {
	c := agent.Card
	j := &agentCheckJSON{agentJSON: agentJSON{Version: jsonVersion, Name: c.Name, About: c.About, Source: c.Origin()},
		LoggedIn: "unknown",
		Command:  startArgv(agent), Unattended: c.Unattended, Allow: append([]string{}, agent.Allow...),
		Variables: []string{}, Missing: []missingJSON{}}
	lacks := func(what, hint string) { j.Missing = append(j.Missing, missingJSON{what, hint}) }
	problem, err := mayAsk(a.Workspace, c, list)
	if err != nil {
		return nil, err
	}
	plainEnv := process.DefaultEnv(a.env.Environ, nil)
	for _, entry := range process.DefaultEnv(a.env.Environ, c.Env) {
		if name, _, _ := strings.Cut(entry, "="); !slices.Contains(plainEnv, entry) {
			j.Variables = append(j.Variables, name)
		}
	}
	if problem != "" {
		lacks("its agent card comes from the repository, and you have not trusted it", "wfs trust")
		return j, nil
	}
	in := prober(&a.env.Env).Find(ctx, c)
	j.Installed, j.Path, j.AgentVersion, j.Problem = in.Path != "", in.Path, in.Version, in.Problem
	j.Tested = slices.Contains(c.Tested, j.AgentVersion)
	switch {
	case !j.Installed:
		lacks(fmt.Sprintf("there is no program %s in your PATH", c.Command[0]), "install it, or put its directory into PATH")
		return j, nil
	case j.Problem != "":
		lacks(fmt.Sprintf("%s does not work: %s", j.Path, j.Problem), shellLine(c.Probe))
	}
	if yes, known := prober(&a.env.Env).LoggedIn(ctx, c); known && yes {
		j.LoggedIn = "yes"
	} else if known {
		j.LoggedIn = "no"
		lacks("not logged in", c.Login)
	}
	return j, nil
}

// examineCommand examines an agent that is a command. If the command is a list, it looks for the program; a text for
// the shell would have to be run.
func (a *agentVerb) examineCommand(agent *workflows.Agent) *agentCheckJSON {
	j := &agentCheckJSON{agentJSON: agentJSON{Version: jsonVersion, Source: "command",
		Name: workspace.AgentName(agent) + agent.ScriptPath},
		LoggedIn: "unknown", Command: list(agent.Command.Argv), Allow: []string{}, Variables: []string{},
		Missing: []missingJSON{}}
	if agent.Command.Shell != "" {
		j.Command = []string{"sh", "-c", agent.Command.Shell}
	} else if len(j.Command) > 0 {
		program := j.Command[0]
		// an agent runs in the top directory
		if program != filepath.Base(program) && !filepath.IsAbs(program) && a.Repo != nil {
			program = filepath.Join(a.Repo.Root(), program)
		}
		path, err := proc.LookPath(program, a.env.Get("PATH"))
		if j.Path, j.Installed = path, err == nil; err != nil {
			j.Missing = append(j.Missing, missingJSON{fmt.Sprintf("its program cannot be run: %v", err),
				"install it, or correct agent: in the configuration"})
		}
	}
	return j
}

func (a *agentVerb) say(agent *workflows.Agent, j *agentCheckJSON) {
	if agent.Card != nil {
		a.sayCard(agent, j)
	} else if len(j.Missing) == 0 {
		a.out("%s: a command of yours; there is nothing more to check", j.Name)
		return
	}
	for _, m := range j.Missing {
		a.out("%s%s", present.Bad("missing: "), m.What)
		a.out("    %s", m.Hint)
	}
	if len(j.Missing) == 0 {
		a.out("no problems found")
	}
}

func (a *agentVerb) sayCard(agent *workflows.Agent, j *agentCheckJSON) {
	c := agent.Card
	a.out("%s (%s)", strings.TrimSuffix(c.Name+": "+c.About, ": "), cardOrigin(c))
	if j.Path != "" {
		a.out("  program    %s", j.Path)
	}
	a.sayVersion(c, j)
	a.out("  starts as  %s", shellLine(j.Command))
	for _, entry := range c.Environ(agent.Allow) {
		a.out("             with %s", entry)
	}
	for _, file := range cardFiles(c) {
		a.out("             given %s", file)
	}
	if len(j.Variables) > 0 {
		a.out("  sees       %s", strings.Join(j.Variables, " "))
	}
	if c.Unattended != "" {
		a.out("  may        %s", c.Unattended)
	}
	for i, word := range j.Allow {
		a.out("  %-10s %s", []string{"allowed", ""}[min(i, 1)], word)
	}
}

// sayVersion prints the version of the installed program, and whether the agent is logged in.
func (a *agentVerb) sayVersion(c *workflows.Card, j *agentCheckJSON) {
	switch {
	case j.AgentVersion == "":
	case j.Tested:
		a.out("  version    %s (tested with wfs)", j.AgentVersion)
	case len(c.Tested) > 0:
		a.out("  version    %s; tested with %s", j.AgentVersion, strings.Join(c.Tested, ", "))
	default:
		a.out("  version    %s", j.AgentVersion)
	}
	switch {
	case j.LoggedIn == "yes":
		a.out("  logged in  yes")
	case j.LoggedIn == "unknown" && j.Installed:
		a.out("  logged in  unknown; to log in: %s", c.Login)
	}
}

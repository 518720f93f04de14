package workflows

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Proposal is what `wfs init` found out about a project.
type Proposal struct {
	Workflow string // default for `wfs new`; "" when none can be carried
	Gate     Gate   // the gate that was run
	Seen     string // what it showed when it was run, for people: "42 tests passed in 3.1 s"
	Agent    Agent  // zero: an example is written as a comment
	Worktree Worktree
}

// RenderConfig returns the text of a .wfs/config.yaml for a project, with comments. ParseConfig reads it back.
func RenderConfig(p Proposal) []byte {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }

	line("# yaml-language-server: $schema=%s%s", SchemaURL, ConfigSchemaFile)
	line("# How wfs judges this project. Yours to edit, and meant to be committed. What is yours alone goes into .wfs/local.yaml.")
	line("# A session keeps the settings that it was born with; changes here are for new sessions.")
	line("version: %d", FormatVersion)
	line("")
	if p.Workflow != "" {
		line("# The workflow of `wfs new` when no other is named.")
		line("workflow: %s", yamlText(p.Workflow))
	} else {
		line("# No default workflow: tdd needs a gate that tells tests apart (any format but exit-code).")
		line("# workflow: tdd")
	}
	line("")
	renderAgent(line, p.Agent)
	line("")
	line("# Variables that agents and gates may see besides the usual ones (PATH, HOME, LANG, …). Names only.")
	line("# env: [OPENAI_API_KEY]")
	line("")
	line("# Gates are commands that wfs runs itself. What they say decides, not what the agent says.")
	line("gates:")
	g := p.Gate
	if p.Seen != "" {
		line("  # `wfs init` ran this one: %s", oneLine(p.Seen))
	}
	line("  %s:", g.Name)
	line("    run: %s", yamlCommand(g.Run))
	line("    format: %s", g.Format)
	if g.Report != "" {
		line("    report: %s", yamlText(g.Report))
	}
	if g.Where != "" && g.Where != InPlace {
		line("    where: %s", g.Where)
	}
	line("    timeout: %s", shortDuration(orDefault(g.Timeout, DefaultGateTimeout)))
	if g.MayChangeTree {
		line("    may-change-tree: true")
	}
	if w := p.Worktree; len(w.Copy) > 0 || !w.Setup.IsZero() {
		line("")
		line("# `wfs new --worktree` gives a session a work tree of its own. Git does not bring there what it ignores.")
		line("worktree:")
		for i, name := range w.Copy {
			if i == 0 {
				line("  copy:")
			}
			line("    - %s", yamlText(name))
		}
		if !w.Setup.IsZero() {
			line("  setup: %s", yamlCommand(w.Setup))
		}
	}
	return []byte(b.String())
}

// renderAgent writes who works, or an example of it.
func renderAgent(line func(string, ...any), a Agent) {
	idle, timeout := orDefault(a.Idle, DefaultAgentIdle), orDefault(a.Timeout, DefaultAgentTimeout)
	if a.Use == "" && a.Command.IsZero() && a.ScriptPath == "" && idle == DefaultAgentIdle && timeout == DefaultAgentTimeout && !a.Fresh {
		line("# Who works in the phases: an agent that wfs knows (wfs agent list), or any command that reads its instructions on")
		line("# stdin and edits files. `wfs new --agent` overrides it. Yours for all repositories goes into ~/.config/wfs/config.yaml.")
		line("# agent: {use: claude, allow: ['Bash(go test:*)']}")
		return
	}
	line("# Who works in the phases. `wfs new --agent` overrides it; `wfs agent check` says how it would be started.")
	line("agent:")
	switch {
	case a.Use != "":
		line("  use: %s", a.Use)
		if a.Model != "" {
			line("  model: %s", yamlText(a.Model))
		}
		if len(a.Allow) > 0 {
			line("  # What it may do unattended, besides editing files. Whatever else it wants to do is refused.")
			line("  allow: %s", yamlCommand(Command{Argv: a.Allow}))
		}
		if len(a.Args) > 0 {
			line("  args: %s", yamlCommand(Command{Argv: a.Args}))
		}
	case a.ScriptPath != "":
		line("  script: %s", yamlText(a.ScriptPath))
	case !a.Command.IsZero():
		line("  command: %s", yamlCommand(a.Command))
	}
	if a.Fresh {
		line("  conversation: %s", ConversationFresh)
	}
	line("  idle: %s", shortDuration(idle))
	line("  timeout: %s", shortDuration(timeout))
}

func orDefault(d, fallback time.Duration) time.Duration {
	if d == 0 {
		return fallback
	}
	return d
}

// shortDuration writes 10m for 10m0s.
func shortDuration(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = s[:len(s)-2]
	}
	if strings.HasSuffix(s, "h0m") {
		s = s[:len(s)-2]
	}
	return s
}

func yamlCommand(c Command) string {
	if c.Shell != "" {
		return yamlText(c.Shell)
	}
	var args []string
	for _, a := range c.Argv {
		args = append(args, yamlText(a))
	}
	return "[" + strings.Join(args, ", ") + "]"
}

// yamlText writes a text so that YAML reads it back as that text: bare where nothing can be misread, in single quotes
// where that is easier on the eye, else in double quotes, whose escapes are those of Go.
func yamlText(s string) string {
	printable, bare := true, s != ""
	for i, c := range s {
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		printable = printable && strconv.IsPrint(c) && c != '\ufffd'
		bare = bare && (letter || i > 0 && (c >= '0' && c <= '9' || strings.ContainsRune("-_./ ", c)))
	}
	switch strings.ToLower(s) {
	case "true", "false", "null", "y", "n", "yes", "no", "on", "off":
		bare = false
	}
	switch {
	case bare && !strings.HasSuffix(s, " "):
		return s
	case printable && strings.ContainsAny(s, `"\`) && !strings.Contains(s, "'"):
		return "'" + s + "'"
	}
	return strconv.Quote(s)
}

package workflows

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Proposal is what `wfs init` found out about a project.
type Proposal struct {
	Workflow string         // default for `wfs new`
	Gates    []ProposedGate // none: a person approves the work
	Worktree Worktree
}

// ProposedGate is a gate that was run.
type ProposedGate struct {
	Gate
	Seen string // what it showed, for people: "42 passed"
}

// RenderConfig returns the text of a .wfs/config.yaml for a project, with comments. ParseConfig reads it back.
func RenderConfig(p Proposal) []byte {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }

	line("# How wfs judges this project. Yours to edit, and meant to be committed. What is yours alone goes into .wfs/local.yaml.")
	line("# A session keeps the settings that it was born with; changes here are for new sessions.")
	line("version: %d", FormatVersion)
	line("")
	if p.Workflow == "loop" {
		line("# The workflow of `wfs new` when no other is named. tdd needs a gate that has per-test results (any format but exit-code).")
	} else {
		line("# The workflow of `wfs new` when no other is named.")
	}
	line("workflow: %s", yamlText(p.Workflow))
	line("")
	line("# Who works in the phases is each person's own: .wfs/local.yaml, or ~/.config/wfs/config.yaml for all repositories.")
	line("# agent: claude")
	line("")
	line("# Variables that agents and gates may see besides the usual ones (PATH, HOME, LANG, …). Names only.")
	line("# env: [OPENAI_API_KEY]")
	line("")
	line("# Gates are commands that wfs runs itself. What they say decides, not what the agent says.")
	if len(p.Gates) == 0 {
		line("# None: you approve the work yourself.")
		line("# gates:")
		line("#   links: {run: make linkcheck}")
	} else {
		line("gates:")
	}
	for _, g := range p.Gates {
		g.render(line)
	}
	if w := p.Worktree; len(w.Copy)+len(w.Link) > 0 || !w.Setup.IsZero() {
		line("")
		line("# `wfs new --worktree` gives a session a work tree of its own. Git does not bring there what it ignores.")
		line("worktree:")
		renderList(line, "copy", w.Copy)
		renderList(line, "link", w.Link)
		if !w.Setup.IsZero() {
			line("  setup: %s", yamlCommand(w.Setup))
		}
	}
	return []byte(b.String())
}

func (g *ProposedGate) render(line func(string, ...any)) {
	if g.Seen != "" {
		line("  # `wfs init` ran this one: %s", oneLine(g.Seen))
	}
	line("  %s:", g.Name)
	line("    run: %s", yamlCommand(g.Run))
	line("    format: %s", g.Format)
	if g.Report != "" {
		line("    report: %s", yamlText(g.Report))
	}
	if len(g.Paths) > 0 {
		line("    # It runs when one of these changes, and when the work is complete.")
		line("    paths: %s", yamlCommand(Command{Argv: g.Paths}))
	}
	if g.When != "" {
		line("    when: %s", g.When)
	}
	if g.Where != "" && g.Where != Auto {
		line("    where: %s", g.Where)
	}
	line("    timeout: %s", shortDuration(orDefault(g.Timeout, DefaultGateTimeout)))
	if g.MayChangeTree {
		line("    may-change-tree: true")
	}
}

func renderList(line func(string, ...any), key string, texts []string) {
	if len(texts) > 0 {
		line("  %s:", key)
	}
	for _, text := range texts {
		line("    - %s", yamlText(text))
	}
}

// RenderLocal returns the text of a .wfs/local.yaml that names who works.
func RenderLocal(a Agent) []byte {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("# Your own settings for this clone. Git ignores this file; it goes before .wfs/config.yaml.")
	line("version: %d", FormatVersion)
	line("")
	renderAgent(line, a)
	return []byte(b.String())
}

// renderAgent writes who works, or an example of it.
func renderAgent(line func(string, ...any), a Agent) {
	idle, timeout := orDefault(a.Idle, DefaultAgentIdle), orDefault(a.Timeout, DefaultAgentTimeout)
	line("# Who works in the phases. `wfs new --agent` overrides it; `wfs agent check` says how it would be started.")
	line("agent:")
	switch {
	case a.Use != "":
		line("  use: %s", a.Use)
		if a.Model != "" {
			line("  model: %s", yamlText(a.Model))
		}
		if len(a.Allow) > 0 {
			line("  # What it may run unattended, besides editing files and reading. Whatever else it wants to run is refused.")
			renderList(line, "allow", a.Allow)
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
	if a.Push {
		line("  push: %s", PushAllowed)
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

package cmd

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/wfs-dev/wfs/cmd/internal/mcpserver"
)

type mcpVerb struct {
	*app
	allow []string
}

func (a *mcpVerb) command() *cobra.Command {
	decisions := strings.Join(mcpserver.Decisions(), ", ")
	c := &cobra.Command{
		Use: "mcp", Short: "let an agent that you work with use wfs (an MCP server)",
		Long: `Mcp serves the Model Context Protocol on standard input and output, for an agent such as claude or codex
that you work with in a terminal or an editor. The agent's program starts it, in the repository. The agent can
then list, start, watch and inspect sessions, leave notes, fork and resume. Each tool runs the wfs command of its
name, with that command's checks and refusals; runs continue in the background.

What you decide stays with you: a tool for it exists only if --allow names it. Trust and what agents may do
cannot be allowed here. An agent that works in a session can decide nothing through this server either.`,
		Example: `  claude mcp add wfs -- wfs mcp
  codex mcp add wfs -- wfs mcp
  claude mcp add wfs -- wfs mcp --allow approve,finish`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error { return a.serve(c) },
	}
	c.Flags().StringSliceVar(&a.allow, "allow", nil, "`commands` that the agent may use as well: "+decisions)
	return c
}

func (a *mcpVerb) serve(c *cobra.Command) error {
	for _, name := range a.allow {
		if known := mcpserver.Decisions(); !slices.Contains(known, name) {
			return usage("wfs mcp --help", "--allow %s: it is one of %s", name, strings.Join(known, ", "))
		}
	}
	if a.env.StdinTTY {
		return usage("claude mcp add wfs -- wfs mcp",
			"wfs mcp is started by an agent's program, and reads what that sends")
	}
	if err := a.Open(c.Context()); err != nil {
		return err
	}
	top := a.Repo.Root()
	a.Close()
	s := &mcpserver.Server{Exe: a.env.Exe, Version: Version, Dir: a.env.Dir, Top: top, Environ: a.env.Environ,
		Allow: a.allow, Root: c.Root()}
	return s.Serve(c.Context(), a.env.Stdin, a.env.Stdout)
}

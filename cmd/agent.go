package cmd

import (
	"github.com/spf13/cobra"

	"github.com/wfs-dev/wfs/workflows"
)

func (a *app) agentCmd() *cobra.Command {
	c := &cobra.Command{
		Use: "agent", Short: "the agents that wfs knows: their schema",
		Long:    "An agent that wfs knows has a card, which says how its program is driven. claude, codex, gemini and opencode are built in; others are YAML files in .wfs/agents/, or in agents/ beside your own configuration.",
		Example: "  wfs agent schema > agent.schema.json",
		Args:    noArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(
		&cobra.Command{Use: "schema", Short: "the JSON Schema of agent cards, for editors", Args: noArgs,
			Long:    "Schema prints the JSON Schema (draft-07) of agent cards. Editors check files against it while you type.",
			Example: "  wfs agent schema > agent.schema.json",
			RunE:    func(*cobra.Command, []string) error { return a.printSchema(workflows.CardSchema()) }},
	)
	return c
}

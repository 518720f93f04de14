package cmd

import (
	"github.com/spf13/cobra"

	"github.com/wfs-dev/wfs/workflows"
)

func (a *app) configCmd() *cobra.Command {
	c := &cobra.Command{
		Use: "config", Short: "the configuration's schema",
		Long:    "Config is about .wfs/config.yaml: how a project is judged. None of these commands runs anything of it.",
		Example: "  wfs config schema > config.schema.json",
		Args:    noArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(
		&cobra.Command{Use: "schema", Short: "the JSON Schema of configuration files, for editors",
			Long: "Schema prints the JSON Schema of .wfs/config.yaml, so that an editor completes its keys and finds mistakes while you type.", Args: noArgs, Example: "  wfs config schema > config.schema.json",
			RunE: func(*cobra.Command, []string) error { return a.printSchema(workflows.ConfigSchema()) }},
	)
	return c
}

// printSchema prints a JSON Schema, with --json as without.
func (a *app) printSchema(schema []byte) error {
	_, err := a.env.Stdout.Write(schema)
	return err
}

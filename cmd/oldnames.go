package cmd

import "github.com/spf13/cobra"

// oldCommands are earlier spellings of commands. They stay so that scripts and habits go on working.
func (a *app) oldCommands() []*cobra.Command {
	return append(a.oldEdits(),
		a.renamed(spelled("attach [SESSION]", a.watchCmd()), "wfs watch"),
		a.renamed(spelled("events [SESSION]", a.logCmd(), "events"), "wfs log --events"),
		oldGroup("op", a.renamed(spelled("log", a.undoCmd(), "list"), "wfs undo --list")),
		oldGroup("worktree", a.renamed(spelled("remove SESSION", a.deleteCmd(), "worktree"), "wfs delete --worktree")),
	)
}

// oldGroup is a command that has only earlier spellings below it.
func oldGroup(name string, below ...*cobra.Command) *cobra.Command {
	c := &cobra.Command{Use: name, Hidden: true, Args: noArgs, RunE: func(c *cobra.Command, _ []string) error { return c.Help() }}
	c.AddCommand(below...)
	return c
}

// renamed hides a command, and lets it print how it is spelled now.
func (a *app) renamed(c *cobra.Command, now string) *cobra.Command {
	c.Hidden = true
	run := c.RunE
	c.RunE = func(c *cobra.Command, args []string) error {
		a.spelledNow(now)
		return run(c, args)
	}
	return c
}

// spelledNow prints the present spelling of what was typed.
func (a *app) spelledNow(now string) { a.note("note: this is now %q", now) }

// spelled is a command under an earlier name, which stands for the present one with flags.
func spelled(use string, c *cobra.Command, flags ...string) *cobra.Command {
	c.Use = use
	for _, name := range flags {
		_ = c.Flags().Set(name, "true") // every caller names a flag that is there
		c.Flags().Lookup(name).Hidden = true
	}
	return c
}

package cmd

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/wfs-dev/wfs/cmd/internal/present/live"
	"github.com/wfs-dev/wfs/engine"
	"github.com/wfs-dev/wfs/session"
)

type startVerb struct {
	*app
	o      newOptions
	until  session.PhaseName
	detach bool
	each   bool // every argument is the goal of a session of its own
}

func (a *startVerb) command() *cobra.Command {
	c := &cobra.Command{
		Use: "start GOAL", Short: "new session, and run it",
		Long: `Start creates a session as wfs new does, and runs it as wfs run does. If it is interrupted, wfs run
continues.

With --each every argument is a goal of its own. Each gets a session in a work tree of its own, and runs in the
background.`,
		Example: `  wfs start "csv export"
  wfs start "csv export" --spec docs/csv.md --worktree
  wfs start "csv export" --agent codex --detach
  wfs start --each "csv export" "xml export"`,
		Args: func(c *cobra.Command, args []string) error {
			if a.each && len(args) > 0 {
				return nil
			}
			return oneGoal(c, args)
		},
		RunE: with(a.run),
	}
	newFlags(c, &a.o)
	untilFlag(c.Flags(), &a.until)
	c.Flags().BoolVar(&a.detach, "detach", false, "run in the background, also when the terminal is closed")
	c.Flags().BoolVar(&a.each, "each", false,
		"a session for every argument, each in a work tree of its own and in the background")
	return c
}

// oneGoal returns an error unless there is exactly one argument. Several arguments mean that the user has typed a goal
// without quotes.
func oneGoal(c *cobra.Command, args []string) error {
	goal := strings.TrimSpace(strings.Join(args, " "))
	switch {
	case goal == "":
		return usage(c.CommandPath()+` "what you want to build"`, "%s needs a goal", c.Name())
	case len(args) > 1:
		return usage(c.CommandPath()+" "+shellWord(goal), "%s takes one goal, got %d arguments", c.Name(), len(args))
	}
	return nil
}

func (a *startVerb) run(ctx context.Context, goals []string) error {
	o := &a.o
	if err := a.checkFlags(); err != nil {
		return err
	}
	o.worktree, o.runs = o.worktree || a.each, true
	for _, goal := range goals {
		o.goal = a.Redact(goal)
		if err := a.start(ctx); err != nil {
			return err
		}
	}
	if len(goals) > 1 && !a.json {
		a.out("%d sessions run in the background", len(goals))
		a.next([]string{"wfs list"})
	}
	return nil
}

// checkFlags returns an error for flags that exclude each other.
func (a *startVerb) checkFlags() error {
	o := &a.o
	if o.carry && o.leave {
		return usage("wfs start --help", "--carry and --leave exclude each other")
	}
	if a.each && (o.dir != "" || o.spec != "" || o.carry) {
		return usage("wfs start --help", "--each has no --dir, --spec or --carry: those belong to one session")
	}
	return nil
}

// start creates a session and runs it.
func (a *startVerb) start(ctx context.Context) error {
	if err := beginNew(ctx, &newborn{app: a.app, o: a.o}); err != nil {
		return err
	}
	id := string(a.About)
	a.Close()
	a.Forget() // wfs run opens the session's own work tree
	if a.detach || a.each {
		err := background{a.app}.run(ctx, id, engine.RunOptions{Until: a.until})
		a.Forget() // the next session is created from this work tree again
		return err
	}
	a.note("")
	return (&runVerb{app: a.app, o: engine.RunOptions{Until: a.until}}).attend(ctx, id, live.Ordinary)
}

// reserved are names for future commands. wfs suggests no similar command for them.
var reserved = []string{"sync", "push", "fetch", "why", "verify", "ui", "purge"}

// synonyms maps names that other tools use for a command to the names in wfs.
var synonyms = map[string]string{
	"continue": "run", "restart": "run", "begin": "start", "cancel": "stop", "pause": "stop", "rollback": "resume",
	"reset":    "resume",
	"checkout": "switch", "merge": "finish", "done": "finish", "tail": "watch", "sessions": "list", "ls": "list",
	"history": "log",
}

// destroying are commands that wfs never suggests for a misspelt one.
var destroying = []string{"abandon", "delete", "gc", "uninstall"}

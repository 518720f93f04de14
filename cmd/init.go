package cmd

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/wfs-dev/wfs/phases/trial"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
	"github.com/wfs-dev/wfs/workspace"
)

type initJSON struct {
	Version  int                 `json:"version"`
	Config   string              `json:"config"`
	Local    string              `json:"local,omitempty"`  // file that names the agent; "" if it was not written
	Gate     *workflows.Gate     `json:"gate,omitempty"`   // the first gate; null: a person approves the work
	Result   *session.GateResult `json:"result,omitempty"` // result of the first gate
	More     []initGate          `json:"more,omitempty"`   // the other gates
	Workflow string              `json:"workflow,omitempty"`
	Red      []session.TestID    `json:"red,omitempty"`
	Flaky    []session.TestID    `json:"flaky,omitempty"`
	Clean    *initClean          `json:"clean,omitempty"`
	Unused   *trial.Unused       `json:"unused,omitempty"` // set if the tests do not use the code of this checkout
	Needs    string              `json:"needs,omitempty"`
	Failed   []string            `json:"failed,omitempty"` // commands that cannot run here, or fail already
	Agent    string              `json:"agent,omitempty"`
	Allow    []string            `json:"allow,omitempty"`
	Next     []string            `json:"next"`
	Backup   string              `json:"backup,omitempty"` // copy of the configuration that was replaced
}

// initGate is a gate that was tried, with its result.
type initGate struct {
	Gate   workflows.Gate     `json:"gate"`
	Result session.GateResult `json:"result"`
	Clean  *initClean         `json:"clean,omitempty"`
	Unused *trial.Unused      `json:"unused,omitempty"`

	base  session.Baseline
	needs string
}

// initOptions are the flags of `wfs init`.
type initOptions struct {
	test, format string
	timeout      time.Duration
	force, yes   bool
	agent        string
	allow        []string
	typed        bool // the agent is for one session only: do not write it
}

type initVerb struct {
	*app
	o initOptions
}

func (a *initVerb) command() *cobra.Command {
	o := &a.o
	c := &cobra.Command{
		Use: "init", Short: "find the test command, try it, write .wfs/config.yaml",
		Long: `Init looks for the test commands of this project, asks before it runs them, shows the results, and
writes two files. .wfs/config.yaml has the commands as gates, for everybody who works here: commit it when you
like. .wfs/local.yaml has your agent and what it may run; it is yours alone, and git ignores it. Nothing else is
changed.

Passing tests run once, in a clean checkout if that shows all there is to know. The next wfs start uses the
result. If a test mentions the project's code, the tests run once more with that code made invalid, in a clean
checkout: if they pass anyway, they use a copy that is installed elsewhere, and init says so. What "npm test", "make test", tox or Composer's script runs besides the tests, such as a linter, becomes
a gate of its own, unless it fails already. In a repository of several projects each gets a gate, which runs
when its files change, and once more when the work is complete. If a command cannot run, the next likely one is
tried; programs that are not installed are not. If the results have no test names, or nothing is found, the workflow is loop: work until every gate
passes and every item is done, or you approve it.

The agent may edit files, run the tests and the usual tools of what was found (go, npm, cargo, …), and read; git
push, commit and reset --hard are refused to it. --allow replaces that list.

--yes takes every default without asking. Without a terminal and without --yes a command that you did not type
is shown and not run.

It knows Go, Node (node --test, Vitest, Jest, Mocha, AVA, tape; npm, pnpm, yarn, bun; workspaces), Deno, Python
(pytest, unittest, Django; uv, Poetry), Rust, Maven, Gradle, sbt, Ruby (RSpec, Minitest, Rails), .NET, PHP
(PHPUnit, Pest), Bats, and "make test".`,
		Example: `  wfs init
  wfs init --yes
  wfs init --test none
  wfs init --timeout 40m
  wfs init --test 'go test -json ./...' --format go-test-json
  wfs init --agent claude --allow tests --allow 'go vet'
  wfs init --test 'pytest --junitxml="$WFS_REPORT"' --format junit`,
		Args: noArgs,
		RunE: with(a.run),
	}
	c.Flags().StringVar(&o.test, "test", "", "the test `command`, instead of a proposal, or none")
	c.Flags().StringVar(&o.format, "format", "", "what it reports: "+workflows.FormatNames())
	c.Flags().DurationVar(&o.timeout, "timeout", workflows.DefaultGateTimeout,
		"time limit of a test command, such as 40m; the gate gets it too, or five times what the tests took")
	c.Flags().StringVar(&o.agent, "agent", "", "the agent: a `name` (wfs agent list), a command, or none")
	c.Flags().StringArrayVar(&o.allow, "allow", nil,
		"a `command` that the agent may run by itself, and no other; tests: the test command; none (may be repeated)")
	c.Flags().BoolVarP(&o.yes, "yes", "y", false, "run what is found, and take the first agent, without asking")
	c.Flags().BoolVar(&o.force, "force", false, "replace a configuration that exists; a copy of it is kept")
	return c
}

func (a *initVerb) run(ctx context.Context, _ []string) error {
	if a.o.timeout <= 0 {
		return usage("wfs init --timeout 40m", "--timeout %s: it must be more than 0", a.o.timeout)
	}
	if err := a.Suits(ctx); err != nil {
		return err
	}
	if err := a.Ready(ctx, true); err != nil {
		return err
	}
	if err := a.mayReplace(); err != nil {
		return err
	}
	say := a.out
	if a.json {
		say = a.note
	}
	j, err := (&setup{app: a.app, o: a.o, command: "wfs init", say: say}).configure(ctx)
	if err != nil {
		return err
	}
	if a.json {
		return a.answer(j)
	}
	a.env.Steps(j.Next)
	return nil
}

// mayReplace returns an error if a configuration exists, unless it is a regular file and --force was given.
func (a *initVerb) mayReplace() error {
	file := filepath.Join(a.Repo.Root(), filepath.FromSlash(workspace.ConfigPath))
	if info, err := os.Lstat(file); err == nil && !a.o.force {
		return usage("edit .wfs/config.yaml, or wfs init --force", "%s exists already", workspace.ConfigPath)
	} else if err == nil && !info.Mode().IsRegular() {
		return usage("mv "+workspace.ConfigPath+" "+workspace.ConfigPath+".old, then wfs init",
			"%s is no regular file, and is not replaced", workspace.ConfigPath)
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

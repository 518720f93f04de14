package cmd

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/phases"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

type initJSON struct {
	Version  int                `json:"version"`
	Config   string             `json:"config"`
	Gate     workflows.Gate     `json:"gate"`
	Result   session.GateResult `json:"result"`
	Workflow string             `json:"workflow,omitempty"`
	Red      []session.TestID   `json:"red,omitempty"`
	Flaky    []session.TestID   `json:"flaky,omitempty"`
	Needs    string             `json:"needs,omitempty"`
	Next     []string           `json:"next"`
}

// initOptions are the flags of `wfs init`.
type initOptions struct {
	test, format string
	force        bool
}

func (a *app) initCmd() *cobra.Command {
	var o initOptions
	c := &cobra.Command{
		Use: "init", Short: "find out how this project is tested, try it, and write .wfs/config.yaml",
		Long: `Init proposes a test command for this project, runs it, shows what it said and how long it took, and writes
.wfs/config.yaml with the command that ran. Nothing else is changed; the file is yours to edit and to commit.`,
		Example: `  wfs init
  wfs init --test 'go test -json ./...' --format go-test-json
  wfs init --test 'pytest --junitxml="$WFS_REPORT"' --format junit`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error { return a.init(c.Context(), o) },
	}
	c.Flags().StringVar(&o.test, "test", "", "the test `command`, instead of a proposal")
	c.Flags().StringVar(&o.format, "format", "", "what it prints: go-test-json, junit or exit-code")
	c.Flags().BoolVar(&o.force, "force", false, "replace a configuration that exists")
	return c
}

func (a *app) init(ctx context.Context, o initOptions) error {
	if err := a.ready(ctx, true); err != nil {
		return err
	}
	file := filepath.Join(a.repo.Root(), filepath.FromSlash(configPath))
	if _, err := os.Lstat(file); err == nil && !o.force {
		return &session.Refusal{Code: session.RefuseUsage, Message: configPath + " exists already", Hint: "edit it, or wfs init --force"}
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := a.hold("wfs init"); err != nil {
		return err
	}
	proposal, err := a.propose(o)
	if err != nil {
		return err
	}
	a.note("running: %s", commandText(proposal.Gate.Run))
	base, err := a.tryGate(ctx, proposal.Gate)
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return &session.Refusal{Code: session.RefuseBaseline, Message: err.Error(), Hint: "make it run here (is everything installed?), or name another: wfs init --test 'COMMAND' --format go-test-json|junit|exit-code"}
	}
	return a.writeConfig(file, proposal, base)
}

func (a *app) propose(o initOptions) (phases.Proposal, error) {
	if o.test != "" {
		f := workflows.Format(o.format)
		switch f {
		case "":
			f = workflows.FormatExit
			if strings.Contains(o.test, "go test") && strings.Contains(o.test, "-json") {
				f = workflows.FormatGoTest
			} else if strings.Contains(strings.ToLower(o.test), "junit") {
				f = workflows.FormatJUnit
			}
		case workflows.FormatGoTest, workflows.FormatJUnit, workflows.FormatExit:
		default:
			return phases.Proposal{}, &usageError{fmt.Sprintf("--format %q: it is one of go-test-json, junit, exit-code", o.format), ""}
		}
		return phases.Proposal{Gate: workflows.Gate{Name: "tests", Run: workflows.Command{Shell: o.test}, Format: f, Where: workflows.InPlace, Timeout: workflows.DefaultGateTimeout}}, nil
	}
	list := phases.Propose(a.repo.Root(), os.ReadFile)
	if len(list) == 0 {
		return phases.Proposal{}, &session.Refusal{Code: session.RefuseUsage, Message: "nothing here says how this project is tested", Hint: "wfs init --test 'COMMAND'"}
	}
	return list[0], nil
}

// tryGate runs a gate on the work tree as it is.
func (a *app) tryGate(ctx context.Context, g workflows.Gate) (session.Baseline, error) {
	file, err := a.heldOutFile()
	if err != nil {
		return session.Baseline{}, err
	}
	snap, err := a.repo.Snapshot(ctx, file)
	if err != nil {
		return session.Baseline{}, err
	}
	dir := filepath.Join(a.repo.StateDir(), "init", "runs", "try")
	if err := durable.MkdirAll(dir); err != nil {
		return session.Baseline{}, err
	}
	defer os.RemoveAll(filepath.Join(a.repo.StateDir(), "init"))
	a.eng.Works.(*works).report = func(line string) { a.note("    %s", line) }
	b, _, err := a.eng.Works.Baseline(ctx, workflows.Plan{Baseline: []workflows.Gate{g}}, snap.Tree, dir)
	return b, err
}

func (a *app) writeConfig(file string, p phases.Proposal, base session.Baseline) error {
	res := base.Gates[0]
	workflow := ""
	if p.Gate.Format.PerTest() {
		workflow = "tdd"
	}
	text := workflows.RenderConfig(workflows.Proposal{Workflow: workflow, Gate: p.Gate, Seen: seenText(res)})
	if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
		return err
	}
	if err := durable.WriteFile(file, text, 0o644); err != nil {
		return err
	}
	list, err := a.rules()
	if err != nil {
		return err
	}
	if err := a.trustNow(digest(list), "wfs init"); err != nil {
		return err
	}
	next := []string{`git add .wfs && git commit -m "how wfs judges this project"`, `wfs new "what you want to build" --agent 'COMMAND'`}
	if a.json {
		return a.answer(initJSON{jsonVersion, configPath, p.Gate, res, workflow, base.Red, base.Flaky, p.Needs, next})
	}
	a.out("%s", baselineLine(res))
	if len(base.Red) > 0 && res.Counts.Total() > 0 {
		a.out("  failing now: %s", testNames(base.Red))
	}
	if len(base.Flaky) > 0 {
		a.out("  flaky: %s", testNames(base.Flaky))
	}
	a.out("wrote %s: %s", configPath, commandText(p.Gate.Run))
	if workflow == "" {
		a.out("this command does not tell tests apart, so the tdd workflow cannot use it")
	}
	if p.Needs != "" {
		a.out("%s", p.Needs)
	}
	a.steps(next)
	return nil
}

// seenText says in the file what a gate showed. It holds no time, so that the same project gets the same file.
func seenText(g session.GateResult) string {
	if n := g.Counts; n.Total() > 0 {
		return fmt.Sprintf("%d passed, %d failed, %d skipped", n.Passed, n.Failed+n.Errors, n.Skipped)
	}
	return fmt.Sprintf("exit code %d", g.Exit)
}

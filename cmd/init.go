package cmd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/internal/safetext"
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
	Clean    *initClean         `json:"clean,omitempty"`
	Needs    string             `json:"needs,omitempty"`
	Also     []string           `json:"also,omitempty"`
	Agent    string             `json:"agent,omitempty"`
	Allow    []string           `json:"allow,omitempty"`
	Next     []string           `json:"next"`
	Backup   string             `json:"backup,omitempty"` // of the configuration that was replaced, when HEAD has another or none
}

// initOptions are the flags of `wfs init`.
type initOptions struct {
	test, format string
	force        bool
	worker       workerOptions
}

func (a *app) initCmd() *cobra.Command {
	var o initOptions
	c := &cobra.Command{
		Use: "init", Short: "find out how this project is tested, try it, and write .wfs/config.yaml",
		Long: `Init proposes a test command for this project, runs it, shows what it said and how long it took, and writes
.wfs/config.yaml with the command that ran. Where one cannot run, the next likely one is tried. A .wfs/.gitignore keeps
.wfs/local.yaml, the settings of this clone alone, out of commits. Nothing else is changed; the files are yours to edit
and to commit.

At a terminal it asks which of the installed agents shall work here, unless your own configuration says so, and what it may
do with nobody there to permit it: the tests by default, and nothing else. --agent and --allow answer before they are
asked; without a terminal and without --agent no agent is written down.

It knows Go, Node (node --test, Vitest, Jest, Mocha, AVA, tape; npm, pnpm, yarn, bun; workspaces), Deno, Python (pytest,
unittest, Django; uv, Poetry), Rust, Maven, Gradle, sbt, Ruby (RSpec, Minitest, Rails), .NET, PHP (PHPUnit, Pest), Bats,
and "make test".`,
		Example: `  wfs init
  wfs init --test 'go test -json ./...' --format go-test-json
  wfs init --agent claude --allow tests --allow 'go vet'
  wfs init --test 'pytest --junitxml="$WFS_REPORT"' --format junit`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error { return a.init(c.Context(), o) },
	}
	c.Flags().StringVar(&o.test, "test", "", "the test `command`, instead of a proposal")
	c.Flags().StringVar(&o.format, "format", "", "what it reports: "+workflows.FormatNames())
	c.Flags().StringVar(&o.worker.agent, "agent", "", "who works here: a `name` (wfs agent list), a command, or none")
	c.Flags().StringArrayVar(&o.worker.allow, "allow", nil, "a `command` that the agent may run by itself; tests: the test command; none (may be repeated)")
	c.Flags().BoolVar(&o.force, "force", false, "replace a configuration that exists; a copy of what HEAD does not have is kept")
	return c
}

func (a *app) init(ctx context.Context, o initOptions) error {
	if err := a.fit(ctx); err != nil {
		return err
	}
	if err := a.ready(ctx, true); err != nil {
		return err
	}
	file := filepath.Join(a.repo.Root(), filepath.FromSlash(configPath))
	if info, err := os.Lstat(file); err == nil && !o.force {
		return &session.Refusal{Code: session.RefuseUsage, Message: configPath + " exists already", Hint: "edit it, or wfs init --force"}
	} else if err == nil && !info.Mode().IsRegular() {
		return &session.Refusal{Code: session.RefuseUsage, Message: configPath + " is no regular file, and is not replaced", Hint: "mv " + configPath + " " + configPath + ".old, then wfs init"}
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := a.hold("wfs init"); err != nil {
		return err
	}
	list, err := a.propose(o)
	if err != nil {
		return err
	}
	chosen, base, err := a.try(ctx, list)
	if err != nil {
		return err
	}
	agent, next, err := a.worker(ctx, o.worker, chosen.Gate.Run)
	if err != nil {
		return err
	}
	return a.writeConfig(ctx, file, chosen, base, alsoFound(list, chosen), agent, next)
}

// try runs one proposal after the other until one shows tests. One that ran without any is taken when none does, and one
// that only has an exit code when nothing else of its ecosystem runs.
func (a *app) try(ctx context.Context, list []phases.Proposal) (phases.Proposal, session.Baseline, error) {
	var empty *phases.Proposal
	var emptyBase session.Baseline
	var first error
	for i, p := range list {
		if empty != nil && !p.Gate.Format.PerTest() || first != nil && p.Ecosystem != list[0].Ecosystem {
			continue // what does not run here is not judged by something else in its stead
		}
		a.note("running: %s", commandText(p.Gate.Run))
		base, err := a.tryGate(ctx, p.Gate)
		var changed *phases.ChangedTreeError
		switch {
		case ctx.Err() != nil:
			return p, base, ctx.Err()
		case errors.As(err, &changed):
			return p, base, &session.Refusal{Code: session.RefuseBaseline, Message: err.Error(), Hint: ignoreHint(changed)}
		case err != nil:
			if first == nil {
				first = cannotTry(p, err)
			}
			if i+1 < len(list) && list[i+1].Ecosystem == p.Ecosystem {
				a.note("    could not run it: %s", safetext.Line(err.Error(), 200))
			}
		case p.Gate.Format.PerTest() && base.Gates[0].Counts.Total() == 0:
			if empty == nil {
				empty, emptyBase = &list[i], base
			}
		default:
			return p, base, nil
		}
	}
	if empty != nil {
		return *empty, emptyBase, nil
	}
	return phases.Proposal{}, session.Baseline{}, first
}

func cannotTry(p phases.Proposal, err error) error {
	hint := "make it run here (is everything installed?), or name another: wfs init --test 'COMMAND' --format FORMAT"
	if p.Install != "" {
		hint = p.Install + "   (then wfs init again), or name another: wfs init --test 'COMMAND' --format FORMAT"
	}
	return &session.Refusal{Code: session.RefuseBaseline, Message: err.Error(), Hint: hint}
}

// ignoreHint says what to do about files that a gate wrote: git ignores those that are new, and the others are committed.
func ignoreHint(changed *phases.ChangedTreeError) string {
	if len(changed.Edited) > 0 {
		return "commit what it makes of " + safetext.Line(changed.Edited[0], 100) + ", then: wfs init"
	}
	var names []string
	for _, p := range changed.New {
		if name := builtBelow(p); len(names) < 5 && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return "ignore what it writes in .gitignore, then: wfs init"
	}
	return "printf '%s\\n' " + strings.Join(quoteAll(names), " ") + " >> .gitignore   (if the tests made that), then: wfs init"
}

// builtBelow is the part of a path that names the directory into which tools build, or the whole path.
func builtBelow(path string) string {
	parts := strings.Split(path, "/")
	for i, part := range parts[:len(parts)-1] {
		switch part {
		case "target", "build", "out", "bin", "obj", "dist", "node_modules", "coverage", "__pycache__", ".pytest_cache", ".gradle", ".venv", "venv", "vendor":
			return "/" + strings.Join(parts[:i+1], "/") + "/"
		}
	}
	return "/" + path
}

func quoteAll(names []string) []string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = "'" + strings.ReplaceAll(safetext.Line(n, 100), "'", `'\\''`) + "'"
	}
	return out
}

// alsoFound lists the first proposal of every other ecosystem that is here: a repository may hold several.
func alsoFound(list []phases.Proposal, chosen phases.Proposal) []string {
	seen := []string{chosen.Ecosystem, "make"}
	var also []string
	for _, p := range list {
		if !slices.Contains(seen, p.Ecosystem) {
			seen = append(seen, p.Ecosystem)
			also = append(also, commandText(p.Gate.Run))
		}
	}
	return also
}

func (a *app) propose(o initOptions) ([]phases.Proposal, error) {
	if o.test != "" {
		f := workflows.Format(o.format)
		switch {
		case f == "":
			f = phases.GuessFormat(o.test)
		case !slices.Contains(workflows.Formats(), f):
			return nil, &usageError{fmt.Sprintf("--format %q: it is one of %s", o.format, workflows.FormatNames()), ""}
		}
		return []phases.Proposal{{Gate: workflows.Gate{Name: "tests", Run: workflows.Command{Shell: o.test}, Format: f, Where: workflows.InPlace, Timeout: workflows.DefaultGateTimeout}}}, nil
	}
	list := phases.Propose(a.repo.Root(), os.ReadFile)
	if len(list) == 0 {
		return nil, &session.Refusal{Code: session.RefuseUsage, Message: "nothing here says how this project is tested", Hint: "wfs init --test 'COMMAND'"}
	}
	return list, nil
}

// tryGate runs a gate on the work tree as it is.
func (a *app) tryGate(ctx context.Context, g workflows.Gate) (session.Baseline, error) {
	file, err := a.guardFile(guardText(nil))
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

// proposeWorktree looks at what git ignores, and a new work tree would lack.
func (a *app) proposeWorktree(ctx context.Context) (workflows.Worktree, error) {
	ignored, err := a.repo.Ignored(ctx)
	return phases.ProposeWorktree(ignored, func(name string) bool {
		info, err := os.Lstat(filepath.Join(a.repo.Root(), name))
		return err == nil && info.Mode().IsRegular()
	}), err
}

func (a *app) writeConfig(ctx context.Context, file string, p phases.Proposal, base session.Baseline, also []string, agent workflows.Agent, newAgent string) error {
	res, clean := base.Gates[0], a.tryClean(ctx, p.Gate, base)
	workflow := ""
	if p.Gate.Format.PerTest() {
		workflow = "tdd"
	}
	provide, err := a.proposeWorktree(ctx)
	if err != nil {
		return err
	}
	text := workflows.RenderConfig(workflows.Proposal{Workflow: workflow, Gate: p.Gate, Seen: seenText(res), Worktree: provide, Agent: agent})
	before, err := a.rules(ctx)
	if err != nil {
		return err
	}
	known, err := a.trusted(digest(before))
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
		return err
	}
	if err := ignoreLocal(filepath.Dir(file)); err != nil {
		return err
	}
	backup, err := a.keepConfig(ctx, file)
	if err != nil {
		return err
	}
	if err := durable.WriteFile(file, text, 0o644); err != nil {
		return err
	}
	list, err := a.rules(ctx)
	if err != nil {
		return err
	}
	// What was typed here is trusted. Other files that lie below .wfs/ were not typed here.
	onlyOurs := !slices.ContainsFunc(list, func(f rulesFile) bool { return f.Path != configPath })
	if known || onlyOurs {
		if err := a.trustNow(digest(list), "wfs init"); err != nil {
			return err
		}
	}
	next := []string{`git add .wfs && git commit -m "how wfs judges this project"`, `wfs new "what you want to build"` + newAgent}
	if !known && !onlyOurs {
		next = slices.Insert(next, 0, "wfs trust")
	}
	if a.json {
		return a.answer(initJSON{jsonVersion, configPath, p.Gate, res, workflow, base.Red, base.Flaky, clean, p.Needs, also, agentName(&agent), agent.Allow, next, backup})
	}
	a.out("%s", baselineLine(res))
	if len(base.Red) > 0 && res.Counts.Total() > 0 {
		a.out("  failing now: %s", testNames(base.Red))
	}
	if len(base.Flaky) > 0 {
		a.out("  flaky: %s", testNames(base.Flaky))
	}
	a.sayClean(clean)
	a.out("wrote %s: %s", configPath, commandText(p.Gate.Run))
	if backup != "" {
		a.out("as it was: %s", backup)
	}
	if agent.Card != nil {
		a.out("agent %s: %s", agent.Use, agent.Card.Unattended)
		for _, word := range agent.Allow {
			a.out("    it may also: %s", word)
		}
	}
	if len(provide.Copy) > 0 {
		a.out("in work trees of sessions' own, copied: %s", strings.Join(provide.Copy, " "))
	}
	if !provide.Setup.IsZero() {
		a.out("in work trees of sessions' own, set up by: %s", commandText(provide.Setup))
	}
	if workflow == "" {
		a.out("this command does not tell tests apart, so the tdd workflow cannot use it")
	}
	if p.Needs != "" {
		a.out("%s", p.Needs)
	}
	for _, command := range also {
		a.out("also found: %s; write it under gates: if it should judge too", command)
	}
	a.steps(next)
	return nil
}

// keepConfig keeps a copy of a configuration that is about to be replaced, when HEAD has another or none.
func (a *app) keepConfig(ctx context.Context, file string) (string, error) {
	old, err := durable.ReadFile(file, maxSettings)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	head, err := a.repo.Head(ctx)
	if err != nil {
		return "", err
	}
	tree, err := a.repo.TreeOf(ctx, head.Commit)
	if err != nil {
		return "", err
	}
	if committed, err := a.repo.Show(ctx, tree, configPath); err == nil && bytes.Equal(committed, old) {
		return "", nil
	}
	return a.keepCopy("init", file, old)
}

// ignoreLocal keeps .wfs/local.yaml out of commits, with a .gitignore of its own. One that is there already is the user's.
func ignoreLocal(dir string) error {
	file := filepath.Join(dir, ".gitignore")
	if _, err := os.Lstat(file); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return durable.WriteFile(file, []byte("# Settings of one clone alone: wfs config --help\n/local.yaml\n"), 0o644)
}

// seenText says in the file what a gate showed. It holds no time, so that the same project gets the same file.
func seenText(g session.GateResult) string {
	if n := g.Counts; n.Total() > 0 {
		return fmt.Sprintf("%d passed, %d failed, %d skipped", n.Passed, n.Failed+n.Errors, n.Skipped)
	}
	return fmt.Sprintf("exit code %d", g.Exit)
}

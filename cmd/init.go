package cmd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/internal/proc"
	"github.com/wfs-dev/wfs/internal/safetext"
	"github.com/wfs-dev/wfs/phases"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

type initJSON struct {
	Version  int                 `json:"version"`
	Config   string              `json:"config"`
	Local    string              `json:"local,omitempty"`  // the file that names the agent, when one was written
	Gate     *workflows.Gate     `json:"gate,omitempty"`   // the first one; without any, a person approves the work
	Result   *session.GateResult `json:"result,omitempty"` // of that
	More     []initGate          `json:"more,omitempty"`   // further gates
	Workflow string              `json:"workflow,omitempty"`
	Red      []session.TestID    `json:"red,omitempty"`
	Flaky    []session.TestID    `json:"flaky,omitempty"`
	Clean    *initClean          `json:"clean,omitempty"`
	Needs    string              `json:"needs,omitempty"`
	Beyond   []string            `json:"beyond,omitempty"` // what the project's test command runs beyond the gate
	Failed   []string            `json:"failed,omitempty"` // commands that were found and could not run
	Agent    string              `json:"agent,omitempty"`
	Allow    []string            `json:"allow,omitempty"`
	Next     []string            `json:"next"`
	Backup   string              `json:"backup,omitempty"` // of the configuration that was replaced, when HEAD has another or none
}

// initGate is a gate that was tried.
type initGate struct {
	Gate   workflows.Gate     `json:"gate"`
	Result session.GateResult `json:"result"`
	Clean  *initClean         `json:"clean,omitempty"`

	Beyond []string `json:"beyond,omitempty"` // what the project's test command runs as well

	base  session.Baseline
	needs string
}

// initOptions are the flags of `wfs init`.
type initOptions struct {
	test, format string
	force, yes   bool
	worker       workerOptions
}

func (a *app) initCmd() *cobra.Command {
	var o initOptions
	c := &cobra.Command{
		Use: "init", Short: "find the test command, try it, write .wfs/config.yaml",
		Long: `Init looks for the test commands of this project, asks before it runs them, shows what they said and how long they took,
and writes two files. .wfs/config.yaml has the commands as gates, for everybody who works here: commit it when you like.
.wfs/local.yaml has your agent and what it may run; it is yours alone, and git ignores it. Nothing else is changed.

A repository of several projects gets a gate for each, which runs when files of that project change, and once more when
the work is complete. Where a command cannot run, the next likely one is tried. Where tests cannot be told apart, or
nothing is found, the workflow is loop: work until every gate passes and every item is done, or you approve it.

The agent may edit files, run the tests and the usual tools of what was found (go, npm, cargo, …), and read; git push,
commit and reset --hard are refused to it. --allow replaces that list.

--yes takes every default without asking. Without a terminal and without --yes a command that you did not type is
proposed and not run.

It knows Go, Node (node --test, Vitest, Jest, Mocha, AVA, tape; npm, pnpm, yarn, bun; workspaces), Deno, Python (pytest,
unittest, Django; uv, Poetry), Rust, Maven, Gradle, sbt, Ruby (RSpec, Minitest, Rails), .NET, PHP (PHPUnit, Pest), Bats,
and "make test".`,
		Example: `  wfs init
  wfs init --yes
  wfs init --test none
  wfs init --test 'go test -json ./...' --format go-test-json
  wfs init --agent claude --allow tests --allow 'go vet'
  wfs init --test 'pytest --junitxml="$WFS_REPORT"' --format junit`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error { return a.init(c.Context(), o) },
	}
	c.Flags().StringVar(&o.test, "test", "", "the test `command`, instead of a proposal; none: there is none")
	c.Flags().StringVar(&o.format, "format", "", "what it reports: "+workflows.FormatNames())
	c.Flags().StringVar(&o.worker.agent, "agent", "", "who works here: a `name` (wfs agent list), a command, or none")
	c.Flags().StringArrayVar(&o.worker.allow, "allow", nil, "a `command` that the agent may run by itself, and no other; tests: the test command; none (may be repeated)")
	c.Flags().BoolVarP(&o.yes, "yes", "y", false, "run what is found, and take the first agent, without asking")
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
		return &session.Refusal{Code: session.RefuseUsage, Message: configPath + " exists already", Hint: "edit .wfs/config.yaml, or wfs init --force"}
	} else if err == nil && !info.Mode().IsRegular() {
		return &session.Refusal{Code: session.RefuseUsage, Message: configPath + " is no regular file, and is not replaced", Hint: "mv " + configPath + " " + configPath + ".old, then wfs init"}
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := a.noneDriven("wfs init"); err != nil { // it trusts what it writes
		return err
	}
	if err := a.hold("wfs init"); err != nil {
		return err
	}
	list, err := a.propose(o)
	if err != nil {
		return err
	}
	var agreed workflows.Command
	if o.test == "" || o.yes { // else nobody is asked whether it may run
		agreed = a.proposeSetup(list)
	}
	if err := a.mayTry(ctx, "wfs init", o, list, agreed); err != nil {
		return err
	}
	ignored, err := a.repo.Ignored(ctx)
	if err != nil {
		return err
	}
	found, failed, err := a.tryAll(ctx, list)
	if err != nil {
		return err
	}
	var gates []workflows.Gate
	for _, g := range found {
		gates = append(gates, g.Gate)
	}
	provide := a.proposeWorktree(ignored, gates)
	setup := provide.Setup
	if !o.yes && setup.Text() != agreed.Text() { // git does not ignore what it makes, or another gate was taken
		setup = workflows.Command{}
	}
	for i := range found {
		found[i].Clean = a.tryClean(ctx, found[i].Gate, found[i].base, setup)
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	agent, next, err := a.worker(ctx, o, list, found)
	if err != nil {
		return err
	}
	return a.writeConfig(ctx, file, o, provide, found, failed, agent, next)
}

// mayTry asks before anything runs that the person has not typed: the repository may be a stranger's. Filters of its own git
// configuration would run on every file that is looked at.
func (a *app) mayTry(ctx context.Context, command string, o initOptions, list [][]phases.Proposal,
	setup workflows.Command) error {
	filters, err := a.repo.Filters(ctx)
	if err != nil {
		return err
	}
	known, err := a.trustsFilters(filters)
	if err != nil {
		return err
	}
	var found []string
	if o.test == "" {
		for _, group := range list {
			found = append(found, group[0].Why+": "+group[0].Gate.Run.Text())
		}
		if !setup.IsZero() {
			found = append(found, "what installs its packages, in a directory of wfs's own: "+setup.Text())
		}
	}
	if !known {
		found = append(found, filters...)
	}
	if o.yes || len(found) == 0 {
		return a.trustFilters(filters)
	}
	for _, what := range found {
		a.note("found: %s", safetext.Line(what, 300))
	}
	if !a.env.StdinTTY || !a.env.StderrTTY || a.json {
		return &session.Refusal{Code: session.RefuseUntrusted,
			Message: command + " runs what it found here, and nobody has agreed to that", Hint: command + " --yes"}
	}
	answer, err := a.promptFor(ctx, plural(len(found), "Run it", "Run them")+" on the files here? [Y/n] ",
		command+" --yes", func(answer string) bool {
			return slices.Contains([]string{"", "y", "yes", "n", "no"}, strings.ToLower(answer))
		})
	if err != nil {
		return err
	}
	if strings.HasPrefix(strings.ToLower(answer), "n") {
		a.note("nothing was run, and nothing was written; %s --test 'COMMAND' takes a command of yours", command)
		return exitWith(exitDecision)
	}
	return a.trustFilters(filters)
}

// tryAll tries every project that was found. The first must show tests or pass; others that cannot run are named.
func (a *app) tryAll(ctx context.Context, list [][]phases.Proposal) (found []initGate, failed []string, err error) {
	for i, group := range list {
		p, base, err := a.try(ctx, group)
		var refused *session.Refusal
		switch {
		case err != nil && i > 0 && errors.As(err, &refused) && ctx.Err() == nil:
			failed = append(failed, group[0].Gate.Run.Text()+"   ("+safetext.Line(refused.Message, 200)+")")
			continue
		case err != nil:
			return nil, nil, err
		}
		if i > 0 && p.Gate.Format.PerTest() && base.Gates[0].Counts.Total() == 0 {
			failed = append(failed, p.Gate.Run.Text()+"   (there is no test yet)")
			continue
		}
		p.Gate.Timeout = gateTimeout(base.Gates[0].Millis)
		found = append(found, initGate{Gate: p.Gate, Result: base.Gates[0], base: base, needs: p.Needs, Beyond: p.Beyond})
	}
	return found, failed, ctx.Err()
}

// gateTimeout is five times as long as a gate took, in whole minutes, and never less than the default: a suite on a busy
// machine is no suite that hangs.
func gateTimeout(millis int64) time.Duration {
	five := 5 * time.Duration(millis) * time.Millisecond
	return max(workflows.DefaultGateTimeout, (five + time.Minute - 1).Truncate(time.Minute))
}

// try runs the proposals for one project, one after the other, until one shows tests. One that ran without any is taken
// when none does.
func (a *app) try(ctx context.Context, list []phases.Proposal) (phases.Proposal, session.Baseline, error) {
	var empty *phases.Proposal
	var emptyBase session.Baseline
	var first error
	for i, p := range list {
		if empty != nil && !p.Gate.Format.PerTest() {
			continue
		}
		a.note("running: %s", p.Gate.Run.Text())
		base, err := a.tryGate(ctx, p.Gate, workflows.Command{})
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
			if i+1 < len(list) {
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
	hint := "make it run here (is everything installed?), or wfs init --test 'COMMAND'; or wfs init --test none"
	if p.Install != "" {
		hint = p.Install + " && wfs init, or wfs init --test 'COMMAND'; or wfs init --test none"
	}
	return &session.Refusal{Code: session.RefuseBaseline, Message: err.Error(), Hint: hint}
}

// ignoreHint says what to do about files that a gate wrote: git ignores those that are new, but for lock files, and the others
// are committed.
func ignoreHint(changed *phases.ChangedTreeError) string {
	if len(changed.Edited) > 0 {
		return "commit what it makes of " + safetext.Line(changed.Edited[0], 100) + ", then wfs init"
	}
	var names, locks []string
	for _, p := range changed.New {
		list, name := &names, shellWord(builtBelow(p))
		if lockFile.MatchString(p) && builtBelow(p) == "/"+p {
			list, name = &locks, shellWord(p)
		}
		if len(*list) < 5 && !slices.Contains(*list, name) {
			*list = append(*list, name)
		}
	}
	commit := ""
	if len(locks) > 0 {
		commit = "git add " + strings.Join(locks, " ") + " && git commit -m \"" + filepath.Base(locks[0]) + "\" && "
	}
	switch {
	case len(names) > 0:
		return commit + "printf '%s\\n' " + strings.Join(names, " ") + " >> .gitignore && wfs init   (if the tests made that)"
	case len(locks) > 0:
		return commit + "wfs init"
	}
	return "ignore what it writes in .gitignore, then wfs init"
}

// lockFile matches files that pin dependencies: tools write them, and projects commit them.
var lockFile = regexp.MustCompile(`(^|/)(go\.sum|(package-lock|npm-shrinkwrap|packages\.lock)\.json|pnpm-lock\.yaml|bun\.lockb?|(Cargo|Gemfile|Pipfile|Podfile|composer|deno|mix|pdm|poetry|pubspec|uv|yarn)\.lock)$`)

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

// propose lists the projects that are here, and for each what may test it.
func (a *app) propose(o initOptions) ([][]phases.Proposal, error) {
	switch {
	case o.test == noAgent:
		return nil, nil
	case o.test == "":
		return phases.Projects(a.repo.Root(), os.ReadFile), nil
	}
	f := workflows.Format(o.format)
	switch {
	case f == "":
		f = phases.GuessFormat(o.test)
	case !slices.Contains(workflows.Formats(), f):
		return nil, &usageError{fmt.Sprintf("--format %q: it is one of %s", o.format, workflows.FormatNames()), ""}
	}
	g := workflows.Gate{Name: "tests", Run: workflows.Command{Shell: o.test}, Format: f, Where: workflows.Auto,
		Timeout: workflows.DefaultGateTimeout}
	return [][]phases.Proposal{{{Gate: g}}}, nil
}

// tryGate runs a gate on the work tree as it is.
func (a *app) tryGate(ctx context.Context, g workflows.Gate, setup workflows.Command) (session.Baseline, error) {
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
	b, _, err := a.eng.Works.Baseline(ctx, workflows.Plan{Baseline: []workflows.Gate{g}, Setup: setup}, snap.Tree, dir)
	return b, err
}

// proposeWorktree says what a new work tree of this project lacks, and its gates need.
func (a *app) proposeWorktree(ignored []string, gates []workflows.Gate) workflows.Worktree {
	return phases.ProposeWorktree(a.repo.Root(), ignored, gates, func(program string) bool {
		_, err := proc.LookPath(program, a.env.get("PATH"))
		return err == nil
	})
}

// proposeSetup is what installs packages here, before it is known which of the proposed gates can run.
func (a *app) proposeSetup(list [][]phases.Proposal) workflows.Command {
	var gates []workflows.Gate
	for _, group := range list {
		gates = append(gates, group[0].Gate)
	}
	return a.proposeWorktree([]string{"node_modules/", ".venv/", "venv/"}, gates).Setup
}

func (a *app) writeConfig(ctx context.Context, file string, o initOptions, provide workflows.Worktree, found []initGate,
	failed []string, agent workflows.Agent, newAgent string) error {
	proposal := workflows.Proposal{Workflow: "loop", Worktree: provide}
	for _, g := range found {
		if g.Gate.Format.PerTest() {
			proposal.Workflow = "tdd"
		}
		proposal.Gates = append(proposal.Gates, workflows.ProposedGate{Gate: g.Gate, Seen: seenText(g.Result)})
	}
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
	if err := durable.WriteFile(file, workflows.RenderConfig(proposal), 0o644); err != nil {
		return err
	}
	local, err := a.writeLocal(ctx, o, agent)
	if err != nil {
		return err
	}
	list, err := a.rules(ctx)
	if err != nil {
		return err
	}
	// What was typed here is trusted. Other files that lie below .wfs/ were not typed here.
	onlyOurs := !slices.ContainsFunc(list, func(f rulesFile) bool {
		return f.Path != configPath && (f.Path != localPath || local == "" && findRules(before, localPath) == nil)
	})
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
		j := initJSON{Version: jsonVersion, Config: configPath, Local: local, Workflow: proposal.Workflow, Failed: failed,
			Agent: agentName(&agent), Allow: agent.Allow, Next: next, Backup: backup}
		for i, g := range found {
			if i > 0 {
				j.More = append(j.More, g)
			} else {
				j.Gate, j.Result, j.Clean, j.Needs, j.Beyond = &g.Gate, &g.Result, g.Clean, g.needs, g.Beyond
			}
			j.Red, j.Flaky = append(j.Red, g.base.Red...), append(j.Flaky, g.base.Flaky...)
		}
		return a.answer(j)
	}
	for _, g := range found {
		a.sayTried(g)
	}
	for _, f := range failed {
		a.out("could not run, and judges nothing: %s", f)
	}
	a.out("wrote %s (how work is judged here; for the team: commit it when you like)", configPath)
	if backup != "" {
		a.out("as it was: %s", backup)
	}
	if local != "" {
		a.out("wrote %s (agent %s; yours alone, not committed)", local, agentName(&agent))
	}
	if agent.Card != nil {
		a.out("  %s: %s", agent.Use, agent.Card.Unattended)
		if len(agent.Allow) > 0 {
			a.out("  it may also run: %s", strings.Join(agent.Allow, ", "))
		}
	}
	for _, own := range [][2]string{{"copied", strings.Join(provide.Copy, " ")}, {"linked", strings.Join(provide.Link, " ")}, {"set up by", provide.Setup.Text()}} {
		if own[1] != "" {
			a.out("in work trees of sessions' own, %s: %s", own[0], own[1])
		}
	}
	switch {
	case len(found) == 0:
		a.out("no test command: the workflow is loop, and you approve the work yourself (wfs init --force --test 'COMMAND' names one)")
	case proposal.Workflow == "loop":
		a.out("this command does not tell tests apart: the workflow is loop, which repeats until it passes (tdd needs results by test)")
	}
	a.steps(next)
	return nil
}

// sayTried tells of a gate what it said.
func (a *app) sayTried(g initGate) {
	a.out("%s", baselineLine(g.Result))
	if len(g.base.Red) > 0 && g.Result.Counts.Total() > 0 {
		a.out("  failing now: %s", testNames(g.base.Red))
	}
	if len(g.base.Flaky) > 0 {
		a.out("  flaky: %s", testNames(g.base.Flaky))
	}
	a.sayClean(g.Clean)
	a.out("  gate %s: %s", g.Gate.Name, g.Gate.Run.Text())
	if len(g.Gate.Paths) > 0 {
		a.out("  runs when one of these changes, and when the work is complete: %s", strings.Join(g.Gate.Paths, " "))
	}
	if g.needs != "" {
		a.out("  %s", g.needs)
	}
	if len(g.Beyond) > 0 {
		a.out("  the project's test command also runs, and this gate does not: %s", safetext.Line(strings.Join(g.Beyond, ", "), 300))
		a.out("  to judge by that as well, add under gates: in %s   lint: {run: '%s'}", configPath, strings.ReplaceAll(safetext.Line(g.Beyond[0], 200), "'", "''"))
	}
}

// writeLocal writes who works here into the configuration of this clone alone, and returns the file's name. One that is
// there already stays, but for --force, which keeps a copy, and for an agent that was typed.
func (a *app) writeLocal(ctx context.Context, o initOptions, agent workflows.Agent) (string, error) {
	if agent.Card == nil && agent.Command.IsZero() {
		return "", nil
	}
	top, _, err := a.localTop(ctx)
	if err != nil {
		return "", err
	}
	file := filepath.Join(top, filepath.FromSlash(localPath))
	old, err := durable.ReadFile(file, maxSettings)
	switch {
	case err == nil && !o.force && o.worker.agent == "":
		a.note("%s is there already, and stays as it is", localPath)
		return "", nil
	case err == nil:
		copied, err := a.keepCopy("init", file, old)
		if err != nil {
			return "", err
		}
		a.note("%s as it was: %s", localPath, copied)
	case !errors.Is(err, fs.ErrNotExist):
		return "", err
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
		return "", err
	}
	if err := durable.WriteFile(file, workflows.RenderLocal(agent), 0o644); err != nil {
		return "", err
	}
	tracked, ignored, err := a.repo.Treats(ctx, localPath)
	if err == nil && !tracked && !ignored { // the .gitignore there is the user's, and does not name it
		_, _, err = a.repo.ExcludeLocally("/"+localPath, false)
	}
	return localPath, err
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

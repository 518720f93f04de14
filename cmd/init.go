package cmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/wfs-dev/wfs/cmd/internal/present"
	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/internal/safetext"
	"github.com/wfs-dev/wfs/phases"
	"github.com/wfs-dev/wfs/phases/detect"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
	"github.com/wfs-dev/wfs/workspace"
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
	Failed   []string            `json:"failed,omitempty"` // commands that were found, and could not run or fail already
	Agent    string              `json:"agent,omitempty"`
	Allow    []string            `json:"allow,omitempty"`
	Next     []string            `json:"next"`
	Backup   string              `json:"backup,omitempty"` // of the configuration that was replaced
}

// initGate is a gate that was tried.
type initGate struct {
	Gate   workflows.Gate     `json:"gate"`
	Result session.GateResult `json:"result"`
	Clean  *initClean         `json:"clean,omitempty"`

	base  session.Baseline
	needs string
}

// initOptions are the flags of `wfs init`.
type initOptions struct {
	test, format string
	force, yes   bool
	worker       workerOptions
	typed        bool // the agent was typed for one session: none is written

	say func(format string, args ...any) // results go there
}

func (a *app) initCmd() *cobra.Command {
	var o initOptions
	c := &cobra.Command{
		Use: "init", Short: "find the test command, try it, write .wfs/config.yaml",
		Long: `Init looks for the test commands of this project, asks before it runs them, shows the results, and
writes two files. .wfs/config.yaml has the commands as gates, for everybody who works here: commit it when you
like. .wfs/local.yaml has your agent and what it may run; it is yours alone, and git ignores it. Nothing else is
changed.

Passing tests run once, in a clean checkout if that shows all there is to know. The next wfs start uses the
result. What "npm test", "make test", tox or Composer's script runs besides the tests, such as a linter, becomes
a gate of its own, unless it fails already. In a repository of several projects each gets a gate, which runs
when its files change, and once more when the work is complete. If a command cannot run, the next likely one is
tried. If the results have no test names, or nothing is found, the workflow is loop: work until every gate
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
  wfs init --test 'go test -json ./...' --format go-test-json
  wfs init --agent claude --allow tests --allow 'go vet'
  wfs init --test 'pytest --junitxml="$WFS_REPORT"' --format junit`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error { return a.init(c.Context(), o) },
	}
	c.Flags().StringVar(&o.test, "test", "", "the test `command`, instead of a proposal, or none")
	c.Flags().StringVar(&o.format, "format", "", "what it reports: "+workflows.FormatNames())
	c.Flags().StringVar(&o.worker.agent, "agent", "", "the agent: a `name` (wfs agent list), a command, or none")
	c.Flags().StringArrayVar(&o.worker.allow, "allow", nil,
		"a `command` that the agent may run by itself, and no other; tests: the test command; none (may be repeated)")
	c.Flags().BoolVarP(&o.yes, "yes", "y", false, "run what is found, and take the first agent, without asking")
	c.Flags().BoolVar(&o.force, "force", false, "replace a configuration that exists; a copy of it is kept")
	return c
}

func (a *app) init(ctx context.Context, o initOptions) error {
	if err := a.fit(ctx); err != nil {
		return err
	}
	if err := a.Ready(ctx, true); err != nil {
		return err
	}
	file := filepath.Join(a.Repo.Root(), filepath.FromSlash(workspace.ConfigPath))
	if info, err := os.Lstat(file); err == nil && !o.force {
		return usage("edit .wfs/config.yaml, or wfs init --force", "%s exists already", workspace.ConfigPath)
	} else if err == nil && !info.Mode().IsRegular() {
		return usage("mv "+workspace.ConfigPath+" "+workspace.ConfigPath+".old, then wfs init",
			"%s is no regular file, and is not replaced", workspace.ConfigPath)
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	o.say = a.out
	j, err := a.configure(ctx, "wfs init", o)
	if err != nil {
		return err
	}
	if a.json {
		return a.answer(j)
	}
	a.env.Steps(j.Next)
	return nil
}

// configured writes the configuration, as wfs init does, for a first session in a repository that has none.
// Where nothing can be proposed, or nobody can be asked, the session is refused.
func (a *app) configured(ctx context.Context, o newOptions) error {
	list, err := a.Rules(ctx)
	if err != nil {
		return err
	}
	settings, err := a.Settings(list)
	if err != nil || list.Find(workspace.ConfigPath) != nil || len(settings.Config.Gates) > 0 ||
		len(detect.Projects(a.Repo.Root(), os.ReadFile)) == 0 {
		return err
	}
	if !o.yes && !a.asksHere() {
		return nil // refused with what to type
	}
	a.note("no %s yet; wfs init writes it:", workspace.ConfigPath)
	_, err = a.configure(ctx, "wfs new",
		initOptions{yes: o.yes, worker: workerOptions{agent: o.agent}, typed: o.agent != "", say: a.note})
	return err
}

// configure finds the test commands, tries them and writes the configuration, after a person has agreed to what runs.
func (a *app) configure(ctx context.Context, command string, o initOptions) (*initJSON, error) {
	if a.json {
		o.say = a.note
	}
	if err := a.NoneDriven(command); err != nil { // it trusts what it writes
		return nil, err
	}
	if err := a.Hold(command); err != nil {
		return nil, err
	}
	cards, err := a.Cards(nil)
	if err != nil {
		return nil, err
	}
	if err := a.knownAgent(ctx, o.worker.agent, append(cards.Names(), noAgent)); err != nil && !o.typed {
		return nil, err
	}
	list, err := a.propose(o)
	if err != nil {
		return nil, err
	}
	var agreed workflows.Command
	if o.test == "" || o.yes { // else there is no question about it
		agreed = a.proposeSetup(list)
	}
	if err := a.mayTry(ctx, command, o, list, agreed); err != nil {
		return nil, err
	}
	ignored, err := a.Repo.Ignored(ctx)
	if err != nil {
		return nil, err
	}
	setupFor := func(gates []workflows.Gate) (workflows.Worktree, workflows.Command) {
		provide := a.ProposeWorktree(ignored, gates)
		if !o.yes && provide.Setup.Text() != agreed.Text() { // git does not ignore what it makes, or another gate was taken
			return provide, workflows.Command{}
		}
		return provide, provide.Setup
	}
	_, setup := setupFor(firstGates(list))
	done := a.showProgress()
	found, failed, err := a.tryAll(ctx, list, setup)
	if err != nil {
		done()
		return nil, err
	}
	var gates []workflows.Gate
	for _, g := range found {
		gates = append(gates, g.Gate)
	}
	provide, setup := setupFor(gates)
	for i := range found {
		found[i].Clean = a.tryClean(ctx, found[i], setup)
	}
	done()
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	for _, g := range found {
		a.sayTried(o.say, g)
	}
	for _, f := range failed {
		o.say("  %-8s %s", "left out", f)
	}
	agent, newAgent, err := a.worker(ctx, o, list, found)
	if err != nil {
		return nil, err
	}
	return a.writeConfig(ctx, o, provide, found, failed, agent, newAgent)
}

// mayTry shows what would run, and asks once: the repository may be a stranger's. What the person has typed is
// not asked about. Filters of its own git configuration would run on every file that is looked at.
func (a *app) mayTry(ctx context.Context, command string, o initOptions, list [][]detect.Proposal,
	setup workflows.Command) error {
	filters, err := a.Repo.Filters(ctx)
	if err != nil {
		return err
	}
	known, err := trustsFilters(a.Workspace, filters)
	if err != nil {
		return err
	}
	var found [][2]string
	if o.test == "" {
		for _, group := range list {
			found = append(found, [2]string{group[0].Gate.Name, group[0].Gate.Run.Text() + "   (" + group[0].Why + ")"})
			for _, b := range group[0].Beyond {
				found = append(found, [2]string{b.Name, b.Run.Text()})
			}
		}
		if !setup.IsZero() {
			found = append(found, [2]string{"set-up", setup.Text() + "   (in a directory of wfs's own)"})
		}
	}
	if !known {
		for _, f := range filters {
			found = append(found, [2]string{"filter", f})
		}
	}
	if len(found) == 0 {
		return nil
	}
	question := "Run these here? [Y/n] "
	single := len(found) == 1 && len(list) == 1 && o.test == "" && a.asksHere() && !o.yes
	if single {
		question = fmt.Sprintf("Found %s. Run `%s` here? [Y/n] ", safetext.Line(list[0][0].Why, 100),
			safetext.Line(list[0][0].Gate.Run.Text(), 300))
	}
	if !single {
		for _, what := range found {
			a.note("  %-8s %s", what[0], safetext.Line(what[1], 300))
		}
	}
	if o.yes {
		return trustFilters(a.Workspace, filters)
	}
	if !a.asksHere() {
		return session.Refuse(session.RefuseUntrusted, command+" --yes",
			"running commands of this repository needs your agreement")
	}
	answer, err := a.promptFor(ctx, question, command+" --yes", "", "y", "yes", "n", "no")
	if err != nil {
		return err
	}
	if strings.HasPrefix(answer, "n") {
		a.note("nothing was run, and nothing was written; to use another command: wfs init --test 'COMMAND'")
		return exitWith(exitDecision)
	}
	return trustFilters(a.Workspace, filters)
}

// tryAll tries every project that was found, and what its test command runs beyond the tests. The first must
// show tests or pass; others that cannot run are named, and so is what fails already and would fail every
// attempt.
func (a *app) tryAll(ctx context.Context, list [][]detect.Proposal, setup workflows.Command) (found []initGate,
	failed []string, err error) {
	for i, group := range list {
		p, base, err := a.try(ctx, group, setup)
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
		found = append(found, tried(p.Gate, base, p.Needs))
		for _, g := range p.Beyond {
			clean := g // where reports of coverage and the like stay
			clean.Where = workflows.Clean
			base, err := a.tryGate(ctx, clean, setup)
			if err == nil && base.Gates[0].Exit == 0 {
				g = clean
			} else if ctx.Err() == nil {
				base, err = a.tryGate(ctx, g, setup)
			}
			switch {
			case ctx.Err() != nil:
				return nil, nil, ctx.Err()
			case err != nil:
				failed = append(failed, g.Run.Text()+"   ("+safetext.Line(err.Error(), 200)+")")
			case base.Gates[0].Exit != 0:
				failed = append(failed, fmt.Sprintf("%s   (already failing: exit code %d)", g.Run.Text(), base.Gates[0].Exit))
			default:
				found = append(found, tried(g, base, ""))
			}
		}
	}
	return found, failed, ctx.Err()
}

func tried(g workflows.Gate, base session.Baseline, needs string) initGate {
	g.Timeout = gateTimeout(base.Gates[0].Millis)
	return initGate{Gate: g, Result: base.Gates[0], base: base, needs: needs}
}

// gateTimeout is five times as long as a gate took, in whole minutes, and never less than the default: a suite
// on a busy machine is no suite that hangs.
func gateTimeout(millis int64) time.Duration {
	five := 5 * time.Duration(millis) * time.Millisecond
	return max(workflows.DefaultGateTimeout, (five + time.Minute - 1).Truncate(time.Minute))
}

// try runs the proposals for one project, one after the other, until one shows tests. One that ran without any is taken
// when none does.
func (a *app) try(ctx context.Context, list []detect.Proposal, setup workflows.Command) (detect.Proposal,
	session.Baseline, error) {
	var empty *detect.Proposal
	var emptyBase session.Baseline
	var first error
	for i, p := range list {
		if empty != nil && !p.Gate.Format.PerTest() {
			continue
		}
		base, err := a.tryGate(ctx, p.Gate, setup)
		switch {
		case ctx.Err() != nil:
			return p, base, ctx.Err()
		case errors.As(err, new(*phases.ChangedTreeError)):
			return p, base, session.Refuse(session.RefuseBaseline, changedHint, "%v", err)
		case err != nil:
			if first == nil {
				first = cannotTry(p, err)
			}
			if i+1 < len(list) {
				a.Engine.Works.(*works).say("could not run " + p.Gate.Run.Text() + ": " + safetext.Line(err.Error(), 200))
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
	return detect.Proposal{}, session.Baseline{}, first
}

// changedHint is about files that a gate wrote.
const changedHint = "add what the tests make to .gitignore, and commit lock files, then wfs init"

func cannotTry(p detect.Proposal, err error) error {
	hint := "make it run here (is everything installed?), or wfs init --test 'COMMAND'; or wfs init --test none"
	if p.Install != "" {
		hint = p.Install + " && wfs init, or wfs init --test 'COMMAND'; or wfs init --test none"
	}
	return session.Refuse(session.RefuseBaseline, hint, "%v", err)
}

// propose lists the projects that are here, and for each what may test it.
func (a *app) propose(o initOptions) ([][]detect.Proposal, error) {
	switch {
	case o.test == noAgent:
		return nil, nil
	case o.test == "":
		return detect.Projects(a.Repo.Root(), os.ReadFile), nil
	}
	f := workflows.Format(o.format)
	switch {
	case f == "":
		f = detect.GuessFormat(o.test)
	case !slices.Contains(workflows.Formats(), f):
		return nil, usage("", "--format %q: it is one of %s", o.format, workflows.FormatNames())
	}
	g := workflows.Gate{Name: "tests", Run: workflows.Command{Shell: o.test}, Format: f, Where: workflows.Auto,
		Timeout: workflows.DefaultGateTimeout}
	return [][]detect.Proposal{{{Gate: g}}}, nil
}

// tryGate runs a gate on the work tree as it is.
func (a *app) tryGate(ctx context.Context, g workflows.Gate, setup workflows.Command) (session.Baseline, error) {
	file, err := a.GuardFile(nil)
	if err != nil {
		return session.Baseline{}, err
	}
	snap, err := a.Repo.Snapshot(ctx, file)
	if err != nil {
		return session.Baseline{}, err
	}
	dir := filepath.Join(a.Repo.StateDir(), "init", "runs", "try")
	if err := durable.MkdirAll(dir); err != nil {
		return session.Baseline{}, err
	}
	defer os.RemoveAll(filepath.Join(a.Repo.StateDir(), "init"))
	b, _, err := a.Engine.Works.Baseline(ctx, workflows.Plan{Baseline: []workflows.Gate{g}, Setup: setup}, snap.Tree, dir)
	return b, err
}

// proposeSetup is what installs packages here, before it is known which of the proposed gates can run.
func (a *app) proposeSetup(list [][]detect.Proposal) workflows.Command {
	return a.ProposeWorktree([]string{"node_modules/", ".venv/", "venv/"}, firstGates(list)).Setup
}

func firstGates(list [][]detect.Proposal) (gates []workflows.Gate) {
	for _, group := range list {
		gates = append(gates, group[0].Gate)
	}
	return gates
}

func (a *app) writeConfig(ctx context.Context, o initOptions, provide workflows.Worktree, found []initGate,
	failed []string,
	agent workflows.Agent, newAgent string) (*initJSON, error) {
	file := filepath.Join(a.Repo.Root(), filepath.FromSlash(workspace.ConfigPath))
	var names []string
	proposal := workflows.Proposal{Workflow: "loop", Worktree: provide}
	for _, g := range found {
		if g.Gate.Format.PerTest() {
			proposal.Workflow = "tdd"
		}
		names = append(names, g.Gate.Name)
		proposal.Gates = append(proposal.Gates, workflows.ProposedGate{Gate: g.Gate, Seen: present.BaseText(g.Result)})
	}
	before, err := a.Rules(ctx)
	if err != nil {
		return nil, err
	}
	known, err := a.Trusted(before.Digest())
	if err != nil {
		return nil, err
	}
	backup, err := a.replaceFile(file, workflows.RenderConfig(proposal))
	if err != nil {
		return nil, err
	}
	if err := ignoreLocal(filepath.Dir(file)); err != nil {
		return nil, err
	}
	local, err := a.writeLocal(ctx, o, agent)
	if err != nil {
		return nil, err
	}
	list, err := a.Rules(ctx)
	if err != nil {
		return nil, err
	}
	// What was typed here is trusted. Other files that lie below .wfs/ were not typed here.
	onlyOurs := !slices.ContainsFunc(list, func(f workspace.RulesFile) bool {
		return f.Path != workspace.ConfigPath &&
			(f.Path != workspace.LocalPath || local == "" && before.Find(workspace.LocalPath) == nil)
	})
	if known || onlyOurs {
		if err := a.TrustNow(list.Digest(), "wfs init"); err != nil {
			return nil, err
		}
	}
	next := []string{`wfs start "what you want to build"` + newAgent}
	if !known && !onlyOurs {
		next = slices.Insert(next, 0, "wfs trust")
	}
	j := &initJSON{Version: jsonVersion, Config: workspace.ConfigPath, Local: local, Workflow: proposal.Workflow,
		Failed: failed,
		Agent:  workspace.AgentName(&agent), Allow: agent.Allow, Next: next, Backup: backup}
	for i, g := range found {
		if i > 0 {
			j.More = append(j.More, g)
		} else {
			j.Gate, j.Result, j.Clean, j.Needs = &g.Gate, &g.Result, g.Clean, g.needs
		}
		j.Red, j.Flaky = append(j.Red, g.base.Red...), append(j.Flaky, g.base.Flaky...)
	}
	if agent.Card != nil {
		o.say("  %s %s", agent.Use, agent.Card.Unattended)
		if len(agent.Allow) > 0 {
			o.say("  may run %s", strings.Join(agent.Allow, ", "))
		}
	}
	for _, own := range [][2]string{{"copied", strings.Join(provide.Copy, " ")},
		{"linked", strings.Join(provide.Link, " ")}, {"set up by", provide.Setup.Text()}} {
		if own[1] != "" {
			o.say("in a session's own work tree, %s: %s", own[0], own[1])
		}
	}
	switch {
	case len(found) == 0:
		o.say("no test command: you approve the work yourself; to configure one: wfs init --force --test 'COMMAND'")
	case proposal.Workflow == "loop":
		o.say("the results have no test names: the workflow is loop, which repeats until the command passes")
	}
	o.say("wrote %s (%s; for the team: commit it when you like)", workspace.ConfigPath,
		cmp.Or(strings.Join(names, ", "), "no test command"))
	if backup != "" {
		o.say("as it was: %s", backup)
	}
	if local != "" {
		o.say("wrote %s  (%s; yours alone)", workspace.LocalPath, workspace.AgentName(&agent))
	}
	return j, nil
}

// sayTried prints what a gate said.
func (a *app) sayTried(say func(string, ...any), g initGate) {
	what := present.BaseText(g.Result)
	switch {
	case g.Result.Where == string(workflows.Clean):
		what += ", in a clean checkout"
	case g.Clean != nil && g.Clean.Proves:
		what += ", also in a clean checkout"
	}
	took := fmt.Sprintf("%.1fs", float64(g.Result.Millis)/1000)
	if g.Result.Cached {
		took = "(cached)"
	}
	say("  %-8s %-46s %8s", g.Gate.Name, what, took)
	if len(g.base.Red) > 0 && g.Result.Counts.Total() > 0 {
		say("  already failing, and ignored: %s", safetext.Some(g.base.Red, 5, ", "))
	}
	if len(g.base.Flaky) > 0 {
		say("  flaky, and ignored: %s", safetext.Some(g.base.Flaky, 5, ", "))
	}
	sayClean(say, g.Clean)
	if len(g.Gate.Paths) > 0 {
		say("  runs when one of these changes, and when the work is complete: %s", strings.Join(g.Gate.Paths, " "))
	}
	if g.needs != "" {
		say("  %s", g.needs)
	}
}

// writeLocal writes who works here into the configuration of this clone alone, and returns the file's name. One that is
// there already stays, but for --force, which keeps a copy, and for an agent that was typed.
func (a *app) writeLocal(ctx context.Context, o initOptions, agent workflows.Agent) (string, error) {
	if agent.Card == nil && agent.Command.IsZero() {
		return "", nil
	}
	top, _, err := a.LocalTop(ctx)
	if err != nil {
		return "", err
	}
	file := filepath.Join(top, filepath.FromSlash(workspace.LocalPath))
	if _, err := os.Lstat(file); err == nil && !o.force && o.worker.agent == "" {
		a.note("%s is there already, and stays as it is", workspace.LocalPath)
		return "", nil
	}
	copied, err := a.replaceFile(file, workflows.RenderLocal(agent))
	if err != nil {
		return "", err
	}
	if copied != "" {
		a.note("%s as it was: %s", workspace.LocalPath, copied)
	}
	tracked, ignored, err := a.Repo.Treats(ctx, workspace.LocalPath)
	if err == nil && !tracked && !ignored { // the .gitignore there is the user's, and does not name it
		_, _, err = a.Repo.ExcludeLocally("/"+workspace.LocalPath, false)
	}
	return workspace.LocalPath, err
}

// replaceFile writes a file, and returns where a copy of the one before is kept, "" when there was none.
func (a *app) replaceFile(file string, text []byte) (copied string, err error) {
	old, err := durable.ReadFile(file, maxSettings)
	if err == nil {
		copied, err = keepCopy(a.Env, "init", file, old)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
		return "", err
	}
	return copied, durable.WriteFile(file, text, 0o644)
}

// ignoreLocal keeps .wfs/local.yaml out of commits, with a .gitignore of its own. One that is there already is
// the user's.
func ignoreLocal(dir string) error {
	file := filepath.Join(dir, ".gitignore")
	if _, err := os.Lstat(file); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return durable.WriteFile(file, []byte("# Settings of one clone alone: wfs config --help\n/local.yaml\n"), 0o644)
}

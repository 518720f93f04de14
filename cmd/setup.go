package cmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/internal/safetext"
	"github.com/wfs-dev/wfs/phases"
	"github.com/wfs-dev/wfs/phases/detect"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
	"github.com/wfs-dev/wfs/workspace"
)

// setup finds the test commands of a project, tries them, and writes the configuration.
type setup struct {
	*app
	o       initOptions
	command string // wfs init or wfs new
	say     func(format string, args ...any)

	list    [][]detect.Proposal // proposals by project, the likeliest first
	agreed  workflows.Command   // set-up command that the user has agreed to
	provide workflows.Worktree  // settings for new work trees
	setup   workflows.Command   // set-up command that runs now; zero if the user has not agreed
	found   []initGate
	failed  []string // commands that were left out, with the reason
}

// configured writes a configuration, as wfs init does, before the first session in a repository that has none. It does
// nothing if it finds no test command, or if there is no terminal on which it could ask. Creating the session then
// fails later, with a hint.
func (n *newborn) configured(ctx context.Context) error {
	list, err := n.Rules(ctx)
	if err != nil {
		return err
	}
	settings, err := n.Settings(list)
	if err != nil || list.Find(workspace.ConfigPath) != nil || len(settings.Config.Gates) > 0 ||
		len(n.Projects()) == 0 {
		return err
	}
	if !n.o.yes && !n.asksHere() {
		return nil // fails later, with a hint
	}
	n.note("no %s yet; wfs init writes it:", workspace.ConfigPath)
	_, err = (&setup{app: n.app, command: "wfs new", say: n.note,
		o: initOptions{yes: n.o.yes, agent: n.o.agent, typed: n.o.agent != "",
			timeout: workflows.DefaultGateTimeout}}).configure(ctx)
	return err
}

// configure tries the test commands that the user agrees to, and writes the configuration.
func (a *setup) configure(ctx context.Context) (*initJSON, error) {
	if err := a.NoneDriven(a.command); err != nil { // it will trust the files that it writes
		return nil, err
	}
	if err := a.Hold(a.command); err != nil {
		return nil, err
	}
	cards, err := a.Cards(nil)
	if err != nil {
		return nil, err
	}
	if !a.o.typed {
		if err := a.knownAgent(ctx, a.o.agent, append(cards.Names(), noAgent)); err != nil {
			return nil, err
		}
	}
	if err := a.propose(); err != nil {
		return nil, err
	}
	if a.o.test == "" || a.o.yes { // else wfs does not ask about the set-up, and must not run it
		a.agreed = a.proposeSetup(ctx)
	}
	if err := a.mayTry(ctx); err != nil {
		return nil, err
	}
	if err := a.tryAll(ctx); err != nil {
		return nil, err
	}
	for _, g := range a.found {
		a.sayTried(ctx, g)
	}
	for _, f := range a.failed {
		a.say("  %-8s %s", "left out", f)
	}
	agent, next, err := a.worker(ctx)
	if err != nil {
		return nil, err
	}
	return a.write(ctx, agent, next)
}

// propose lists the projects in the repository, each with its possible test commands.
func (a *setup) propose() error {
	switch a.o.test {
	case noAgent:
		return nil
	case "":
		a.list = a.Projects()
		return nil
	}
	f := workflows.Format(a.o.format)
	switch {
	case f == "":
		f = detect.GuessFormat(a.o.test)
	case !slices.Contains(workflows.Formats(), f):
		return usage("", "--format %q: it is one of %s", a.o.format, workflows.FormatNames())
	}
	g := workflows.Gate{Name: "tests", Run: workflows.Command{Shell: a.o.test}, Format: f, Where: workflows.Auto,
		Timeout: workflows.DefaultGateTimeout}
	a.list = [][]detect.Proposal{{{Gate: g}}}
	return nil
}

// proposeSetup returns the set-up command, which installs packages in new work trees. It is called before the proposed
// gates were tried, so it assumes that the first proposal for each project works.
func (a *setup) proposeSetup(ctx context.Context) workflows.Command {
	return a.ProposeWorktree(ctx, []string{"node_modules/", ".venv/", "venv/"}, a.firstGates()).Setup
}

func (a *setup) firstGates() (gates []workflows.Gate) {
	for _, group := range a.list {
		gates = append(gates, group[0].Gate)
	}
	return gates
}

// mayTry shows the commands that would run, and asks the user once whether to run them, because the repository may come
// from a stranger. It does not ask about a test command that the user has typed. It does ask about filters in the
// repository's own git configuration, because git would run them on every file that wfs reads.
func (a *setup) mayTry(ctx context.Context) error {
	filters, err := a.Repo.Filters(ctx)
	if err != nil {
		return err
	}
	known, err := trustsFilters(a.Workspace, filters)
	if err != nil {
		return err
	}
	runs := a.wouldRun()
	question := "Run these here? [Y/n] "
	if single := len(runs) == 1 && len(a.list) == 1 && known; single && a.asksHere() && !a.o.yes {
		p := a.list[0][0]
		question = fmt.Sprintf("Found %s. Run `%s` here? [Y/n] ", safetext.Line(p.Why, 100),
			safetext.Line(p.Gate.Run.Text(), 300))
		runs = nil
	} else if len(runs) == 0 && known {
		return nil
	}
	for _, r := range runs {
		a.note("  %-8s %s", r[0], safetext.Line(r[1], 300))
	}
	if !known {
		for _, f := range filters {
			a.note("  %-8s %s", "filter", safetext.Line(f, 300))
		}
	}
	if a.o.yes {
		return trustFilters(a.Workspace, filters)
	}
	if !a.asksHere() {
		return session.Refuse(session.RefuseUntrusted, a.command+" --yes",
			"running commands of this repository needs your agreement")
	}
	answer, err := a.promptFor(ctx, question, a.command+" --yes", "", "y", "yes", "n", "no")
	if err != nil {
		return err
	}
	if strings.HasPrefix(answer, "n") {
		a.note("nothing was run, and nothing was written; to use another command: wfs init --test 'COMMAND'")
		return exitWith(exitDecision)
	}
	return trustFilters(a.Workspace, filters)
}

// wouldRun lists the commands that would run although the user has not typed them. Each entry is a name and a command.
func (a *setup) wouldRun() (runs [][2]string) {
	if a.o.test != "" {
		return nil
	}
	for _, group := range a.list {
		p := group[0]
		runs = append(runs, [2]string{p.Gate.Name, p.Gate.Run.Text() + "   (" + p.Why + ")"})
		for _, b := range p.Beyond {
			runs = append(runs, [2]string{b.Name, b.Run.Text()})
		}
	}
	if !a.agreed.IsZero() {
		runs = append(runs, [2]string{"set-up", a.agreed.Text() + "   (in a directory of wfs's own)"})
	}
	return runs
}

// tryAll tries the test command of every project, and the commands that it runs besides the tests. It fails if the
// first project has no working test command. It leaves out other projects without one, and reports them.
func (a *setup) tryAll(ctx context.Context) error {
	ignored, err := a.Repo.Ignored(ctx)
	if err != nil {
		return err
	}
	done := a.showProgress()
	defer done()
	a.provideFor(ctx, ignored, a.firstGates())
	for i, group := range a.list {
		if err := a.tryGroup(ctx, group, i > 0); err != nil {
			return err
		}
	}
	var gates []workflows.Gate
	for _, g := range a.found {
		gates = append(gates, g.Gate)
	}
	a.provideFor(ctx, ignored, gates)
	for i := range a.found {
		a.found[i].Clean = a.tryClean(ctx, a.found[i])
		a.found[i].Unused = a.tryUnused(ctx, a.found[i])
	}
	return ctx.Err()
}

// tryGroup finds a test command that works for one project. If none works, it fails for the first project; a `further`
// project is only left out.
func (a *setup) tryGroup(ctx context.Context, group []detect.Proposal, further bool) error {
	p, base, err := a.try(ctx, group)
	refused, is := errors.AsType[*session.Refusal](err)
	switch {
	case is && further && ctx.Err() == nil:
		a.leaveOut(group[0].Gate, safetext.Line(refused.Message, 200))
		return nil
	case err != nil:
		return err
	case further && p.Gate.Format.PerTest() && base.Gates[0].Counts.Total() == 0:
		a.leaveOut(p.Gate, "there is no test yet")
		return nil
	}
	a.found = append(a.found, tried(p.Gate, base, p.Needs, a.o.timeout))
	for _, g := range p.Beyond {
		if err := a.tryBeyond(ctx, g); err != nil {
			return err
		}
	}
	return nil
}

// provideFor determines the settings of new work trees for these gates. If the set-up command differs from the one that
// the user agreed to, it is written but does not run now. This happens if git does not ignore its output, or if another
// gate was chosen.
func (a *setup) provideFor(ctx context.Context, ignored []string, gates []workflows.Gate) {
	a.provide = a.ProposeWorktree(ctx, ignored, gates)
	if a.setup = a.provide.Setup; !a.o.yes && a.setup.Text() != a.agreed.Text() {
		a.setup = workflows.Command{}
	}
}

func (a *setup) leaveOut(g workflows.Gate, why string) {
	a.failed = append(a.failed, g.Run.Text()+"   ("+why+")")
}

// tryBeyond tries a command that the test command runs besides the tests, such as a linter. It first tries it in a
// clean checkout, so that files such as coverage reports do not end up in the work tree, and then in the work tree. It
// leaves out a command that fails already, because that would make every attempt fail.
func (a *setup) tryBeyond(ctx context.Context, g workflows.Gate) error {
	clean := g
	clean.Where = workflows.Clean
	base, err := a.tryGate(ctx, clean)
	if err == nil && base.Gates[0].Exit == 0 {
		g = clean
	} else if ctx.Err() == nil && !errors.As(err, new(*phases.TimeoutError)) {
		base, err = a.tryGate(ctx, g)
	}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		a.leaveOut(g, safetext.Line(err.Error(), 200))
	case base.Gates[0].Exit != 0:
		a.leaveOut(g, fmt.Sprintf("already failing: exit code %d", base.Gates[0].Exit))
	default:
		a.found = append(a.found, tried(g, base, "", a.o.timeout))
	}
	return nil
}

func tried(g workflows.Gate, base session.Baseline, needs string, timeout time.Duration) initGate {
	g.Timeout = max(timeout, gateTimeout(base.Gates[0].Millis))
	return initGate{Gate: g, Result: base.Gates[0], base: base, needs: needs}
}

// gateTimeout returns the time limit of a gate that took `millis`: five times as long, in whole minutes, and at least
// the default. The limit is generous so that a slow machine does not make a test suite look hung.
func gateTimeout(millis int64) time.Duration {
	five := 5 * time.Duration(millis) * time.Millisecond
	return max(workflows.DefaultGateTimeout, (five + time.Minute - 1).Truncate(time.Minute))
}

// try runs the proposals for one project in order, and returns the first one that works. A proposal that reports tests
// by name but has found no test is returned only if no other such proposal works.
func (a *setup) try(ctx context.Context, list []detect.Proposal) (detect.Proposal,
	session.Baseline, error) {
	var empty *detect.Proposal
	var emptyBase session.Baseline
	var first error
	for i, p := range list {
		if empty != nil && !p.Gate.Format.PerTest() {
			continue
		}
		base, err := a.tryGate(ctx, p.Gate)
		switch {
		case ctx.Err() != nil:
			return p, base, ctx.Err()
		case errors.As(err, new(*phases.ChangedTreeError)):
			return p, base, session.Refuse(session.RefuseBaseline, changedHint, "%v", err)
		case errors.As(err, new(*phases.TimeoutError)):
			return p, base, session.Refuse(session.RefuseBaseline,
				fmt.Sprintf("wfs init --timeout %dm", (4*a.o.timeout+time.Minute-1)/time.Minute), "%v", err)
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

// changedHint is the hint for the error that a gate changed files.
const changedHint = "add what the tests make to .gitignore, and commit lock files, then wfs init"

func cannotTry(p detect.Proposal, err error) error {
	hint := "make it run here (is everything installed?), or wfs init --test 'COMMAND'; or wfs init --test none"
	if p.Install != "" {
		hint = p.Install + " && wfs init, or wfs init --test 'COMMAND'; or wfs init --test none"
	}
	return session.Refuse(session.RefuseBaseline, hint, "%v", err)
}

// tryGate runs a gate on the files of the work tree, as they are now.
func (a *setup) tryGate(ctx context.Context, g workflows.Gate) (b session.Baseline, err error) {
	g.Timeout = a.o.timeout
	err = a.withFiles(ctx, func(tree session.Tree, dir string) (err error) {
		b, _, err = a.Engine.Works.Baseline(ctx, workflows.Plan{Baseline: []workflows.Gate{g}, Setup: a.setup}, tree, dir)
		return err
	})
	return b, err
}

// withFiles calls f with the files of the work tree, as they are now, and a temporary directory for runs.
func (a *setup) withFiles(ctx context.Context, f func(tree session.Tree, dir string) error) error {
	file, err := a.GuardFile(nil)
	if err != nil {
		return err
	}
	snap, err := a.Repo.Snapshot(ctx, file)
	if err != nil {
		return err
	}
	dir := filepath.Join(a.Repo.StateDir(), "init", "runs", "try")
	if err := durable.MkdirAll(dir); err != nil {
		return err
	}
	defer os.RemoveAll(filepath.Join(a.Repo.StateDir(), "init"))
	return f(snap.Tree, dir)
}

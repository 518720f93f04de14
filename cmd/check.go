package cmd

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/phases/check"

	"github.com/spf13/cobra"

	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/internal/safetext"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
	"github.com/wfs-dev/wfs/workspace"
)

// checkedJSON is the JSON output of wfs check.
type checkedJSON struct {
	Version int            `json:"version"`
	Result  string         `json:"result"` // nothing_found, found or not_judged
	Base    session.Commit `json:"base"`
	Head    session.Commit `json:"head"`
	check.Report
}

// Values of checkedJSON.Result.
const (
	checkNothing = "nothing_found"
	checkFound   = "found"
	checkNot     = "not_judged"
)

// checkOptions are the flags of `wfs check`.
type checkOptions struct {
	test, format string
	yes          bool
}

type checkVerb struct {
	*app
	o checkOptions
}

func (a *checkVerb) command() *cobra.Command {
	c := &cobra.Command{
		Use: "check [COMMIT | BASE..HEAD]", Short: "check how good the tests of a branch or pull request are",
		Long: `Check judges commits that wfs did not make: it runs the tests of a change on variants of the project,
in a clean checkout, and finds out

  - do the new and changed tests fail without the code? Its tests run on the code of the base.
  - can they fail at all, and do they need the code? They run with other expected values, and with
    the functions that were changed failing.
  - were existing tests weakened? The tests of the base run on the code of the change, and it
    compares those that fail with their new version.

COMMIT is that commit against its first parent; BASE...HEAD begins at the common ancestor. Without any: all
commits of HEAD since it left its upstream or the default branch.

It exits 0 without findings; 4 with findings, each with file, test, experiment and result; 1 when it could not
judge anything. Tests that already fail on the base are ignored. Hints are listed, and are not findings. No
session is needed or created; refs, HEAD, index and files stay as they are. Packages that git ignores
(node_modules, …) come from this work tree.

The gates are those of .wfs/config.yaml here, which must be trusted; else --test; else what wfs init would
propose. They run the code of the commits: check nothing that you would not run.`,
		Example: `  wfs check
  wfs check HEAD
  wfs check origin/main..feature
  wfs check --test 'go test -json ./...' --json
  wfs check "origin/$BASE_REF...HEAD" --yes   # in CI; fetch the history first`,
		Args: upTo(1),
		RunE: with(a.run),
	}
	c.Flags().StringVar(&a.o.test, "test", "", "the test `command`, instead of the gates of the configuration")
	c.Flags().StringVar(&a.o.format, "format", "", "what it reports: "+workflows.FormatNames())
	c.Flags().BoolVarP(&a.o.yes, "yes", "y", false, "run what is configured or found here without asking")
	return c
}

func (a *checkVerb) run(ctx context.Context, args []string) error {
	if err := a.Suits(ctx); err != nil {
		return err
	}
	if err := a.Ready(ctx, true); err != nil {
		return err
	}
	j := checkedJSON{Version: jsonVersion, Result: checkNothing}
	var err error
	if j.Base, j.Head, err = a.commits(ctx, first(args)); err != nil {
		return err
	}
	r := check.Request{}
	if r.Base, err = a.Repo.TreeOf(ctx, j.Base); err != nil {
		return err
	}
	if r.Head, err = a.Repo.TreeOf(ctx, j.Head); err != nil {
		return err
	}
	plan, groups, err := a.gates(ctx)
	if err != nil {
		return err
	}
	if err := a.Hold("wfs check"); err != nil {
		return err
	}
	dir := filepath.Join(a.Repo.StateDir(), "check", "runs", "try")
	if err := durable.MkdirAll(dir); err != nil {
		return err
	}
	defer os.RemoveAll(filepath.Join(a.Repo.StateDir(), "check"))
	a.note("%s..%s", short(j.Base), short(j.Head))
	r.RunDir = dir
	if j.Report, err = a.try(ctx, r, plan, groups); err != nil {
		return err
	}
	j.Result = checkResult(j.Report)
	return a.say(j)
}

func short(c session.Commit) string { return string(c[:min(len(c), 10)]) }

// try checks the commits with the gates of each project. A group has several proposals for one project: try uses the
// first of them that can judge.
func (a *checkVerb) try(ctx context.Context, r check.Request, plan workflows.Plan,
	groups [][]workflows.Gate) (check.Report, error) {
	defer a.rooms.Leave()
	w := &works{app: a.app, report: func(line string) { a.note("    %s", line) }}
	var all check.Report
	for i, group := range groups {
		for n, g := range group {
			r.Plan = plan
			r.Plan.Baseline = []workflows.Gate{g}
			said, err := check.Run(ctx, &w.judge(ctx, plan, r.RunDir, r.Head, false).Bench, r)
			if err != nil {
				return all, err
			}
			last := n == len(group)-1
			if !last && len(said.Gates) == 1 && said.Gates[0].CouldNot != "" {
				a.note("gate %s, %s: could not judge: %s", g.Name, g.Run.Text(), said.Gates[0].CouldNot)
				continue
			}
			if i == 0 {
				all = said
			} else {
				all.Gates = append(all.Gates, said.Gates...)
				for _, says := range said.NotAsked {
					if !slices.Contains(all.NotAsked, says) {
						all.NotAsked = append(all.NotAsked, says)
					}
				}
			}
			break
		}
	}
	return all, nil
}

// checkResult sums up a check: found, nothing found, or not judged because no gate was able to judge.
func checkResult(c check.Report) string {
	judged := len(c.Gates) == 0
	for _, g := range c.Gates {
		if len(g.Findings) > 0 {
			return checkFound
		}
		judged = judged || g.CouldNot == ""
	}
	if !judged {
		return checkNot
	}
	return checkNothing
}

// gates returns the gates to run, grouped by project. It also returns a plan with the environment and set-up that the
// gates need.
func (a *checkVerb) gates(ctx context.Context) (workflows.Plan, [][]workflows.Gate, error) {
	var plan workflows.Plan
	if a.o.test == noAgent {
		return plan, nil, usage("wfs check --help", "no test command: nothing to check")
	}
	list, err := a.Rules(ctx)
	if err != nil {
		return plan, nil, err
	}
	if a.o.test == "" && len(list) > 0 {
		settings, err := a.Settings(list)
		if err != nil {
			return plan, nil, err
		}
		if len(settings.Config.Gates) > 0 {
			return a.configuredGates(list, &settings.Config)
		}
	}
	return a.proposedGates(ctx)
}

// configuredGates returns the configured gates that report a result for each test. It refuses if there are none.
func (a *checkVerb) configuredGates(list workspace.Rules, c *workflows.Config) (plan workflows.Plan,
	groups [][]workflows.Gate, err error) {
	if a.o.yes {
		if err := a.TrustRules("--yes", list, "files below .wfs/"); err != nil {
			return plan, nil, err
		}
	}
	plan.Env, plan.Provide, plan.Setup, plan.Unproven = c.Env, c.CleanProvide, c.Worktree.Setup,
		c.CleanProof == workflows.CleanProofOff
	for _, name := range sortedKeys(c.Gates) {
		g := c.Gates[name]
		g.Name = cmp.Or(g.Name, name)
		if g.Runs() && g.Format.PerTest() {
			groups = append(groups, []workflows.Gate{g})
		}
	}
	if len(groups) == 0 {
		return plan, nil, usage("wfs check --test 'COMMAND'", "no gate of the configuration has per-test results")
	}
	return plan, groups, a.MustTrust(list)
}

// proposedGates returns the gates that wfs init would propose here.
func (a *checkVerb) proposedGates(ctx context.Context) (plan workflows.Plan, groups [][]workflows.Gate, err error) {
	s := &setup{app: a.app, command: "wfs check", o: initOptions{test: a.o.test, format: a.o.format, yes: a.o.yes}}
	if err := s.propose(); err != nil {
		return plan, nil, err
	}
	if len(s.list) == 0 {
		return plan, nil, usage("wfs check --test 'COMMAND'", "no test command configured, and none found")
	}
	for _, group := range s.list {
		var gates []workflows.Gate
		for i := range group {
			group[i].Beyond = nil // these commands show nothing about tests
			gates = append(gates, group[i].Gate)
		}
		groups = append(groups, gates)
	}
	if a.o.test == "" {
		s.agreed = s.proposeSetup(ctx)
		plan.Setup = s.agreed
	}
	return plan, groups, s.mayTry(ctx)
}

// commits parses the argument into the range of commits to check: "A..B", "A...B" or one commit. Without an argument,
// the range is the commits of HEAD that its upstream branch lacks.
func (a *checkVerb) commits(ctx context.Context, what string) (base, head session.Commit, err error) {
	from, to, isRange := strings.Cut(what, "..")
	to, merged := strings.CutPrefix(to, ".")
	if !isRange {
		from, to = what+"^", what
	}
	if what == "" {
		to = "HEAD"
	}
	if head, err = a.Repo.Resolve(ctx, cmp.Or(to, "HEAD")); err != nil {
		return "", "", noCommit(err)
	}
	if what == "" {
		base, err = a.leftFrom(ctx, head)
		return base, head, err
	}
	if base, err = a.Repo.Resolve(ctx, cmp.Or(from, "HEAD")); err != nil {
		return "", "", noCommit(err)
	}
	if merged {
		if base, err = a.Repo.MergeBase(ctx, base, head); err == nil && base == "" {
			err = usage("git fetch --unshallow, if this clone is shallow",
				"the two commits have no common ancestor here")
		}
	}
	return base, head, err
}

func noCommit(err error) error {
	return usage("git log --oneline; in a shallow clone: git fetch --deepen 50", "%v", err)
}

// leftFrom returns the common ancestor of a commit and its upstream branch. If there is no upstream, it uses the
// default branch instead.
func (a *checkVerb) leftFrom(ctx context.Context, head session.Commit) (session.Commit, error) {
	for _, name := range []string{"@{upstream}", "refs/remotes/origin/HEAD", "refs/remotes/origin/main",
		"refs/remotes/origin/master", "refs/heads/main", "refs/heads/master"} {
		tip, err := a.Repo.Resolve(ctx, name)
		if err != nil {
			continue
		}
		base, err := a.Repo.MergeBase(ctx, tip, head)
		if err != nil {
			return "", err
		}
		if base != "" && base != head {
			a.note("since it left %s", strings.TrimPrefix(strings.TrimPrefix(name, "refs/remotes/"), "refs/heads/"))
			return base, nil
		}
	}
	return "", usage("wfs check HEAD", "HEAD has no commits beyond its upstream or the default branch")
}

// say prints the findings. It returns an error with the exit code.
func (a *checkVerb) say(j checkedJSON) error {
	exit := exitWith(map[string]int{checkNothing: exitOK, checkFound: exitBlocked, checkNot: exitError}[j.Result])
	if a.json {
		if err := a.answer(j); err != nil {
			return err
		}
		return exit
	}
	for _, says := range j.NotAsked {
		a.out("not checked: %s", says)
	}
	for _, g := range j.Gates {
		a.sayGate(g)
	}
	switch j.Result {
	case checkNothing:
		a.out("no problems found")
	case checkNot:
		a.out("could not judge anything")
	}
	return exit
}

func (a *checkVerb) sayGate(g check.Gate) {
	a.out("gate %s: %s", g.Gate, g.Command)
	if g.CouldNot != "" {
		a.out("  could not judge: %s", g.CouldNot)
	}
	if len(g.KnownRed) > 0 {
		a.out("  already fails on the base: %s", safetext.First(g.KnownRed, 5, ", "))
	}
	for _, e := range g.Experiments {
		a.out("  %s: %s: %s", e.Kind, strings.ReplaceAll(e.Result, "_", " "), e.Says)
	}
	say := func(word string, f check.Finding) {
		about := cmp.Or(f.Path, f.Test)
		if f.Path != "" && f.Test != "" {
			about += " (" + f.Test + ")"
		}
		a.out("%s: %s: %s", word, strings.ReplaceAll(f.Kind, "_", " "), about)
		a.out("  tried: %s", f.Tried)
		a.out("  result: %s", f.Happened)
		if len(f.Also) > 0 {
			a.out("  also: %s", safetext.First(f.Also, 5, ", "))
		}
	}
	for _, f := range g.Named {
		say("named", f)
	}
	for _, f := range g.Findings {
		say("found", f)
	}
}

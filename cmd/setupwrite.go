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

	"github.com/wfs-dev/wfs/cmd/internal/present"
	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/internal/safetext"
	"github.com/wfs-dev/wfs/phases/detect"
	"github.com/wfs-dev/wfs/phases/report"
	"github.com/wfs-dev/wfs/workflows"
	"github.com/wfs-dev/wfs/workspace"
)

// write writes the configuration, and the agent into the local configuration. `next` is added to the wfs start that it
// suggests.
func (a *setup) write(ctx context.Context, agent workflows.Agent, next string) (*initJSON, error) {
	file := filepath.Join(a.Repo.Root(), filepath.FromSlash(workspace.ConfigPath))
	proposal := workflows.Proposal{Workflow: "loop", Worktree: a.provide}
	for _, g := range a.found {
		if g.Gate.Format.PerTest() {
			proposal.Workflow = "tdd"
		}
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
	local, err := a.writeLocal(ctx, agent)
	if err != nil {
		return nil, err
	}
	trusted, err := a.trustWritten(ctx, before, known, local)
	if err != nil {
		return nil, err
	}
	j := &initJSON{Version: jsonVersion, Config: workspace.ConfigPath, Local: local, Workflow: proposal.Workflow,
		Failed: a.failed, Agent: workspace.AgentName(&agent), Allow: agent.Allow, Backup: backup,
		Next: []string{`wfs start "what you want to build"` + next}}
	if !trusted {
		j.Next = slices.Insert(j.Next, 0, "wfs trust")
	}
	for i, g := range a.found {
		if i > 0 {
			j.More = append(j.More, g)
		} else {
			j.Gate, j.Result, j.Clean, j.Unused, j.Needs = &g.Gate, &g.Result, g.Clean, g.Unused, g.needs
		}
		j.Red, j.Flaky = append(j.Red, g.base.Red...), append(j.Flaky, g.base.Flaky...)
	}
	a.sayWritten(j, agent)
	return j, nil
}

// trustWritten trusts the configuration that wfs has just written. It does so only if the user had trusted the files
// below .wfs/ before, or if there are no other files. It reports whether it did.
func (a *setup) trustWritten(ctx context.Context, before workspace.Rules, known bool, local string) (bool, error) {
	list, err := a.Rules(ctx)
	if err != nil {
		return false, err
	}
	othersToo := slices.ContainsFunc(list, func(f workspace.RulesFile) bool {
		return f.Path != workspace.ConfigPath &&
			(f.Path != workspace.LocalPath || local == "" && before.Find(workspace.LocalPath) == nil)
	})
	if !known && othersToo {
		return false, nil
	}
	return true, a.TrustNow(list.Digest(), "wfs init")
}

func (a *setup) sayWritten(j *initJSON, agent workflows.Agent) {
	if agent.Card != nil {
		a.say("  %s %s", agent.Use, agent.Card.Unattended)
		if len(agent.Allow) > 0 {
			a.say("  may run %s", strings.Join(agent.Allow, ", "))
		}
	}
	for _, own := range [][2]string{{"copied", strings.Join(a.provide.Copy, " ")},
		{"linked", strings.Join(a.provide.Link, " ")}, {"set up by", a.provide.Setup.Text()}} {
		if own[1] != "" {
			a.say("in a session's own work tree, %s: %s", own[0], own[1])
		}
	}
	switch {
	case len(a.found) == 0:
		a.say("no test command: you approve the work yourself; to configure one: wfs init --force --test 'COMMAND'")
	case j.Workflow == "loop":
		a.say("the results have no test names: the workflow is loop, which repeats until the command passes")
		if names := detect.Reporting(a.o.test); names != "" {
			a.say("to get them, for the workflow tdd: wfs init --force --test %s", shellWord(names))
		}
	}
	var names []string
	for _, g := range a.found {
		names = append(names, g.Gate.Name)
	}
	a.say("wrote %s (%s; for the team: commit it when you like)", workspace.ConfigPath,
		cmp.Or(strings.Join(names, ", "), "no test command"))
	if j.Backup != "" {
		a.say("as it was: %s", j.Backup)
	}
	if j.Local != "" {
		a.say("wrote %s  (%s; yours alone)", workspace.LocalPath, j.Agent)
	}
}

// sayTried prints a gate that was tried, its result, and what follows from it.
func (a *setup) sayTried(ctx context.Context, g initGate) {
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
	a.say("  %-8s %-46s %8s", g.Gate.Name, what, took)
	sayRed(a.say, g.Result)
	if what := report.Lacking(g.Result.FirstError); what != "" {
		a.say("  %s is not installed here. %s", what, installHere(ctx, a.Repo, a.proposeSetup(ctx)))
	}
	if len(g.base.Flaky) > 0 {
		a.say("  flaky, and ignored: %s", safetext.First(g.base.Flaky, 5, ", "))
	}
	sayClean(a.say, g.Clean)
	if g.Unused != nil {
		a.say("  warning: these tests do not test this checkout. With its code made invalid (%s) %s:",
			safetext.Some(g.Unused.Files), safetext.Plural(g.Unused.Passed, "test still passes", "tests still pass"))
		a.say("  they seem to use a copy that is installed elsewhere. %s", installHere(ctx, a.Repo, a.proposeSetup(ctx)))
	}
	if len(g.Gate.Paths) > 0 {
		a.say("  runs when one of these changes, and when the work is complete: %s", strings.Join(g.Gate.Paths, " "))
	}
	if g.needs != "" {
		a.say("  %s", g.needs)
	}
}

// writeLocal writes the agent into .wfs/local.yaml, which is for this clone alone, and returns that file's name. It
// replaces an existing file only with --force or --agent, and then keeps a copy of it. It returns "" if it writes
// nothing.
func (a *setup) writeLocal(ctx context.Context, agent workflows.Agent) (string, error) {
	if agent.Card == nil && agent.Command.IsZero() {
		return "", nil
	}
	top, _, err := a.LocalTop(ctx)
	if err != nil {
		return "", err
	}
	file := filepath.Join(top, filepath.FromSlash(workspace.LocalPath))
	if _, err := os.Lstat(file); err == nil && !a.o.force && a.o.agent == "" {
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
	if err == nil && !tracked && !ignored { // an older .gitignore of the user's lacks the file
		_, _, err = a.Repo.ExcludeLocally("/"+workspace.LocalPath, false)
	}
	return workspace.LocalPath, err
}

// replaceFile writes a file. If the file existed, replaceFile first saves a copy, and returns the path of the copy;
// otherwise it returns "".
func (a *setup) replaceFile(file string, text []byte) (copied string, err error) {
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

// ignoreLocal creates .wfs/.gitignore, which keeps .wfs/local.yaml out of commits. If a .gitignore exists there, it is
// the user's and stays unchanged.
func ignoreLocal(dir string) error {
	file := filepath.Join(dir, ".gitignore")
	if _, err := os.Lstat(file); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return durable.WriteFile(file, []byte("# Settings of one clone alone: wfs config --help\n/local.yaml\n"), 0o644)
}

package cmd

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/cmd/internal/present"
	"github.com/wfs-dev/wfs/cmd/internal/present/ways"
	"github.com/wfs-dev/wfs/engine/decide"
	"github.com/wfs-dev/wfs/gitstate/worktree"
	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/internal/lazyregexp"
	"github.com/wfs-dev/wfs/internal/proc"
	"github.com/wfs-dev/wfs/internal/safetext"
	"github.com/wfs-dev/wfs/phases/brief"
	"github.com/wfs-dev/wfs/phases/process"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
	"github.com/wfs-dev/wfs/workflows/checklist"
	"github.com/wfs-dev/wfs/workspace/check"
)

// readiness checks what a session needs so that it can continue: `wfs doctor SESSION` prints all rows, `wfs run` and
// `wfs resume` the quick ones that fail.
type readiness struct {
	*app
	s    *session.Session
	plan *workflows.Plan
	in   *worktree.Worktree // work tree that has the session checked out, or nil
}

// quick returns the checks that start no git process unless they fail.
func (c readiness) quick() []check.Row {
	return []check.Row{{Name: "documents", Look: c.documents}, {Name: "tasks", Look: c.tasks},
		{Name: "spec", Look: c.spec}, {Name: "programs", Look: c.programs}}
}

// all returns all checks.
func (c readiness) all(d *check.Doctor) []check.Row {
	return slices.Concat([]check.Row{
		{Name: "history, branch", Look: func(ctx context.Context) ([]check.Finding, error) { return d.Session(ctx, c.s.ID) }},
		{Name: "state", Look: c.state}, {Name: "work tree", Look: c.workTree}, {Name: "files", Look: c.files}},
		c.quick(),
		[]check.Row{{Name: "configuration", Look: c.configuration}, {Name: "agent", Look: c.agent}})
}

// sayLacking prints the quick checks that fail, each with its remedy.
func (c readiness) sayLacking(ctx context.Context) {
	if c.in == nil || c.in.Gone || c.s.Status.Final() {
		return
	}
	for _, row := range c.quick() {
		found, _ := row.Look(ctx) // a check that cannot be made is not a reason to stop
		for _, f := range found {
			if f.Level != check.Tells {
				c.note("warning: %s", findingText(&f))
			}
		}
	}
}

func (c readiness) finding(level, where, what, follows, next string) []check.Finding {
	if next != "" {
		next = c.typedFor(next, c.s.ID, rootOf(c.in))
	}
	return []check.Finding{{Level: level, About: "session", Session: c.s.ID, Where: where, What: what, Follows: follows,
		Next: next}}
}

// state says why a session does not continue without the user.
func (c readiness) state(context.Context) ([]check.Finding, error) {
	d := c.describe(c.s, c.in)
	next := ""
	if len(d.Next) > 0 {
		next = d.Next[0]
	}
	level := check.Blocks
	switch c.s.Status {
	case session.StatusCompleted, session.StatusFinished, session.StatusWaiting:
		level = check.Tells
	case session.StatusBlocked, session.StatusAbandoned:
	default:
		if len(d.Alive) == 0 {
			return nil, nil
		}
		return c.finding(check.Warns, string(c.s.ID), "processes of its last run are alive: "+decide.Named(d.Alive),
			"they may still write to its files", next), nil
	}
	what := strings.Join(append([]string{present.Stands(c.s)}, present.StoppedHere(c.s, c.env.Now(), d.Current)...), "; ")
	return c.finding(level, string(c.s.ID), what, "", next), nil
}

func (c readiness) workTree(context.Context) ([]check.Finding, error) {
	way := "wfs resume " + string(c.s.ID)
	switch {
	case c.s.Status.Final():
	case c.in == nil:
		return c.finding(check.Warns, c.s.Branch(), "is not checked out", "the session cannot run", way), nil
	case c.in.Gone:
		return c.finding(check.Warns, c.in.Path, "no longer exists", "the session cannot run there", way), nil
	}
	return nil, nil
}

// files says which files differ from the current checkpoint, and who changed them, as far as that is known.
func (c readiness) files(ctx context.Context) ([]check.Finding, error) {
	at := c.s.At(c.s.Current)
	if c.in == nil || c.in.ID != c.Repo.Worktree() || c.s.Status.Final() || at == nil {
		return nil, nil
	}
	files, err := c.Repo.EditedLines(ctx, at.Code, c.Clone.Session(c.s.ID).ExcludeFile())
	files = slices.DeleteFunc(files, func(f session.FileLines) bool { return leftOut(at, f.Path) })
	if err != nil || len(files) == 0 {
		return nil, err
	}
	by := "changed by you or by another program"
	if c.s.Open != nil {
		by = "changed by the interrupted attempt, or since"
		if auto, err := c.Repo.Auto(ctx, c.s.ID); err == nil && auto != nil {
			n := 0
			for _, f := range files {
				if slices.ContainsFunc(auto.Changed, func(x session.Change) bool { return x.Path == f.Path }) {
					n++
				}
			}
			by = fmt.Sprintf("%d changed during the interrupted attempt, as its backup shows, %d since", n, len(files)-n)
		}
	}
	var names []string
	for _, f := range files {
		names = append(names, f.Path)
	}
	return c.finding(check.Tells, "work tree", fmt.Sprintf("%s since checkpoint %d (%s)", present.AmountText(ways.AmountOf(files)),
		at.Number, safetext.Some(names)), by+"; wfs run continues with them", fmt.Sprintf("wfs resume @%d --dry-run", at.Number)), nil
}

func (c readiness) read(path string) []byte {
	text, err := durable.ReadFile(filepath.Join(c.in.Path, filepath.FromSlash(path)), workflows.MaxFileSize)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return []byte("?") // a file that cannot be read is not missing
	}
	return text
}

// each calls `use` with each document that a gate requires, and the phase of that gate.
func (c readiness) each(use func(path string, ph *workflows.Phase)) {
	if c.in == nil || c.in.Gone || c.s.Status.Final() {
		return
	}
	seen := map[string]bool{}
	for i := range c.plan.Workflow.Phases {
		ph := &c.plan.Workflow.Phases[i]
		for _, g := range ph.Gates {
			if path := brief.DocumentPath(c.s.ID, g.Document); g.Document != "" && !seen[path+string(ph.Name)] {
				seen[path+string(ph.Name)] = true
				use(path, ph)
			}
		}
	}
}

// documents finds documents that an earlier phase wrote, and that are missing or empty now.
func (c readiness) documents(ctx context.Context) (found []check.Finding, err error) {
	told := map[string]bool{}
	c.each(func(path string, ph *workflows.Phase) {
		if told[path] || len(strings.TrimSpace(string(c.read(path)))) > 0 {
			return
		}
		for _, cp := range slices.Backward(c.s.Way()) {
			if cp.Phase != ph.Name || cp.Verdict != session.Pass {
				continue
			}
			if was, err := c.Repo.Show(ctx, cp.Tree, path); err == nil && len(strings.TrimSpace(string(was))) > 0 {
				told[path] = true
				found = append(found, c.finding(check.Warns, path, "is missing or empty",
					fmt.Sprintf("%s passed with it at checkpoint %d, and later phases need it", ph.Name, cp.Number),
					fmt.Sprintf("git restore --source=%s -- %s", cp.Code.Short(), shellWord(":/"+path)))...)
			}
			return
		}
	})
	return found, nil
}

// tasks compares the tasks of the session's documents with the current checkpoint.
func (c readiness) tasks(ctx context.Context) (found []check.Finding, err error) {
	at := c.s.At(c.s.Current)
	told := map[string]bool{}
	c.each(func(path string, _ *workflows.Phase) {
		if at == nil || told[path] {
			return
		}
		told[path] = true
		now := c.read(path)
		if len(strings.TrimSpace(string(now))) == 0 {
			return // reported as a document
		}
		was, e := c.Repo.Show(ctx, at.Tree, path)
		if e != nil {
			return
		}
		state := map[string]bool{}
		for _, t := range checklist.Parse(now) {
			state[t.Text] = t.Done
		}
		var ticked, unticked, gone []string
		for _, t := range checklist.Parse(was) {
			switch done, is := state[t.Text]; {
			case !is:
				gone = append(gone, t.Text)
			case done && !t.Done:
				ticked = append(ticked, t.Text)
			case t.Done && !done:
				unticked = append(unticked, t.Text)
			}
		}
		say := func(level string, names []string, one, many string) {
			if len(names) > 0 {
				found = append(found, c.finding(level, path, fmt.Sprintf("%s since checkpoint %d: %s",
					safetext.Plural(len(names), one, many), at.Number, safetext.Some(names)), "",
					fmt.Sprintf("git diff %s -- %s", at.Code.Short(), shellWord(":/"+path)))...)
			}
		}
		say(check.Warns, gone, "task is gone", "tasks are gone")
		say(check.Tells, ticked, "task was ticked, not judged yet,", "tasks were ticked, not judged yet,")
		say(check.Tells, unticked, "task was unticked", "tasks were unticked")
	})
	return found, nil
}

// spec checks that the file of the specification is still there.
func (c readiness) spec(ctx context.Context) ([]check.Finding, error) {
	path := filepath.FromSlash(c.s.SpecPath)
	// a path that is not local is relative to the main work tree, and may lead to another place
	if path == "" || !filepath.IsLocal(path) || c.in == nil || c.in.Gone || c.s.Status.Final() {
		return nil, nil
	}
	if _, err := os.Lstat(filepath.Join(c.in.Path, path)); !errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	next, birth := "", c.s.At(0)
	if birth != nil {
		if text, err := c.Repo.Show(ctx, birth.Tree, c.s.SpecPath); err == nil && text != nil {
			next = fmt.Sprintf("git restore --source=%s -- %s", birth.Code.Short(), shellWord(":/"+c.s.SpecPath))
		}
	}
	return c.finding(check.Warns, c.s.SpecPath, "is missing",
		"the session continues with the text that it has pinned", next), nil
}

// configuration says how the configuration and the spec differ from what the session has pinned.
func (c readiness) configuration(ctx context.Context) (found []check.Finding, err error) {
	say := func(where, what, next string) {
		found = append(found, c.finding(check.Tells, where, what, "the session continues with what it has pinned", next)...)
	}
	if command := c.SpecEdited(ctx, c.s); command != "" {
		say(c.s.SpecPath, "was edited since it was pinned", command)
	}
	list, err := c.Rules(ctx)
	if err != nil || len(list) == 0 || c.s.Status.Final() {
		return found, err
	}
	switch changes, err := c.Drift(list, c.s, c.plan); {
	case err != nil:
		say(".wfs", "cannot be used: "+err.Error(), "wfs workflow check")
	case len(changes) > 0:
		say(".wfs", "has changed: "+safetext.Some(changes), "wfs edit --reload")
	}
	return found, nil
}

// programName matches the first word of a shell command that names a program, without anything that the shell expands.
var programName = lazyregexp.New(`^[A-Za-z0-9._+-]+$`)

// programs finds commands of gates and agents whose program does not exist.
func (c readiness) programs(ctx context.Context) (found []check.Finding, err error) {
	if c.s.Status.Final() {
		return nil, nil
	}
	env := process.DefaultEnv(c.Environ(), c.plan.Env)
	known := map[string]bool{}
	look := func(what string, command workflows.Command) {
		words := command.Argv
		if command.Shell != "" {
			words = strings.Fields(command.Shell)
		}
		if len(words) == 0 || !programName.MatchString(words[0]) || known[words[0]] {
			return
		}
		known[words[0]] = true
		if _, err := proc.LookPath(words[0], process.Value(env, "PATH")); err == nil {
			return
		}
		// the shell knows more commands than those in the PATH
		_, _, exit, err := proc.Output(ctx, proc.Cmd{Argv: []string{"sh", "-c", `command -v -- "$1"`, "sh", words[0]},
			Dir: c.Repo.Root(), Env: env})
		if err != nil || command.Shell != "" && exit == 0 {
			return
		}
		found = append(found, c.finding(check.Warns, what, fmt.Sprintf("there is no program %s in your PATH", words[0]),
			"install it, or change it in .wfs and apply that", "wfs edit --reload")...)
	}
	for i := range c.plan.Workflow.Phases {
		ph := &c.plan.Workflow.Phases[i]
		for _, g := range ph.Gates {
			look("gate "+g.Name, g.Run)
		}
		if ph.Run.Agent {
			look("agent of "+string(ph.Name), c.plan.AgentOf(ph).Command)
		}
		look("command of "+string(ph.Name), ph.Run.Command)
	}
	return found, nil
}

// agent checks that the agent of the current phase is installed and logged in.
func (c readiness) agent(ctx context.Context) ([]check.Finding, error) {
	ph := c.plan.Workflow.Phase(c.s.Phase)
	if ph == nil || !ph.Run.Agent || c.s.Status.Final() {
		return nil, nil
	}
	card := c.plan.AgentOf(ph).Card
	if card == nil || len(card.Command) == 0 {
		return nil, nil
	}
	what := agentLacks(ctx, prober(&c.env.Env), card, true)
	if what == "" {
		return nil, nil
	}
	return c.finding(check.Warns, card.Name, what, "", "wfs agent check "+card.Name), nil
}

package cmd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/wfs-dev/wfs/cmd/internal/present"
	"github.com/wfs-dev/wfs/engine"
	"github.com/wfs-dev/wfs/engine/transition"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
	"github.com/wfs-dev/wfs/workspace"
)

// newOptions are the flags of `wfs new`.
type newOptions struct {
	goal, workflow, agent, spec, from string
	autonomy, complexity              string
	fork                              bool // `from` is a checkpoint of another session
	carry, leave                      bool
	worktree                          bool // use a work tree of its own
	yes                               bool // trust the current files below .wfs/
	runs                              bool // wfs start: a run follows
	temporary                         bool // deleted once its work is handed over
	another                           bool // even if an unfinished session has the same spec
	dir                               string

	budget workflows.Budget

	holdout string             // as typed: a directory, a ref, or noHoldout
	taken   *takenHoldout      // the tests that `holdout` names
	pinned  *workflows.Holdout // digest and number of these tests

	keep      *workflows.Agent // agent of a session whose configuration is pinned again
	keepTyped bool             // a flag chose this agent, not the configuration
}

func (o *newOptions) pinning() workspace.Pinning {
	return workspace.Pinning{Goal: o.goal, Agent: o.agent, Budget: o.budget, Holdout: o.pinned, Keep: o.keep,
		KeepTyped: o.keepTyped}
}

type newVerb struct {
	*app
	o newOptions
}

func (a *newVerb) command() *cobra.Command {
	o := &a.o
	c := &cobra.Command{
		Use: "new GOAL", Short: "create a session without running it",
		Long: `New creates a session for one feature on a branch of its own, wfs/<name>, and checks it out here. wfs
start does the same and then runs it. The workflow, the gates and the agent are pinned as they are now. The
gates run once on the base, unless wfs init or wfs new saw them pass there: tests that fail are ignored later,
and a gate that cannot run stops the command. So does a base of which no test can be built, if a phase asks for
new tests. Without .wfs/config.yaml wfs proposes the test command first, as wfs init does.

Uncommitted changes come along (--carry: kept apart in checkpoint 0) or stay with your branch (--leave). wfs
switch brings them back in both cases. Without a flag wfs asks, unless the spec is all there is: it comes along.

With --worktree the session gets a work tree of its own beside the repository, so that several can run at the
same time. Files that git does not bring there are named by copy:, link: and setup: below worktree: in
.wfs/config.yaml. What setup: makes there stays out of checkpoints, also where git does not ignore it.
Uncommitted changes stay here; --carry copies them.

With --holdout the work must also pass tests that the agent never sees: files of yours in a directory outside of
the repository, with the paths that they have in it. wfs runs them with the finished work in a clean checkout.

A spec is pinned and stands in the brief of every phase. With a checklist ("- [ ] item") every item is worked on
in turn. If an open session has the same spec, wfs proposes to resume it; --again creates another one.`,
		Example: `  wfs new "csv export"
  wfs new "csv export" --agent claude
  wfs new "csv export" --spec docs/csv.md --carry
  wfs new "csv export" --holdout ~/holdout/csv
  wfs new "xml export" --from release-2`,
		Args: func(c *cobra.Command, args []string) error {
			if o.fork = workspace.IsCheckpoint(o.from); o.fork {
				isNow(a.note, "wfs fork "+o.from)
				return upTo(1)(c, args)
			}
			return oneGoal(c, args)
		},
		RunE: func(c *cobra.Command, args []string) error {
			if o.carry && o.leave {
				return usage("wfs new --help", "--carry and --leave exclude each other")
			}
			o.goal = a.Redact(first(args)) // redact first: the session's name is derived from it
			return beginNew(c.Context(), &newborn{app: a.app, o: *o})
		},
	}
	newFlags(c, o)
	return c
}

// newFlags adds the flags that wfs new and wfs start share.
func newFlags(c *cobra.Command, o *newOptions) {
	f := c.Flags()
	f.StringVar(&o.workflow, "workflow", "", "`name` of the workflow (default: the configuration's, else tdd)")
	f.StringVar(&o.autonomy, "autonomy", "", "at which breakpoints it stops for you: `cautious`, balanced or aggressive")
	f.StringVar(&o.complexity, "complexity", "", "how much structure it needs: `simple`, medium or complex")
	f.StringVar(&o.agent, "agent", "", "the agent: a `name` (wfs agent list), a command, or script:FILE")
	f.StringVar(&o.spec, "spec", "", "`file` with the specification")
	f.BoolVarP(&o.yes, "yes", "y", false, "run the commands of this repository without asking, as wfs trust --yes does")
	f.BoolVar(&o.temporary, "temporary", false, "delete the session once its work is handed over")
	f.BoolVar(&o.another, "again", false, "create another session with a spec that a session already has")
	f.StringVar(&o.from, "from", "",
		"start from this `ref` (default: HEAD; on a session's branch, the branch that session came from)")
	f.StringVar(&o.holdout, "holdout", "", "`directory` with tests that the agent never sees, or a ref")
	budgetFlags(f, &o.budget)
	f.BoolVar(&o.carry, "carry", false, "take uncommitted changes along")
	f.BoolVar(&o.leave, "leave", false, "leave uncommitted changes with your branch")
	f.BoolVar(&o.worktree, "worktree", false, "use a work tree of its own; this one stays as it is")
	f.StringVar(&o.dir, "dir", "", "`directory` of that work tree (default: beside the main one)")
}

// newborn is a session that is being created, in this work tree or in a new one.
type newborn struct {
	*app
	o        newOptions
	b        transition.Birth
	settings *workflows.Settings
	saved    *session.Checkpoint // edits of the session that the user leaves
	h        *engine.Hand
	r        *transition.Relocated
	imported imported // of wfs import
}

// beginNew creates a session in this work tree, or in a new one with --worktree.
func beginNew(ctx context.Context, n *newborn) error {
	if n.o.dir != "" && !n.o.worktree {
		return usage(n.again("--worktree"), "--dir is the directory of a work tree of the session's own")
	}
	err := n.begin(ctx)
	if id, instead := errors.AsType[resumeInstead](err); instead {
		n.Close()
		return (&resumeVerb{app: n.app}).run(ctx, []string{string(id)})
	}
	r, is := errors.AsType[*session.Refusal](err)
	if is && r.Code == session.RefuseUnbuilt {
		r.Hint = "make it build, or " + n.again("--workflow", "loop")
	}
	if is && n.o.runs && strings.HasPrefix(r.Hint, "wfs new ") {
		r.Hint = "wfs start" + strings.TrimPrefix(r.Hint, "wfs new")
	}
	return err
}

// begin creates a session, step by step. The last step but one creates it. If an earlier step fails, nothing has to be
// undone.
func (n *newborn) begin(ctx context.Context) error {
	documents := func(context.Context) error { return n.imported.bringDocuments(n) }
	steps := []func(context.Context) error{n.Suits, n.beginHere, n.choosePlan, n.chooseStart, n.carryOrLeave, n.name,
		n.create, documents, n.trust}
	if n.o.worktree {
		steps = []func(context.Context) error{n.Suits, n.beginElsewhere, n.choosePlan, n.chooseStart, n.carryAlong, n.name,
			n.createInTree, n.trust}
	}
	if err := n.FindSpec(n.o.spec); err != nil { // first, because other refusals suggest commands with this file
		return err
	}
	for _, step := range steps {
		if err := step(ctx); err != nil {
			return err
		}
	}
	n.r.Note = n.NoItems(&n.h.S, n.b.Spec, n.o.spec)
	return n.say(ctx)
}

func (n *newborn) beginHere(ctx context.Context) error { return n.Begin(ctx, "wfs new", true) }

// choosePlan determines the session's plan, which is the configuration, workflow and agent that it keeps.
func (n *newborn) choosePlan(ctx context.Context) error {
	if err := n.takeHoldout(ctx); err != nil {
		return err
	}
	if n.o.fork {
		return n.fork(ctx)
	}
	if err := n.pin(ctx); err != nil || n.imported.State == nil {
		return err
	}
	return n.imported.takeOver(n)
}

// chooseStart determines the commit from which the session starts. If this work tree has another session checked out,
// the edits there become a checkpoint first, unless they are only the spec, which comes along.
func (n *newborn) chooseStart(ctx context.Context) (err error) {
	if !n.o.worktree {
		spec := ""
		if !n.o.leave && !n.o.fork { // a fork has the spec of its parent
			spec = n.b.Created.SpecPath
		}
		if n.saved, err = n.Leave(ctx, "wfs new", "", spec); err != nil {
			return err
		}
	}
	if !n.o.fork {
		err = n.StartAt(ctx, &n.b, n.o.from)
	}
	return err
}

// name chooses a free name and locks it, and stores the session's hold-out tests under that name.
func (n *newborn) name(ctx context.Context) (err error) {
	hold := func(id session.ID) error { return n.Hold("wfs new", id) }
	if n.o.worktree { // another command may hold the lock of this work tree
		hold = func(id session.ID) error { return n.HoldSession("wfs new", id) }
	}
	if n.b.Created.ID, err = n.HoldFree(ctx, n.o.goal, hold); err != nil {
		return err
	}
	if twin := n.SameGoal(ctx, n.o.goal); twin != "" && !n.o.fork {
		n.note("%s is open and has the same goal; to continue it instead: wfs run %s", twin, twin)
	} else if s, count := newest(ctx, n.Workspace, interrupted); count > 0 {
		n.note("%s was interrupted in %s; to continue it: wfs run %s", s.ID, s.Phase, s.ID)
	}
	return n.keepHoldout(n.b.Created.ID)
}

func interrupted(s session.Status) bool { return s == session.StatusInterrupted }

func (n *newborn) create(ctx context.Context) (err error) {
	done := n.showProgress()
	n.h, n.r, err = n.Engine.New(ctx, n.b)
	done()
	switch {
	case err == nil || n.r == nil:
	case n.h == nil:
		sayKept(n.Repo, "what was changed while gates ran", n.r.Rescued, n.note)
	default:
		sayKept(n.Repo, wasThere, n.r.Rescued, n.note)
	}
	return err
}

func (n *newborn) trust(context.Context) error {
	return n.TrustNow(n.b.Created.PlanDigest, "session "+string(n.h.ID))
}

// carryOrLeave decides about uncommitted changes: the session takes them along, or they are left on the branch.
func (n *newborn) carryOrLeave(ctx context.Context) error {
	b, carry := &n.b, n.o.carry
	snap, names, err := n.Uncommitted(ctx, b)
	for _, h := range snap.HeldOut {
		b.Created.HeldOut = append(b.Created.HeldOut, h.Path)
	}
	if err != nil || snap.Clean() {
		return err
	}
	if len(names) == 0 { // the changes are only in the index, not in the files
		names = []string{"(staged only)"}
	}
	spec := !n.o.fork && slices.Equal(names, []string{b.Created.SpecPath}) // the only change is the session's spec
	switch {
	case carry, n.o.leave:
	case spec:
		carry = true
	default:
		if carry, err = n.askCarry(ctx, names); err != nil {
			return err
		}
	}
	switch {
	case carry && spec && b.At != snap.Head.Commit:
		b.Carry, b.Created.Carried = true, names
		tree, err := n.Repo.TreeOf(ctx, b.At)
		if err == nil {
			b.Tree, err = n.Repo.Overlay(ctx, tree, snap.Tree, names)
		}
		return err
	case carry && b.At != snap.Head.Commit:
		return usage("wfs new --leave", "--carry takes changes along from HEAD, and this session begins elsewhere")
	case carry:
		b.Carry, b.Created.Carried = true, names
	case snap.Head.Ref == "":
		return session.Refuse(session.RefuseDirty, "git switch -c NAME && "+n.again(),
			"HEAD is on no branch, so there is none that uncommitted changes could stay with")
	default:
		b.Created.Left = names
	}
	return nil
}

func (n *newborn) askCarry(ctx context.Context, names []string) (carry bool, err error) {
	what := fmt.Sprintf("%d uncommitted %s: %s", len(names), plural(len(names), "file", "files"),
		strings.Join(names[:min(len(names), 5)], ", "))
	if !n.env.StdinTTY || n.json {
		return false, session.Refuse(session.RefuseDirty,
			n.again("--carry")+"   (take them along), or "+n.again("--leave")+"   (they stay with your branch)",
			"there are uncommitted changes: say what becomes of them (%s)", what)
	}
	n.note("%s", what)
	answer, err := n.choose(ctx, "[c]arry them into the session, [l]eave them with your branch, or [q]uit? ",
		n.again("--carry")+", or "+n.again("--leave"), "carry", "leave")
	return answer == "carry", err
}

// resumeInstead is an error that stands for the user's answer: do not create a session, but resume this one, which has
// the same spec.
type resumeInstead session.ID

func (r resumeInstead) Error() string { return "resume " + string(r) }

// sameSpec asks the user before it creates a session with a spec that an unfinished session already has.
func (n *newborn) sameSpec(ctx context.Context) error {
	c, o := &n.b.Created, &n.o
	if c.SpecDigest == "" || o.another || strings.Contains(o.from, "@") {
		return nil
	}
	id, what, way, err := n.SameSpec(ctx, c, o.spec)
	if err != nil || way == "" {
		return err
	}
	if !n.env.StdinTTY || n.json {
		return session.Refuse(session.RefuseSameSpec, way, "%s; to begin another session with it: --again", what)
	}
	n.note("%s", what)
	if v, err := n.View(ctx, id); err == nil {
		n.note("  it is %s, last active %s", present.Stands(&v.Session),
			present.Ago(time.Unix(v.Session.UpdatedAt, 0), n.env.Now()))
	}
	answer, err := n.choose(ctx, "[r]esume "+string(id)+", begin [a]nother one, or [q]uit? ", "wfs new --again",
		"resume", "another")
	if err == nil && answer == "resume" {
		err = resumeInstead(id)
	}
	return err
}

// choose asks the user for one of two options, by its word or its first letter. If the user quits, it returns an error
// that ends the command.
func (n *newborn) choose(ctx context.Context, question, flag, one, other string) (string, error) {
	answer, err := n.promptFor(ctx, question, flag, one, one[:1], other, other[:1], "quit", "q", "")
	switch {
	case err != nil:
		return "", err
	case answer == one || answer == one[:1]:
		return one, nil
	case answer == other || answer == other[:1]:
		return other, nil
	}
	n.note("nothing was begun, and nothing was changed")
	return "", exitWith(exitDecision)
}

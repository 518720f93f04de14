package cmd

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/wfs-dev/wfs/engine"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
	"github.com/wfs-dev/wfs/workspace"
)

// newOptions are the flags of `wfs new`.
type newOptions struct {
	goal, workflow, agent, spec, from string
	fork                              bool // from is a checkpoint of another session
	carry, leave                      bool
	worktree                          bool // in a work tree of its own
	yes                               bool // trust what .wfs/ says now
	runs                              bool // wfs start: a run follows
	again                             bool // although a session has this spec
	dir                               string

	budget workflows.Budget

	holdout string             // what was typed: a directory, a ref, or noHoldout
	taken   *takenHoldout      // what that is, read
	pinned  *workflows.Holdout // digest and number of files

	keep      *workflows.Agent // of a session that is pinned anew
	keepTyped bool             // it was typed, and is not the configuration's
}

func (a *app) newCmd() *cobra.Command {
	var o newOptions
	c := &cobra.Command{
		Use: "new GOAL", Short: "create a session without running it",
		Long: `New creates a session for one feature on a branch of its own, wfs/<name>, and checks it out here. wfs start does the same
and then runs it. The workflow, the gates and the agent are pinned as they are now. The gates run once on the base,
unless wfs init or wfs new saw them pass there: tests that fail are ignored later, and a gate that cannot run stops the
command. So does a base of which no test can be built, if a phase asks for new tests. Without .wfs/config.yaml wfs
proposes the test command first, as wfs init does.

Uncommitted changes come along (--carry: kept apart in checkpoint 0) or stay with your branch (--leave). wfs switch brings
them back in both cases. Without a flag wfs asks, unless the spec is all there is: it comes along.

With --worktree the session gets a work tree of its own beside the repository, so that several can run at the same time.
Files that git does not bring there are named by copy:, link: and setup: below worktree: in .wfs/config.yaml. What setup:
makes there stays out of checkpoints, also where git does not ignore it. Uncommitted changes stay here; --carry copies them.

With --holdout the work must also pass tests that the agent never sees: files of yours in a directory outside of the
repository, with the paths that they have in it. wfs runs them with the finished work in a clean checkout.

A spec is pinned and stands in the brief of every phase. With a checklist ("- [ ] item") every item is worked on in turn.
If an open session has the same spec, wfs proposes to resume it; --again creates another one.`,
		Example: `  wfs new "csv export"
  wfs new "csv export" --agent claude
  wfs new "csv export" --spec docs/csv.md --carry
  wfs new "csv export" --holdout ~/holdout/csv
  wfs new "xml export" --from release-2`,
		Args: func(c *cobra.Command, args []string) error {
			if o.fork = workspace.IsCheckpoint(o.from); o.fork {
				a.spelledNow("wfs fork " + o.from)
				return upTo(1)(c, args)
			}
			return oneGoal(c, args)
		},
		RunE: func(c *cobra.Command, args []string) error {
			if o.carry && o.leave {
				return &usageError{"--carry and --leave exclude each other", "wfs new --help"}
			}
			o.goal = a.Redactor().String(first(args)) // its name is made of it
			return a.beginNew(c.Context(), o)
		},
	}
	newFlags(c, &o)
	return c
}

// newFlags are the flags of wfs new and wfs start.
func newFlags(c *cobra.Command, o *newOptions) {
	f := c.Flags()
	f.StringVar(&o.workflow, "workflow", "", "`name` of the workflow (default: the configuration's, else tdd)")
	f.StringVar(&o.agent, "agent", "", "the agent: a `name` (wfs agent list), a command, or script:FILE")
	f.StringVar(&o.spec, "spec", "", "`file` with the specification")
	f.BoolVarP(&o.yes, "yes", "y", false, "run the commands of this repository without asking, as wfs trust --yes does")
	f.BoolVar(&o.again, "again", false, "create another session with a spec that a session already has")
	f.StringVar(&o.from, "from", "", "start from this `ref` (default: HEAD; on a session's branch, the branch that session came from)")
	f.StringVar(&o.holdout, "holdout", "", "`directory` with tests that the agent never sees, or a ref")
	budgetFlags(f, &o.budget)
	f.BoolVar(&o.carry, "carry", false, "take uncommitted changes along")
	f.BoolVar(&o.leave, "leave", false, "leave uncommitted changes with your branch")
	f.BoolVar(&o.worktree, "worktree", false, "use a work tree of its own; this one stays as it is")
	f.StringVar(&o.dir, "dir", "", "`directory` of that work tree (default: beside the main one)")
}

func (a *app) newSession(ctx context.Context, o newOptions) error {
	if err := a.fit(ctx); err != nil {
		return err
	}
	if err := a.Begin(ctx, "wfs new", true); err != nil {
		return err
	}
	if err := a.takeHoldout(ctx, &o); err != nil {
		return err
	}
	b, _, err := a.bear(ctx, &o)
	if err != nil {
		return err
	}
	saved, err := a.Leave(ctx, "wfs new", "")
	if err != nil {
		return err
	}
	if err := a.startAt(ctx, &b, &o); err != nil {
		return err
	}
	if err := a.carryOrLeave(ctx, &b, o); err != nil {
		return err
	}
	if b.Created.ID, err = a.HoldFree(ctx, o.goal, func(id session.ID) error { return a.Hold("wfs new", id) }); err != nil {
		return err
	}
	if err := a.keepHoldout(b.Created.ID, &o); err != nil {
		return err
	}
	done := a.showProgress()
	h, r, err := a.Engine.New(ctx, b)
	done()
	switch {
	case err == nil || r == nil:
	case h == nil:
		a.sayKept("what was changed while gates ran", r.Rescued, a.note)
	default:
		a.sayKept(wasThere, r.Rescued, a.note)
	}
	if err != nil {
		return err
	}
	if err := a.TrustNow(b.Created.PlanDigest, "session "+string(h.ID)); err != nil {
		return err
	}
	r.Note = a.openItems(h, b.Spec, o.spec)
	return a.sayNew(ctx, h, r, saved, o.runs)
}

// startAt says where the session begins. On a session's branch a new feature begins where that session began, not on
// top of its checkpoints; --from says otherwise.
func (a *app) startAt(ctx context.Context, b *engine.Birth, o *newOptions) error {
	if o.fork {
		return nil
	}
	cur, err := a.Current(ctx)
	if err != nil {
		return err
	}
	from := o.from
	head, err := a.Repo.Head(ctx)
	if err != nil {
		return err
	}
	switch {
	case from != "":
		c, err := a.Repo.Resolve(ctx, from)
		if err != nil {
			return &usageError{fmt.Sprintf("%q is no commit, branch or SESSION@CHECKPOINT", from), "wfs list"}
		}
		b.At, b.Created.Base = c, c
		if tip, err := a.Repo.Ref(ctx, "refs/heads/"+from); err == nil && tip == c {
			b.Created.BaseRef = "refs/heads/" + from
		}
	case cur != "":
		v, err := a.View(ctx, cur)
		if err != nil {
			return err
		}
		b.At, b.Created.BaseRef = v.Session.Base, v.Session.BaseRef
		if tip, err := a.Repo.Ref(ctx, v.Session.BaseRef); v.Session.BaseRef != "" && err == nil && tip != "" {
			b.At = tip
		}
		b.Created.Base = b.At
	default:
		b.At, b.Created.Base, b.Created.BaseRef = head.Commit, head.Commit, head.Ref
	}
	return nil
}

// carryOrLeave finds out what becomes of uncommitted changes.
func (a *app) carryOrLeave(ctx context.Context, b *engine.Birth, o newOptions) error {
	file, err := a.guardFile(b.Exclude)
	if err != nil {
		return err
	}
	snap, err := a.Repo.Snapshot(ctx, file)
	if err != nil {
		return err
	}
	for _, h := range snap.HeldOut {
		b.Created.HeldOut = append(b.Created.HeldOut, h.Path)
	}
	if snap.Clean() {
		return nil
	}
	changes, err := a.Repo.Changes(ctx, snap.HeadTree, snap.Tree)
	if err != nil {
		return err
	}
	var names []string
	for _, c := range changes {
		names = append(names, c.Path)
	}
	if len(names) == 0 { // the index differs and the files do not: staged, then taken back
		names = []string{"(staged only)"}
	}
	switch {
	case o.carry, o.leave:
	case slices.Equal(names, []string{b.Created.SpecPath}) && b.At == snap.Head.Commit:
		o.carry = true // the session is about it
	default:
		if o.carry, err = a.askCarry(ctx, names); err != nil {
			return err
		}
	}
	if !o.carry && snap.Head.Ref == "" {
		return &session.Refusal{Code: session.RefuseDirty, Message: "HEAD is on no branch, so there is none that uncommitted changes could stay with",
			Hint: "git switch -c NAME && " + a.again()}
	}
	if !o.carry {
		b.Created.Left = names
		return nil
	}
	if b.At != snap.Head.Commit {
		return &usageError{"--carry takes changes along from HEAD, and this session begins elsewhere", "wfs new --leave"}
	}
	b.Carry, b.Created.Carried = true, names
	return nil
}

func (a *app) askCarry(ctx context.Context, names []string) (carry bool, err error) {
	what := fmt.Sprintf("%d uncommitted %s: %s", len(names), plural(len(names), "file", "files"), strings.Join(names[:min(len(names), 5)], ", "))
	if !a.env.StdinTTY || a.json {
		return false, &session.Refusal{Code: session.RefuseDirty, Message: "there are uncommitted changes: say what becomes of them (" + what + ")",
			Hint: a.again("--carry") + "   (take them along), or " + a.again("--leave") + "   (they stay with your branch)"}
	}
	a.note("%s", what)
	answer, err := a.promptFor(ctx, "[c]arry them into the session, [l]eave them with your branch, or [q]uit? ",
		a.again("--carry")+", or "+a.again("--leave"), "c", "carry", "l", "leave", "q", "quit", "")
	if err != nil {
		return false, err
	}
	switch answer {
	case "c", "carry":
		return true, nil
	case "l", "leave":
		return false, nil
	}
	a.note("nothing was begun, and nothing was changed")
	return false, exitWith(exitDecision)
}

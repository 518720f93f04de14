package cmd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/wfs-dev/wfs/engine"
	"github.com/wfs-dev/wfs/engine/transition"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/session/oplog"
)

// undoVerb is `wfs undo` and `wfs redo`.
type undoVerb struct {
	*app
	redo, dry bool
	ops       opsFlags
}

func (a *undoVerb) command() *cobra.Command {
	c := &cobra.Command{
		Use: "undo [SESSION]", Short: "undo the last wfs command",
		Long: `Undo restores files, index, HEAD and branches as they were before the last command in this work tree; a
branch only if it is still where the command left it. Undo again for the command before; wfs redo redoes it.

You can undo new, switch, resume, checkpoint, finish, abandon, delete, edit, approve, reject, note and allow.
What a run did cannot be undone: go back with wfs resume SESSION@N. Edits made since are saved first. The
checkpoint of a command that is undone is kept: the branch goes back, and its content is uncommitted again. A
new session in which nothing was done yet is deleted, and comes back with redo. With a session, undo acts in the
work tree where the last command was about it.

--list lists the operations of this work tree, or of a session: number, time, session and what was done. < marks
what the next wfs undo undoes, > what wfs redo redoes, x what was undone. With --moves it shows HEAD and
branches before and after. The list is in refs/wfs-ops and keeps a few hundred operations; to read it takes no
lock and writes nothing.`,
		Example: "  wfs undo\n  wfs undo --dry-run\n  wfs undo csv-export\n  wfs undo --list --moves\n  wfs undo --list --all --json | jq '.operations[0].turn'",
		Args:    upTo(1),
		RunE:    with(a.run),
	}
	dryFlag(c, &a.dry)
	a.ops.flags(c.Flags())
	return c
}

type redoVerb struct{ undoVerb }

func (a *redoVerb) command() *cobra.Command {
	a.redo = true
	c := &cobra.Command{
		Use: "redo [SESSION]", Short: "redo the last undo",
		Long: `Redo reverts the last undo of this work tree, under the same conditions. After another command there is
nothing to redo; what was undone is still in checkpoints and backups.`,
		Example: "  wfs redo\n  wfs redo csv-export",
		Args:    upTo(1),
		RunE:    with(a.run),
	}
	dryFlag(c, &a.dry)
	return c
}

// name returns the command's name: "wfs undo" or "wfs redo".
func (a *undoVerb) name() string {
	if a.redo {
		return "wfs redo"
	}
	return "wfs undo"
}

// run undoes the next operation, and all other operations of the command that made it. For wfs redo, it redoes them.
// Each one is logged as an operation of its own: if wfs is killed in between, nothing is half done, and the same
// command continues.
func (a *undoVerb) run(ctx context.Context, args []string) error {
	name := first(args)
	switch {
	case a.ops.list && !a.dry:
		return a.listOps(ctx, name, a.ops)
	case a.ops.list || a.ops.all || a.ops.moves:
		return usage("wfs undo --list", "--all and --moves go with --list, and --dry-run does not")
	}
	if name != "" {
		if err := a.enterNewest(ctx, name); err != nil {
			return err
		}
	}
	if err := a.BeginOr(ctx, a.dry, a.name(), true); err != nil {
		return err
	}
	next := a.undoable
	if a.redo {
		next = a.Engine.Redoable
	}
	if a.dry {
		return a.preview(ctx, next)
	}
	ops, err := a.standing(ctx, next)
	if err != nil {
		return err
	}
	all, err := a.Repo.Ops(ctx)
	if err != nil {
		return err
	}
	var h *engine.Hand
	var done []*transition.Relocated
	for _, op := range ops {
		var r *transition.Relocated
		var put bool
		back, err := transition.Undeletes(all, op) // the operation deleted a session
		if err == nil && back {
			r, err = a.Engine.UndoDelete(ctx, op)
		}
		if err == nil {
			err = a.Engine.BringBack(ctx, op)
		}
		if err == nil {
			h, err = a.Take(ctx, op.Session)
		}
		ran := 0
		if err == nil && !back {
			ran, err = h.RanSince(ctx, op)
		}
		if err == nil && !back {
			r, err = h.Undo(ctx, op)
		}
		if err == nil && !back && !a.ownTree(op.Session) { // a session stays while its own work tree exists
			put, err = h.PutAway(ctx, op)
		}
		if err == nil && !back && !put && h.S.Status == session.StatusAbandoned {
			r.Note = string(h.ID) + " is abandoned; everything of it is kept"
			if a.ownTree(op.Session) {
				r.Note += "\nits work tree stays; to remove it: " + a.fromMain(ctx, "wfs delete --worktree "+string(op.Session))
			}
		}
		if ran > 0 && r != nil {
			ranSince := fmt.Sprintf("%d %s ran since; their checkpoints stay: wfs log %s", ran,
				plural(ran, "attempt", "attempts"), op.Session)
			r.Note = strings.TrimPrefix(r.Note+"\n"+ranSince, "\n")
		}
		var refused *session.Refusal
		if len(done) > 0 && errors.As(err, &refused) { // the operations undone so far stay undone
			done[len(done)-1].Note = refused.Message
			break
		}
		if err != nil {
			return err
		}
		done = append(done, r)
	}
	return a.sayUndone(h, done)
}

// ownTree reports whether this work tree was created for the session.
func (a *undoVerb) ownTree(id session.ID) bool {
	p, err := a.Clone.Worktree(a.Repo.Worktree()).Provided(id, a.Repo.Root())
	return err == nil && p.Session == id
}

// preview prints what an undo or redo would do, for --dry-run.
func (a *undoVerb) preview(ctx context.Context, next func(context.Context) ([]session.Op, error)) error {
	ops, err := next(ctx)
	if err != nil {
		return a.damagedLog(ctx, err)
	}
	p, err := a.Engine.PreviewUndo(ctx, ops,
		func(id session.ID) string { return a.Clone.Session(id).ExcludeFile() })
	if err != nil {
		return err
	}
	return preview{a.app, ops[0].Session}.say(p, baseJSON{})
}

// standing returns the operations that the next undo or redo reverts, and locks their sessions. If a killed command has
// left an operation unfinished, standing first completes it, because that may then be the operation to undo.
func (a *undoVerb) standing(ctx context.Context,
	next func(context.Context) ([]session.Op, error)) ([]session.Op, error) {
	cur, err := a.Current(ctx)
	if err != nil {
		return nil, err
	}
	taken := map[session.ID]bool{"": true}
	for {
		var none *session.Refusal
		about, nothing := next(ctx)
		ops, err := a.Repo.Ops(ctx)
		switch {
		case err != nil:
		case errors.As(nothing, &none): // completing it may log an operation
			about = ops[:min(1, len(ops))]
		case nothing != nil:
			err = nothing
		}
		if err != nil {
			return nil, err
		}
		ids := []session.ID{cur}
		for _, op := range about {
			ids = append(ids, op.Session)
		}
		slices.Sort(ids)
		ids = slices.DeleteFunc(slices.Compact(ids), func(id session.ID) bool { return taken[id] })
		if len(ids) == 0 && nothing != nil {
			return nil, a.damagedLog(ctx, nothing)
		}
		if len(ids) == 0 {
			return about, nil
		}
		if err := a.Hold(a.name(), slices.Clone(ids)...); err != nil {
			return nil, err
		}
		for _, id := range ids {
			taken[id] = true
			if tip, err := a.Repo.Ref(ctx, session.LedgerOf(id)); err != nil || tip == "" { // the session was deleted
				if err != nil {
					return nil, err
				}
				continue
			}
			if _, err := a.Take(ctx, id); err != nil {
				return nil, err
			}
		}
	}
}

// sayUndone prints the result of an undo or redo. Several operations of one command are printed as one result.
func (a *undoVerb) sayUndone(h *engine.Hand, done []*transition.Relocated) error {
	all := *done[len(done)-1]
	all.Rescued = nil
	for _, r := range done {
		all.Rescued = append(all.Rescued, r.Rescued...)
	}
	for _, r := range done[:len(done)-1] {
		all.Also = append(all.Also, r.Event.Summary)
		all.Changes = append(r.Changes, all.Changes...)
		if all.Event.Turn.Worktree == "" {
			all.Event.Turn.Worktree = r.Event.Turn.Worktree
		}
	}
	return moved{a.app, h, &all, nil}.say()
}

// damagedLog returns a better error if there is nothing to undo because the operation log cannot be read. Otherwise it
// returns err.
func (a *undoVerb) damagedLog(ctx context.Context, err error) error {
	if _, damage, e := a.Repo.OpLog(ctx, a.Repo.Worktree()); e == nil && damage != nil {
		return session.Refuse(session.RefuseNothing, "wfs undo --list",
			"%v: the operation log cannot be read (%v); the next operation begins a new one and keeps this", err, damage)
	}
	return err
}

// undoable returns the operations that the next undo reverts. If this work tree has none, the hint of the error names
// the session of the newest operation in other work trees.
func (a *undoVerb) undoable(ctx context.Context) ([]session.Op, error) {
	ops, err := a.Engine.Undoable(ctx)
	var nothing *session.Refusal
	trees, e := a.Repo.Worktrees(ctx)
	if e != nil || !errors.As(err, &nothing) || nothing.Hint == "wfs redo" {
		return ops, err
	}
	var newest session.Op
	for _, t := range trees {
		list, _, _ := a.Repo.OpLog(ctx, t.ID)
		if undo, _ := oplog.Standing(list); !t.Gone && len(undo) > 0 && undo[len(undo)-1].At >= newest.At {
			newest = undo[len(undo)-1]
		}
	}
	if newest.Session != "" {
		nothing.Hint = "wfs undo " + string(newest.Session)
	}
	return ops, err
}

// enterNewest goes to the work tree in which the newest operation is about the session `name`. For wfs redo, it looks
// at the newest undone operation.
func (a *undoVerb) enterNewest(ctx context.Context, name string) error {
	if err := a.OpenWriter(ctx); err != nil {
		return err
	}
	id, err := a.Resolve(ctx, name)
	if err != nil {
		// The operation log still has sessions that were deleted, or whose creation was undone.
		gone, e := session.ParseID(string(session.Exactly(name)))
		if e != nil {
			return err
		}
		id, a.About = gone, gone
	}
	unknown := err
	trees, err := a.Repo.Worktrees(ctx)
	if err != nil {
		return err
	}
	best, at := "", int64(-1)
	for _, t := range trees {
		ops, _, err := a.Repo.OpLog(ctx, t.ID)
		if err != nil {
			return err
		}
		next, redo := oplog.Standing(ops)
		if a.redo {
			next = redo
		}
		n, here := len(next), t.ID == a.Repo.Worktree()
		if n == 0 || next[n-1].Session != id || t.Gone {
			continue
		}
		if op := next[n-1]; op.At > at || here && op.At == at {
			best, at = t.Path, op.At
			if here {
				best = ""
			}
		}
	}
	switch {
	case best != "":
		return a.GoTo(ctx, best, id)
	case at >= 0:
		return nil
	case unknown != nil:
		return unknown
	default:
		return session.Refuse(session.RefuseNothing, "wfs undo --list --all",
			"undo goes back from the newest operation of a work tree, and none of those is of %s", id)
	}
}

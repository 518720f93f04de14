package cmd

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/wfs-dev/wfs/session"
)

func (a *app) undoCmd() *cobra.Command {
	return &cobra.Command{
		Use: "undo [SESSION]", Short: "take back the last new, switch, resume, finish, abandon or delete",
		Long: `Undo takes back the newest operation of this work tree: files, index, HEAD and branches as they were before it, and
each branch only if it is still where the operation left it. Edits made since are rescued. An undo is an operation
itself: undo again, and it is done again. It never deletes a checkpoint. With a session's name it takes back the newest
operation of the work tree where that was one of this session.`,
		Example: "  wfs undo\n  wfs undo csv-export",
		Args:    upTo(1),
		RunE:    func(c *cobra.Command, args []string) error { return a.undo(c.Context(), first(args)) },
	}
}

func (a *app) undo(ctx context.Context, name string) error {
	if name != "" {
		if err := a.enterNewest(ctx, name); err != nil {
			return err
		}
	}
	if err := a.begin(ctx, "wfs undo", true); err != nil {
		return err
	}
	op, err := a.eng.Undoable(ctx)
	if err != nil {
		return err
	}
	if err := a.holdWithCurrent(ctx, "wfs undo", op.Session); err != nil {
		return err
	}
	if back, err := a.eng.Undeletes(ctx, op); err != nil {
		return err
	} else if back {
		return a.undoDelete(ctx, op)
	}
	h, err := a.take(ctx, op.Session)
	if err != nil {
		return err
	}
	if op, err = a.eng.Undoable(ctx); err != nil { // recovery may have completed one
		return err
	}
	r, err := h.Undo(ctx, op)
	if err != nil {
		return err
	}
	return a.sayMoved(h, r, nil)
}

// enterNewest goes to the work tree whose newest operation is about a session.
func (a *app) enterNewest(ctx context.Context, name string) error {
	if err := a.openFor(ctx, true); err != nil {
		return err
	}
	id, err := a.resolve(ctx, name)
	if err != nil {
		return err
	}
	trees, err := a.repo.Worktrees(ctx)
	if err != nil {
		return err
	}
	to := ""
	for _, t := range trees {
		op, err := a.repo.NewestOp(ctx, t.ID)
		if err != nil {
			return err
		}
		switch {
		case op == nil || op.Session != id || t.Gone:
		case t.ID == a.repo.Worktree():
			return nil
		case to != "":
			return &session.Refusal{Code: session.RefuseAmbiguous, Message: fmt.Sprintf("the newest operations of two work trees are of %s: %s and %s", id.Display(), to, t.Path),
				Hint: "cd there, and wfs undo"}
		default:
			to = t.Path
		}
	}
	if to == "" {
		return &session.Refusal{Code: session.RefuseNothing, Message: "no work tree's newest operation is one of " + id.Display(), Hint: "wfs log " + string(id)}
	}
	return a.goTo(ctx, to, id)
}

// undoDelete brings a deleted session back.
func (a *app) undoDelete(ctx context.Context, op session.Op) error {
	r, err := a.eng.UndoDelete(ctx, op)
	if err != nil {
		return err
	}
	h, err := a.take(ctx, op.Session)
	if err != nil {
		return err
	}
	return a.sayMoved(h, r, nil)
}

package transition

import (
	"context"
	"errors"
	"strings"

	"github.com/wfs-dev/wfs/session"
)

// PreviewUndo previews the undo of operations, one after the other. If the first undo is refused, it returns that
// refusal. It ignores refusals of later undos: these are checked against the current state, which the first undo may
// change. `exclude` returns the path of a session's exclude file, "" if it has none.
func (e *Kit) PreviewUndo(ctx context.Context, ops []session.Op, exclude func(session.ID) string) (Preview, error) {
	p := Preview{At: -1}
	var what []string
	for i, op := range ops {
		one, err := e.previewOne(ctx, op, exclude(op.Session))
		var refused *session.Refusal
		switch {
		case err != nil && !(errors.As(err, &refused) && i > 0):
			return p, err
		case err == nil && one.relocation.Tree != "" && !one.relocation.stay:
			p = one.Preview
		}
		what = append(what, summaryOfUndo(op))
	}
	p.What = strings.Join(what, "; ")
	return p, nil
}

// undoing is the preview of one undo.
type undoing struct {
	Preview
	reversal
}

// previewOne previews the undo of one operation.
func (e *Kit) previewOne(ctx context.Context, op session.Op, exclude string) (undoing, error) {
	var out undoing
	ops, err := e.Git.Ops(ctx)
	if err != nil {
		return out, err
	}
	kind, _, err := originalIn(ops, op)
	if err != nil {
		return out, err
	}
	if back, err := Undeletes(ops, op); err != nil || back {
		if err == nil {
			err = e.mayUndelete(ctx, op)
		}
		return out, err
	}
	// PutAway has deleted the session, so there are no files to preview
	if tip, err := e.Git.Ref(ctx, session.LedgerOf(op.Session)); err != nil || tip == "" &&
		kind == string(session.MoveNew) {
		return out, err
	}
	l, err := e.Look(ctx, op.Session, exclude)
	if err != nil {
		return out, err
	}
	out.reversal, err = l.reverse(ctx, op)
	if err == nil && out.relocation.Tree != "" && !out.relocation.stay {
		out.Preview, err = l.preview(ctx, out.relocation)
	}
	return out, err
}

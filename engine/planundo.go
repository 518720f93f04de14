package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/wfs-dev/wfs/session"
)

// afterwards is a store in which HEAD and refs are where operations that are only looked at would have left them.
type afterwards struct {
	Store
	refs map[string]session.Commit
	head string // full name of a branch or a commit, "" when it was not moved
}

func (s *afterwards) Ref(ctx context.Context, name string) (session.Commit, error) {
	if c, ok := s.refs[name]; ok {
		return c, nil
	}
	return s.Store.Ref(ctx, name)
}

func (s *afterwards) Head(ctx context.Context) (session.Head, error) {
	switch {
	case s.head == "":
		h, err := s.Store.Head(ctx)
		if c, ok := s.refs[h.Ref]; ok {
			h.Commit = c
		}
		return h, err
	case !strings.HasPrefix(s.head, "refs/"):
		return session.Head{Commit: session.Commit(s.head)}, nil
	}
	c, err := s.Ref(ctx, s.head)
	return session.Head{Ref: s.head, Commit: c}, err
}

func (s *afterwards) moved(refs []session.RefMove, head string) {
	for _, m := range refs {
		s.refs[m.Ref] = m.New
	}
	if head != "" {
		s.head = head
	}
}

// PreviewUndo is what it would do to take operations back, one after the other. Each is looked at as it would find HEAD
// and refs when those before it are taken back. A refusal of the first is an error; that of a later one is a note, because
// the others are taken back all the same. exclude returns the path of a session's exclude file, "" for none.
func (e *Engine) PreviewUndo(ctx context.Context, ops []session.Op, exclude func(session.ID) string) (Preview, error) {
	then := *e
	store := &afterwards{Store: e.Store, refs: map[string]session.Commit{}}
	then.Store = store
	p := Preview{At: -1}
	var what []string
	said := map[session.ID]bool{}
	for i, op := range ops {
		one, err := then.previewOne(ctx, op, exclude(op.Session), said[op.Session])
		var refused *session.Refusal
		if errors.As(err, &refused) && i > 0 {
			p.Note = refused.Message
			break
		}
		if err != nil {
			return p, err
		}
		if n := len(one.Move.InTheWay); n > 0 && i > 0 {
			p.Note = fmt.Sprintf("%s: %d %s in the way", summaryOfUndo(op), n, plural(n, "file is", "files are"))
			break
		}
		r := one.relocation
		if r.tree != "" && !r.stay {
			p = one.Preview
		}
		what, said[op.Session] = append(what, summaryOfUndo(op)), true
		store.moved(r.refs, r.head)
	}
	p.What = strings.Join(what, "; ")
	return p, nil
}

// undoing is what it would do to take one operation back.
type undoing struct {
	Preview
	reversal
}

// previewOne looks at one operation. said says that what is said of its session would have been changed before.
func (e *Engine) previewOne(ctx context.Context, op session.Op, exclude string, said bool) (undoing, error) {
	var out undoing
	ops, err := e.Store.Ops(ctx)
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
	if tip, err := e.Store.Ref(ctx, session.LedgerOf(op.Session)); err != nil || tip == "" && kind == string(session.MoveNew) { // it was put away
		return out, err
	}
	l, err := e.Look(ctx, op.Session, exclude)
	if err != nil {
		return out, err
	}
	out.reversal, err = l.h.reverse(ctx, op)
	if out.record && said {
		err = nil
	}
	if err == nil && out.relocation.tree != "" && !out.relocation.stay {
		out.Preview, err = l.preview(ctx, out.relocation)
	}
	return out, err
}

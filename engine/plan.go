package engine

import (
	"context"
	"fmt"
	"strings"

	"github.com/wfs-dev/wfs/session"
)

// planMove refuses when something is in the way.
func (h *Hand) planMove(ctx context.Context, from session.Snapshot, to, raw session.Tree) (session.Move, error) {
	plan, err := h.e.Store.PlanMove(ctx, from, to, raw)
	if err != nil {
		return plan, err
	}
	if len(plan.InTheWay) == 0 {
		plan.Raw, err = h.e.Store.Raw(ctx, plan)
		return plan, err
	}
	var list []string
	for _, s := range plan.InTheWay[:min(len(plan.InTheWay), 5)] {
		list = append(list, fmt.Sprintf("%s (%s)", s.Path, s.Why))
	}
	return plan, &session.Refusal{Code: session.RefuseInTheWay, Hint: "move them aside, then run it again",
		Message: fmt.Sprintf("nothing was changed: %d %s in the way, not in any checkpoint: %s", len(plan.InTheWay),
			plural(len(plan.InTheWay), "file is", "files are"), strings.Join(list, ", "))}
}

// Look is a session that is only read, to say what a command would do to the files of this work tree. It takes no lock,
// recovers nothing and writes nothing but objects that nothing refers to.
type Look struct {
	h       *Hand
	exclude string
}

// Preview is what a command would do.
type Preview struct {
	What string // as its operation would be called
	Head string // full name of the branch that HEAD would go to, "": it stays
	At   int    // checkpoint that the files would be those of, -1: none
	Move session.Move
}

// Look reads a session. exclude is the path of its exclude file, "" for none.
func (e *Engine) Look(ctx context.Context, id session.ID, exclude string) (*Look, error) {
	tip, err := e.Store.Ref(ctx, session.LedgerOf(id))
	if err != nil {
		return nil, err
	}
	v, err := e.Load(ctx, id, tip)
	if err != nil {
		return nil, err
	}
	text, err := e.document(ctx, id, tip, session.FilePlan)
	if err != nil {
		return nil, err
	}
	plan, err := e.DecodePlan(text)
	if err != nil {
		return nil, fmt.Errorf("session %s: %w: plan.json: %w", id, ErrUnreadable, err)
	}
	return &Look{&Hand{e: e, ID: id, Tip: tip, S: v.Session, Plan: plan}, exclude}, nil
}

func (l *Look) preview(ctx context.Context, r relocation) (Preview, error) {
	p := Preview{What: r.summary, Head: r.head, At: r.to}
	snap, err := l.h.e.Store.Snapshot(ctx, l.exclude)
	if err != nil {
		return p, err
	}
	if r.head == nameOf(snap.Head) {
		p.Head = ""
	}
	p.Move, err = l.h.e.Store.PlanMove(ctx, snap, r.tree, r.raw)
	return p, err
}

// Enter is what Hand.Enter would do.
func (l *Look) Enter(ctx context.Context) (Preview, error) {
	r, needed, err := l.h.entering(ctx)
	if err != nil || !needed {
		return Preview{At: l.h.S.Current}, err
	}
	r.to = l.h.S.Current
	return l.preview(ctx, r)
}

// Leave is what Hand.Leave would do.
func (l *Look) Leave(ctx context.Context, branch string) (Preview, error) {
	r, _, needed, err := l.h.leaving(ctx, branch)
	if err != nil || !needed {
		return Preview{At: -1}, err
	}
	return l.preview(ctx, r)
}

// Resume is what Hand.Resume would do.
func (l *Look) Resume(ctx context.Context, at int) (Preview, error) {
	if at < 0 && l.h.S.Status.Final() && l.h.S.Status != session.StatusAbandoned {
		return Preview{}, l.h.isFinal()
	}
	if at < 0 {
		return l.Enter(ctx)
	}
	r, err := l.h.resumeAt(ctx, at)
	if err != nil {
		return Preview{}, err
	}
	return l.preview(ctx, r)
}

func (h *Hand) isFinal() *session.Refusal {
	return &session.Refusal{Code: session.RefuseFinal, Message: fmt.Sprintf("%s is %s", h.ID, h.S.Status),
		Hint: fmt.Sprintf("wfs resume %s@%d", h.ID, h.S.Current)}
}

// Finish is what Hand.Finish would do.
func (l *Look) Finish(ctx context.Context, o Handover) (Preview, error) {
	p := Preview{What: "finish " + string(l.h.ID) + " on " + short(o.Branch), Head: o.Branch}
	if err := l.h.mayDrive(ctx); err != nil {
		return p, err
	}
	snap, err := l.h.e.Store.Snapshot(ctx, l.exclude)
	if err != nil {
		return p, err
	}
	work, err := l.h.handing(ctx, o, snap)
	if err != nil {
		return p, err
	}
	p.At = work.checkpoint.Number
	p.Move, err = l.h.e.Store.PlanMove(ctx, snap, work.files, "")
	return p, err
}

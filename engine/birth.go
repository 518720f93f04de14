package engine

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

// Birth is everything that a new session is made of.
type Birth struct {
	Created session.Created // ID, goal, workflow, base and so on; Carried and Left as the user chose
	At      session.Commit  // the branch starts here
	Carry   bool            // the work tree's uncommitted changes become part of checkpoint 0
	// in a work tree that was made for it: HEAD is detached at At, and the files are those of Tree
	Own      bool
	Tree     session.Tree // with Own: of checkpoint 0
	Plan     *workflows.Plan
	PlanText []byte
	Workflow []byte // text of the workflow file
	Spec     []byte // nil without one
	Exclude  []byte // the first exclude rules
	// Of a fork: what the gates said about the base, paths that were allowed, evidence, and the ledger commit that
	// it is of.
	Base    *session.Baseline
	Allowed []string
	Docs    session.Files
	Anchor  session.Commit
}

// New makes a session, makes it current in this work tree, and runs its gates on the base. A gate that cannot
// run stops it, and everything is as before: then there is no hand, and what is returned beside the error tells
// where edits are that were made while gates ran.
func (e *Engine) New(ctx context.Context, b Birth) (*Hand, *Relocated, error) {
	id := b.Created.ID
	j, err := e.OpenJournal(id, "")
	if err != nil {
		return nil, nil, err
	}
	if len(j.Events()) > 0 { // of a birth that was killed before there was a ledger: it never happened
		if err := j.Discard(); err != nil {
			return nil, nil, err
		}
	}
	h := &Hand{e: e, ID: id, j: j, Plan: b.Plan, plan: b.PlanText, docs: session.Files{
		session.FilePlan: b.PlanText, session.FileWorkflow: b.Workflow, session.FileExclude: b.Exclude}}
	if b.Spec != nil {
		h.docs[session.FileSpec] = b.Spec
	}
	maps.Copy(h.docs, b.Docs)
	moved, err := h.begin(ctx, b)
	if err != nil {
		// Once the ledger is there the session is: the journal says what the next command has to complete.
		if tip, e := e.Store.Ref(context.WithoutCancel(ctx), session.LedgerOf(id)); e != nil || tip != "" {
			return nil, nil, fmt.Errorf("%w (the session exists; to complete it: wfs resume %s)", err, id)
		}
		return nil, nil, discarded(j, err)
	}
	e.hit("birth/created")
	if b.Own {
		return h, moved, nil
	}
	first := h.S.At(0)
	moved, err = h.move(ctx, relocation{how: session.MoveNew, summary: summaryOfNew(id),
		tree: first.Tree, index: first.Tree, head: h.S.Branch(), tip: first.Code, to: -1})
	var refused *session.Refusal
	if errors.As(err, &refused) && refused.Code == session.RefuseInTheWay { // since it was looked at
		err = &session.Refusal{Code: refused.Code, Message: refused.Message + "; the session exists",
			Hint: fmt.Sprintf("move them aside, then wfs resume %s", id)}
	}
	if err != nil {
		return h, nil, err
	}
	if h.S.Base0 != nil {
		return h, moved, nil
	}
	if err := h.baseline(ctx, first.Tree); err != nil { // the files had to be moved before the gates could run
		op := session.Op{Number: moved.Op, Kind: string(session.MoveNew), Session: id, Summary: moved.Event.Summary,
			Turn: moved.Event.Turn}
		back, undo := h.Undo(context.WithoutCancel(ctx), op)
		if undo != nil {
			return h, moved, fmt.Errorf("%w; undoing that failed too: %v", err, undo)
		}
		return nil, back, err
	}
	return h, moved, nil
}

func summaryOfNew(id session.ID) string { return fmt.Sprintf("new session %s", id) }

func discarded(j Journal, err error) error {
	if e := j.Discard(); e != nil {
		return fmt.Errorf("%w (and its journal could not be removed: %v)", err, e)
	}
	return err
}

// begin makes the session's ledger, branch and checkpoint 0. The work tree, its index and HEAD stay as they are, except
// that HEAD of a work tree of its own goes to the branch with the same turn.
func (h *Hand) begin(ctx context.Context, b Birth) (*Relocated, error) {
	if err := h.j.SetExclude(b.Exclude); err != nil {
		return nil, err
	}
	snap, err := h.snapshot(ctx)
	if err != nil {
		return nil, err
	}
	tree, err := h.e.Store.TreeOf(ctx, b.At)
	if err != nil {
		return nil, err
	}
	switch {
	case b.Own:
		tree = b.Tree
		for _, held := range snap.HeldOut {
			b.Created.HeldOut = append(b.Created.HeldOut, held.Path)
		}
		if err := h.unchanged(ctx, tree, snap.Tree); err != nil {
			return nil, err
		}
	case b.Carry:
		tree = snap.Tree
	case tree != snap.Tree: // what is in the way is to be found while there is no session yet
		if _, err := h.planMove(ctx, snap, tree, ""); err != nil {
			return nil, err
		}
	}
	bodies := []session.Body{b.Created}
	if b.Base != nil {
		bodies = append(bodies, *b.Base)
	} else if tree == snap.Tree { // the base lies in the work tree: judge it before anything is changed
		base, ev, err := h.judgeBase(ctx, tree)
		if err != nil {
			return nil, err
		}
		if err := h.doc(session.FileBaseline, ev); err != nil {
			return nil, err
		}
		bodies = append(bodies, base)
	}
	if len(b.Allowed) > 0 {
		bodies = append(bodies, session.Allowed{Paths: b.Allowed})
	}
	if err := h.append(bodies...); err != nil {
		return nil, err
	}
	c := session.Checkpointed{Trigger: session.TriggerBirth, Phase: h.S.Phase, Lap: h.S.Lap,
		Summary: oneLine(b.Created.Goal, 90)}
	branch := h.S.Branch()
	d := session.Draft{Branch: branch, Parents: []session.Commit{b.At}, Tree: tree, Exclude: h.j.ExcludeFile(),
		Message: message(c, &h.S, nil, h.S.Phase), LedgerMessage: ledgerMessage(h.ID, "checkpoint 0: "+c.Summary),
		Turn: session.Turn{Refs: []session.RefMove{{Ref: branch}}}}
	if b.Anchor != "" {
		d.Anchors = []session.Commit{b.Anchor} // the frozen tests and the lap's beginning stay reachable
	}
	if b.Own {
		t := &d.Turn
		t.Worktree, t.HeadOld, t.HeadOldCommit, t.HeadNew = h.e.Store.Worktree(), nameOf(snap.Head), snap.Head.Commit, branch
		t.Tree, t.TreeOld, t.Index, t.IndexOld = tree, snap.Tree, tree, snap.Index
	}
	work, op := context.WithoutCancel(ctx), session.Op{}
	_, err = h.turn(work, d, func(m session.Made) (session.Body, error) {
		c.Code, c.Tree, c.Turn = m.Code, m.Tree, m.Turn
		if tree == snap.Tree {
			c.Skipped, c.HeldOut = snap.Skipped, named(snap.HeldOut)
		}
		return c, nil
	}, func() (err error) {
		if b.Own {
			op = h.opOfBirth(session.Event{At: h.e.Clock.Now(), Body: c}, c.Turn)
			op.Number, err = h.e.logOp(work, op)
		}
		return err
	})
	if err != nil || !b.Own {
		return nil, err
	}
	return &Relocated{Op: op.Number,
		Event: session.Moved{MoveStarted: session.MoveStarted{How: session.MoveNew, Summary: op.Summary, To: -1,
			Turn: op.Turn}}}, nil
}

// opOfBirth is the operation that a birth in a work tree of its own is logged as. Its undo leaves the branch
// where it is.
func (h *Hand) opOfBirth(ev session.Event, t session.Turn) session.Op {
	t.Refs = nil
	return h.op(ev, string(session.MoveNew), summaryOfNew(h.ID), 0, t)
}

// unchanged refuses a new work tree whose set-up has changed what checkpoint 0 is to hold.
func (h *Hand) unchanged(ctx context.Context, want, have session.Tree) error {
	if want == have {
		return nil
	}
	changes, err := h.e.Store.Changes(ctx, want, have)
	if err != nil {
		return err
	}
	return &session.Refusal{Code: session.RefuseSetup,
		Hint: "commit them as the set-up leaves them, or let worktree: setup in .wfs/config.yaml leave them as they are",
		Message: fmt.Sprintf("the set-up changed %d %s of the project: %s", len(changes),
			plural(len(changes), "file", "files"), paths(changes))}
}

func (h *Hand) judgeBase(ctx context.Context, tree session.Tree) (session.Baseline, session.Evidence, error) {
	dir, err := h.j.RunDir("baseline")
	if err != nil {
		return session.Baseline{}, session.Evidence{}, err
	}
	b, ev, err := h.e.Works.Baseline(ctx, *h.Plan, tree, dir)
	if err == nil && h.Plan.Holdout != nil {
		err = h.holdOutBase(ctx, &b, ev, dir)
	}
	if err != nil && ctx.Err() == nil {
		err = &session.Refusal{Code: session.RefuseBaseline, Message: err.Error(),
			Hint: "edit .wfs/config.yaml, then run it again"}
	}
	if err == nil {
		err = h.mustBuild(b)
	}
	return b, ev, err
}

// mustBuild refuses a base of which no test can be built, where a phase asks for new tests that fail: whether they fail
// for what they ask could not be told.
func (h *Hand) mustBuild(b session.Baseline) error {
	for _, p := range h.Plan.Workflow.Phases {
		for _, g := range p.Gates {
			i := slices.IndexFunc(b.Gates,
				func(r session.GateResult) bool { return r.Gate == g.Name && r.Class == session.ClassBuildBroken })
			if g.Expect == workflows.ExpectRed && i >= 0 {
				return &session.Refusal{Code: session.RefuseUnbuilt,
					Hint:    fmt.Sprintf("wfs abandon %s -m 'the base does not build'", h.ID),
					Message: fmt.Sprintf("no test of gate %s can be built or loaded here (%s), and phase %s asks for new tests that fail", g.Name, names(b.Gates[i].KnownRed), p.Name)}
			}
		}
	}
	return nil
}

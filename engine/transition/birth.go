package transition

import (
	"context"
	"fmt"

	"github.com/wfs-dev/wfs/engine/checkpoint"
	"github.com/wfs-dev/wfs/engine/hand"
	"github.com/wfs-dev/wfs/internal/safetext"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

// Birth describes a new session.
type Birth struct {
	Created session.Created // ID, goal, workflow, base and so on; Carried and Left as the user chose
	At      session.Commit  // commit that the session's branch starts from
	Carry   bool            // the work tree's uncommitted changes go into checkpoint 0
	// the session gets a new work tree of its own: HEAD is detached at At, and the files are those of Tree
	Own      bool
	Tree     session.Tree // tree of checkpoint 0; without Own "" if it is that of At, or with Carry the work tree's
	Plan     *workflows.Plan
	PlanText []byte
	Workflow []byte // text of the workflow file
	Spec     []byte // nil without one
	Exclude  []byte // the first exclude rules
	// Only for a fork: baseline, allowed paths and documents of the parent session, and the parent's ledger commit of the
	// checkpoint that the fork continues from.
	Base    *session.Baseline
	Allowed []string
	Docs    session.Files
	Anchor  session.Commit
}

// SummaryOfNew returns the summary of the operation that creates a session.
func SummaryOfNew(id session.ID) string { return fmt.Sprintf("new session %s", id) }

// Discarded removes the journal of a session whose creation failed with `err`. It returns `err`, and mentions a failure
// of the removal.
func Discarded(j hand.Journal, err error) error {
	if e := j.Discard(); e != nil {
		return fmt.Errorf("%w (and its journal could not be removed: %v)", err, e)
	}
	return err
}

// JudgeBase runs the gates on a tree before any work.
type JudgeBase func(ctx context.Context, tree session.Tree) (session.Baseline, session.Evidence, error)

// Begin makes the session's ledger, branch and checkpoint 0. The work tree, its index and HEAD do not change, with one
// exception: if the session has a new work tree of its own, the same turn moves the HEAD of that work tree to the
// branch. Begin calls `judge` only if the base's files are checked out here.
func (h *Mover) Begin(ctx context.Context, b Birth, judge JudgeBase) (*Relocated, error) {
	if err := h.Files.SetExclude(b.Exclude); err != nil {
		return nil, err
	}
	snap, err := h.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	tree, err := h.Git.TreeOf(ctx, b.At)
	if err != nil {
		return nil, err
	}
	if b.Carry && b.Tree != "" {
		tree = b.Tree
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
	case b.Carry && b.Tree == "":
		tree = snap.Tree
	case tree != snap.Tree: // find files in the way before the session exists
		if _, err := h.PlanMove(ctx, snap, tree, ""); err != nil {
			return nil, err
		}
	}
	bodies := []session.Body{b.Created}
	if b.Base != nil {
		bodies = append(bodies, *b.Base)
	} else if tree == snap.Tree { // the base is checked out: judge it before anything changes
		base, ev, err := judge(ctx, tree)
		if err != nil {
			return nil, err
		}
		if err := h.KeepJSON(session.FileBaseline, ev); err != nil {
			return nil, err
		}
		bodies = append(bodies, base)
	}
	if len(b.Allowed) > 0 {
		bodies = append(bodies, session.Allowed{Paths: b.Allowed})
	}
	if err := h.Append(bodies...); err != nil {
		return nil, err
	}
	c := session.Checkpointed{Trigger: session.TriggerBirth, Phase: h.S.Phase, Lap: h.S.Lap,
		Summary: safetext.OneLine(b.Created.Goal, 90)}
	branch := h.S.Branch()
	d := session.Draft{Branch: branch, Parents: []session.Commit{b.At}, Tree: tree, Exclude: h.Files.ExcludeFile(),
		Message:       checkpoint.Message(c, &h.S, nil, h.S.Phase),
		LedgerMessage: hand.LedgerMessage(h.ID, "checkpoint 0: "+c.Summary),
		Turn:          session.Turn{Refs: []session.RefMove{{Ref: branch}}}}
	if b.Anchor != "" {
		d.Anchors = []session.Commit{b.Anchor} // keeps the frozen tests and the start of the lap reachable
	}
	if b.Own {
		t := &d.Turn
		t.Worktree, t.HeadOld, t.HeadOldCommit, t.HeadNew = h.Git.Worktree(), snap.Head.Name(), snap.Head.Commit, branch
		t.Tree, t.TreeOld, t.Index, t.IndexOld = tree, snap.Tree, tree, snap.Index
	}
	work, op := context.WithoutCancel(ctx), session.Op{}
	_, err = h.Turn(work, d, func(m session.Made) (session.Body, error) {
		c.Code, c.Tree, c.Turn = m.Code, m.Tree, m.Turn
		if tree == snap.Tree {
			c.Skipped, c.HeldOut = snap.Skipped, checkpoint.Named(snap.HeldOut)
		}
		return c, nil
	}, func() (err error) {
		if b.Own {
			op = opOfBirth(h.Hand, session.Event{At: h.Clock.Now(), Body: c}, c.Turn)
			op.Number, err = h.LogOp(work, op)
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

// opOfBirth returns the operation that creates a session in a work tree of its own. The undo of this operation does not
// move the session's branch.
func opOfBirth(h *hand.Hand, ev session.Event, t session.Turn) session.Op {
	t.Refs = nil
	return h.Op(ev, string(session.MoveNew), SummaryOfNew(h.ID), 0, t)
}

// unchanged refuses a new work tree if the set-up commands have changed files of checkpoint 0 there.
func (h *Mover) unchanged(ctx context.Context, want, have session.Tree) error {
	if want == have {
		return nil
	}
	changes, err := h.Git.Changes(ctx, want, have)
	if err != nil {
		return err
	}
	return &session.Refusal{Code: session.RefuseSetup,
		Hint: "commit them as the set-up leaves them, or let worktree: setup in .wfs/config.yaml leave them as they are",
		Message: fmt.Sprintf("the set-up changed %d %s of the project: %s", len(changes),
			safetext.Word(len(changes), "file", "files"), checkpoint.Paths(changes))}
}

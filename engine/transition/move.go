package transition

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/wfs-dev/wfs/session"
)

// Relocation is a move of the work tree: files, index, HEAD and refs together.
type Relocation struct {
	How     session.MoveKind
	Summary string
	Tree    session.Tree   // of the files afterwards
	Index   session.Tree   // of the index afterwards
	raw     session.Tree   // of files with bytes of their own, "" for none
	Head    string         // full name of the branch that HEAD goes to, "": it stays
	Tip     session.Commit // of that branch, "" when it does not exist yet
	refs    []session.RefMove
	To      int // checkpoint that becomes current, -1: none
	undoes  int64
	status  session.Status
	former  *session.Former // what an undo brings back beside
	Docs    session.Commit  // of the ledger, whose lap and evidence hold then; "": they stay
	since   session.Tree    // what guards compare an auto-save's files with, "" for all other moves
	stay    bool            // the files stay as they are, whatever Tree says
}

// Relocated says what a move did, for people.
type Relocated struct {
	Op      int64 // number in the operation log; 0 when nothing had to be done
	Event   session.Moved
	Changes []session.Change
	Rescued []string // refs that keep what was there, none when all of it was reachable already
	Note    string
	Also    []string // what the same command did before it: summaries of operations
}

// Move is the one function behind new, switch, resume and undo. Nothing is overwritten before it is reachable from a
// ref; until the ledger has moved, the next command finishes the move.
func (h *Mover) Move(ctx context.Context, r Relocation) (*Relocated, error) {
	st := h.Git
	if err := h.NoSurvivors(); err != nil {
		return nil, err
	}
	if err := h.GrowExclude(ctx); err != nil {
		return nil, err
	}
	snap, err := h.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	if r.stay {
		r.Tree = snap.Tree
	}
	plan, err := h.PlanMove(ctx, snap, r.Tree, r.raw)
	if err != nil {
		return nil, err
	}
	snap.Raw, plan.Index = plan.Raw, r.Index
	t := session.Turn{Worktree: st.Worktree(), Refs: r.refs, Tree: r.Tree, Index: r.Index, Raw: r.raw,
		HeadOldCommit: snap.Head.Commit, TreeOld: snap.Tree, IndexOld: snap.Index, RawOld: snap.Raw}
	if from := snap.Head.Name(); r.Head != "" && r.Head != from {
		t.HeadOld, t.HeadNew = from, r.Head
		if !slices.ContainsFunc(r.refs, func(m session.RefMove) bool { return m.Ref == r.Head }) {
			t.HeadNewCommit = r.Tip
		}
	}
	if err := st.AwaitLocks(ctx, h.ID, t); err != nil {
		return nil, fmt.Errorf("%s: nothing was changed: %w", r.Summary, err)
	}
	if !snap.Clean() && !r.keeps(snap) {
		if t.Rescue, err = h.rescue(ctx, r.Summary, snap, failedBefore(h.Live)); err != nil {
			return nil, err
		}
	}
	m := session.MoveStarted{How: r.How, Summary: r.Summary, To: r.To, Undoes: r.undoes, Status: r.status,
		Former: r.former, Docs: r.Docs, Since: r.since, Turn: t}
	if err := h.begin(m, t, "move/journaled"); err != nil {
		return nil, err
	}
	if err := st.MoveTree(ctx, plan); err != nil {
		return h.lookAgain(ctx, m, &unmoved{err})
	}
	out, err := h.arrive(ctx, m, plan.Changes)
	if failed := (*unmoved)(nil); errors.As(err, &failed) {
		return h.lookAgain(ctx, m, err)
	}
	return out, h.standsHalfWay(ctx, m, err)
}

// keeps reports whether nothing of what is there is overwritten: the files stay, and the index holds nothing else.
func (r *Relocation) keeps(s session.Snapshot) bool {
	return r.stay && (s.Index == "" || s.Index == s.HeadTree || s.Index == s.Tree || s.Index == r.Index)
}

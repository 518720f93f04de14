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
	Tree    session.Tree   // tree of the files afterwards
	Index   session.Tree   // tree of the index afterwards
	raw     session.Tree   // files of Tree whose bytes must differ from a normal checkout, "" for none
	Head    string         // full name of the branch that HEAD moves to, "": HEAD stays
	Tip     session.Commit // tip of that branch, "" when it does not exist yet
	refs    []session.RefMove
	To      int // checkpoint that becomes current, -1: none
	undoes  int64
	status  session.Status
	former  *session.Former // the part of the session's record that an undo restores
	Docs    session.Commit  // ledger commit whose lap.json and evidence.json become current; "": they stay
	since   session.Tree    // if Tree is from an auto-save: the tree that guards compare with
	stay    bool            // leave the files unchanged, whatever Tree is
}

// Relocated describes the result of a move to people.
type Relocated struct {
	Op      int64 // number in the operation log; 0 if there was nothing to do
	Event   session.Moved
	Changes []session.Change
	Rescued []string // refs that keep the overwritten files, none if all files were reachable already
	Note    string
	Also    []string // summaries of earlier operations of the same command
}

// Move is the function behind new, switch, resume and undo. Before it overwrites content, it makes the content
// reachable from a ref. If it is killed before the ledger has moved, the next command completes the move.
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

// keeps reports whether the move overwrites nothing: the files stay, and all content of the index is also in HEAD, in
// the files, or in the index after the move.
func (r *Relocation) keeps(s session.Snapshot) bool {
	return r.stay && (s.Index == "" || s.Index == s.HeadTree || s.Index == s.Tree || s.Index == r.Index)
}

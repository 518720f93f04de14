package turn

import (
	"context"
	"errors"
	"path/filepath"
	"strings"

	"github.com/wfs-dev/wfs/gitstate/checkout"
	"github.com/wfs-dev/wfs/gitstate/gitcmd"
	"github.com/wfs-dev/wfs/gitstate/refs"
	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/session"
)

// Publish moves the ledger's ref, which is the commit point, and then settles the turn. The error wraps ErrMoved if
// another process has moved the ledger; then nothing was published.
func (r *Turns) Publish(ctx context.Context, p session.Prepared) (session.Settled, error) {
	ledger := session.RefMove{Ref: refs.LedgerRef(p.Session), Old: p.LedgerOld, New: p.Ledger}
	if err := r.Refs.Move(ctx, ledger, "wfs: ledger"); err != nil {
		return session.Settled{}, err
	}
	durable.Hit(durable.LedgerMoved)
	settled, err := r.settle(ctx, p.Session, p.Turn, true)
	if err != nil {
		return settled, err
	}
	r.Objects.LetGo(true)
	r.Objects.RepackMany(ctx)
	if p.IndexAnchor == "" {
		return settled, nil
	}
	err = r.Refs.Move(ctx, session.RefMove{Ref: refs.AnchorRef(p.Session), Old: p.IndexAnchor}, "")
	if errors.Is(err, refs.ErrMoved) {
		err = nil
	}
	return settled, err
}

// Settle completes a turn whose ledger commit is published: it moves the index, then refs, then HEAD, and deletes refs
// last. Each of these parts has an old and a new value in the turn. A part that has its new value is done. A part that
// has neither value was moved by the user or another process, and stays. So Settle can be repeated at any time. If the
// turn belongs to another work tree, it only moves refs. The caller holds the work tree's lock.
func (r *Turns) Settle(ctx context.Context, id session.ID, t session.Turn) (session.Settled, error) {
	return r.settle(ctx, id, t, false)
}

// settle does the work of Settle. first means that the turn has just been published, so it cannot have been settled
// before.
func (r *Turns) settle(ctx context.Context, id session.ID, t session.Turn, first bool) (session.Settled, error) {
	var settled session.Settled
	here := t.Worktree == "" || t.Worktree == r.Git.Worktree
	state, err := r.examine(ctx, t)
	if err != nil {
		return settled, err
	}
	settled.Foreign = state.foreign
	if !here {
		state.head = donePart
	}
	if state.head == foreignPart {
		settled.HeadForeign = state.headNow
	}
	// The index belongs to the branch that HEAD is on. If HEAD is neither moved by the turn nor on the session's
	// branch, the user has moved it elsewhere, and the index is the user's.
	if here && state.indexPending(first) && (state.headMove || state.headNow == session.BranchOf(id)) {
		if err := r.settleIndex(ctx, t, state); err != nil {
			return settled, err
		}
	}
	// HEAD moves after its new branch was created and before its old one is deleted, so that it is never on a missing
	// branch.
	if err := r.settleRefs(ctx, id, state.pending, false, &settled); err != nil {
		return settled, err
	}
	if state.head == oldPart {
		if settled.HeadForeign, settled.HeadBehind, err = r.settleHead(ctx, t, first); err != nil {
			return settled, err
		}
		durable.Hit(durable.SettleHead)
	}
	if err := r.settleRefs(ctx, id, state.pending, true, &settled); err != nil {
		return settled, err
	}
	durable.Hit(durable.SettleDone)
	return settled, nil
}

// settleRefs makes the moves that delete a ref, or, if `deletions` is false, all other moves.
func (r *Turns) settleRefs(ctx context.Context, id session.ID, moves []session.RefMove, deletions bool,
	settled *session.Settled) error {
	for _, m := range moves {
		if (m.New == "") != deletions {
			continue
		}
		switch err := r.Refs.Move(ctx, m, "wfs: "+string(id)); {
		case errors.Is(err, refs.ErrMoved):
			now, err := r.Refs.Ref(ctx, m.Ref)
			if err != nil {
				return err
			}
			settled.Foreign = append(settled.Foreign, session.RefMove{Ref: m.Ref, Old: m.Old, New: now})
		case err != nil:
			return err
		}
		durable.Hit(durable.SettleBranch)
	}
	return nil
}

type part int

const (
	donePart part = iota // the part has its new value, or does not belong to the turn
	oldPart
	foreignPart
)

// turnState says how much of a turn has been settled already.
type turnState struct {
	pending  []session.RefMove // refs that have their old value
	foreign  []session.RefMove // refs that have neither value; New is the value found
	moved    int               // number of refs that have their new value
	head     part
	headNow  string // full ref name, or the commit id if detached
	headMove bool   // the turn moves HEAD
	index    bool   // the turn moves the index
}

// indexPending reports whether the index may still be the old one. The index moves before refs and HEAD, so if all of
// these have their new values, the index normally has its own too. It may not if all had these values before the turn:
// in the middle of a move, the user can move HEAD to its target. If the user has moved a ref or HEAD elsewhere, the
// index may hold the user's later staged changes, and is not pending.
func (s turnState) indexPending(first bool) bool {
	if !s.index || len(s.foreign) > 0 || s.head == foreignPart {
		return false
	}
	nothingElse := len(s.pending) == 0 && s.moved == 0 && !s.headMove
	return first || len(s.pending) > 0 || s.head == oldPart || nothingElse
}

func (r *Turns) examine(ctx context.Context, t session.Turn) (turnState, error) {
	var s turnState
	for _, m := range t.Refs {
		now, err := r.Refs.Ref(ctx, m.Ref)
		if err != nil {
			return s, err
		}
		switch now {
		case m.New:
			s.moved++
		case m.Old:
			s.pending = append(s.pending, m)
		default:
			s.foreign = append(s.foreign, session.RefMove{Ref: m.Ref, Old: m.Old, New: now})
		}
	}
	head, err := r.Refs.Head(ctx)
	if err != nil {
		return s, err
	}
	s.headNow = nameOf(head)
	s.index, s.headMove = t.Index != "", t.HeadNew != "" && t.HeadNew != t.HeadOld
	if s.headMove {
		s.head = headPart(head, t)
	}
	return s, nil
}

func nameOf(h session.Head) string {
	if h.Ref != "" {
		return h.Ref
	}
	return string(h.Commit)
}

func headPart(head session.Head, t session.Turn) part {
	switch nameOf(head) {
	case t.HeadNew:
		return donePart
	case t.HeadOld:
		if t.HeadOldCommit == "" || head.Commit == t.HeadOldCommit {
			return oldPart
		}
		for _, m := range t.Refs { // the turn itself may move the branch that HEAD is to leave
			if m.Ref == head.Ref && (head.Commit == m.New || head.Commit == m.Old) {
				return oldPart
			}
		}
	}
	return foreignPart
}

// settleIndex installs the turn's new index, if the present index is still the turn's old one.
func (r *Turns) settleIndex(ctx context.Context, t session.Turn, state turnState) error {
	unlock, err := r.Git.Locks.LockIndex(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	index := filepath.Join(r.Git.PrivateDir(), "settle")
	now, err := r.copyIndex(ctx, index, t.Index)
	var conflict *gitcmd.ReadyError
	if errors.As(err, &conflict) { // a turn never begins during a conflict, so the user has begun a merge since
		return nil
	}
	untouched := now == t.IndexOld || t.IndexOld == "" && state.moved == 0
	if err != nil || !untouched {
		return err
	}
	if changed, err := r.leadIndex(ctx, index, now, t); err != nil || !changed {
		return err
	}
	durable.Hit(durable.SettleIndexLocked)
	if err := durable.SyncFile(index); err != nil {
		return err
	}
	if err := installIndex(r.Git, index); err != nil {
		return err
	}
	durable.Hit(durable.SettleIndex)
	return nil
}

// copyIndex copies the work tree's index to a path, and returns the tree of its content. `likely` is the tree that it
// probably has.
func (r *Turns) copyIndex(ctx context.Context, to string, likely session.Tree) (session.Tree, error) {
	x, err := r.Files.CopyIndex(ctx, to)
	if err == nil {
		err = x.Store()
	}
	if err != nil {
		return "", err
	}
	return r.Files.TreeOfIndex(ctx, to, x, likely)
}

// leadIndex changes a copy of the index to the turn's new index. `now` is the tree of the copy. It reports whether
// anything was changed.
func (r *Turns) leadIndex(ctx context.Context, index string, now session.Tree, t session.Turn) (bool, error) {
	o := gitcmd.Opts{Write: true, Env: gitcmd.WithIndex(index), OkExit: []int{1}}
	switch {
	case now != t.Index:
		if err := r.readInto(ctx, o, t.Index); err != nil {
			return false, err
		}
	case t.Tree == t.TreeOld:
		return false, nil
	// A checkout may have removed an edited file that is outside of the patterns of a sparse checkout. In the index,
	// the file must become absent on purpose, not deleted.
	default:
		if on, err := r.Git.Sparse(ctx); err != nil || !on {
			return false, err
		}
	}
	return true, checkout.ReapplySparse(ctx, r.Git, o)
}

// readInto replaces the content of the index that o names by a tree.
func (r *Turns) readInto(ctx context.Context, o gitcmd.Opts, tree session.Tree) error {
	// Entries that do not change keep their stat data. update-index compares the other entries with the files here, so
	// that the user's next `git status` need not do it. It exits with 1 if some differ, which is ignored. With -i,
	// read-tree compares no files: without -i, it would refuse if the move has written a file that git is set to ignore
	// (skip-worktree).
	if _, err := r.Git.Run(ctx, gitcmd.Opts{Write: true, Env: o.Env}, "read-tree", "-i",
		"--reset", string(tree)); err != nil {
		return err
	}
	_, err := r.Git.Run(ctx, o, "update-index", "-q", "--refresh")
	return err
}

// settleHead moves HEAD to the turn's new value, if HEAD still has the turn's old value. If HEAD has neither, it
// returns the present value as foreign. If the new branch was moved or deleted meanwhile, or is checked out in another
// work tree, it detaches HEAD at the commit whose files are in the work tree, and returns the branch's move as behind:
// on a branch with another commit, the user's next commit would undo the changes of that commit. first means that the
// turn was not settled before, and that the caller has just checked the other work trees (a move keeps HoldHeads since
// then).
func (r *Turns) settleHead(ctx context.Context, t session.Turn, first bool) (foreign string, behind *session.RefMove,
	err error) {
	head, err := r.Refs.Head(ctx)
	if err != nil {
		return "", nil, err
	}
	// `git switch -` and @{-1} look for this format.
	why := "checkout: moving from " + strings.TrimPrefix(nameOf(head), "refs/heads/") + " to " +
		strings.TrimPrefix(t.HeadNew, "refs/heads/")
	if headPart(head, t) != oldPart {
		if name := nameOf(head); name != t.HeadNew {
			return name, nil, nil
		}
		return "", nil, nil
	}
	to := t.HeadNew
	if strings.HasPrefix(to, "refs/") {
		target, free, err := r.headTarget(ctx, t, first)
		switch {
		case err != nil:
			return "", nil, err
		case free:
			return "", nil, r.Refs.SetHead(ctx, head, to, target, why)
		case t.HeadNewCommit == "":
			return nameOf(head), nil, nil
		}
		behind, to = &session.RefMove{Ref: to, Old: t.HeadNewCommit, New: target}, string(t.HeadNewCommit)
	}
	if _, err = r.Git.Run(ctx, gitcmd.Opts{Write: true}, "update-ref", "--no-deref", "-m", why, "HEAD", to,
		string(head.Commit)); err != nil {
		return "", nil, err
	}
	return "", behind, durable.SyncFile(filepath.Join(r.Git.GitDir, "HEAD"))
}

// headTarget returns the tip of the branch to which a turn moves HEAD. free means that HEAD may move there: the branch
// has the commit that the turn expects, and no other work tree has it checked out. If first is true, the caller has
// checked the latter.
func (r *Turns) headTarget(ctx context.Context, t session.Turn, first bool) (tip session.Commit, free bool, err error) {
	if tip, err = r.Refs.Ref(ctx, t.HeadNew); err != nil || t.HeadNewCommit == "" {
		return tip, tip != "", err
	}
	other := ""
	if !first {
		other, err = r.Trees.ElsewhereOn(ctx, t.HeadNew)
	}
	return tip, tip == t.HeadNewCommit && other == "", err
}

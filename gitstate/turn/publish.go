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

// Publish moves the ledger's ref, which is the commit point, and settles the turn. The error wraps ErrMoved when
// somebody else moved the ledger: then nothing was published.
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

// Settle makes the moves of a turn whose ledger commit is published: index, then refs, then HEAD, and last those refs
// that are deleted. It can be repeated at any time: what is at its new value is done, and what is at neither value
// belongs to somebody who moved on and is left alone. The caller holds the work tree's lock. Of a turn of another work
// tree only the refs are moved.
func (r *Turns) Settle(ctx context.Context, id session.ID, t session.Turn) (session.Settled, error) {
	return r.settle(ctx, id, t, false)
}

// settle is Settle. first says that the turn was published just now, so that nobody has settled it before.
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
	// else somebody has gone elsewhere: his
	if here && state.indexPending(first) && (state.headMove || state.headNow == session.BranchOf(id)) {
		if err := r.settleIndex(ctx, t, state); err != nil {
			return settled, err
		}
	}
	// HEAD comes between: the branch that it goes to must be there before, and the one that it is on until after.
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

// settleRefs makes those moves that delete a ref, or all others.
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
	donePart part = iota // at its new value, or not part of the turn
	oldPart
	foreignPart
)

// turnState is how far a turn has come.
type turnState struct {
	pending  []session.RefMove // at their old value
	foreign  []session.RefMove // New holds what was found
	moved    int               // at their new value
	head     part
	headNow  string // full ref name, or a commit id when detached
	headMove bool   // the turn moves HEAD
	index    bool   // the turn moves the index
}

// indexPending reports whether the index may still be the old one. It comes before refs and HEAD, so once all
// of those are done it is done as well, unless they were before the turn was: somebody can take HEAD there in
// the middle of a move. And when somebody moved on, what he has staged since is his.
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
		for _, m := range t.Refs { // the turn itself may move the branch that HEAD leaves
			if m.Ref == head.Ref && (head.Commit == m.New || head.Commit == m.Old) {
				return oldPart
			}
		}
	}
	return foreignPart
}

// settleIndex installs the index that the turn leads to, if the present one is the turn's old one.
func (r *Turns) settleIndex(ctx context.Context, t session.Turn, state turnState) error {
	unlock, err := r.Git.Locks.LockIndex(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	index := filepath.Join(r.Git.PrivateDir(), "settle")
	now, err := r.copyIndex(ctx, index, t.Index)
	var conflict *gitcmd.ReadyError
	if errors.As(err, &conflict) { // no turn begins in one: somebody is at work
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

// copyIndex copies the index, and returns the tree of what is in it.
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

// leadIndex makes a copy of the index, which holds now, what the turn leads to. It reports whether that changes
// anything.
func (r *Turns) leadIndex(ctx context.Context, index string, now session.Tree, t session.Turn) (bool, error) {
	o := gitcmd.Opts{Write: true, Env: gitcmd.WithIndex(index), OkExit: []int{1}}
	switch {
	case now != t.Index:
		if err := r.readInto(ctx, o, t.Index); err != nil {
			return false, err
		}
	case t.Tree == t.TreeOld:
		return false, nil
	default: // a file that was there beyond a sparse checkout may have gone with its edits: it is not deleted
		if on, err := r.Git.Sparse(ctx); err != nil || !on {
			return false, err
		}
	}
	return true, checkout.ReapplySparse(ctx, r.Git, o)
}

// readInto makes an index that of a tree.
func (r *Turns) readInto(ctx context.Context, o gitcmd.Opts, tree session.Tree) error {
	// Entries that stay as they are keep their stat data; the rest is compared with the files, so that the user's
	// next `git status` need not do it. The exit code tells that some differ, which is none of our business. With
	// -i git does not compare them by itself: it would refuse where the move has written a file that it was told
	// not to look at.
	if _, err := r.Git.Run(ctx, gitcmd.Opts{Write: true, Env: o.Env}, "read-tree", "-i",
		"--reset", string(tree)); err != nil {
		return err
	}
	_, err := r.Git.Run(ctx, o, "update-index", "-q", "--refresh")
	return err
}

// settleHead puts HEAD where the turn leads, if HEAD is still where the turn began. Otherwise it returns where
// HEAD is. If the branch that it leads to was moved or deleted meanwhile, or another work tree has got it, HEAD
// goes to the commit whose files are here, on no branch: upon any other one the next commit would take back
// what was done there. first says that nobody has settled the turn before, and that HEADs are held.
func (r *Turns) settleHead(ctx context.Context, t session.Turn, first bool) (foreign string, behind *session.RefMove,
	err error) {
	head, err := r.Refs.Head(ctx)
	if err != nil {
		return "", nil, err
	}
	// In git's own words, by which `git switch -` and @{-1} find the way back.
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

// headTarget is the tip of the branch that a turn leads HEAD to. free says that HEAD may be there: the branch is where
// the turn has it, and no other work tree has got it.
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

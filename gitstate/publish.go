package gitstate

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/wfs-dev/wfs/gitstate/gitcmd"
	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/session"
)

// Publish moves the ledger's ref, which is the commit point, and settles the turn. The error wraps ErrMoved when
// somebody else moved the ledger: then nothing was published.
func (r *Repo) Publish(ctx context.Context, p session.Prepared) (session.Settled, error) {
	ledger := session.RefMove{Ref: LedgerRef(p.Session), Old: p.LedgerOld, New: p.Ledger}
	if err := r.moveRef(ctx, ledger, "wfs: ledger"); err != nil {
		return session.Settled{}, err
	}
	durable.Hit(durable.LedgerMoved)
	settled, err := r.settle(ctx, p.Session, p.Turn, true)
	if err != nil {
		return settled, err
	}
	r.letGo(true)
	r.repackMany(ctx)
	if p.IndexAnchor == "" {
		return settled, nil
	}
	err = r.moveRef(ctx, session.RefMove{Ref: anchorRef(p.Session), Old: p.IndexAnchor}, "")
	if errors.Is(err, ErrMoved) {
		err = nil
	}
	return settled, err
}

// moveRef makes one move durably. A ref that is at its new value already is left as it is; one that is neither there
// nor at its old value is an error that wraps ErrMoved.
func (r *Repo) moveRef(ctx context.Context, m session.RefMove, why string) error {
	return r.moveRefBy(ctx, m, why)
}

// moveRefBy is moveRef with options of git update-ref.
func (r *Repo) moveRefBy(ctx context.Context, m session.RefMove, why string, options ...string) error {
	if err := r.moveOwnRef(ctx, m, why); !errors.Is(err, errLeftToGit) {
		if err == nil && m.Old == "" {
			err = r.syncRef(m.Ref, true)
		}
		return err
	}
	old, line := string(m.Old), "delete "+m.Ref
	if old == "" {
		old = r.zero()
	}
	if m.New != "" {
		line = "update " + m.Ref + " " + string(m.New)
	} else if m.Old == "" {
		return nil
	}
	args := append([]string{"update-ref"}, options...)
	if why != "" {
		args = append(args, "-m", why)
	}
	_, err := r.Git.Run(ctx, gitcmd.Opts{Write: true, Stdin: []byte(line + " " + old + "\n")}, append(args, "--stdin")...)
	if err == nil {
		return r.syncRef(m.Ref, m.Old == "" || m.New == "")
	}
	now, readErr := r.Ref(ctx, m.Ref)
	switch {
	case readErr != nil:
		return errors.Join(err, readErr)
	case now == m.New:
		return r.syncRef(m.Ref, m.Old == "" || m.New == "")
	case now != m.Old:
		return fmt.Errorf("%s is at %s: %w", m.Ref, orNothing(now), ErrMoved)
	}
	return err
}

func orNothing(c session.Commit) string {
	if c == "" {
		return "nothing"
	}
	return c.Short()
}

// syncRef syncs the directory of a ref, and those above it when the ref is new: git syncs the file alone. Refs that are
// kept in another way, or that are gone, have no directory.
func (r *Repo) syncRef(ref string, isNew bool) error {
	dir := filepath.FromSlash(ref)
	for first := true; dir != "refs" && dir != "." && (first || isNew); first = false {
		dir = filepath.Dir(dir)
		if err := durable.SyncDir(filepath.Join(r.Git.CommonDir, dir)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// Settle makes the moves of a turn whose ledger commit is published: index, then refs, then HEAD, and last those refs
// that are deleted. It can be repeated at any time: what is at its new value is done, and what is at neither value
// belongs to somebody who moved on and is left alone. The caller holds the work tree's lock. Of a turn of another work
// tree only the refs are moved.
func (r *Repo) Settle(ctx context.Context, id session.ID, t session.Turn) (session.Settled, error) {
	return r.settle(ctx, id, t, false)
}

// settle is Settle. first says that the turn was published just now, so that nobody has settled it before.
func (r *Repo) settle(ctx context.Context, id session.ID, t session.Turn, first bool) (session.Settled, error) {
	var settled session.Settled
	here := t.Worktree == "" || t.Worktree == r.Git.Worktree
	state, err := r.examine(ctx, t)
	if err != nil {
		return settled, err
	}
	settled.Foreign = state.foreign
	if here && state.head == foreignPart {
		settled.HeadForeign = state.headNow
	}
	// else somebody has gone elsewhere: his
	if here && t.Index != "" && state.indexPending(first) && (state.headMove || state.headNow == session.BranchOf(id)) {
		if err := r.settleIndex(ctx, t, state); err != nil {
			return settled, err
		}
	}
	// HEAD comes between: the branch that it goes to must be there before, and the one that it is on until after.
	if err := r.settleRefs(ctx, id, state.pending, false, &settled); err != nil {
		return settled, err
	}
	if here && state.head == oldPart {
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
func (r *Repo) settleRefs(ctx context.Context, id session.ID, moves []session.RefMove, deletions bool,
	settled *session.Settled) error {
	for _, m := range moves {
		if (m.New == "") != deletions {
			continue
		}
		switch err := r.moveRef(ctx, m, "wfs: "+string(id)); {
		case errors.Is(err, ErrMoved):
			now, err := r.Ref(ctx, m.Ref)
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
}

// indexPending reports whether the index may still be the old one. It comes before refs and HEAD, so once all
// of those are done it is done as well, unless they were before the turn was: somebody can take HEAD there in
// the middle of a move. And when somebody moved on, what he has staged since is his.
func (s turnState) indexPending(first bool) bool {
	if len(s.foreign) > 0 || s.head == foreignPart {
		return false
	}
	nothingElse := len(s.pending) == 0 && s.moved == 0 && !s.headMove
	return first || len(s.pending) > 0 || s.head == oldPart || nothingElse
}

func (r *Repo) examine(ctx context.Context, t session.Turn) (turnState, error) {
	var s turnState
	for _, m := range t.Refs {
		now, err := r.Ref(ctx, m.Ref)
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
	head, err := r.Head(ctx)
	if err != nil {
		return s, err
	}
	s.headNow = nameOf(head)
	s.headMove = t.HeadNew != "" && t.HeadNew != t.HeadOld
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
func (r *Repo) settleIndex(ctx context.Context, t session.Turn, state turnState) error {
	unlock, err := r.Git.LockIndex(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	index := filepath.Join(r.Git.PrivateDir(), "settle")
	x, err := r.copyIndex(ctx, index)
	if err == nil {
		err = x.store()
	}
	if err != nil {
		return err
	}
	now, err := r.treeOfIndex(ctx, index, x, t.Index)
	var conflict *ReadyError
	if errors.As(err, &conflict) { // no turn begins in one: somebody is at work
		return nil
	}
	if err != nil {
		return err
	}
	o := gitcmd.Opts{Write: true, Env: gitcmd.WithIndex(index), OkExit: []int{1}}
	untouched := now == t.IndexOld || t.IndexOld == "" && state.moved == 0
	switch {
	case !untouched || now == t.Index && t.Tree == t.TreeOld:
		return nil
	case now == t.Index: // a file that was there beyond a sparse checkout may have gone with its edits: it is not deleted
		if on, err := r.sparse(ctx); err != nil || !on {
			return err
		}
	default:
		if err := r.readInto(ctx, o, t.Index); err != nil {
			return err
		}
	}
	if err := r.reapplySparse(ctx, o); err != nil {
		return err
	}
	durable.Hit(durable.SettleIndexLocked)
	if err := durable.SyncFile(index); err != nil {
		return err
	}
	if err := r.installIndex(index); err != nil {
		return err
	}
	durable.Hit(durable.SettleIndex)
	return nil
}

// readInto makes an index that of a tree.
func (r *Repo) readInto(ctx context.Context, o gitcmd.Opts, tree session.Tree) error {
	// Entries that stay as they are keep their stat data; the rest is compared with the files, so that the user's
	// next `git status` need not do it. The exit code tells that some differ, which is none of our business. With
	// -i git does not compare them by itself: it would refuse where the move has written a file that it was told
	// not to look at.
	if _, err := r.Git.Run(ctx, gitcmd.Opts{Write: true, Env: o.Env}, "-c", "core.splitIndex=false", "read-tree", "-i",
		"--reset", string(tree)); err != nil {
		return err
	}
	_, err := r.Git.Run(ctx, o, "-c", "core.splitIndex=false", "update-index", "-q", "--refresh")
	return err
}

// settleHead puts HEAD where the turn leads, if HEAD is still where the turn began. Otherwise it returns where
// HEAD is. If the branch that it leads to was moved or deleted meanwhile, or another work tree has got it, HEAD
// goes to the commit whose files are here, on no branch: upon any other one the next commit would take back
// what was done there. first says that nobody has settled the turn before, and that HEADs are held.
func (r *Repo) settleHead(ctx context.Context, t session.Turn, first bool) (foreign string, behind *session.RefMove,
	err error) {
	head, err := r.Head(ctx)
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
		target, err := r.Ref(ctx, to)
		if err != nil {
			return "", nil, err
		}
		if target == "" && t.HeadNewCommit == "" {
			return nameOf(head), nil, nil
		}
		other := ""
		if !first && t.HeadNewCommit != "" {
			if other, err = r.ElsewhereOn(ctx, to); err != nil {
				return "", nil, err
			}
		}
		if t.HeadNewCommit == "" || target == t.HeadNewCommit && other == "" {
			return "", nil, r.setHead(ctx, head, to, target, why)
		}
		behind, to = &session.RefMove{Ref: to, Old: t.HeadNewCommit, New: target}, string(t.HeadNewCommit)
	}
	if _, err = r.Git.Run(ctx, gitcmd.Opts{Write: true}, "update-ref", "--no-deref", "-m", why, "HEAD", to,
		string(head.Commit)); err != nil {
		return "", nil, err
	}
	return "", behind, durable.SyncFile(filepath.Join(r.Git.GitDir, "HEAD"))
}

// Package transition changes refs and files of a session: moves, undo, births, finishes, deletions, and recovery after
// a process died. Each transition saves content that would become unreachable, records its intent in the journal,
// changes files, moves the ledger's ref (the commit point), and then moves the other refs, the index and HEAD.
package transition

import (
	"context"

	"github.com/wfs-dev/wfs/engine/hand"
	"github.com/wfs-dev/wfs/session"
)

// Git is the part of the repository that transitions need. All paths are relative to the top of the work tree, with
// slashes.
type Git struct {
	Places
	Refs
	Trees
	Checkout
	Backups
	Operations
}

// Places has the work trees of the repository and their HEADs.
type Places interface {
	// Worktree returns the id of the current work tree ("main", or a linked work tree's name).
	Worktree() string
	// WorktreePath returns the path of a work tree by its id, "" if it no longer exists.
	WorktreePath(ctx context.Context, id string) (string, error)
	// Head returns the current HEAD.
	Head(ctx context.Context) (session.Head, error)
	// ElsewhereOn returns the path of another work tree that has a branch checked out, "" for none.
	ElsewhereOn(ctx context.Context, branch string) (string, error)
	// HoldHeads keeps other wfs commands, in any work tree, from moving HEAD to a branch until release is called.
	HoldHeads(ctx context.Context, branch string) (release func(), err error)
}

// Refs are the refs of the repository.
type Refs interface {
	// Ref returns a ref's commit, "" when it does not exist. An unreadable ref is an error, never absence.
	Ref(ctx context.Context, name string) (session.Commit, error)
	// RefsBelow returns the refs below a directory ("refs/wfs-deleted/auth").
	RefsBelow(ctx context.Context, dir string) (map[string]session.Commit, error)
	// OwnRefs returns the refs of one session: its branch and the refs below refs/wfs/<id>, except rescues of uncommitted
	// changes on a branch of the user.
	OwnRefs(ctx context.Context, id session.ID) (map[string]session.Commit, error)
	// Sessions returns the ledger tip of every session in the repository.
	Sessions(ctx context.Context) (map[session.ID]session.Commit, error)
	// Unreachable returns the commits of a list that exist but that no ref reaches.
	Unreachable(ctx context.Context, commits []session.Commit) ([]session.Commit, error)
	// Exists reports whether a commit and all objects below it exist.
	Exists(ctx context.Context, c session.Commit) (bool, error)
	// AwaitLocks waits until no other process holds the git locks that a turn needs. It returns an error if these locks
	// stay.
	AwaitLocks(ctx context.Context, id session.ID, t session.Turn) error
	// Settle applies the ref moves of a turn whose ledger commit is published. It skips moves that are done already.
	Settle(ctx context.Context, id session.ID, t session.Turn) (session.Settled, error)
}

// Trees has commits, their trees and their documents.
type Trees interface {
	TreeOf(ctx context.Context, c session.Commit) (session.Tree, error)
	IsAncestor(ctx context.Context, a, b session.Commit) (bool, error)
	// Changes lists the differences between two trees, without renames.
	Changes(ctx context.Context, from, to session.Tree) ([]session.Change, error)
	// HandoverTree returns the tree that finish hands over: the tree that the gates have passed, but with .workflow/ as on
	// the base, where it usually does not exist. If `carried` is not "", it also reverts the changes between the trees
	// base and carried.
	HandoverTree(ctx context.Context, gated session.Tree, base, carried session.Tree) (session.Tree, error)
	// File returns one document of a ledger commit, nil if it has no such document.
	File(ctx context.Context, ledger session.Commit, name string) ([]byte, error)
	// Ledgers lists a session's ledger commits, newest first.
	Ledgers(ctx context.Context, id session.ID) ([]session.LedgerCommit, error)
}

// Checkout changes the files of the work tree from a snapshot to a tree.
type Checkout interface {
	// Snapshot writes the work tree as a tree object, see hand.Git.
	Snapshot(ctx context.Context, exclude string) (session.Snapshot, error)
	// PlanMove plans the move of the work tree from a snapshot to a tree, and lists the files in the way. `raw` is a tree
	// of those files whose bytes must differ from a normal checkout, "" for none.
	PlanMove(ctx context.Context, from session.Snapshot, to, raw session.Tree) (session.Move, error)
	// Raw saves the exact bytes of files that the planned move overwrites or deletes, if a checkout of the tree that the
	// move starts from would write other bytes. It returns a tree of these files, "" if there are none, for the plan's
	// field Raw and for a rescue.
	Raw(ctx context.Context, m session.Move) (session.Tree, error)
	// MoveTree carries out a plan. After an interruption it can be repeated from a new snapshot.
	MoveTree(ctx context.Context, m session.Move) error
	// MoveBack carries out a plan that returns to the start of a move, after that move has failed on its way to the tree
	// `failed`.
	MoveBack(ctx context.Context, m session.Move, failed session.Tree) error
	// DropBegun removes files that a failed move between two trees has added or begun to write. These files contain no
	// work of the user or an agent.
	DropBegun(ctx context.Context, from, failed session.Tree) error
}

// Backups has the copies of files that are in no checkpoint: rescues, made before a move overwrites files, and
// auto-saves, made while an agent works.
type Backups interface {
	// Rescue saves a snapshot under refs/wfs/<id>/rescue/<n> and returns the ref's name.
	Rescue(ctx context.Context, id session.ID, why string, s session.Snapshot, at int64) (string, error)
	// Rescued returns the newest rescue with the same reason and the same content as a snapshot, "" for none.
	Rescued(ctx context.Context, id session.ID, why string, s session.Snapshot) (string, error)
	// WaysBack returns lines that explain how to restore a rescue. The first line begins with `why`.
	WaysBack(ctx context.Context, ref, why string) []string
	// Auto returns a session's newest auto-save, nil for none. It may be stale.
	Auto(ctx context.Context, id session.ID) (*session.AutoSave, error)
	// Backup returns the auto-save or rescue under a ref, nil for none.
	Backup(ctx context.Context, ref string) (*session.AutoSave, error)
}

// Operations is the operation log of this work tree.
type Operations interface {
	// Ops lists operations, newest first.
	Ops(ctx context.Context) ([]session.Op, error)
	// LogOp appends an operation that a process did not log before it died, see hand.Git.
	LogOp(ctx context.Context, op session.Op) (int64, error)
}

// Kit has the parts that all transitions share.
type Kit struct {
	*hand.Base
	Git Git
	// Recovered is called after each recovery of a dead process's operation. It may be nil.
	Recovered func(Recovered)
}

// Mover moves the work tree for a session that is open for writing: files, index, HEAD and refs together.
type Mover struct {
	*hand.Hand
	*Kit
	Halfway []string // refs of rescues made because files changed in the middle of a move or finish
}

// Going makes sessions current in the work tree, and leaves them.
type Going struct{ *Mover }

// Deleting deletes a session.
type Deleting struct{ *Mover }

// Undoing undoes operations of a session.
type Undoing struct {
	*Going
	deletes *Deleting
}

// FinishTurn makes the turn of a finish, or undoes it.
type FinishTurn struct {
	*Mover
	// Stayed is the reason why the session's documents are still in the work tree after a finish, nil if they are not.
	Stayed error
}

// Restoring restores deleted sessions.
type Restoring struct{ *Kit }

// Saves finds the backups that a session can be restored to.
type Saves struct{ *Kit }

// All has the transitions of a session that is open for writing.
type All struct {
	*Undoing
	*Deleting
	*FinishTurn
}

// Of returns the transitions of a session that is open for writing.
func Of(h *hand.Hand, k *Kit) *All {
	m := &Mover{Hand: h, Kit: k}
	d := &Deleting{m}
	return &All{&Undoing{&Going{m}, d}, d, &FinishTurn{Mover: m}}
}

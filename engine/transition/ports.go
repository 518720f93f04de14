// Package transition changes refs and files of a session: moves, undo, births, finishes, deletions, and the recovery of
// what a dead process began. Each keeps what would be unreachable, says in the journal what it is about to do, changes
// files, moves the ledger's ref (the commit point), and settles the rest.
package transition

import (
	"context"

	"github.com/wfs-dev/wfs/engine/hand"
	"github.com/wfs-dev/wfs/session"
)

// Git is what transitions ask of the repository. All paths are relative to the top of the work tree, with slashes.
type Git struct {
	Places
	Refs
	Trees
	Checkout
	Backups
	Operations
}

// Places are the work trees of the repository, and where their HEADs are.
type Places interface {
	// Worktree is the id of the work tree that the command runs in ("main", or a linked work tree's name).
	Worktree() string
	// WorktreePath returns the path of a work tree by its id, "" when there is none of that id any more.
	WorktreePath(ctx context.Context, id string) (string, error)
	// Head returns where HEAD is.
	Head(ctx context.Context) (session.Head, error)
	// ElsewhereOn returns the path of another work tree that has a branch checked out, "" for none.
	ElsewhereOn(ctx context.Context, branch string) (string, error)
	// HoldHeads keeps other commands of ours, in any work tree, from taking HEAD to a branch until release is called.
	HoldHeads(ctx context.Context, branch string) (release func(), err error)
}

// Refs are the refs of the repository.
type Refs interface {
	// Ref returns a ref's commit, "" when it does not exist. A name that cannot be read is an error, never absence.
	Ref(ctx context.Context, name string) (session.Commit, error)
	// RefsBelow are the refs below a directory ("refs/wfs-deleted/auth").
	RefsBelow(ctx context.Context, dir string) (map[string]session.Commit, error)
	// OwnRefs are the refs of one session: its branch and what is below refs/wfs/<id>, but for rescues of what was
	// uncommitted on a branch of the user's.
	OwnRefs(ctx context.Context, id session.ID) (map[string]session.Commit, error)
	// Sessions returns the ledger tip of every session in the repository.
	Sessions(ctx context.Context) (map[session.ID]session.Commit, error)
	// Unreachable returns those of some commits that are there, and that no ref leads to.
	Unreachable(ctx context.Context, commits []session.Commit) ([]session.Commit, error)
	// Exists reports whether a commit and everything below it are there.
	Exists(ctx context.Context, c session.Commit) (bool, error)
	// AwaitLocks waits until nobody else holds what a turn will lock, and fails when that stays so.
	AwaitLocks(ctx context.Context, id session.ID, t session.Turn) error
	// Settle makes the moves of a turn whose ledger commit is published; what is done already is left as it is.
	Settle(ctx context.Context, id session.ID, t session.Turn) (session.Settled, error)
}

// Trees are commits, their trees and their documents.
type Trees interface {
	TreeOf(ctx context.Context, c session.Commit) (session.Tree, error)
	IsAncestor(ctx context.Context, a, b session.Commit) (bool, error)
	// Changes lists the differences between two trees, without renames.
	Changes(ctx context.Context, from, to session.Tree) ([]session.Change, error)
	// HandoverTree is the tree that finish hands over: the gated tree with the base's .workflow/ (mostly none) and, with
	// carried given, without the difference between base and carried.
	HandoverTree(ctx context.Context, gated session.Tree, base, carried session.Tree) (session.Tree, error)
	// File returns one document of a ledger commit, nil when it has none of that name.
	File(ctx context.Context, ledger session.Commit, name string) ([]byte, error)
	// Ledgers lists a session's ledger commits, newest first.
	Ledgers(ctx context.Context, id session.ID) ([]session.LedgerCommit, error)
}

// Checkout brings the files of the work tree from a snapshot to a tree.
type Checkout interface {
	// Snapshot writes the work tree as a tree object, see hand.Git.
	Snapshot(ctx context.Context, exclude string) (session.Snapshot, error)
	// PlanMove says what it takes to bring the work tree from a snapshot to a tree, and what is in the way. raw are files
	// of the tree that are to have other bytes than those that a checkout writes, "" for none.
	PlanMove(ctx context.Context, from session.Snapshot, to, raw session.Tree) (session.Move, error)
	// Raw keeps the bytes of files that a plan's move overwrites or deletes and that no checkout of where it begins would
	// write again: a tree of them, "" for none. It is for the plan's Raw, and for a rescue.
	Raw(ctx context.Context, m session.Move) (session.Tree, error)
	// MoveTree carries a plan out. Interrupted, it can be carried out again from a new snapshot.
	MoveTree(ctx context.Context, m session.Move) error
	// MoveBack is MoveTree back to where a move began that failed on its way to a tree.
	MoveBack(ctx context.Context, m session.Move, failed session.Tree) error
	// DropBegun removes files that a failed move between two trees has added, or begun to: they hold nothing of anybody's.
	DropBegun(ctx context.Context, from, failed session.Tree) error
}

// Backups are rescues and auto-saves.
type Backups interface {
	// Rescue keeps a snapshot under refs/wfs/<id>/rescue/<n> and returns the ref's name.
	Rescue(ctx context.Context, id session.ID, why string, s session.Snapshot, at int64) (string, error)
	// Rescued returns the newest rescue that was made for the same reason and holds what a snapshot holds, "" for none.
	Rescued(ctx context.Context, id session.ID, why string, s session.Snapshot) (string, error)
	// WaysBack are lines that say how to have back what a rescue keeps, the first one beginning with why.
	WaysBack(ctx context.Context, ref, why string) []string
	// Auto returns a session's newest auto-save, nil when there is none. It may be stale.
	Auto(ctx context.Context, id session.ID) (*session.AutoSave, error)
	// Backup returns the auto-save or rescue that a ref names, nil when there is none.
	Backup(ctx context.Context, ref string) (*session.AutoSave, error)
}

// Operations are the log of what was done in this work tree.
type Operations interface {
	// Ops lists operations, newest first.
	Ops(ctx context.Context) ([]session.Op, error)
	// LogOp appends one that a dead process has not logged, see hand.Git.
	LogOp(ctx context.Context, op session.Op) (int64, error)
}

// Kit is what all transitions share.
type Kit struct {
	*hand.Base
	Git Git
	// Recovered is called for what a dead process had begun, once that has come to an end. It may be nil.
	Recovered func(Recovered)
}

// Mover moves the work tree of a session in hand: files, index, HEAD and refs together.
type Mover struct {
	*hand.Hand
	*Kit
	Halfway []string // rescues of what lay there while a move or finish went on
}

// Going makes sessions current, and leaves them.
type Going struct{ *Mover }

// Deleting puts a session away.
type Deleting struct{ *Mover }

// Undoing takes operations of a session back.
type Undoing struct {
	*Going
	deletes *Deleting
}

// FinishTurn makes a finish true, or takes it back.
type FinishTurn struct {
	*Mover
	// Stayed is why the session's documents are still in the work tree after a finish, nil: they are not.
	Stayed error
}

// Restoring brings deleted sessions back.
type Restoring struct{ *Kit }

// Saves finds backups to go back to.
type Saves struct{ *Kit }

// All are the transitions of a session in hand.
type All struct {
	*Undoing
	*Deleting
	*FinishTurn
}

// Of are the transitions of a session in hand.
func Of(h *hand.Hand, k *Kit) *All {
	m := &Mover{Hand: h, Kit: k}
	d := &Deleting{m}
	return &All{&Undoing{&Going{m}, d}, d, &FinishTurn{Mover: m}}
}

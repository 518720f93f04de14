package engine

import (
	"context"
	"time"

	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

// Store is the session's life in Git. All paths are relative to the top of the work tree, with slashes.
type Store interface {
	// Worktree is the id of the work tree that the command runs in ("main", or a linked work tree's name).
	Worktree() string
	// Head returns where HEAD is.
	Head(ctx context.Context) (session.Head, error)
	// Ref returns a ref's commit, "" when it does not exist. A name that cannot be read is an error, never absence.
	Ref(ctx context.Context, name string) (session.Commit, error)
	TreeOf(ctx context.Context, c session.Commit) (session.Tree, error)
	IsAncestor(ctx context.Context, a, b session.Commit) (bool, error)
	// MergeBase returns the best common ancestor of two commits, "" when they have none.
	MergeBase(ctx context.Context, a, b session.Commit) (session.Commit, error)
	// ElsewhereOn returns the path of another work tree that has a branch checked out, "" for none.
	ElsewhereOn(ctx context.Context, branch string) (string, error)
	// WorktreePath returns the path of a work tree by its id, "" when there is none of that id any more.
	WorktreePath(ctx context.Context, id string) (string, error)
	// InProgress names an unfinished merge, rebase, cherry-pick, revert or bisect, "" for none.
	InProgress(ctx context.Context) (string, error)

	// Surroundings are what there is beside one session: refs of others, and files that say how git works here.
	Surroundings(ctx context.Context, id session.ID) (session.Surroundings, error)
	// Conversions are git's settings that say what it makes of files; PutConversionsBack names what it put back, and
	// what only the user may put back.
	Conversions(ctx context.Context) (session.Conversions, error)
	PutConversionsBack(ctx context.Context, was session.Conversions) (back, elsewhere []string, err error)
	// Locks are git's locks that are there now, of this work tree and of all.
	Locks() []session.GitLock
	// SetLocksAside moves locks into a directory if they stay, and it is certain that no living process holds them. It
	// returns the names of those that it moved.
	SetLocksAside(ctx context.Context, locks []session.GitLock, dir string) ([]string, error)
	// Unreachable returns those of some commits that are there, and that no ref leads to.
	Unreachable(ctx context.Context, commits []session.Commit) ([]session.Commit, error)
	// PutBack moves a ref to a commit from whatever it is at. It reports false when the commit is not there any more.
	PutBack(ctx context.Context, ref string, to session.Commit) (bool, error)
	// Sessions returns the ledger tip of every session in the repository.
	Sessions(ctx context.Context) (map[session.ID]session.Commit, error)
	// OwnRefs are the refs of one session: its branch and what is below refs/wfs/<id>, but for rescues of what was
	// uncommitted on a branch of the user's.
	OwnRefs(ctx context.Context, id session.ID) (map[string]session.Commit, error)
	// RefsBelow are the refs below a directory ("refs/wfs-deleted/auth").
	RefsBelow(ctx context.Context, dir string) (map[string]session.Commit, error)
	// File returns one document of a ledger commit, nil when it has none of that name.
	File(ctx context.Context, ledger session.Commit, name string) ([]byte, error)

	// Ledgers lists a session's ledger commits, newest first.
	Ledgers(ctx context.Context, id session.ID) ([]session.LedgerCommit, error)
	// LedgersFrom lists a ledger commit and those before it, newest first, wherever the session's ref is.
	LedgersFrom(ctx context.Context, tip session.Commit) ([]session.LedgerCommit, error)

	// Snapshot writes the work tree as a tree object, durable, through a private index; the user's index is only read.
	// exclude is the session's extra exclude file, "" for none.
	Snapshot(ctx context.Context, exclude string) (session.Snapshot, error)
	// Ignored lists what the work tree ignores now, directories collapsed and ending in a slash.
	Ignored(ctx context.Context) ([]string, error)
	// Changes lists the differences between two trees, without renames.
	Changes(ctx context.Context, from, to session.Tree) ([]session.Change, error)
	// Lines counts the lines that differ between two trees, by file.
	Lines(ctx context.Context, from, to session.Tree) ([]session.FileLines, error)
	// Keys names the files of a tree with a key that no changed file has in the other one.
	Keys(ctx context.Context, from, to session.Tree) ([]session.Skip, error)

	// Prepare makes the code commit and the ledger commit that a draft describes, durable, and publishes nothing. seal
	// is called with what was made and returns the ledger's documents.
	Prepare(ctx context.Context, d session.Draft, seal func(session.Made) (session.Files, error)) (session.Prepared, error)
	// Publish moves the ledger's ref (the commit point; ErrMoved when somebody else did) and settles the turn.
	Publish(ctx context.Context, p session.Prepared) (session.Settled, error)
	// AwaitLocks waits until nobody else holds what a turn will lock, and fails when that stays so.
	AwaitLocks(ctx context.Context, id session.ID, t session.Turn) error
	// Settle makes the moves of a turn whose ledger commit is published; what is done already is left as it is.
	Settle(ctx context.Context, id session.ID, t session.Turn) (session.Settled, error)
	// HoldHeads keeps other commands of ours, in any work tree, from taking HEAD to a branch until release is called.
	HoldHeads(ctx context.Context, branch string) (release func(), err error)
	// Exists reports whether a commit and everything below it are there.
	Exists(ctx context.Context, c session.Commit) (bool, error)

	// Rescue keeps a snapshot under refs/wfs/<id>/rescue/<n> and returns the ref's name.
	Rescue(ctx context.Context, id session.ID, why string, s session.Snapshot, at int64) (string, error)
	// Rescued returns the newest rescue that was made for the same reason and holds what a snapshot holds, "" for none.
	Rescued(ctx context.Context, id session.ID, why string, s session.Snapshot) (string, error)
	// WaysBack are lines that say how to have back what a rescue keeps, the first one beginning with why.
	WaysBack(ctx context.Context, ref, why string) []string
	// AutoSave saves the work tree, as it is now, as the session's newest auto-save.
	AutoSave(ctx context.Context, d session.AutoDraft) (session.AutoSaved, error)
	// EndAutoSaves says that there will be none for now.
	EndAutoSaves() error
	// Auto returns a session's newest auto-save, nil when there is none. It may be stale.
	Auto(ctx context.Context, id session.ID) (*session.AutoSave, error)
	// Backup returns the auto-save or rescue that a ref names, nil when there is none.
	Backup(ctx context.Context, ref string) (*session.AutoSave, error)
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

	// Ops lists this work tree's operations, newest first.
	Ops(ctx context.Context) ([]session.Op, error)
	// LogOp appends an operation and returns its number; one with the same Ledger that is already logged is not
	// logged twice.
	LogOp(ctx context.Context, op session.Op) (int64, error)

	// HandoverTree is the tree that finish hands over: the gated tree with the base's .workflow/ (mostly none) and, with
	// carried given, without the difference between base and carried.
	HandoverTree(ctx context.Context, gated session.Tree, base, carried session.Tree) (session.Tree, error)
	// CommitOnto makes one commit with the user's hooks, signing and identity on a new branch that starts at base,
	// in a git directory of its own: HEAD and the index of the work tree stay. On error nothing is left behind.
	CommitOnto(ctx context.Context, branch string, base session.Commit, tree session.Tree,
		message string) (session.Commit, error)
}

// Journal is the live edge of one session, held by whoever holds the session's driver lock.
type Journal interface {
	// Events are those that the journal holds beyond the ledger's tip.
	Events() []session.Event
	// Existed reports whether there was a journal for this tip when it was opened.
	Existed() bool
	// Append makes events durable before it returns.
	Append(events ...session.Event) error
	// Rotate starts the journal that extends a new ledger tip.
	Rotate(tip session.Commit) error
	// RunDir returns the directory of one run, made if need be.
	RunDir(runID string) (string, error)
	// KeepWas keeps what a file beside the session was in the directory of the run that changed it, see Clone.Was.
	KeepWas(runID, file string, t session.Text) error
	// ExcludeFile is the path of the session's exclude file, "" when it has none.
	ExcludeFile() string
	// Exclude returns the text of the exclude file.
	Exclude() ([]byte, error)
	// Claim says durably that this session moves a work tree, until Unclaim. Whoever finds a claim takes the session
	// in hand first, which completes the move.
	Claim(worktree string) error
	Unclaim(worktree string) error
	// Requests lists what other processes ask of whoever drives the session, in order.
	Requests() ([]session.Request, error)
	// Withdraw removes a request durably.
	Withdraw(request string) error
	// Discard removes the journal of a session that was never born.
	Discard() error
	// SetExclude replaces the session's exclude file durably.
	SetExclude(content []byte) error
}

// Works carries out and judges one attempt.
type Works interface {
	// Run does what the phase says. An error means that the engine could not find out how it went.
	Run(ctx context.Context, r session.RunRequest) (session.RunResult, error)
	// Judge runs guards and gates. An error means that it could not find out; bad code is a verdict.
	Judge(ctx context.Context, r session.JudgeRequest) (session.Judgement, error)
	// Prove runs the gates of work that passed in a clean tree. An error means that ctx ended it.
	Prove(ctx context.Context, r session.JudgeRequest) (session.Proof, error)
	// Left is what is known of a run whose end nobody saw.
	Left(id session.ID, runID string) session.Remains
	// Alive lists processes of a run that still live, as far as the system can tell.
	Alive(id session.ID, runID string) []session.Process
	// End ends those of them that are proven to be the run's own, and returns their numbers.
	End(id session.ID, runID string) []int
	// Holdout runs gates of a request with the plan's hold-out tests put over the request's tree, in a clean one. Only ctx
	// makes an error. On the base it tells the person what fails for a reason of its own.
	Holdout(ctx context.Context, r session.JudgeRequest, base bool) (session.HoldoutResult, error)
	// Baseline runs gates on the base. An error means that a gate cannot run at all; it holds what was printed.
	Baseline(ctx context.Context, p workflows.Plan, tree session.Tree, runDir string) (session.Baseline,
		session.Evidence, error)
}

// Clock is where time comes from.
type Clock interface {
	Now() time.Time
	// Sleep returns at the time, after a second at the latest, or with the context's error.
	Sleep(ctx context.Context, until time.Time) error
}

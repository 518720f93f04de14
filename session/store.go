package session

import "errors"

// ErrTouched says that files changed while wfs was moving them. The caller may take another snapshot, save the current
// content and continue.
var ErrTouched = errors.New("a file changed at the same time")

// ErrUnchanged is returned when a checkpoint is requested outside of an attempt and nothing has changed.
var ErrUnchanged = errors.New("nothing changed since the current checkpoint")

// Head says where a work tree's HEAD is.
type Head struct {
	Ref    string `json:"ref,omitempty"` // full name of the ref, "" when HEAD is detached
	Commit Commit `json:"commit"`        // "" on a branch without commits
}

// Name returns HEAD's position in the form that Turn uses: the full name of a ref, or a commit if HEAD is detached.
func (h Head) Name() string {
	if h.Ref != "" {
		return h.Ref
	}
	return string(h.Commit)
}

// RefMove is one compare-and-swap of a ref: the ref is set to New if its value is Old. "" stands for a missing ref.
type RefMove struct {
	Ref string `json:"ref"`           // full name of the ref (ref)
	Old Commit `json:"old,omitempty"` // the value before; none: the ref did not exist
	New Commit `json:"new,omitempty"` // the value after; none: the ref does not exist any more
}

// Turn lists everything that one ledger commit changes in the repository, as old and new values. With them any later
// command can complete the turn, or detect that another process has changed a value since. To undo an operation, wfs
// applies its Turn in reverse.
type Turn struct {
	// the work tree whose HEAD, index and files change; none: no work tree changes
	Worktree string    `json:"worktree,omitempty"`
	Refs     []RefMove `json:"refs,omitempty"` // refs that move after the ledger's own ref
	// full name of the ref that HEAD was on, or a commit if it was detached
	HeadOld       string `json:"head_old,omitempty"`
	HeadOldCommit Commit `json:"head_old_commit,omitempty"` // the commit that HEAD pointed to
	HeadNew       string `json:"head_new,omitempty"`        // ref or commit that HEAD moves to; none: HEAD stays
	// the commit that the branch `head_new` must still point to; none: `refs` moves that branch
	HeadNewCommit Commit `json:"head_new_commit,omitempty"`
	Tree          Tree   `json:"tree,omitempty"`  // tree of the files afterwards; none: they stay as they are
	Index         Tree   `json:"index,omitempty"` // tree of the index afterwards; none: it stays as it is
	// tree with those files of `tree` whose bytes differ from the bytes that a checkout writes
	Raw Tree `json:"raw,omitempty"`
	// rescue that keeps the state from before, if part of it was in no commit (ref)
	Rescue   string `json:"rescue,omitempty"`
	TreeOld  Tree   `json:"tree_old,omitempty"`  // tree of the files before
	IndexOld Tree   `json:"index_old,omitempty"` // tree of the index before
	// tree with those files of `tree_old` whose bytes a checkout would not write again; the rescue keeps them
	RawOld Tree `json:"raw_old,omitempty"`
	// further rescues from the time of the move, the oldest first: files changed during the move, or the move was
	// interrupted and a later command completed it (refs)
	Found []string `json:"found,omitempty"`
}

// Rescues returns all refs of rescues that keep the state from before a turn, and changes that were made while it ran.
func (t *Turn) Rescues() []string {
	if t.Rescue == "" {
		return t.Found
	}
	return append([]string{t.Rescue}, t.Found...)
}

// Op is one entry of the repository's operation log, which `wfs undo` reads.
type Op struct {
	Number int64 `json:"number"` // number of the operation in its work tree, from 1
	At     int64 `json:"at"`     // when (Unix time)
	// `new`, `resume`, `switch`, `leave`, `undo`, `finish`, `checkpoint`, `abandon`, `revive`, `delete`, `restore`,
	// `rename`, `edit`, `repin`, `phase`, `approve`, `reject`, `note`, `allow`, `budget`. `rename`, `repin` and
	// `budget` are made by `wfs edit`, `phase` by `wfs reject --to` and `wfs approve --anyway`
	Kind    string `json:"kind"`
	Session ID     `json:"session"` // the session's id
	Summary string `json:"summary"` // one line
	Ledger  Commit `json:"ledger"`  // the ledger commit with which the operation took effect
	// number of the operation that it undoes; if that operation is an undo, this one is a redo
	Undoes int64 `json:"undoes,omitempty"`
	// number of the operation that the same command made right before: undo and redo treat both as one
	With int64 `json:"with,omitempty"`
	// HEAD, refs, files and index, before and after
	Turn Turn `json:"turn"`
}

// Skip is a path that a snapshot could not include.
type Skip struct {
	Path string `json:"path"` // the path
	Why  string `json:"why"`  // the reason, for people
	// if the path is a tracked file into which a key was written: the kind of key, for people
	Rule string `json:"rule,omitempty"`
}

// SkipNested is the value of Skip.Why for a nested repository that has commits and is not a submodule.
const SkipNested = "nested repository"

// Snapshot is the state of a work tree: its files and its index as trees, and its HEAD.
type Snapshot struct {
	Tree Tree `json:"tree"`
	// tree of the user's index; it equals HEAD's tree if nothing is staged
	Index    Tree `json:"index,omitempty"`
	Head     Head `json:"head"`
	HeadTree Tree `json:"head_tree,omitempty"`
	// tree with those files of Tree that a move will replace and whose bytes a checkout would not write again
	Raw Tree `json:"raw,omitempty"`
	Staged
}

// Staged lists the paths of a work tree that are not in the tree made from it, and therefore not in its snapshot.
type Staged struct {
	// paths that could not be included (unreadable, nested repositories, …): wfs does not protect them
	Skipped []Skip `json:"skipped,omitempty"`
	HeldOut []Held `json:"held_out,omitempty"` // paths that the session's guard held out
	// ignored paths for the session's exclude file; directories end in a slash
	Ignored []string `json:"-"`
}

// Clean reports whether the work tree and the index equal the tree of HEAD's commit, byte by byte.
func (s Snapshot) Clean() bool {
	return s.Raw == "" && s.Tree == s.HeadTree && (s.Index == "" || s.Index == s.HeadTree)
}

// Draft describes a code commit and a ledger commit that are to be made from a work tree.
type Draft struct {
	Session ID
	Branch  string   // full name of the branch that HEAD must be on; it moves to the new code commit
	Parents []Commit // parents of the code commit; the first is the branch's current tip
	Message string   // whole message of the code commit, with trailers
	At      int64    // Unix seconds; author and committer date, written as UTC
	Stage   bool     // stage the work tree into the user's index first; if false, use Tree as it is
	// with Stage: return ErrUnchanged if the files equal this tree, even if the index differs from it, except as in
	// Former
	Unless Tree
	// trees of earlier checkpoints: if the index equals one, a checkpoint is made, because committing that index would
	// undo later ones
	Former        []Tree
	Tree          Tree   // tree to commit, if Stage is false
	Ledger        Commit // current tip of the ledger, "" if this is its first commit
	LedgerMessage string
	Exclude       string // path of the session's own list of paths that checkpoints leave out, "" for none
	// further parents of the ledger commit, to keep them reachable (adopted commits, state commits)
	Anchors []Commit
	NoCode  bool // make no code commit, because the turn only records an event (restored, finished, …)
	Turn    Turn // what the turn moves; if a code commit is made, the branch's move is added to its Refs
}

// AutoDraft describes an auto-save that is to be made: a copy of the files of a work tree while an agent works.
type AutoDraft struct {
	Session ID
	Ledger  Commit // tip of the ledger; once the ledger has moved, the auto-save is stale
	Tree    Tree   // tree of the current checkpoint
	At      int64  // Unix seconds
	Reason
	Exclude  string    // path of the session's own list of paths that checkpoints leave out, "" for none
	Files    Files     // documents to store in the auto-save: the session, and its events since the ledger's tip
	Snapshot *Snapshot // a snapshot that was taken already and whose objects are durable; nil: take one
	Anywhere bool      // save even if HEAD is not on the session's branch
	Last     bool      // the work has ended: do the checks now that would otherwise wait for a later auto-save
}

// Reason says why an auto-save is made.
type Reason struct {
	Trigger string // one of those in docs/workflows.md, for programs
	Why     string // the same for people
	// save only if so many files differ from the previous auto-save, or from the checkpoint if that is newer
	AtLeast int
}

// AutoSaved is the result of an auto-save.
type AutoSaved struct {
	Commit  Commit // the newest auto-save, "" if there is nothing to save
	New     bool   // this call made the auto-save
	Changes int    // number of paths that differ from the current checkpoint
	// number of paths with work that the previous auto-save has and the work tree lacks, if that is most of that work;
	// otherwise 0
	Lost int
	Kept string // ref that keeps the previous auto-save, "" if the previous one is still the newest
}

type AutoSave struct {
	Commit Commit
	Ledger Commit // tip of the ledger when the auto-save was made; it is stale if the tip has changed since
	Code   Commit // commit with the files
	Tree   Tree
	Index  Tree // "" when the index had conflicts
	Raw    Tree // tree with the files of Tree whose bytes a checkout would not write again, "" for none
	Head   Head
	At     int64 // Unix seconds
	Reason
	Changes int      // number of paths that differ from the checkpoint that was current then
	Changed []Change // the first of these paths, at most MaxAutoChanges
	HeldOut []Held
	Skipped []Skip
}

// MaxAutoChanges is the maximum length of AutoSave.Changed.
const MaxAutoChanges = 1000

// Made has the objects that were made from a Draft. Nothing of it is published yet.
type Made struct {
	Code        Commit // "" with NoCode
	Tree        Tree
	Staged               // paths that the tree does not hold
	IndexOld    Tree     // with Stage: tree of the user's index before
	Deleted     *Deleted // set if the tree lacks more than half of the files of the first parent
	IndexAnchor Commit   // commit that keeps content that was only in the user's index, "" for none
	Turn        Turn     // the turn with all its moves
}

// Files has documents of one ledger commit by name, such as "session.json". A nil value means that the ledger commit
// keeps the document of the previous ledger commit.
type Files map[string][]byte

// Names of the ledger's documents.
const (
	FileSession  = "session.json"  // the session as folded from its events, as a cache
	FileEvents   = "events.jsonl"  // events since the previous ledger commit
	FilePlan     = "plan.json"     // the session's pinned plan
	FileWorkflow = "workflow.yaml" // the text of the plan's workflow, for people
	FileSpec     = "spec.md"       // the pinned spec, if any
	FileBaseline = "baseline.json" // Evidence of the gates on the base
	FileLap      = "lap.json"      // Evidence at the start of the current lap
	FileEvidence = "evidence.json" // Evidence of the newest judged attempt
	// the session's own exclude rules: they keep paths out of checkpoints that git ignored before
	FileExclude = "exclude"
)

// Change is one path that differs between two trees.
type Change struct {
	Path   string `json:"path"`
	Status string `json:"status"` // A (added), M (modified), D (deleted) or T (its type changed)
}

// FileLines counts the lines that a change added to a file and removed from it.
type FileLines struct {
	Path    string `json:"path"`
	Status  string `json:"status"` // as in Change; of uncommitted edits ""
	Added   int    `json:"added"`
	Removed int    `json:"removed"`
	Binary  bool   `json:"binary,omitempty"` // the file is binary: its lines are not counted
}

// TreePair are two trees to compare. "" is the empty tree.
type TreePair struct{ From, To Tree }

// Move is a plan to change the files of a work tree from one tree to another.
type Move struct {
	From, To Tree
	// tree of the index afterwards, "" for To; files of To that differ from Index are written even in a sparse checkout
	Index Tree
	RawTo Tree // tree with the files of To that get other bytes than a checkout writes, "" for none
	// tree with files that the move overwrites or deletes, and whose bytes a checkout of From would not write again; ""
	// for none
	Raw     Tree
	Changes []Change
	// paths that must not be overwritten or deleted, and why; if there are any, the move must be refused
	InTheWay []Skip
}

// Prepared is a turn whose objects are durable, but of which nothing is published yet.
type Prepared struct {
	Made
	Session   ID
	Ledger    Commit // the new ledger commit; the turn takes effect when the ledger's ref moves to it
	LedgerOld Commit
}

// Settled says which moves of a published turn could not be done, because another process had changed the ref or HEAD.
// All other moves are done.
type Settled struct {
	Foreign     []RefMove // refs that had neither their old nor their new value; New is the value found
	HeadForeign string    // position of HEAD, if it is neither at HeadOld nor at HeadNew
	// set if HEAD could not be put on the branch HeadNew, because another process moved it or has it checked out: HEAD
	// is detached at Old
	HeadBehind *RefMove
}

// LedgerCommit is one commit of a session's ledger. Lists of them begin with the newest.
type LedgerCommit struct {
	Commit  Commit
	At      int64
	Subject string
}

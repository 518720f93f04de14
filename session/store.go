package session

import "errors"

// ErrTouched says that files changed while they were being moved. The caller may look again, save the current content
// and continue.
var ErrTouched = errors.New("a file changed at the same time")

// ErrUnchanged ends a checkpoint outside an attempt when nothing changed.
var ErrUnchanged = errors.New("nothing changed since the current checkpoint")

// Head says where a work tree's HEAD is.
type Head struct {
	Ref    string `json:"ref,omitempty"` // full name, "" when detached
	Commit Commit `json:"commit"`        // "" on an unborn branch
}

// RefMove is one compare-and-swap of a ref. "" means that the ref does not exist.
type RefMove struct {
	Ref string `json:"ref"`           // full name (ref)
	Old Commit `json:"old,omitempty"` // none: it did not exist
	New Commit `json:"new,omitempty"` // none: it does not exist afterwards
}

// Turn has everything that one ledger commit changes in the repository, as old and new values, so that any later
// command can complete it or detect that another process has moved on. An operation is undone by its own Turn,
// reversed.
type Turn struct {
	// the work tree whose HEAD, index and files change
	Worktree string    `json:"worktree,omitempty"`
	Refs     []RefMove `json:"refs,omitempty"` // moved after the ledger's own ref
	// full name of the ref that HEAD was on, or a commit
	HeadOld       string `json:"head_old,omitempty"`
	HeadOldCommit Commit `json:"head_old_commit,omitempty"` // the commit that it pointed to
	HeadNew       string `json:"head_new,omitempty"`        // where HEAD goes; none: it stays
	// the commit that this branch must still point to; none: `refs` moves it
	HeadNewCommit Commit `json:"head_new_commit,omitempty"`
	Tree          Tree   `json:"tree,omitempty"`  // of the files afterwards; none: as they are
	Index         Tree   `json:"index,omitempty"` // of the index afterwards; none: as it is
	// files of `tree` whose bytes differ from those that a checkout writes
	Raw Tree `json:"raw,omitempty"`
	// keeps the state from before, if any of it was in no commit (ref)
	Rescue   string `json:"rescue,omitempty"`
	TreeOld  Tree   `json:"tree_old,omitempty"`  // of the files before
	IndexOld Tree   `json:"index_old,omitempty"` // of the index before
	// files of `tree_old` whose bytes no checkout would write again; the rescue keeps them
	RawOld Tree `json:"raw_old,omitempty"`
	// further rescues made during the move, the oldest first: files changed meanwhile, or the move was interrupted and
	// completed by a later command (refs)
	Found []string `json:"found,omitempty"`
}

// Rescues returns all refs that keep the state from before a turn and from while it ran.
func (t *Turn) Rescues() []string {
	if t.Rescue == "" {
		return t.Found
	}
	return append([]string{t.Rescue}, t.Found...)
}

// Op is one operation of the repository's operation log, which `wfs undo` can undo.
type Op struct {
	Number int64 `json:"number"` // from 1, by work tree
	At     int64 `json:"at"`     // when (Unix time)
	// `new`, `resume`, `switch`, `leave`, `undo`, `finish`, `checkpoint`, `abandon`, `revive`, `delete`, `restore`,
	// `rename`, `edit`, `repin`, `phase`, `approve`, `reject`, `note`, `allow`, `budget`. `rename`, `repin` and
	// `budget` are made by `wfs edit`, `phase` by `wfs reject --to` and `wfs approve --anyway`
	Kind    string `json:"kind"`
	Session ID     `json:"session"` // the session's id
	Summary string `json:"summary"` // one line
	Ledger  Commit `json:"ledger"`  // the ledger commit that made it true
	// operation that it undoes; if that is an undo, this is a redo
	Undoes int64 `json:"undoes,omitempty"`
	// operation that the same command made right before: undo and redo treat both as one
	With int64 `json:"with,omitempty"`
	// what moved: HEAD, refs, files and index, before and after
	Turn Turn `json:"turn"`
}

// Skip is a path that a snapshot could not include.
type Skip struct {
	Path string `json:"path"` // the path
	Why  string `json:"why"`  // reason, for people
	// of a tracked file into which a key was written: the kind of key, for people
	Rule string `json:"rule,omitempty"`
}

// SkipNested is the reason for skipping a nested repository that has commits and is not a submodule.
const SkipNested = "nested repository"

// Snapshot is the state of a work tree.
type Snapshot struct {
	Tree Tree `json:"tree"`
	// tree of the user's index; equal to HEAD's tree when nothing was staged
	Index    Tree `json:"index,omitempty"`
	Head     Head `json:"head"`
	HeadTree Tree `json:"head_tree,omitempty"`
	// files of Tree that are about to be replaced and whose bytes a checkout would not write again
	Raw Tree `json:"raw,omitempty"`
	Staged
}

// Staged lists the paths of a work tree that are not part of the tree made from it.
type Staged struct {
	Skipped []Skip   `json:"skipped,omitempty"`  // not protected: unreadable, nested repositories, …
	HeldOut []Held   `json:"held_out,omitempty"` // by the session's guard
	Ignored []string `json:"-"`                  // ignored paths to remember, with a slash behind directories
}

// Clean reports whether the work tree and index equal HEAD's commit, byte by byte.
func (s Snapshot) Clean() bool {
	return s.Raw == "" && s.Tree == s.HeadTree && (s.Index == "" || s.Index == s.HeadTree)
}

// Draft describes a code commit to be made from a work tree.
type Draft struct {
	Session       ID
	Branch        string   // full name of the branch that HEAD must be on; it moves to the new commit
	Parents       []Commit // parents of the code commit, first the branch's current tip
	Message       string   // whole message with trailers
	At            int64    // Unix seconds; author and committer date, written as UTC
	Stage         bool     // stage the work tree into the user's index first; otherwise Tree is used as it is
	Unless        Tree     // with Stage: return ErrUnchanged if the files are this tree, even if the index differs,
	Former        []Tree   // unless the index is one of these, which would undo later checkpoints
	Tree          Tree     // with Stage false
	Ledger        Commit   // current tip of the ledger, "" for the first
	LedgerMessage string
	Exclude       string   // path of the session's extra exclude file, "" for none
	Anchors       []Commit // further parents of the ledger commit (adopted commits, state commits)
	NoCode        bool     // no code commit: a turn that only records (restored, finished, …)
	Turn          Turn     // Refs are completed with the branch's move when a code commit is made
}

// AutoDraft describes an auto-save: the content of a work tree in the middle of work.
type AutoDraft struct {
	Session  ID
	Ledger   Commit    // tip of the ledger; the auto-save is stale once the ledger has moved
	Tree     Tree      // tree of the current checkpoint
	At       int64     // Unix seconds
	Why      string    // description of the current activity, for people
	Exclude  string    // path of the session's extra exclude file, "" for none
	Files    Files     // documents to keep with it: the session, and its events since the ledger's tip
	Snapshot *Snapshot // already taken and durable; nil: take one
	Anywhere bool      // also while HEAD is on no branch or on another one
	Last     bool      // the work has ended: check now what is otherwise left to a later auto-save
}

// AutoSaved is the result of an auto-save.
type AutoSaved struct {
	Commit  Commit // the auto-save that the ref names now, "" if there is nothing to save
	New     bool   // it was made now
	Changes int    // paths that differ from the current checkpoint
	Lost    int    // paths with work that the previous auto-save has and the work tree lacks, if that is most of it
	Kept    string // ref that keeps the previous auto-save, "" if that is still the newest one
}

// AutoSave is a session's newest auto-save.
type AutoSave struct {
	Commit  Commit
	Ledger  Commit // tip of the ledger when it was made; stale if the tip is another one now
	Code    Commit // commit of the files
	Tree    Tree
	Index   Tree // "" when the index had conflicts
	Raw     Tree // files of Tree whose bytes a checkout would not write again, "" for none
	Head    Head
	At      int64 // Unix seconds
	Why     string
	Changes int      // paths that differ from the checkpoint that was current then
	Changed []Change // the first of them, at most MaxAutoChanges
	HeldOut []Held
	Skipped []Skip
}

// MaxAutoChanges bounds the paths that an auto-save names.
const MaxAutoChanges = 1000

// Made is what was made from a draft, before anything is published.
type Made struct {
	Code        Commit // "" with NoCode
	Tree        Tree
	Staged               // paths that the tree does not hold
	IndexOld    Tree     // with Stage: tree of the index before
	Deleted     *Deleted // set if more than half of the files of the first parent are deleted
	IndexAnchor Commit   // commit that keeps content which was only in the user's index, "" for none
	Turn        Turn     // with all moves filled in
}

// Files are the documents of one ledger commit by name ("session.json"). A nil value keeps the document of the commit
// before.
type Files map[string][]byte

// Names of the ledger's documents.
const (
	FileSession  = "session.json"  // cache of the fold
	FileEvents   = "events.jsonl"  // events since the previous ledger commit
	FilePlan     = "plan.json"     // the session's plan, pinned
	FileWorkflow = "workflow.yaml" // the text of the plan's workflow, for people
	FileSpec     = "spec.md"       // the spec when the session was created, if any
	FileBaseline = "baseline.json" // Evidence on the base
	FileLap      = "lap.json"      // Evidence at the start of the current lap
	FileEvidence = "evidence.json" // Evidence of the newest judged attempt
	FileExclude  = "exclude"       // the session's extra exclude rules: an ignored path stays ignored
)

// Change is one difference between two trees.
type Change struct {
	Path   string `json:"path"`
	Status string `json:"status"` // A, M, D, T (type change)
}

// FileLines counts the lines that a change added to a file and removed from it.
type FileLines struct {
	Path           string
	Added, Removed int
	Binary         bool // it has no lines
}

// Move is a plan to bring a work tree from one tree to another.
type Move struct {
	From, To Tree
	Index    Tree // of the index afterwards, "" for To; files of To that differ from it ignore a sparse checkout
	RawTo    Tree // files of To that get other bytes than a checkout writes, "" for none
	// bytes of files that the move overwrites or deletes and that a checkout of From would not write again, "" for none
	Raw      Tree
	Changes  []Change
	InTheWay []Skip // paths that must not be overwritten or deleted, and why; if there are any: refuse
}

// Prepared is a turn whose objects are durable and of which nothing is published yet.
type Prepared struct {
	Made
	Session   ID
	Ledger    Commit // the new ledger commit; moving the ledger's ref to it is the commit point
	LedgerOld Commit
}

// Settled is the outcome of a published turn's moves. Each is done, or was left alone because another process moved on.
type Settled struct {
	Foreign     []RefMove // refs with neither their old nor their new value; New holds the value found
	HeadForeign string    // where HEAD is, if neither at HeadOld nor at HeadNew
	HeadBehind  *RefMove  // how HeadNew was moved meanwhile, if it was: HEAD is detached at Old
}

// LedgerCommit is one entry of a session's ledger. Listings have the newest first.
type LedgerCommit struct {
	Commit  Commit
	At      int64
	Subject string
}

package refs

import (
	"sync/atomic"

	"github.com/wfs-dev/wfs/gitstate/gitcmd"
	"github.com/wfs-dev/wfs/gitstate/object"
	"github.com/wfs-dev/wfs/session"
)

// The names of wfs's refs, as prefixes.
const (
	BranchPrefix = "refs/heads/wfs/" // followed by <slug>: the branch of a session
	RefsPrefix   = "refs/wfs/"       // followed by <slug>/ledger, <slug>/auto, <slug>/rescue/<n>
	OpsPrefix    = "refs/wfs-ops/"   // followed by the id of a work tree: its operation log

	DeletedPrefix = "refs/wfs-deleted/" // followed by <slug>/<when>/…: refs of deleted sessions, until gc
)

// BranchRef returns the full name of a session's branch.
func BranchRef(id session.ID) string { return BranchPrefix + string(id) }

// AutoRef returns the full name of the ref of a session's newest auto-save.
func AutoRef(id session.ID) string { return RefsPrefix + string(id) + "/auto" }

// LedgerRef returns the full name of a session's ledger.
func LedgerRef(id session.ID) string { return RefsPrefix + string(id) + "/ledger" }

// AnchorRef returns the full name of the ref that keeps the user's staged changes. A checkpoint commits these before it
// replaces the index, and the ref keeps that commit until the ledger has it as a parent.
func AnchorRef(id session.ID) string { return RefsPrefix + string(id) + "/index" }

// RescuePrefix returns the prefix of the names of a session's rescues. A number from 1 follows it.
func RescuePrefix(id session.ID) string { return RefsPrefix + string(id) + "/rescue/" }

// Refs reads all refs of a repository, and moves those of wfs.
type Refs struct {
	repository
	*Operations
	*Writer
	*Inspection
	*Histories
}

// repository has the parts of a repository that all types here use.
type repository struct {
	Git     *gitcmd.Git
	Objects *object.Store
}

// Operations reads and extends the operation logs of work trees, which `wfs undo` uses.
type Operations struct {
	repository
	refs       *Refs
	known      atomic.Pointer[OpLog]  // the log that was read last
	notedAside atomic.Pointer[string] // see SetAside
}

// Inspection finds and repairs refs of wfs that are damaged or lost.
type Inspection struct {
	repository
	refs *Refs
}

// Histories reads the ledgers of sessions.
type Histories struct {
	repository
	refs *Refs
}

// Writer moves refs and HEAD.
type Writer struct {
	repository
	refs *Refs
}

// New returns the refs of a repository.
func New(git *gitcmd.Git, objects *object.Store) *Refs {
	r := &Refs{repository: repository{git, objects}}
	r.Operations = &Operations{repository: r.repository, refs: r}
	r.Inspection = &Inspection{repository: r.repository, refs: r}
	r.Histories = &Histories{repository: r.repository, refs: r}
	r.Writer = &Writer{repository: r.repository, refs: r}
	return r
}

package refs

import (
	"sync/atomic"

	"github.com/wfs-dev/wfs/gitstate/gitcmd"
	"github.com/wfs-dev/wfs/gitstate/object"
	"github.com/wfs-dev/wfs/session"
)

// The names that wfs uses in a repository.
const (
	BranchPrefix = "refs/heads/wfs/" // <slug>: the session's branch
	RefsPrefix   = "refs/wfs/"       // <slug>/ledger, <slug>/auto, <slug>/rescue/<n>
	OpsPrefix    = "refs/wfs-ops/"   // <work tree>: its operation log

	DeletedPrefix = "refs/wfs-deleted/" // <slug>/<when>/…: what was deleted, until gc
)

// BranchRef is the full name of a session's branch.
func BranchRef(id session.ID) string { return BranchPrefix + string(id) }

// AutoRef is the full name of the ref of a session's newest auto-save.
func AutoRef(id session.ID) string { return RefsPrefix + string(id) + "/auto" }

// LedgerRef is the full name of a session's ledger.
func LedgerRef(id session.ID) string { return RefsPrefix + string(id) + "/ledger" }

// AnchorRef keeps a commit of what was in the user's index alone, from before a checkpoint replaces that index until
// the ledger has it as a parent.
func AnchorRef(id session.ID) string { return RefsPrefix + string(id) + "/index" }

// RescuePrefix is what the names of a session's rescues begin with; a number from 1 follows.
func RescuePrefix(id session.ID) string { return RefsPrefix + string(id) + "/rescue/" }

// Refs are the refs of a repository: those of the user are read, and those of wfs are moved.
type Refs struct {
	repository
	*Operations
	*Writer
	*Inspection
}

// repository is what all of them ask.
type repository struct {
	Git     *gitcmd.Git
	Objects *object.Store
}

// Operations are the operation logs of work trees, from which `wfs undo` works.
type Operations struct {
	repository
	refs       *Refs
	notedAside atomic.Pointer[string] // see SetAside
}

// Inspection finds and repairs refs of ours that are damaged or lost.
type Inspection struct {
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
	r.Writer = &Writer{repository: r.repository, refs: r}
	return r
}

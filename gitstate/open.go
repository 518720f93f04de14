// Package gitstate is a session's life in Git: snapshots, checkpoints, the ledger, restores, rescues, history
// and the handover. Git moves the work tree and adds files that it converts; plain files, packs and moves of
// refs are made here; go-git only ever reads.
package gitstate

import (
	"context"
	"sync/atomic"

	"github.com/wfs-dev/wfs/gitstate/gitcmd"
	"github.com/wfs-dev/wfs/gitstate/room"
	"github.com/wfs-dev/wfs/session"
)

// The names that wfs uses in a repository.
const (
	branchPrefix = "refs/heads/wfs/" // <slug>: the session's branch
	refsPrefix   = "refs/wfs/"       // <slug>/ledger, <slug>/auto, <slug>/rescue/<n>
	opsPrefix    = "refs/wfs-ops/"   // <work tree>: its operation log

	deletedPrefix = "refs/wfs-deleted/" // <slug>/<when>/…: what was deleted, until gc
)

// BranchRef is the full name of a session's branch.
func BranchRef(id session.ID) string { return branchPrefix + string(id) }

// AutoRef is the full name of the ref of a session's newest auto-save.
func AutoRef(id session.ID) string { return refsPrefix + string(id) + "/auto" }

// LedgerRef is the full name of a session's ledger.
func LedgerRef(id session.ID) string { return refsPrefix + string(id) + "/ledger" }

// Repo is one work tree and the repository that it belongs to. Its methods may be called from several goroutines.
type Repo struct {
	*gitcmd.Git
	reader reader // what is read without git

	Rooms *room.Set

	notedAside atomic.Pointer[string] // see SetAside

	auto    autoSaves
	keeping keeping

	configured atomic.Pointer[string] // what files of settings were like when that was asked last
}

// Open opens the repository of the work tree that contains a directory.
func Open(ctx context.Context, o gitcmd.Options) (*Repo, error) {
	git, err := gitcmd.Open(ctx, o)
	if err != nil {
		return nil, err
	}
	r := &Repo{Git: git}
	r.Rooms = r.rooms()
	return r, nil
}

// Root is the top of the work tree.
func (r *Repo) Root() string { return r.Git.Root }

// GitDir is the work tree's own git directory: HEAD and the index are there.
func (r *Repo) GitDir() string { return r.Git.GitDir }

// CommonDir is the git directory that all work trees of the repository share.
func (r *Repo) CommonDir() string { return r.Git.CommonDir }

// Worktree is the id of the work tree: "main", or a linked work tree's name.
func (r *Repo) Worktree() string { return r.Git.Worktree }

// Package gitstate stores sessions in Git: snapshots, checkpoints, the ledger, restores, rescues, history and the
// handover. Git moves the work tree and adds files that it converts; wfs itself adds plain files, writes packs and
// moves refs; go-git only reads.
package gitstate

import (
	"context"

	"github.com/wfs-dev/wfs/gitstate/backup"
	"github.com/wfs-dev/wfs/gitstate/checkout"
	"github.com/wfs-dev/wfs/gitstate/gitcmd"
	"github.com/wfs-dev/wfs/gitstate/handover"
	"github.com/wfs-dev/wfs/gitstate/object"
	"github.com/wfs-dev/wfs/gitstate/raw"
	"github.com/wfs-dev/wfs/gitstate/refs"
	"github.com/wfs-dev/wfs/gitstate/room"
	"github.com/wfs-dev/wfs/gitstate/settings"
	"github.com/wfs-dev/wfs/gitstate/snapshot"
	"github.com/wfs-dev/wfs/gitstate/turn"
	"github.com/wfs-dev/wfs/gitstate/unsaved"
	"github.com/wfs-dev/wfs/gitstate/worktree"
)

// Objects are the objects of the repository.
type Objects = object.Store

// Refs are the refs of the repository.
type Refs = refs.Refs

// Settings are git's settings that affect how it treats files.
type Settings = settings.Settings

// RawBytes reads and restores files byte by byte, without git's conversions.
type RawBytes = raw.Files

// Files reads the work tree as git would add it.
type Files = snapshot.Files

// Repo is one work tree and its repository. It is safe for concurrent use.
type Repo struct {
	*gitcmd.Git
	*Objects
	*Refs
	*worktree.Trees
	*Files
	*RawBytes
	*Settings
	*checkout.Mover
	*turn.Turns
	*handover.Handover
	*backup.Backups
	*backup.AutoSaves
	*unsaved.Finder

	Rooms *room.Set
}

// Open opens the repository of the work tree that contains a directory.
func Open(ctx context.Context, o gitcmd.Options) (*Repo, error) {
	git, err := gitcmd.Open(ctx, o)
	if err != nil {
		return nil, err
	}
	return repoOf(git), nil
}

// Root returns the top of the work tree.
func (r *Repo) Root() string { return r.Git.Root }

// GitDir returns the work tree's own git directory, with HEAD and the index.
func (r *Repo) GitDir() string { return r.Git.GitDir }

// CommonDir returns the git directory that all work trees of the repository share.
func (r *Repo) CommonDir() string { return r.Git.CommonDir }

// Worktree returns the id of the work tree: "main", or the name of a linked work tree.
func (r *Repo) Worktree() string { return r.Git.Worktree }

func repoOf(git *gitcmd.Git) *Repo {
	r := &Repo{Git: git, Objects: object.New(git)}
	r.Refs, r.Settings, r.RawBytes = refs.New(git, r.Objects), settings.New(git, r.Objects), raw.New(git, r.Objects)
	r.Trees, r.Files = worktree.New(git, r.Objects, r.Refs), snapshot.New(git, r.Objects, r.Refs, r.Settings)
	r.Mover = checkout.New(git, r.Objects, r.RawBytes)
	r.Turns = &turn.Turns{Git: git, Objects: r.Objects, Refs: r.Refs, Files: r.Files, Trees: r.Trees}
	r.Handover = &handover.Handover{Git: git, Objects: r.Objects, Refs: r.Refs, Trees: r.Trees}
	r.Backups = &backup.Backups{Git: git, Objects: r.Objects, Refs: r.Refs, Files: r.Files, Handover: r.Handover}
	r.AutoSaves = &backup.AutoSaves{Git: git, Objects: object.New(git), Refs: r.Refs, Files: r.Files, Backups: r.Backups}
	r.Rooms = &room.Set{Git: git, Objects: r.Objects, Refs: r.Refs, Trees: r.Trees}
	r.Finder = &unsaved.Finder{Git: git, Objects: r.Objects, Settings: r.Settings}
	return r
}

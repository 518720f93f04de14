package snapshot

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/wfs-dev/wfs/gitstate/gitcmd"
	"github.com/wfs-dev/wfs/gitstate/object"
	"github.com/wfs-dev/wfs/gitstate/refs"
	"github.com/wfs-dev/wfs/gitstate/settings"
	"github.com/wfs-dev/wfs/session"
)

// Files reads the files of a work tree as git would add them.
type Files struct {
	repository
	*Adder
	*Guard
}

// repository has the parts of a repository that all types here use.
type repository struct {
	Git      *gitcmd.Git
	Objects  *object.Store
	Refs     *refs.Refs
	Settings *settings.Settings
}

// Guard keeps files out of snapshots: keys, and files that exceed the limits. It keeps no file out that the user has
// allowed.
type Guard struct {
	repository
	files *Files
}

// Adder brings a private index up to date with the work tree.
type Adder struct {
	repository
	files *Files
}

// New returns the object that takes snapshots of a work tree. It reads nothing yet.
func New(git *gitcmd.Git, objects *object.Store, refs *refs.Refs, settings *settings.Settings) *Files {
	f := &Files{repository: repository{git, objects, refs, settings}}
	f.Adder = &Adder{f.repository, f}
	f.Guard = &Guard{f.repository, f}
	return f
}

// Snapshot writes the work tree as a tree object, durably. It uses a private index, and only reads the user's index.
// exclude is the path of the session's exclude file (its list of paths that checkpoints leave out), "" for none. In the
// result, Skipped lists the paths that could not be added, and HeldOut those that the guard keeps out. For an index
// with conflicts, the error is a *ReadyError.
func (r *Files) Snapshot(ctx context.Context, exclude string) (session.Snapshot, error) {
	t, err := r.Take(ctx, exclude, false)
	if err == nil && t.Tree != t.HeadTree && t.Tree != t.Index {
		err = r.Objects.WriteObjects(ctx, t.Objects...)
	}
	return t.Snapshot, err
}

// Taken is a snapshot whose newest objects are not stored yet.
type Taken struct {
	session.Snapshot
	Before, Now *object.Index
	Objects     []object.Object
}

// Take takes a snapshot without storing its newest objects. An index with conflicts is an error, unless `conflicts` is
// true: then Take reads the files, and leaves Index empty.
func (r *Files) Take(ctx context.Context, exclude string, conflicts bool) (t Taken, err error) {
	if t.Snapshot, err = r.headSnapshot(ctx); err != nil {
		return t, err
	}
	index := r.snapshotIndex()
	if t.Before, err = r.CopyIndex(ctx, index); err != nil {
		return t, err
	}
	t.Index, err = r.TreeOfIndex(ctx, index, t.Before, t.HeadTree)
	if conflict := (*gitcmd.ReadyError)(nil); err != nil && (!conflicts || !errors.As(err, &conflict)) {
		return t, err
	}
	added, err := r.AddAll(ctx, index, t.Before, t.Index == t.HeadTree, exclude, t.Head.Commit, t.HeadTree)
	if err != nil {
		return t, err
	}
	t.Staged, t.Now = added.Staged, added.Now
	if len(added.Copied) > 0 && t.Index != "" {
		if t.Index, err = r.TreeWithout(ctx, t.Before, added.Copied); err != nil {
			return t, err
		}
	}
	var own object.Entry
	if t.HeadTree != "" {
		if own, err = r.Objects.Entry(ctx, t.HeadTree, object.UserDir); err != nil {
			return t, err
		}
	}
	trees, err := r.StagedTrees(ctx, index, added.Now, own)
	if err != nil {
		return t, err
	}
	t.Tree = session.Tree(trees[len(trees)-1].ID)
	t.Objects = append(added.Objects, Unstored(trees)...)
	return t, nil
}

// headSnapshot returns a snapshot in which only HEAD and its tree are set.
func (r *Files) headSnapshot(ctx context.Context) (s session.Snapshot, err error) {
	if s.Head, err = r.Refs.Head(ctx); err == nil && s.Head.Commit != "" {
		s.HeadTree, err = r.Objects.TreeOf(ctx, s.Head.Commit)
	}
	return s, err
}

// snapshotIndex returns the path of the private index that the last snapshot used.
func (r *Files) snapshotIndex() string { return filepath.Join(r.Git.PrivateDir(), "index") }

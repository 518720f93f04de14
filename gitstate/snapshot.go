package gitstate

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/wfs-dev/wfs/gitstate/gitcmd"
	"github.com/wfs-dev/wfs/gitstate/object"
	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/session"
)

// Snapshot writes the work tree as a tree object, durable, through a private index; the user's index is only
// read. exclude is the session's extra exclude file, "" for none. What cannot be held is named in Skipped, what
// is held out by its guard in HeldOut. An index with conflicts is a *ReadyError.
func (r *Repo) Snapshot(ctx context.Context, exclude string) (session.Snapshot, error) {
	t, err := r.take(ctx, exclude, false)
	if err == nil && t.Tree != t.HeadTree && t.Tree != t.Index {
		err = r.Objects.WriteObjects(ctx, t.objects...)
	}
	return t.Snapshot, err
}

// newSnapshot is a snapshot whose newest objects are not stored yet.
type newSnapshot struct {
	session.Snapshot
	before, now *object.Index
	objects     []object.Object
}

// take takes a snapshot. With conflicts, an index that has them does not keep it from the files, and stands for
// no tree.
func (r *Repo) take(ctx context.Context, exclude string, conflicts bool) (t newSnapshot, err error) {
	if t.Snapshot, err = r.headSnapshot(ctx); err != nil {
		return t, err
	}
	index := r.snapshotIndex()
	if t.before, err = r.copyIndex(ctx, index); err != nil {
		return t, err
	}
	t.Index, err = r.treeOfIndex(ctx, index, t.before, t.HeadTree)
	if conflict := (*gitcmd.ReadyError)(nil); err != nil && (!conflicts || !errors.As(err, &conflict)) {
		return t, err
	}
	added, err := r.addAll(ctx, index, t.before, t.Index == t.HeadTree, exclude, t.Head.Commit, t.HeadTree)
	if err != nil {
		return t, err
	}
	t.Staged, t.now = added.Staged, added.now
	if len(added.copied) > 0 && t.Index != "" {
		if t.Index, err = r.treeWithout(ctx, t.before, added.copied); err != nil {
			return t, err
		}
	}
	var own object.Entry
	if t.HeadTree != "" {
		if own, err = r.Objects.Entry(ctx, t.HeadTree, object.UserDir); err != nil {
			return t, err
		}
	}
	trees, err := r.stagedTrees(ctx, index, added.now, own)
	if err != nil {
		return t, err
	}
	t.Tree = session.Tree(trees[len(trees)-1].ID)
	t.objects = append(added.objects, unstored(trees)...)
	return t, nil
}

// headSnapshot is a snapshot that knows nothing but where HEAD is.
func (r *Repo) headSnapshot(ctx context.Context) (s session.Snapshot, err error) {
	if s.Head, err = r.Refs.Head(ctx); err == nil && s.Head.Commit != "" {
		s.HeadTree, err = r.Objects.TreeOf(ctx, s.Head.Commit)
	}
	return s, err
}

// snapshotIndex is the private index of the newest Snapshot.
func (r *Repo) snapshotIndex() string { return filepath.Join(r.Git.PrivateDir(), "index") }

// copyIndex reads the work tree's index, of which store makes a copy.
func (r *Repo) copyIndex(ctx context.Context, to string) (*object.Index, error) {
	if err := durable.MkdirAll(filepath.Dir(to)); err != nil {
		return nil, err
	}
	if err := object.RemoveLeftovers(to); err != nil {
		return nil, err
	}
	x, err := r.Objects.ReadIndex(ctx, r.Git.IndexPath())
	if err == nil && x.Data != nil {
		x.CopyTo = to
	}
	return x, err
}

// treeOfIndex returns the tree that a private index stands for, written if it was not yet. That it is the expected one,
// which exists, is found out without a git process. Conflicts are a *ReadyError.
func (r *Repo) treeOfIndex(ctx context.Context, path string, x *object.Index, expected session.Tree) (session.Tree, error) {
	info := x.Info()
	if len(info.Unmerged) > 0 {
		return "", unmerged(info)
	}
	if info.Tree != "" {
		return session.Tree(info.Tree), nil
	}
	if root, ok := r.Objects.RootOf(x); ok && root.ID == string(expected) {
		return expected, nil
	}
	if err := x.Store(); err != nil {
		return "", err
	}
	return r.Objects.WriteTree(ctx, path)
}

// treeWithout is treeOfIndex of an index that has other entries for some paths.
func (r *Repo) treeWithout(ctx context.Context, x *object.Index, but []byte) (session.Tree, error) {
	path := filepath.Join(r.Git.PrivateDir(), "before")
	if err := object.RemoveLeftovers(path); err != nil {
		return "", err
	}
	defer os.Remove(path)
	if err := durable.WriteCache(path, x.Data, 0o600); err != nil {
		return "", err
	}
	if err := r.putEntries(ctx, path, but); err != nil {
		return "", err
	}
	return r.Objects.WriteTree(ctx, path)
}

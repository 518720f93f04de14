package snapshot

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/gitstate/gitcmd"
	"github.com/wfs-dev/wfs/gitstate/object"
	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/session"
)

// Unmerged returns the *ReadyError for an index with conflicts. It names the first paths.
func Unmerged(i object.IndexInfo) error {
	const shown = 5
	names := strings.Join(i.Unmerged[:min(shown, len(i.Unmerged))], ", ")
	if more := len(i.Unmerged) - shown; more > 0 {
		names += fmt.Sprintf(" and %d more", more)
	}
	return &gitcmd.ReadyError{Code: gitcmd.NotMerged, Detail: names}
}

// CopyIndex reads the work tree's index, for a private copy at the path `to`. The file is written only when Store of
// the result is called.
func (r *Files) CopyIndex(ctx context.Context, to string) (*object.Index, error) {
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

// TreeOfIndex returns the tree of a private index. If that is the expected tree, which exists already, it runs no git
// process; otherwise it writes the tree. For an index with conflicts, the error is a *ReadyError.
func (r *Files) TreeOfIndex(ctx context.Context, path string, x *object.Index, expected session.Tree) (session.Tree,
	error) {
	info := x.Info()
	if len(info.Unmerged) > 0 {
		return "", Unmerged(info)
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

// TreeWithout returns the tree that an index would have if other entries replaced its entries of the same paths. `but`
// has these entries in the input format of `git update-index --index-info -z`. The index itself is not changed.
func (r *Files) TreeWithout(ctx context.Context, x *object.Index, but []byte) (session.Tree, error) {
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

// StagedTrees returns the trees that have to be written for a private index, the root last. The root contains own as
// .wfs. If git has written the trees already, only the root is returned, without data. x is the content of the index.
func (r *Files) StagedTrees(ctx context.Context, path string, x *object.Index, own object.Entry) ([]object.Object,
	error) {
	if entries, below, ok := r.Objects.TreesOf(x, nil); ok {
		own.Name = object.UserDir
		root, err := r.Objects.NewTree(object.PutEntry(entries, own))
		return append(below, root), err
	}
	staged, err := r.Objects.WriteTree(ctx, path)
	if err != nil {
		return nil, err
	}
	tree, err := r.Objects.WithOwn(ctx, staged, own)
	return []object.Object{{Kind: "tree", ID: string(tree)}}, err
}

// Unstored returns those of the trees that git has not written.
func Unstored(trees []object.Object) []object.Object {
	return slices.DeleteFunc(trees, func(o object.Object) bool { return o.Data == nil })
}

package object

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/wfs-dev/wfs/gitstate/gitcmd"
	"github.com/wfs-dev/wfs/session"
)

// WithoutRules returns a fingerprint of the content of a tree without .wfs, only to be compared with others.
func (r *Store) WithoutRules(ctx context.Context, tree session.Tree) (string, error) {
	out, err := r.Git.AskOfObjects(ctx, "ls-tree", "-z", string(tree))
	h := sha256.New()
	for _, entry := range gitcmd.SplitZ(out) {
		if !strings.HasSuffix(entry, "\t"+UserDir) {
			fmt.Fprintf(h, "%q\n", entry)
		}
	}
	return hex.EncodeToString(h.Sum(nil)), err
}

// UserDir is the directory in the work tree that belongs to the user. No snapshot or move changes it.
const UserDir = ".wfs"

// WithUserDir returns a tree with the .wfs of the tree `from`, or without .wfs if `from` is "" or has none.
func (r *Store) WithUserDir(ctx context.Context, tree, from session.Tree) (session.Tree, error) {
	var own Entry
	if from != "" {
		var err error
		if own, err = r.Entry(ctx, from, UserDir); err != nil {
			return "", err
		}
	}
	return r.WithOwn(ctx, tree, own)
}

// WithOwn returns a tree with the entry own as its .wfs, or without .wfs if own is the zero value.
func (r *Store) WithOwn(ctx context.Context, tree session.Tree, own Entry) (session.Tree, error) {
	own.Name = UserDir
	return r.WithEntry(ctx, tree, own)
}

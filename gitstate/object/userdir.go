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

// WithoutRules returns a digest of a tree without .wfs.
func (r *Store) WithoutRules(ctx context.Context, tree session.Tree) (string, error) {
	out, err := r.Git.Ask(ctx, "ls-tree", "-z", string(tree))
	h := sha256.New()
	for _, entry := range gitcmd.SplitZ(out) {
		if !strings.HasSuffix(entry, "\t"+UserDir) {
			fmt.Fprintf(h, "%q\n", entry)
		}
	}
	return hex.EncodeToString(h.Sum(nil)), err
}

// UserDir is the directory in the work tree that belongs to the user: never part of a snapshot or a move.
const UserDir = ".wfs"

// WithUserDir returns a tree with the .wfs of another one, or without .wfs if that one is "" or has none.
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

// WithOwn returns a tree with the given .wfs, or without .wfs if own is zero.
func (r *Store) WithOwn(ctx context.Context, tree session.Tree, own Entry) (session.Tree, error) {
	own.Name = UserDir
	return r.WithEntry(ctx, tree, own)
}

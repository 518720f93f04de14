package gitstate

import (
	"context"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/gitstate/gitcmd"
	"github.com/wfs-dev/wfs/session"
)

// A move may fail for a reason that stays: a filter that refuses, a disk that is full. Then it is taken back, and that
// must not fail for the same reason.

// MoveBack is MoveTree back to where a move began that failed on its way to a tree. What the move began to
// write in places that no snapshot has, because it is ignored where the move began, is removed again.
func (r *Repo) MoveBack(ctx context.Context, m session.Move, failed session.Tree) error {
	if err := r.dropBegun(ctx, m, failed); err != nil {
		return err
	}
	return r.MoveTree(ctx, m)
}

// DropBegun removes files that a failed move has added, as far as they hold what it was to write, or the
// beginning of that.
func (r *Repo) DropBegun(ctx context.Context, from, failed session.Tree) error {
	return r.dropBegun(ctx, session.Move{From: from, To: from}, failed)
}

// dropBegun removes files that a failed move added or began to add and that the snapshot it is taken back from has not.
func (r *Repo) dropBegun(ctx context.Context, m session.Move, failed session.Tree) error {
	target, err := r.withUserDir(ctx, failed, m.To)
	if err != nil {
		return err
	}
	added, err := r.diffTrees(ctx, m.To, target)
	if err != nil {
		return err
	}
	now, err := r.diffTrees(ctx, m.From, target)
	if err != nil {
		return err
	}
	free := map[string]bool{} // where the snapshot has nothing
	for _, c := range now {
		free[c.Path] = c.oldMode == modeNone
	}
	added = slices.DeleteFunc(added, func(c treeChange) bool { return c.oldMode != modeNone || !free[c.Path] })
	if len(added) == 0 {
		return nil
	}
	begun, err := r.tornFiles(ctx, added)
	if err != nil || len(begun) == 0 {
		return err
	}
	root, err := os.OpenRoot(r.Git.Root) // links must not lead elsewhere
	if err != nil {
		return err
	}
	defer root.Close()
	for name := range begun {
		if err := root.Remove(filepath.FromSlash(name)); err != nil && !gitcmd.Absent(err) {
			return err
		}
		for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
			if root.Remove(filepath.FromSlash(dir)) != nil {
				break // something else is in it
			}
		}
	}
	return nil
}

// sparing notes files that git is not to write, and returns both trees of a move without them.
func (r *Repo) sparing(ctx context.Context, spared map[string]bool, files []rawFile, from, to session.Tree) (a,
	b session.Tree, err error) {
	index := filepath.Join(r.Git.PrivateDir(), "sparing")
	var without strings.Builder
	for _, f := range files {
		spared[f.path] = true
		without.WriteString("0 " + r.zero() + "\t" + f.path + "\x00")
	}
	trees := []session.Tree{from, to}
	for i, t := range trees {
		if err := removeLeftovers(index); err != nil {
			return "", "", err
		}
		if _, err := r.Git.Run(ctx, gitcmd.Opts{Write: true, Env: gitcmd.WithIndex(index)}, "-c", "core.splitIndex=false", "read-tree",
			string(t)); err != nil {
			return "", "", err
		}
		if err := r.enter(ctx, index, without.String()); err != nil {
			return "", "", err
		}
		if trees[i], err = r.writeTree(ctx, index); err != nil {
			return "", "", err
		}
	}
	return trees[0], trees[1], os.Remove(index)
}

// unspared are the changes that git has made.
func unspared(changes []treeChange, spared map[string]bool) []treeChange {
	if len(spared) == 0 {
		return changes
	}
	return slices.DeleteFunc(slices.Clone(changes), func(c treeChange) bool { return spared[c.Path] })
}

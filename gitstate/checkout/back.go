package checkout

import (
	"context"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/gitstate/gitcmd"
	"github.com/wfs-dev/wfs/gitstate/object"
	"github.com/wfs-dev/wfs/gitstate/raw"
	"github.com/wfs-dev/wfs/session"
)

// A move may fail for a reason that persists, such as a filter that refuses or a full disk. Then wfs undoes the move,
// and the undo must not fail for the same reason.

// MoveBack undoes a move to the tree `failed` that stopped half-way; m is the move back to the start. MoveBack also
// removes the files that the failed move began to write and that no snapshot has, because git ignores them at the
// start.
func (r *Mover) MoveBack(ctx context.Context, m session.Move, failed session.Tree) error {
	if err := r.dropBegun(ctx, m, failed); err != nil {
		return err
	}
	return r.MoveTree(ctx, m)
}

// DropBegun removes files that a failed move has added, if they contain the move's content or the beginning of it.
func (r *Mover) DropBegun(ctx context.Context, from, failed session.Tree) error {
	return r.dropBegun(ctx, session.Move{From: from, To: from}, failed)
}

// dropBegun removes files that a failed move added or began to add, if the snapshot from the start of the undo does not
// have them.
func (r *Mover) dropBegun(ctx context.Context, m session.Move, failed session.Tree) error {
	added, err := r.added(ctx, m, failed)
	if err != nil || len(added) == 0 {
		return err
	}
	begun, err := r.tornFiles(ctx, added)
	if err != nil || len(begun) == 0 {
		return err
	}
	return r.remove(slices.Collect(maps.Keys(begun)))
}

// remove removes files of the work tree, and directories that become empty. It does not follow symbolic links out of
// the work tree.
func (r *Mover) remove(names []string) error {
	root, err := os.OpenRoot(r.Git.Root)
	if err != nil {
		return err
	}
	defer root.Close()
	for _, name := range names {
		if err := root.Remove(filepath.FromSlash(name)); err != nil && !gitcmd.Absent(err) {
			return err
		}
		for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
			if root.Remove(filepath.FromSlash(dir)) != nil {
				break // not empty
			}
		}
	}
	return nil
}

// added returns those changes of a failed move that add a file, at paths that do not exist in the snapshot from the
// start of the undo.
func (r *Mover) added(ctx context.Context, m session.Move, failed session.Tree) ([]object.TreeChange, error) {
	target, err := r.Objects.WithUserDir(ctx, failed, m.To)
	if err != nil {
		return nil, err
	}
	added, err := r.Objects.DiffTrees(ctx, m.To, target)
	if err != nil {
		return nil, err
	}
	now, err := r.Objects.DiffTrees(ctx, m.From, target)
	if err != nil {
		return nil, err
	}
	free := map[string]bool{} // paths that the snapshot does not have
	for _, c := range now {
		free[c.Path] = c.OldMode == object.ModeNone
	}
	return slices.DeleteFunc(added,
		func(c object.TreeChange) bool { return c.OldMode != object.ModeNone || !free[c.Path] }), nil
}

// sparing returns both trees of a move without the given files, and adds these to `spared`: git must not write them.
func (r *Mover) sparing(ctx context.Context, spared map[string]bool, files []raw.File, from, to session.Tree) (a,
	b session.Tree, err error) {
	index := filepath.Join(r.Git.PrivateDir(), "sparing")
	var without strings.Builder
	for _, f := range files {
		spared[f.Path] = true
		without.WriteString("0 " + r.Objects.Zero() + "\t" + f.Path + "\x00")
	}
	trees := []session.Tree{from, to}
	for i, t := range trees {
		if err := object.RemoveLeftovers(index); err != nil {
			return "", "", err
		}
		if _, err := r.Git.Run(ctx, gitcmd.Opts{Write: true, Env: gitcmd.WithIndex(index)}, "read-tree",
			string(t)); err != nil {
			return "", "", err
		}
		if err := r.Objects.Enter(ctx, index, without.String()); err != nil {
			return "", "", err
		}
		if trees[i], err = r.Objects.WriteTree(ctx, index); err != nil {
			return "", "", err
		}
	}
	return trees[0], trees[1], os.Remove(index)
}

// unspared returns the changes that git makes itself, without the files in `spared`.
func unspared(changes []object.TreeChange, spared map[string]bool) []object.TreeChange {
	if len(spared) == 0 {
		return changes
	}
	return slices.DeleteFunc(slices.Clone(changes), func(c object.TreeChange) bool { return spared[c.Path] })
}

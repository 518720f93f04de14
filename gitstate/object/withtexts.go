package object

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/wfs-dev/wfs/session"
)

// WithTexts returns a tree in which some files have new contents (texts, by path). It ignores paths at which the tree
// has no regular file. It does not read the work tree.
func (r *Store) WithTexts(ctx context.Context, tree session.Tree, texts map[string][]byte) (session.Tree, error) {
	files, err := r.TreeFiles(ctx, tree)
	if err != nil {
		return "", err
	}
	var objects []Object
	var lines strings.Builder
	for _, f := range files {
		text, ok := texts[f.Path]
		if !ok || !f.Regular() {
			continue
		}
		o := r.NewObject("blob", text)
		objects = append(objects, o)
		fmt.Fprintf(&lines, "%s %s\t%s\x00", f.Mode, o.ID, f.Path)
	}
	if len(objects) == 0 {
		return tree, nil
	}
	if err := r.WriteObjects(ctx, objects...); err != nil {
		return "", err
	}
	dir := filepath.Join(r.Git.PrivateDir(), "overlay")
	return r.fromTree(ctx, dir, tree, func(index string) error { return r.Enter(ctx, index, lines.String()) })
}

// Paths returns the sorted paths of a tree's files.
func (r *Store) Paths(ctx context.Context, tree session.Tree) ([]string, error) {
	files, err := r.TreeFiles(ctx, tree)
	if err != nil {
		return nil, err
	}
	paths := make([]string, len(files))
	for i, f := range files {
		paths[i] = f.Path
	}
	return paths, nil
}

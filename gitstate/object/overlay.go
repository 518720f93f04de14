package object

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/wfs-dev/wfs/gitstate/gitcmd"
	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/session"
)

// fromTree builds a tree from another tree: it reads that tree into a private index in dir, calls change to edit the
// index, and writes the resulting tree. It creates dir and removes it afterwards.
func (r *Store) fromTree(ctx context.Context, dir string, tree session.Tree,
	change func(index string) error) (session.Tree, error) {
	if err := os.RemoveAll(dir); err != nil { // left by a killed command
		return "", err
	}
	if err := durable.MkdirAll(dir); err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	index := filepath.Join(dir, "index")
	if _, err := r.Git.Run(ctx, gitcmd.Opts{Write: true, Env: gitcmd.WithIndex(index)}, "read-tree",
		string(tree)); err != nil {
		return "", err
	}
	if err := change(index); err != nil {
		return "", err
	}
	return r.WriteTree(ctx, index)
}

// Enter changes an index by lines in the input format of `git update-index --index-info -z`.
func (r *Store) Enter(ctx context.Context, index, lines string) error {
	o := gitcmd.Opts{Write: true, Env: gitcmd.WithIndex(index), Stdin: []byte(lines)}
	_, err := r.Git.Run(ctx, o, "update-index", "-z", "--index-info")
	return err
}

// Overlay returns the tree `base` with some paths replaced by those in the tree `from`. Paths that `from` does not have
// are removed. The path of a directory includes everything in it, in both trees. The new tree is stored durably.
// Overlay does not read the work tree.
func (r *Store) Overlay(ctx context.Context, base, from session.Tree, paths []string) (session.Tree, error) {
	if len(paths) == 0 || base == from {
		return base, nil
	}
	changes, err := r.DiffTrees(ctx, base, from)
	if err != nil {
		return "", err
	}
	wanted := make(map[string]bool, len(paths))
	for _, p := range paths {
		wanted[strings.Trim(p, "/")] = true
	}
	// Write removals before additions: a path may be a file in one tree and a directory in the other.
	var gone, there strings.Builder
	for _, c := range changes {
		switch {
		case !below(c.Path, wanted):
		case c.NewMode == ModeNone:
			fmt.Fprintf(&gone, "0 %s\t%s\x00", r.Zero(), c.Path)
		default:
			fmt.Fprintf(&there, "%s %s\t%s\x00", c.NewMode, c.NewID, c.Path)
		}
	}
	if gone.Len()+there.Len() == 0 {
		return base, nil
	}
	dir := filepath.Join(r.Git.PrivateDir(), "overlay")
	return r.fromTree(ctx, dir, base,
		func(index string) error { return r.Enter(ctx, index, gone.String()+there.String()) })
}

// below reports whether a path or one of its parent directories is in `wanted`.
func below(path string, wanted map[string]bool) bool {
	for {
		if wanted[path] {
			return true
		}
		i := strings.LastIndexByte(path, '/')
		if i < 0 {
			return false
		}
		path = path[:i]
	}
}

// Links returns the targets of the symbolic links in a tree, by path.
func (r *Store) Links(ctx context.Context, tree session.Tree) (map[string]string, error) {
	files, err := r.TreeFiles(ctx, tree)
	if err != nil {
		return nil, err
	}
	links := map[string]string{}
	for _, f := range files {
		if f.Mode != ModeLink {
			continue
		}
		_, text, err := r.Read(ctx, f.ID)
		if err != nil {
			return nil, err
		}
		links[f.Path] = string(text)
	}
	return links, nil
}

// TreeFile is a file in or below a tree, with its path from there.
type TreeFile struct{ Path, Mode, ID string }

// Regular reports whether the file is neither a symbolic link nor a submodule.
func (f TreeFile) Regular() bool { return f.Mode == ModeFile || f.Mode == ModeExec }

// TreeFiles lists the files in a tree and the trees below it.
func (r *Store) TreeFiles(ctx context.Context, t session.Tree) ([]TreeFile, error) {
	out, err := r.Git.AskOfObjects(ctx, "ls-tree", "-r", "-z", "--full-tree", string(t))
	if err != nil {
		return nil, err
	}
	var files []TreeFile
	for _, line := range gitcmd.SplitZ(out) { // <mode> <kind> <id> TAB <path>
		meta, path, _ := strings.Cut(line, "\t")
		f := strings.Fields(meta)
		if len(f) != 3 {
			return nil, fmt.Errorf("git ls-tree: unexpected answer %q", line)
		}
		files = append(files, TreeFile{path, f[0], f[2]})
	}
	return files, nil
}

package gitstate

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/wfs-dev/wfs/gitstate/gitcmd"
	"github.com/wfs-dev/wfs/session"
)

// Overlay returns the tree base with some paths as another tree has them: those that it lacks are removed. A
// path of a directory stands for all that is in it, in either tree. The new tree is durable; no file of the
// work tree is looked at.
func (r *Repo) Overlay(ctx context.Context, base, from session.Tree, paths []string) (session.Tree, error) {
	if len(paths) == 0 || base == from {
		return base, nil
	}
	changes, err := r.diffTrees(ctx, base, from)
	if err != nil {
		return "", err
	}
	wanted := make(map[string]bool, len(paths))
	for _, p := range paths {
		wanted[strings.Trim(p, "/")] = true
	}
	// Removals first: a file may stand where the other tree has a directory, and the other way round.
	var gone, there strings.Builder
	for _, c := range changes {
		switch {
		case !below(c.Path, wanted):
		case c.newMode == modeNone:
			fmt.Fprintf(&gone, "0 %s\t%s\x00", r.zero(), c.Path)
		default:
			fmt.Fprintf(&there, "%s %s\t%s\x00", c.newMode, c.newID, c.Path)
		}
	}
	if gone.Len()+there.Len() == 0 {
		return base, nil
	}
	dir := filepath.Join(r.Git.PrivateDir(), "overlay")
	return r.fromTree(ctx, dir, base,
		func(index string) error { return r.enter(ctx, index, gone.String()+there.String()) })
}

// below reports whether a path, or a directory above it, is one of those that are wanted.
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

// Links are the symbolic links of a tree, and what they say.
func (r *Repo) Links(ctx context.Context, tree session.Tree) (map[string]string, error) {
	files, err := r.filesOf(ctx, tree)
	if err != nil {
		return nil, err
	}
	links := map[string]string{}
	for _, f := range files {
		if f.mode != modeLink {
			continue
		}
		_, text, err := r.object(ctx, f.id)
		if err != nil {
			return nil, err
		}
		links[f.path] = string(text)
	}
	return links, nil
}

// WithoutRules is a digest of a tree without the files below .wfs/.
func (r *Repo) WithoutRules(ctx context.Context, tree session.Tree) (string, error) {
	out, err := r.Git.Run(ctx, gitcmd.Opts{}, "ls-tree", "-z", string(tree))
	h := sha256.New()
	for _, entry := range gitcmd.SplitZ(out) {
		if !strings.HasSuffix(entry, "\t"+userDir) {
			fmt.Fprintf(h, "%q\n", entry)
		}
	}
	return hex.EncodeToString(h.Sum(nil)), err
}

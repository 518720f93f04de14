package gitstate

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/session"
)

// workDir is the directory in the work tree that holds a session's documents. Handovers leave it out.
const workDir = ".workflow"

// ErrOverlap is what an *OverlapError is.
var ErrOverlap = errors.New("the session changed your uncommitted files")

// OverlapError says in which files the session's work and the changes that it was given cannot be told apart.
type OverlapError struct{ Paths []string }

func (e *OverlapError) Error() string {
	return "the session's work overlaps your uncommitted changes from its start: " +
		strings.Join(e.Paths[:min(10, len(e.Paths))], ", ")
}

// Is makes errors.Is(err, ErrOverlap) true.
func (e *OverlapError) Is(target error) bool { return target == ErrOverlap }

// HandoverTree is the tree that finish hands over: the gated tree with the .workflow of the base, which is mostly none,
// and, if carried is given, without the difference between base and carried. An *OverlapError names the files where that cannot be taken out.
func (r *Repo) HandoverTree(ctx context.Context, gated session.Tree, base, carried session.Tree) (session.Tree, error) {
	tree := gated
	if base != carried && base != "" && carried != "" {
		var err error
		if tree, err = r.withoutChange(ctx, gated, base, carried); err != nil {
			return "", err
		}
	}
	documents, err := r.entry(ctx, tree, workDir)
	if err != nil {
		return "", err
	}
	theirs := treeEntry{name: workDir}
	if base != "" {
		if e, err := r.entry(ctx, base, workDir); err != nil {
			return "", err
		} else if e.mode != "" {
			theirs = e
		}
	}
	if documents.mode == theirs.mode && documents.id == theirs.id {
		return tree, nil
	}
	return r.withEntry(ctx, tree, theirs)
}

// withoutChange takes the change from base to carried out of a tree: a three-way merge with carried as the common
// ancestor. It happens in an index of its own; no file of the work tree is looked at.
func (r *Repo) withoutChange(ctx context.Context, tree, base, carried session.Tree) (session.Tree, error) {
	dir := filepath.Join(r.worktreeDir(), "handover")
	return r.fromTree(ctx, dir, tree, func(index string) error { return r.takeOut(ctx, dir, index, tree, base, carried) })
}

// fromTree makes a tree out of another: in an index of its own, which has that tree and which change changes. The index is
// in a directory that is made for it and removed again.
func (r *Repo) fromTree(ctx context.Context, dir string, tree session.Tree, change func(index string) error) (session.Tree, error) {
	if err := os.RemoveAll(dir); err != nil { // of a command that was killed
		return "", err
	}
	if err := durable.MkdirAll(dir); err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	index := filepath.Join(dir, "index")
	if _, err := r.git(ctx, gitOpts{write: true, env: withIndex(index)}, "-c", "core.splitIndex=false", "read-tree", string(tree)); err != nil {
		return "", err
	}
	if err := change(index); err != nil {
		return "", err
	}
	return r.writeTree(ctx, index)
}

// enter enters lines of `git update-index --index-info` into an index.
func (r *Repo) enter(ctx context.Context, index, lines string) error {
	o := gitOpts{write: true, env: withIndex(index), stdin: []byte(lines)}
	_, err := r.git(ctx, o, "-c", "core.splitIndex=false", "update-index", "-z", "--index-info")
	return err
}

func (r *Repo) takeOut(ctx context.Context, dir, index string, tree, base, carried session.Tree) error {
	o := gitOpts{write: true, env: withIndex(index)}
	if _, err := r.git(ctx, o, "-c", "core.splitIndex=false", "read-tree", "-i", "-m", "--aggressive", "--no-sparse-checkout",
		string(carried), string(tree), string(base)); err != nil {
		return err
	}
	conflicts, err := r.conflicts(ctx, index)
	if err != nil {
		return err
	}
	overlap := &OverlapError{}
	var resolved strings.Builder
	for _, c := range conflicts {
		e, ok, err := r.mergeFile(ctx, dir, c)
		if err != nil {
			return err
		}
		if !ok {
			overlap.Paths = append(overlap.Paths, c.path)
			continue
		}
		fmt.Fprintf(&resolved, "0 %s\t%s\x00%s %s\t%s\x00", r.zero(), c.path, e.mode, e.id, c.path)
	}
	if len(overlap.Paths) > 0 {
		return overlap
	}
	if resolved.Len() == 0 {
		return nil
	}
	return r.enter(ctx, index, resolved.String())
}

// mergeConflict is a path that a merge of trees could not settle; sides are the common ancestor's, ours and theirs.
type mergeConflict struct {
	path  string
	sides [3]treeEntry
}

func (r *Repo) conflicts(ctx context.Context, index string) ([]mergeConflict, error) {
	out, err := r.git(ctx, gitOpts{env: withIndex(index)}, "ls-files", "-u", "-z")
	if err != nil {
		return nil, err
	}
	var list []mergeConflict
	for _, line := range splitZ(out) { // <mode> <id> <stage> TAB <path>
		meta, path, _ := strings.Cut(line, "\t")
		f := strings.Fields(meta)
		if len(f) != 3 || len(f[2]) != 1 || f[2] < "1" || f[2] > "3" {
			return nil, fmt.Errorf("git ls-files: unexpected answer %q", line)
		}
		if len(list) == 0 || list[len(list)-1].path != path {
			list = append(list, mergeConflict{path: path})
		}
		list[len(list)-1].sides[f[2][0]-'1'] = treeEntry{f[0], path, f[1]}
	}
	return list, nil
}

// mergeFile merges the contents of three regular files. It answers false when they conflict, or are not mergeable.
func (r *Repo) mergeFile(ctx context.Context, dir string, c mergeConflict) (treeEntry, bool, error) {
	old, ours, theirs := c.sides[0], c.sides[1], c.sides[2]
	var files []string
	for i, side := range []treeEntry{ours, old, theirs} {
		if side.mode != modeFile && side.mode != modeExec {
			return treeEntry{}, false, nil
		}
		_, data, err := r.object(ctx, side.id)
		if err != nil {
			return treeEntry{}, false, err
		}
		files = append(files, filepath.Join(dir, []string{"ours", "old", "theirs"}[i]))
		if err := os.WriteFile(files[i], data, 0o600); err != nil {
			return treeEntry{}, false, err
		}
	}
	merged, err := r.git(ctx, gitOpts{}, append([]string{"merge-file", "-p"}, files...)...)
	var failed *GitError
	if errors.As(err, &failed) && (failed.Exit < 128 || strings.Contains(failed.Stderr, "binary")) {
		return treeEntry{}, false, nil // the exit code is the number of conflicts
	}
	if err != nil {
		return treeEntry{}, false, err
	}
	o := r.newObject("blob", merged)
	mode := ours.mode
	if ours.mode == old.mode {
		mode = theirs.mode
	}
	return treeEntry{mode, c.path, o.id}, true, r.writeObjects(ctx, o)
}

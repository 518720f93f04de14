package gitstate

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/wfs-dev/wfs/gitstate/gitcmd"
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

// HandoverTree is the tree that finish hands over: the gated tree with the .workflow of the base, which is
// mostly none, and, if carried is given, without the difference between base and carried. An *OverlapError
// names the files where that cannot be taken out.
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
// ancestor, in git's object store alone.
func (r *Repo) withoutChange(ctx context.Context, tree, base, carried session.Tree) (session.Tree, error) {
	const ident = "wfs <wfs@localhost>"
	start := r.newCommit(string(carried), nil, ident, 0, "wfs: the session began")
	upon := []session.Commit{session.Commit(start.id)}
	work := r.newCommit(string(tree), upon, ident, 0, "wfs: the work")
	without := r.newCommit(string(base), upon, ident, 0, "wfs: without what was uncommitted")
	if err := r.writeObjects(ctx, start, work, without); err != nil {
		return "", err
	}
	merged, conflicts, err := r.mergeTrees(ctx, session.Commit(work.id), session.Commit(without.id), "-c",
		"merge.renames=false")
	if err == nil && len(conflicts) > 0 {
		err = &OverlapError{conflicts}
	}
	return merged, err
}

// mergeTrees merges two commits without a work tree, and lists the paths in which they conflict. It takes git 2.38.
func (r *Repo) mergeTrees(ctx context.Context, a, b session.Commit, settings ...string) (merged session.Tree,
	conflicts []string, err error) {
	args := append(settings, "merge-tree", "--write-tree", "--name-only", "--no-messages", "-z", string(a), string(b))
	out, err := r.Git.Run(ctx, gitcmd.Opts{Write: true, OkExit: []int{1}}, args...)
	if err != nil {
		return "", nil, fmt.Errorf("merging trees (it takes git 2.38): %w", err)
	}
	fields := gitcmd.SplitZ(out)
	return session.Tree(fields[0]), fields[1:], nil
}

// fromTree makes a tree out of another: in an index of its own, which has that tree and which change changes.
// The index is in a directory that is made for it and removed again.
func (r *Repo) fromTree(ctx context.Context, dir string, tree session.Tree,
	change func(index string) error) (session.Tree, error) {
	if err := os.RemoveAll(dir); err != nil { // of a command that was killed
		return "", err
	}
	if err := durable.MkdirAll(dir); err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	index := filepath.Join(dir, "index")
	if _, err := r.Git.Run(ctx, gitcmd.Opts{Write: true, Env: gitcmd.WithIndex(index)}, "-c", "core.splitIndex=false", "read-tree",
		string(tree)); err != nil {
		return "", err
	}
	if err := change(index); err != nil {
		return "", err
	}
	return r.writeTree(ctx, index)
}

// enter enters lines of `git update-index --index-info` into an index.
func (r *Repo) enter(ctx context.Context, index, lines string) error {
	o := gitcmd.Opts{Write: true, Env: gitcmd.WithIndex(index), Stdin: []byte(lines)}
	_, err := r.Git.Run(ctx, o, "-c", "core.splitIndex=false", "update-index", "-z", "--index-info")
	return err
}

package handover

import (
	"context"
	"errors"
	"strings"

	"github.com/wfs-dev/wfs/gitstate/object"
	"github.com/wfs-dev/wfs/session"
)

// WorkDir is the directory in the work tree that has a session's documents. Handovers leave it out.
const WorkDir = ".workflow"

// ErrOverlap is matched by every *OverlapError (errors.Is).
var ErrOverlap = errors.New("the session changed your uncommitted files")

// OverlapError lists the files in which the session's work cannot be separated from the changes that were uncommitted
// when the session began.
type OverlapError struct{ Paths []string }

func (e *OverlapError) Error() string {
	return "the session's work overlaps your uncommitted changes from its start: " +
		strings.Join(e.Paths[:min(10, len(e.Paths))], ", ")
}

// Is makes errors.Is(err, ErrOverlap) true.
func (e *OverlapError) Is(target error) bool { return target == ErrOverlap }

// HandoverTree returns the tree that finish hands over. It is the gated tree, but its .workflow is that of base, which
// usually has none. If carried is given (base with the changes that were uncommitted when the session began), the
// changes from base to carried are removed. If they cannot be removed from some files, the error is an *OverlapError
// with these files.
func (r *Handover) HandoverTree(ctx context.Context, gated session.Tree, base, carried session.Tree) (session.Tree,
	error) {
	tree := gated
	if base != carried && base != "" && carried != "" {
		var err error
		if tree, err = r.withoutChange(ctx, gated, base, carried); err != nil {
			return "", err
		}
	}
	documents, err := r.Objects.Entry(ctx, tree, WorkDir)
	if err != nil {
		return "", err
	}
	theirs := object.Entry{}
	if base != "" {
		if theirs, err = r.Objects.Entry(ctx, base, WorkDir); err != nil {
			return "", err
		}
	}
	theirs.Name = WorkDir
	if documents.Mode == theirs.Mode && documents.ID == theirs.ID {
		return tree, nil
	}
	return r.Objects.WithEntry(ctx, tree, theirs)
}

// withoutChange removes the changes from base to carried from a tree. It uses a three-way merge, with carried as the
// common ancestor, and needs no work tree.
func (r *Handover) withoutChange(ctx context.Context, tree, base, carried session.Tree) (session.Tree, error) {
	const ident = "wfs <wfs@localhost>"
	start := r.Objects.NewCommit(string(carried), nil, ident, 0, "wfs: the session began")
	upon := []session.Commit{session.Commit(start.ID)}
	work := r.Objects.NewCommit(string(tree), upon, ident, 0, "wfs: the work")
	without := r.Objects.NewCommit(string(base), upon, ident, 0, "wfs: without what was uncommitted")
	if err := r.Objects.WriteObjects(ctx, start, work, without); err != nil {
		return "", err
	}
	merged, conflicts, err := r.Objects.MergeTrees(ctx, session.Commit(work.ID), session.Commit(without.ID), "-c",
		"merge.renames=false")
	if err == nil && len(conflicts) > 0 {
		err = &OverlapError{conflicts}
	}
	return merged, err
}

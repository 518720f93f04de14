package turn

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/wfs-dev/wfs/gitstate/gitcmd"
	"github.com/wfs-dev/wfs/gitstate/object"
	"github.com/wfs-dev/wfs/gitstate/refs"
	"github.com/wfs-dev/wfs/gitstate/snapshot"
	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/session"
)

// staged is a private index with the content of the work tree. wfs holds index.lock until it is installed.
type staged struct {
	turns  *Turns
	path   string
	files  []string // new or changed files
	unlock func()
}

// stage brings a copy of the index up to date with the work tree. It returns the objects that are still to be written.
// It keeps index.lock locked until the copy has replaced the index, so that after a kill at any moment the index is the
// old or the new one.
func (r *Turns) stage(ctx context.Context, d session.Draft, made *session.Made, on ground,
	ident string) (unwritten []object.Object, _ *staged, err error) {
	head, err := r.Refs.Head(ctx)
	if err != nil {
		return nil, nil, err
	}
	// If an agent has moved HEAD away from the branch, the turn moves it back; any other HEAD is an error.
	if head.Ref != d.Branch && d.Turn.HeadNew != d.Branch {
		return nil, nil, fmt.Errorf("HEAD is on %q, not on %s: %w", head.Ref, d.Branch, refs.ErrMoved)
	}
	headTree := on.base
	if head.Commit != d.Parents[0] {
		if headTree, err = r.Objects.TreeOf(ctx, head.Commit); err != nil {
			return nil, nil, err
		}
	}
	s := &staged{turns: r, path: filepath.Join(r.Git.PrivateDir(), "stage")}
	if s.unlock, err = r.Git.Locks.LockIndex(ctx); err != nil {
		return nil, nil, err
	}
	if unwritten, err = r.stageLocked(ctx, d, made, on, headTree, head.Commit, ident, s); err != nil {
		s.unlock()
	}
	return unwritten, s, err
}

func (r *Turns) stageLocked(ctx context.Context, d session.Draft, made *session.Made, on ground,
	headTree session.Tree, head session.Commit, ident string, s *staged) ([]object.Object, error) {
	old, err := r.Files.CopyIndex(ctx, s.path)
	if err != nil {
		return nil, err
	}
	before, err := r.Files.TreeOfIndex(ctx, s.path, old, headTree)
	if err != nil {
		return nil, err
	}
	added, err := r.Files.AddAll(ctx, s.path, old, before == headTree, d.Exclude, head, headTree)
	if err != nil {
		return nil, err
	}
	if len(added.Copied) > 0 {
		if before, err = r.Files.TreeWithout(ctx, old, added.Copied); err != nil {
			return nil, err
		}
	}
	made.Staged = added.Staged
	parent := old
	if before != on.base { // the index had other files than the parent commit
		if parent, err = r.Files.IndexOfTree(ctx, on.base); err != nil {
			return nil, err
		}
	}
	made.Deleted = r.Files.DeletedFrom(parent, added.Now)
	trees, err := r.Files.StagedTrees(ctx, s.path, added.Now, on.userDir)
	if err != nil {
		return nil, err
	}
	s.files = object.NewFiles(r.Git.Root, r.Objects.IndexChanges(old, added.Now))
	// The tree IndexOld stays reachable: as the tree of a parent commit, of this commit, or of an anchor.
	made.Tree, made.IndexOld = session.Tree(trees[len(trees)-1].ID), before
	if made.Tree == d.Unless && before != made.Tree && !slices.Contains(d.Former, before) {
		return nil, session.ErrUnchanged // only the user's staged changes differ: leave them staged
	}
	lost := before != headTree && before != made.Tree
	if made.IndexAnchor, err = r.anchor(ctx, d, head, before, lost, ident); err != nil {
		return nil, err
	}
	durable.Hit(durable.CheckpointAnchored)
	trees = snapshot.Unstored(trees)
	if added.Plain {
		return append(added.Objects, trees...), nil
	}
	unwritten := append(r.Objects.NewBlobs(old, added.Now), trees...)
	// An index with missing objects must not become the user's.
	return unwritten, r.Objects.Complete(ctx, unwritten, old)
}

// flush syncs the private index and the files that are new in it. Without that, a power cut could leave empty files in
// the work tree, which would look like edits since the checkpoint. It does not rely on a sync of other files: the
// objects may be there already, and are then not written.
func (s *staged) flush() error {
	return errors.Join(durable.WriteOut(s.files), durable.SyncFile(s.path))
}

// install replaces the work tree's index by the private one, which is flushed already, and releases index.lock. Git
// trusts its index: even after a power cut, it must be neither older than the branch nor incomplete.
func (s *staged) install() error {
	defer s.unlock()
	return installIndex(s.turns.Git, s.path)
}

// anchor returns the commit that keeps the user's staged changes reachable, "" if there is none. If lost is true, these
// changes are in no other commit or tree, and anchor writes a new commit. That commit has as a parent the anchor that
// an earlier, killed checkpoint left.
func (r *Turns) anchor(ctx context.Context, d session.Draft, head session.Commit, index session.Tree, lost bool,
	ident string) (session.Commit, error) {
	ref := refs.AnchorRef(d.Session)
	left, err := r.Refs.Ref(ctx, ref)
	if err != nil {
		return "", err
	}
	if !lost {
		return left, nil
	}
	parents := []session.Commit{head}
	if left != "" {
		parents = append(parents, left)
	}
	c := r.Objects.NewCommit(string(index), parents, ident, d.At,
		"wfs: the index before a checkpoint of "+string(d.Session))
	if err := r.Objects.WriteObjects(ctx, c); err != nil {
		return "", err
	}
	anchor := session.Commit(c.ID)
	return anchor, r.Refs.Move(ctx, session.RefMove{Ref: ref, Old: left, New: anchor}, "wfs: keep the index")
}

// installIndex replaces the work tree's index by a private one, which is synced already. The caller holds index.lock.
func installIndex(git *gitcmd.Git, private string) error {
	if was, err := os.Stat(git.IndexPath()); err == nil {
		if err := os.Chmod(private, was.Mode().Perm()); err != nil {
			return err
		}
	}
	if err := os.Rename(private, git.IndexPath()); err != nil {
		return err
	}
	return durable.SyncDir(git.GitDir)
}

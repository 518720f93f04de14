package gitstate

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/session"
)

// staged is a private index that holds what the work tree holds. index.lock is held until it is installed.
type staged struct {
	repo   *Repo
	path   string
	files  []string        // that it has new
	since  uint64          // when the work tree began to be looked at, by the file system's clock
	parsed *index          // nil when only git can read it
	tree   session.Tree    // what it stands for, as it is committed
	trees  map[string]bool // in that; nil when it is not known which
	synced func() (struct{}, error)
	unlock func()
}

// stage brings a copy of the index up to date with the work tree, and returns the trees that are still to be written.
// It holds index.lock until that copy is the index, so that killed at any moment the index is the old one or the new.
func (r *Repo) stage(ctx context.Context, d session.Draft, made *session.Made, ground func() (ground, error), ident string) (unwritten []newObject, _ *staged, err error) {
	head, err := r.Head(ctx)
	if err != nil {
		return nil, nil, err
	}
	if head.Ref != d.Branch && d.Turn.HeadNew != d.Branch { // an agent may have taken HEAD away; the turn puts it back
		return nil, nil, fmt.Errorf("HEAD is on %q, not on %s: %w", head.Ref, d.Branch, ErrMoved)
	}
	unlock, err := r.lockIndex(ctx)
	if err != nil {
		return nil, nil, err
	}
	since, index := r.treeTime(), filepath.Join(r.worktreeDir(), "stage")
	added := func() (addition, error) { return addition{}, nil }
	defer func() {
		if err != nil {
			_, _ = added() // it writes to that index
			unlock()
		}
	}()
	data, written, err := r.copyIndex(index)
	if err != nil {
		return nil, nil, err
	}
	parsed := sync.OnceValue(r.parsing(data, written, &since))
	added = soon(r, func() (addition, error) {
		if made, ok, err := r.stageAgain(ctx, index, data, d.Exclude, head); ok || err != nil {
			return made, err
		}
		return r.add(ctx, index, parsed, d.Exclude, head.Commit)
	})

	on, err := ground()
	if err != nil {
		return nil, nil, err
	}
	headTree := on.base
	if head.Commit != d.Parents[0] {
		if headTree, err = r.TreeOf(ctx, head.Commit); err != nil {
			return nil, nil, err
		}
	}
	old := parsed()
	before, err := r.treeBefore(ctx, data, old, headTree, nil)
	if err != nil {
		return nil, nil, err
	}
	all, err := added()
	if err != nil {
		return nil, nil, err
	}
	if len(all.copied) > 0 {
		if before, err = r.treeBefore(ctx, data, nil, headTree, all.copied); err != nil {
			return nil, nil, err
		}
	}
	if made.Staged = all.Staged; all.since > 0 {
		since = all.since
	}
	x, nested, err := r.ungraft(ctx, index, all.now, headTree)
	if err != nil {
		return nil, nil, err
	}
	made.Skipped = joinSkips(made.Skipped, nested)
	if before != on.base {
		old = nil // the files that the parent has are others than those in the index that was found
	}
	if made.Deleted, err = r.deleted(ctx, old, x, index, d.Parents[0]); err != nil {
		return nil, nil, err
	}
	trees, known, err := r.stagedTrees(ctx, index, x, on)
	if err != nil {
		return nil, nil, err
	}
	// Git trusts its index: after a power cut it must be neither older than the branch nor torn.
	synced := soon(r, func() (struct{}, error) { return struct{}{}, syncIndex(index) })
	made.Tree = session.Tree(trees[len(trees)-1].id)
	made.IndexOld = before // in the commit below, in this one, or anchored
	if made.Tree == d.Unless && before != made.Tree && !slices.Contains(d.Former, before) {
		return nil, nil, session.ErrUnchanged // what is staged besides the files stays as the user has it
	}
	lost := before != headTree && before != made.Tree
	if made.IndexAnchor, err = r.anchor(ctx, d, head.Commit, before, lost, ident); err != nil {
		return nil, nil, err
	}
	durable.Hit(durable.CheckpointAnchored)
	unwritten = slices.DeleteFunc(trees, func(o newObject) bool { return o.data == nil })
	unwritten = append(r.newBlobs(parsed(), x), unwritten...)
	if err := r.complete(ctx, unwritten, parsed()); err != nil { // an index of files that are nowhere must not become the user's
		return nil, nil, err
	}
	return unwritten, &staged{r, index, r.newFiles(parsed(), x), since, x, made.Tree, known, synced, unlock}, nil
}

// install begins to make the private index the work tree's own, and returns what waits for that and gives index.lock
// back. The files that it has new come to the disk as well: the work tree that a power cut leaves must not be behind
// the checkpoint, with empty files that look like edits.
func (s *staged) install() (wait func() error) {
	written := soon(s.repo, func() (struct{}, error) {
		s.repo.noteRead(s.parsed, s.since)
		s.repo.noteTrees(s.tree, s.trees)
		return struct{}{}, durable.WriteOut(s.files)
	})
	installed := soon(s.repo, func() (struct{}, error) {
		if _, err := s.synced(); err != nil {
			return struct{}{}, err
		}
		return struct{}{}, s.repo.installIndex(s.path)
	})
	return func() error {
		_, err := installed()
		_, e := written()
		s.unlock()
		return errors.Join(err, e)
	}
}

// treeBefore is treeOfIndex for the content of an index whose copy is being changed, but for some entries.
func (r *Repo) treeBefore(ctx context.Context, data []byte, old *index, expected session.Tree, but []byte) (session.Tree, error) {
	tree, err := r.knownTree(old, expected)
	if err != nil || tree != "" {
		return tree, err
	}
	index := filepath.Join(r.worktreeDir(), "before")
	if err := removeLeftovers(index); err != nil {
		return "", err
	}
	if data != nil {
		if err := durable.WriteCache(index, data, 0o600); err != nil {
			return "", err
		}
	}
	defer os.Remove(index)
	if err := r.putEntries(ctx, index, but); err != nil {
		return "", err
	}
	return r.treeOfIndex(ctx, index, expected)
}

// stagedTrees returns the trees of a private index that are to be made, with the .wfs of what the checkpoint builds on, the
// root last. Those without data are written already. x is the index as it was parsed, nil when that was not possible. known
// are trees below that root, nil when that is not certain.
func (r *Repo) stagedTrees(ctx context.Context, path string, x *index, on ground) (trees []newObject, known map[string]bool, err error) {
	if x != nil && x.info().tree == "" {
		if entries, below, all, ok := r.treesOf(x, r.treesIn(on.base)); ok {
			if hasOwn(entries, on.userDir) {
				known = all
			}
			root, err := r.newTree(setOwn(entries, on.userDir))
			return append(below, root), known, err
		}
	}
	staged, err := r.writeTree(ctx, path)
	if err != nil {
		return nil, nil, err
	}
	tree, err := r.withOwn(ctx, staged, on.userDir)
	return []newObject{{kind: "tree", id: string(tree)}}, nil, err
}

// anchor returns the commit that keeps what is in the index alone, and makes it if need be. One that an earlier, killed
// checkpoint left is taken along.
func (r *Repo) anchor(ctx context.Context, d session.Draft, head session.Commit, index session.Tree, lost bool, ident string) (session.Commit, error) {
	ref := anchorRef(d.Session)
	left, err := r.Ref(ctx, ref)
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
	c := r.newCommit(string(index), parents, ident, d.At, "wfs: the index before a checkpoint of "+string(d.Session))
	if err := r.writeObjects(ctx, c); err != nil {
		return "", err
	}
	anchor := session.Commit(c.id)
	return anchor, r.moveRef(ctx, session.RefMove{Ref: ref, Old: left, New: anchor}, "wfs: keep the index")
}

func syncIndex(private string) error {
	f, err := os.OpenFile(private, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// installIndex makes a private index, which has reached the disk, the work tree's own. The caller holds index.lock.
func (r *Repo) installIndex(private string) error {
	if was, err := os.Stat(r.indexPath()); err == nil {
		if err := os.Chmod(private, was.Mode().Perm()); err != nil {
			return err
		}
	}
	if err := os.Rename(private, r.indexPath()); err != nil {
		return err
	}
	return durable.SyncDir(r.gitDir)
}

// readParsed reads an index file; the index is nil when git alone can read it, and empty when there is none.
func (r *Repo) readParsed(ctx context.Context, path string) (*index, indexInfo, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return &index{}, indexInfo{}, nil
	}
	if err != nil {
		return nil, indexInfo{}, err
	}
	if x := r.parsed(data); x != nil {
		return x, x.info(), nil
	}
	info, err := r.listIndex(ctx, path) // split, sparse or of a later format: git knows
	return nil, info, err
}

package gitstate

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/session"
)

// ErrMoved says that a ref is no longer where a turn began: somebody else moved it.
var ErrMoved = errors.New("moved by somebody else")

// anchorRef keeps a commit of what was in the user's index alone, from before a checkpoint replaces that index until
// the ledger has it as a parent.
func anchorRef(id session.ID) string { return refsPrefix + string(id) + "/index" }

// Prepare makes the code commit and the ledger commit that a draft describes, durable, and publishes nothing. seal is
// called with what was made and returns the ledger's documents. The same draft on the same files makes the same
// commits. Errors wrap ErrMoved when HEAD or the branch is not where the draft says.
//
// With Stage, the work tree's index then holds what the commit holds: it must never be older than the branch, or the
// user's next plain `git commit` would take the checkpoint back.
func (r *Repo) Prepare(ctx context.Context, d session.Draft, seal func(session.Made) (session.Files, error)) (session.Prepared, error) {
	p := session.Prepared{Session: d.Session, LedgerOld: d.Ledger, Made: session.Made{Tree: d.Tree, Turn: d.Turn}}
	ident, err := r.identity(ctx)
	if err != nil {
		return p, err
	}
	on, err := r.groundOf(ctx, d)
	if err != nil {
		return p, err
	}
	var trees, commits []newObject
	if !d.NoCode {
		if trees, err = r.code(ctx, d, &p.Made, on, ident); err != nil {
			return p, err
		}
		code := r.newCommit(string(p.Tree), d.Parents, ident, d.At, d.Message)
		p.Code = session.Commit(code.id)
		commits = append(commits, code)
		if p.Turn.Refs, err = r.branchMove(ctx, d, p.Code); err != nil {
			return p, err
		}
	}
	files, err := seal(p.Made)
	if err != nil {
		return p, err
	}
	ledger, err := r.ledger(d, p.Made, files, on.documents, ident)
	if err != nil {
		return p, err
	}
	p.Ledger = session.Commit(ledger[len(ledger)-1].id)
	if err := r.writeTurn(ctx, p.Tree, on.userDir, trees, append(commits, ledger...)); err != nil {
		return p, err
	}
	durable.Hit(durable.CheckpointObjects)
	return p, nil
}

// ground is what a draft builds on.
type ground struct {
	base      session.Tree // of the first code parent
	userDir   treeEntry    // its .wfs, zero for none
	documents []treeEntry  // of the ledger's tip
}

// groundOf reads it in one git process. In process it takes longer: what the last checkpoint wrote is in a pack that an
// open handle does not know.
func (r *Repo) groundOf(ctx context.Context, d session.Draft) (ground, error) {
	var on ground
	var commits []session.Commit
	if !d.NoCode {
		if len(d.Parents) == 0 {
			return on, errors.New("a code commit needs a parent")
		}
		commits = append(commits, d.Parents[0])
	}
	if d.Ledger != "" {
		commits = append(commits, d.Ledger)
	}
	got, err := r.trees(ctx, commits...)
	if err != nil {
		return on, err
	}
	if d.Ledger != "" {
		last := len(got) - 1
		on.documents, got = got[last].entries, got[:last]
	}
	for _, t := range got {
		on.base = t.id
		if i := slices.IndexFunc(t.entries, isUserDir); i >= 0 {
			on.userDir = t.entries[i]
		}
	}
	return on, nil
}

// writeTurn stores what a turn is made of. Git checks more about trees that it is handed than about those that it makes
// itself, such as what a .gitmodules says; what it refuses for that, it has to make.
func (r *Repo) writeTurn(ctx context.Context, tree session.Tree, own treeEntry, trees, others []newObject) error {
	err := r.writeObjects(ctx, append(slices.Clone(trees), others...)...)
	var refused *GitError
	if len(trees) == 0 || !errors.As(err, &refused) {
		return err
	}
	index := filepath.Join(r.worktreeDir(), "stage")
	if err := r.copyIndex(index); err != nil {
		return err
	}
	made, err2 := r.writeTree(ctx, index)
	if err2 == nil {
		made, err2 = r.withOwn(ctx, made, own)
	}
	if err2 != nil || made != tree {
		return err
	}
	return r.writeObjects(ctx, others...)
}

// code finds the tree of the code commit, and returns objects that it is made of and that are still to be written.
func (r *Repo) code(ctx context.Context, d session.Draft, made *session.Made, on ground, ident string) (unwritten []newObject, err error) {
	if d.Stage {
		return r.stage(ctx, d, made, on, ident)
	}
	made.Tree, err = r.withOwn(ctx, d.Tree, on.userDir)
	return nil, err
}

// stage brings the index up to date with the work tree. It works on a copy while it holds index.lock, so that killed at
// any moment the index is the old one or the new one.
func (r *Repo) stage(ctx context.Context, d session.Draft, made *session.Made, on ground, ident string) ([]newObject, error) {
	head, err := r.Head(ctx)
	if err != nil {
		return nil, err
	}
	if head.Ref != d.Branch && d.Turn.HeadNew != d.Branch { // an agent may have taken HEAD away; the turn puts it back
		return nil, fmt.Errorf("HEAD is on %q, not on %s: %w", head.Ref, d.Branch, ErrMoved)
	}
	headTree := on.base
	if head.Commit != d.Parents[0] {
		if headTree, err = r.TreeOf(ctx, head.Commit); err != nil {
			return nil, err
		}
	}
	unlock, err := r.lockIndex(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	index := filepath.Join(r.worktreeDir(), "stage")
	if err := r.copyIndex(index); err != nil {
		return nil, err
	}
	before, err := r.treeOfIndex(ctx, index, headTree)
	if err != nil {
		return nil, err
	}
	if made.Skipped, err = r.addAll(ctx, index, d.Exclude, headTree); err != nil {
		return nil, err
	}
	trees, err := r.stagedTrees(ctx, index, on.userDir)
	if err != nil {
		return nil, err
	}
	made.Tree = session.Tree(trees[len(trees)-1].id)
	lost := before != headTree && before != made.Tree
	if made.IndexAnchor, err = r.anchor(ctx, d, head.Commit, before, lost, ident); err != nil {
		return nil, err
	}
	durable.Hit(durable.CheckpointAnchored)
	if err := r.installIndex(index); err != nil {
		return nil, err
	}
	durable.Hit(durable.CheckpointStaged)
	return slices.DeleteFunc(trees, func(o newObject) bool { return o.data == nil }), nil
}

// stagedTrees returns the trees of a private index, with the given .wfs, the root last. Those without data are written
// already.
func (r *Repo) stagedTrees(ctx context.Context, index string, own treeEntry) ([]newObject, error) {
	data, err := os.ReadFile(index)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if x, ok := parseIndex(data, r.idLength()/2); ok && x.info().tree == "" {
		if entries, below, ok := r.treesOf(x); ok {
			root, err := r.newTree(setOwn(entries, own))
			return append(below, root), err
		}
	}
	staged, err := r.writeTree(ctx, index)
	if err != nil {
		return nil, err
	}
	tree, err := r.withOwn(ctx, staged, own)
	return []newObject{{kind: "tree", id: string(tree)}}, err
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

// installIndex makes a private index the work tree's own. The caller holds index.lock.
func (r *Repo) installIndex(private string) error {
	// Git trusts its index: after a power cut it must be neither older than the branch nor torn.
	f, err := os.OpenFile(private, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Rename(private, r.indexPath()); err != nil {
		return err
	}
	return durable.SyncDir(r.gitDir)
}

// branchMove completes a turn's moves with that of the branch to its new commit.
func (r *Repo) branchMove(ctx context.Context, d session.Draft, code session.Commit) ([]session.RefMove, error) {
	moves := slices.Clone(d.Turn.Refs)
	for i := range moves {
		if moves[i].Ref == d.Branch {
			moves[i].New = code
			return moves, nil
		}
	}
	tip, err := r.Ref(ctx, d.Branch)
	if err != nil {
		return nil, err
	}
	if tip != "" && !slices.Contains(d.Parents, tip) {
		return nil, fmt.Errorf("%s is at %s: %w", d.Branch, tip.Short(), ErrMoved)
	}
	return append(moves, session.RefMove{Ref: d.Branch, Old: tip, New: code}), nil
}

// ledger makes the objects of the ledger commit, the commit last. Every parent is a commit and is named by a trailer,
// but for the previous ledger commit, which is always first.
func (r *Repo) ledger(d session.Draft, made session.Made, files session.Files, previous []treeEntry, ident string) ([]newObject, error) {
	var objects []newObject
	var entries []treeEntry
	for _, name := range slices.Sorted(maps.Keys(files)) {
		data := files[name]
		if name == "" || name == "." || name == ".." || strings.ContainsAny(name, "/\x00") {
			return nil, fmt.Errorf("%q is no name for a document", name)
		}
		if data != nil {
			o := r.newObject("blob", data)
			objects = append(objects, o)
			entries = append(entries, treeEntry{modeFile, name, o.id})
		} else if i := slices.IndexFunc(previous, func(e treeEntry) bool { return e.name == name }); i >= 0 {
			entries = append(entries, previous[i])
		}
	}
	tree, err := r.newTree(entries)
	if err != nil {
		return nil, err
	}
	var parents []session.Commit
	var trailers []string
	add := func(c session.Commit, trailer string) {
		if c != "" && !slices.Contains(parents, c) {
			parents = append(parents, c)
			trailers = append(trailers, trailer+": "+string(c))
		}
	}
	if d.Ledger != "" {
		parents = append(parents, d.Ledger)
	}
	add(made.Code, "Wfs-Ledger-Code")
	add(made.IndexAnchor, "Wfs-Ledger-Index")
	for _, c := range d.Anchors {
		add(c, "Wfs-Ledger-Anchor")
	}
	c := r.newCommit(tree.id, parents, ident, d.At, withTrailers(d.LedgerMessage, trailers...))
	return append(objects, tree, c), nil
}

package gitstate

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/wfs-dev/wfs/gitstate/gitcmd"
	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/session"
)

// ErrMoved says that a ref is no longer where a turn began: somebody else moved it.
var ErrMoved = errors.New("moved by another process")

// anchorRef keeps a commit of what was in the user's index alone, from before a checkpoint replaces that index until
// the ledger has it as a parent.
func anchorRef(id session.ID) string { return refsPrefix + string(id) + "/index" }

// Prepare makes the code commit and the ledger commit that a draft describes, durable, and publishes nothing. seal is
// called with what was made and returns the ledger's documents. The same draft on the same files makes the same
// commits. Errors wrap ErrMoved when HEAD or the branch is not where the draft says.
//
// With Stage, the work tree's index then holds what the commit holds: it must never be older than the branch, or the
// user's next plain `git commit` would take the checkpoint back.
func (r *Repo) Prepare(ctx context.Context, d session.Draft,
	seal func(session.Made) (session.Files, error)) (session.Prepared, error) {
	return withTries(ctx, func() (session.Prepared, error) {
		r.letGo(false) // what was prepared before and not published
		return r.prepare(ctx, d, seal)
	})
}

func (r *Repo) prepare(ctx context.Context, d session.Draft,
	seal func(session.Made) (session.Files, error)) (session.Prepared, error) {
	p := session.Prepared{Session: d.Session, LedgerOld: d.Ledger, Made: session.Made{Tree: d.Tree, Turn: d.Turn}}
	ident, err := r.Git.Identity(ctx)
	if err != nil {
		return p, err
	}
	// Somebody else's lock is better met before anything is true than after the ledger has moved.
	if err := r.Git.AwaitRefLocks(ctx, r.turnRefs(d.Session, d.Turn, d.Branch)...); err != nil {
		return p, err
	}
	on, err := r.groundOf(ctx, d)
	if err != nil {
		return p, err
	}
	var trees []newObject
	var index *staged
	switch {
	case d.NoCode:
	case d.Stage:
		trees, index, err = r.stage(ctx, d, &p.Made, on, ident)
	default:
		if p.Tree, err = r.withOwn(ctx, d.Tree, on.userDir); err == nil {
			trees = r.looseBelow(p.Tree)
		}
	}
	if err != nil {
		return p, err
	}
	others, err := r.commits(ctx, d, &p, on, ident, seal)
	var flushing sync.WaitGroup
	var failed error
	if index != nil {
		flushing.Go(func() { failed = index.flush() })
	}
	if err == nil {
		err = r.writeTurn(ctx, p.Tree, on.userDir, index, trees, others)
	}
	flushing.Wait()
	if err == nil {
		err = failed
	}
	if err == nil {
		durable.Hit(durable.CheckpointObjects)
	}
	if index == nil {
		return p, err
	}
	// After the objects that it names, and before the branch: it must never be older than that.
	if err != nil && !errors.Is(err, session.ErrUnchanged) {
		index.unlock()
		return p, err
	}
	if e := index.install(); e != nil {
		return p, e
	}
	durable.Hit(durable.CheckpointStaged)
	return p, err
}

// Quiet lets go of what was prepared for a turn that did not come about.
func (r *Repo) Quiet() { r.letGo(false) }

// commits completes what was prepared with its commits, and returns their objects and those of the ledger's documents.
func (r *Repo) commits(ctx context.Context, d session.Draft, p *session.Prepared, on ground, ident string,
	seal func(session.Made) (session.Files, error)) ([]newObject, error) {
	var objects []newObject
	if !d.NoCode {
		code := r.newCommit(string(p.Tree), d.Parents, ident, d.At, d.Message)
		p.Code = session.Commit(code.id)
		objects = append(objects, code)
		var err error
		if p.Turn.Refs, err = r.branchMove(ctx, d, p.Code); err != nil {
			return nil, err
		}
	}
	files, err := seal(p.Made)
	if err != nil {
		return nil, err
	}
	ledger, err := r.ledger(d, p.Made, files, on.documents, ident)
	if err != nil {
		return nil, err
	}
	p.Ledger = session.Commit(ledger[len(ledger)-1].id)
	objects = append(objects, ledger...)
	return objects, nil
}

// ground is what a draft builds on.
type ground struct {
	base      session.Tree // of the first code parent
	userDir   treeEntry    // its .wfs, zero for none
	documents []treeEntry  // of the ledger's tip
}

// groundOf reads it.
func (r *Repo) groundOf(ctx context.Context, d session.Draft) (on ground, err error) {
	if !d.NoCode {
		if len(d.Parents) == 0 {
			return on, errors.New("a code commit needs a parent")
		}
		if on.base, err = r.TreeOf(ctx, d.Parents[0]); err != nil {
			return on, err
		}
		if on.userDir, err = r.entry(ctx, on.base, userDir); err != nil {
			return on, err
		}
	}
	if d.Ledger != "" {
		tree, err := r.TreeOf(ctx, d.Ledger)
		if err != nil {
			return on, err
		}
		if on.documents, err = r.tree(ctx, tree); err != nil {
			return on, err
		}
	}
	return on, nil
}

// writeTurn stores what a turn is made of. Git checks more about trees that it is handed than about those that it makes
// itself, such as what a .gitmodules says; what it refuses for that, it has to make.
func (r *Repo) writeTurn(ctx context.Context, tree session.Tree, own treeEntry, index *staged, trees,
	others []newObject) error {
	err := r.writeObjects(ctx, slices.Concat(trees, others)...)
	var refused *gitcmd.GitError
	if index == nil || !errors.As(err, &refused) {
		return err
	}
	blobs := slices.DeleteFunc(trees, func(o newObject) bool { return o.kind != "blob" })
	if e := r.writeObjects(ctx, blobs...); e != nil {
		return err
	}
	same, err2 := r.writeTree(ctx, index.path)
	if err2 == nil {
		same, err2 = r.withOwn(ctx, same, own)
	}
	if err2 == nil {
		err2 = durable.SyncFile(index.path)
	}
	if err2 != nil || same != tree {
		return err
	}
	return r.writeObjects(ctx, others...)
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
func (r *Repo) ledger(d session.Draft, made session.Made, files session.Files, previous []treeEntry,
	ident string) ([]newObject, error) {
	var objects []newObject
	var entries []treeEntry
	for _, name := range slices.Sorted(maps.Keys(files)) {
		data := files[name]
		was := slices.IndexFunc(previous, func(e treeEntry) bool { return e.name == name })
		if name == "" || name == "." || name == ".." || strings.ContainsAny(name, "/\x00") {
			return nil, fmt.Errorf("%q is not a valid document name", name)
		}
		if data != nil {
			o := r.newObject("blob", data)
			if was < 0 || previous[was].id != o.id {
				objects = append(objects, o)
			}
			entries = append(entries, treeEntry{modeFile, name, o.id})
		} else if was >= 0 {
			entries = append(entries, previous[was])
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

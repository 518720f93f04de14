package turn

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/wfs-dev/wfs/gitstate/gitcmd"
	"github.com/wfs-dev/wfs/gitstate/object"
	"github.com/wfs-dev/wfs/gitstate/refs"
	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/session"
)

// Prepare writes the code commit and the ledger commit of a draft durably, but publishes nothing. Before it writes the
// ledger commit, it calls seal with the results so far; seal returns the files of that commit. The same draft on the
// same files gives the same commits. The error wraps ErrMoved if HEAD or the branch is not where the draft expects it.
//
// If the draft's Stage is true, Prepare also updates the work tree's index to the content of the commit: with an index
// that is older than the branch, the user's next plain `git commit` would undo the checkpoint.
func (r *Turns) Prepare(ctx context.Context, d session.Draft,
	seal func(session.Made) (session.Files, error)) (session.Prepared, error) {
	return object.WithTries(ctx, func() (session.Prepared, error) {
		r.Objects.LetGo(false) // release the objects of an earlier Prepare that was not published
		return r.prepare(ctx, d, seal)
	})
}

func (r *Turns) prepare(ctx context.Context, d session.Draft,
	seal func(session.Made) (session.Files, error)) (session.Prepared, error) {
	p := session.Prepared{Session: d.Session, LedgerOld: d.Ledger, Made: session.Made{Tree: d.Tree, Turn: d.Turn}}
	ident, err := r.Git.Answers.Identity(ctx)
	if err != nil {
		return p, err
	}
	// Wait for locks of other processes now, while nothing is committed, rather than after the ledger has moved.
	if err := r.Git.Locks.AwaitRefLocks(ctx, r.turnRefs(d.Session, d.Turn, d.Branch)...); err != nil {
		return p, err
	}
	on, err := r.groundOf(ctx, d)
	if err != nil {
		return p, err
	}
	var trees []object.Object
	var index *staged
	switch {
	case d.NoCode:
	case d.Stage:
		trees, index, err = r.stage(ctx, d, &p.Made, on, ident)
	default:
		if p.Tree, err = r.Objects.WithOwn(ctx, d.Tree, on.userDir); err == nil {
			trees = r.Objects.LooseBelow(p.Tree)
		}
	}
	if err != nil {
		return p, err
	}
	others, err := r.commits(ctx, d, &p, on, ident, seal)
	write := func() error {
		if err != nil {
			return err
		}
		return r.writeTurn(ctx, p.Tree, on.userDir, index, trees, others)
	}
	if index == nil {
		if err = write(); err == nil {
			durable.Hit(durable.CheckpointObjects)
		}
		return p, err
	}
	return p, index.installAfter(write)
}

// installAfter calls write, which stores the objects of the index, and syncs the private index meanwhile. Then it
// installs the index: not before its objects exist, but before the branch moves, since the index must never be older
// than the branch.
func (s *staged) installAfter(write func() error) error {
	var flushing sync.WaitGroup
	var failed error
	flushing.Go(func() { failed = s.flush() })
	err := write()
	flushing.Wait()
	if err == nil {
		err = failed
	}
	if err == nil {
		durable.Hit(durable.CheckpointObjects)
	}
	if err != nil && !errors.Is(err, session.ErrUnchanged) {
		s.unlock()
		return err
	}
	if e := s.install(); e != nil {
		return e
	}
	durable.Hit(durable.CheckpointStaged)
	return err
}

// Quiet releases the objects of a prepared turn that will not be published.
func (r *Turns) Quiet() { r.Objects.LetGo(false) }

// commits creates the code commit and the ledger commit and adds their ids to p. It returns both commits and the
// ledger's trees and files as objects that are still to be written.
func (r *Turns) commits(ctx context.Context, d session.Draft, p *session.Prepared, on ground, ident string,
	seal func(session.Made) (session.Files, error)) ([]object.Object, error) {
	var objects []object.Object
	if !d.NoCode {
		code := r.Objects.NewCommit(string(p.Tree), d.Parents, ident, d.At, d.Message)
		p.Code = session.Commit(code.ID)
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
	p.Ledger = session.Commit(ledger[len(ledger)-1].ID)
	objects = append(objects, ledger...)
	return objects, nil
}

// ground is the state on which a draft builds.
type ground struct {
	base      session.Tree   // tree of the first code parent
	userDir   object.Entry   // the entry `.wfs` of base, zero if there is none
	documents []object.Entry // files in the newest commit of the ledger
}

// groundOf reads the ground of a draft.
func (r *Turns) groundOf(ctx context.Context, d session.Draft) (on ground, err error) {
	if !d.NoCode {
		if len(d.Parents) == 0 {
			return on, errors.New("a code commit needs a parent")
		}
		if on.base, err = r.Objects.TreeOf(ctx, d.Parents[0]); err != nil {
			return on, err
		}
		if on.userDir, err = r.Objects.Entry(ctx, on.base, object.UserDir); err != nil {
			return on, err
		}
	}
	if d.Ledger != "" {
		tree, err := r.Objects.TreeOf(ctx, d.Ledger)
		if err != nil {
			return on, err
		}
		if on.documents, err = r.Objects.Tree(ctx, tree); err != nil {
			return on, err
		}
	}
	return on, nil
}

// writeTurn stores the objects of a turn. Git checks a tree that it receives more strictly than a tree that it makes
// itself: it may refuse a .gitmodules, for example. If git refuses the trees of a staged index, writeTurn lets git make
// them from that index.
func (r *Turns) writeTurn(ctx context.Context, tree session.Tree, own object.Entry, index *staged, trees,
	others []object.Object) error {
	err := r.Objects.WriteObjects(ctx, slices.Concat(trees, others)...)
	var refused *gitcmd.GitError
	if index == nil || !errors.As(err, &refused) {
		return err
	}
	blobs := slices.DeleteFunc(trees, func(o object.Object) bool { return o.Kind != "blob" })
	if e := r.Objects.WriteObjects(ctx, blobs...); e != nil {
		return err
	}
	same, err2 := r.Objects.WriteTree(ctx, index.path)
	if err2 == nil {
		same, err2 = r.Objects.WithOwn(ctx, same, own)
	}
	if err2 == nil {
		err2 = durable.SyncFile(index.path)
	}
	if err2 != nil || same != tree {
		return err
	}
	return r.Objects.WriteObjects(ctx, others...)
}

// branchMove returns the turn's ref moves with the move of the branch to its new commit.
func (r *Turns) branchMove(ctx context.Context, d session.Draft, code session.Commit) ([]session.RefMove, error) {
	moves := slices.Clone(d.Turn.Refs)
	for i := range moves {
		if moves[i].Ref == d.Branch {
			moves[i].New = code
			return moves, nil
		}
	}
	tip, err := r.Refs.Ref(ctx, d.Branch)
	if err != nil {
		return nil, err
	}
	if tip != "" && !slices.Contains(d.Parents, tip) {
		return nil, fmt.Errorf("%s is at %s: %w", d.Branch, tip.Short(), refs.ErrMoved)
	}
	return append(moves, session.RefMove{Ref: d.Branch, Old: tip, New: code}), nil
}

// ledger returns the objects of the ledger commit; the commit is the last of them. Its first parent is the previous
// ledger commit. For each other parent, a trailer says what it is.
func (r *Turns) ledger(d session.Draft, made session.Made, files session.Files, previous []object.Entry,
	ident string) ([]object.Object, error) {
	objects, entries, err := r.documents(files, previous)
	if err != nil {
		return nil, err
	}
	tree, err := r.Objects.NewTree(entries)
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
	c := r.Objects.NewCommit(tree.ID, parents, ident, d.At, object.WithTrailers(d.LedgerMessage, trailers...))
	return append(objects, tree, c), nil
}

// documents returns the tree entries of the ledger's files, and the objects of the files that are new. A file with nil
// as data keeps its previous content, or is left out if it did not exist.
func (r *Turns) documents(files session.Files, previous []object.Entry) (objects []object.Object,
	entries []object.Entry,
	err error) {
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if name == "" || name == "." || name == ".." || strings.ContainsAny(name, "/\x00") {
			return nil, nil, fmt.Errorf("%q is not a valid document name", name)
		}
		was := slices.IndexFunc(previous, func(e object.Entry) bool { return e.Name == name })
		if files[name] == nil {
			if was >= 0 {
				entries = append(entries, previous[was])
			}
			continue
		}
		o := r.Objects.NewObject("blob", files[name])
		if was < 0 || previous[was].ID != o.ID {
			objects = append(objects, o)
		}
		entries = append(entries, object.Entry{Mode: object.ModeFile, Name: name, ID: o.ID})
	}
	return objects, entries, nil
}

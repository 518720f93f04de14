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

// Prepare makes the code commit and the ledger commit that a draft describes, durable, and publishes nothing. seal is
// called with what was made and returns the ledger's documents. The same draft on the same files makes the same
// commits. Errors wrap ErrMoved when HEAD or the branch is not where the draft says.
//
// With Stage, the work tree's index then holds what the commit holds: it must never be older than the branch, or the
// user's next plain `git commit` would take the checkpoint back.
func (r *Turns) Prepare(ctx context.Context, d session.Draft,
	seal func(session.Made) (session.Files, error)) (session.Prepared, error) {
	return object.WithTries(ctx, func() (session.Prepared, error) {
		r.Objects.LetGo(false) // what was prepared before and not published
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
	// Somebody else's lock is better met before anything is true than after the ledger has moved.
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

// installAfter installs the private index when its objects are written: after the objects that it names, and before the
// branch, as it must never be older than that. It is flushed meanwhile.
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

// Quiet lets go of what was prepared for a turn that did not come about.
func (r *Turns) Quiet() { r.Objects.LetGo(false) }

// commits completes what was prepared with its commits, and returns their objects and those of the ledger's documents.
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

// ground is what a draft builds on.
type ground struct {
	base      session.Tree   // of the first code parent
	userDir   object.Entry   // its .wfs, zero for none
	documents []object.Entry // of the ledger's tip
}

// groundOf reads it.
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

// writeTurn stores what a turn is made of. Git checks more about trees that it is handed than about those that it makes
// itself, such as what a .gitmodules says; what it refuses for that, it has to make.
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

// branchMove completes a turn's moves with that of the branch to its new commit.
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

// ledger makes the objects of the ledger commit, the commit last. Every parent is a commit and is named by a trailer,
// but for the previous ledger commit, which is always first.
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

// documents makes the entries of the ledger's documents, and the objects of new ones. Those without data stay as they
// were, if they were there.
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

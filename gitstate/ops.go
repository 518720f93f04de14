package gitstate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/session"
)

// FileOp is the name of the document in each commit of an operation log. The log of a work tree is the chain of first
// parents of refs/wfs-ops/<work tree>; it ends in a commit without that document.
const FileOp = "op.json"

// opDocument is op.json.
type opDocument struct {
	Version int `json:"version"` // session.FormatVersion
	session.Op
}

func (r *Repo) opsRef() string { return opsPrefix + r.worktree }

// Ops lists this work tree's operations, newest first.
func (r *Repo) Ops(ctx context.Context) ([]session.Op, error) {
	tip, err := r.Ref(ctx, r.opsRef())
	if err != nil || tip == "" {
		return nil, err
	}
	return r.opsFrom(ctx, tip)
}

// NewestOp returns the newest operation of any work tree, by its id, nil when it has none.
func (r *Repo) NewestOp(ctx context.Context, worktree string) (*session.Op, error) {
	tip, err := r.Ref(ctx, opsPrefix+worktree)
	if err != nil || tip == "" {
		return nil, err
	}
	got, err := r.lookup(ctx, string(tip)+":"+FileOp)
	if err != nil || got[0].kind != "blob" {
		return nil, err
	}
	op, err := readOp(string(tip), got[0].data)
	return &op, err
}

// readOp reads one entry of an operation log.
func readOp(name string, data []byte) (session.Op, error) {
	var doc opDocument
	if err := json.Unmarshal(data, &doc); err != nil {
		return doc.Op, fmt.Errorf("%s: %w", name, err)
	}
	if doc.Version > session.FormatVersion {
		return doc.Op, fmt.Errorf("%s: %w", name, session.ErrNewer)
	}
	return doc.Op, nil
}

func (r *Repo) opsFrom(ctx context.Context, tip session.Commit) ([]session.Op, error) {
	out, err := r.git(ctx, gitOpts{}, "rev-list", "--first-parent", string(tip))
	if err != nil {
		return nil, err
	}
	names := strings.Fields(string(out))
	for i := range names {
		names[i] += ":" + FileOp
	}
	got, err := r.lookup(ctx, names...)
	if err != nil {
		return nil, err
	}
	var ops []session.Op
	for i, g := range got {
		if g.kind == "" && i == len(got)-1 {
			break
		}
		if g.kind != "blob" {
			return nil, fmt.Errorf("%s is missing", names[i])
		}
		op, err := readOp(names[i], g.data)
		if err != nil {
			return nil, err
		}
		ops = append(ops, op)
	}
	return ops, nil
}

// LogOp appends an operation to this work tree's log, durable, and returns its number; op.Number is not looked at. An
// operation whose ledger commit is in the log already is not logged twice. The rescue that it names stays reachable
// from the log.
func (r *Repo) LogOp(ctx context.Context, op session.Op) (int64, error) {
	ident, err := r.identity(ctx)
	if err != nil {
		return 0, err
	}
	for {
		tip, err := r.Ref(ctx, r.opsRef())
		if err != nil {
			return 0, err
		}
		var ops []session.Op
		if tip != "" {
			if ops, err = r.opsFrom(ctx, tip); err != nil {
				return 0, err
			}
		}
		if n := loggedAs(ops, op); n > 0 {
			return n, nil
		}
		op.Number = 1
		if len(ops) > 0 {
			op.Number = ops[0].Number + 1
		}
		objects, err := r.opCommit(ctx, op, tip, ident)
		if err != nil {
			return 0, err
		}
		if err := r.writeObjects(ctx, objects...); err != nil {
			return 0, err
		}
		move := session.RefMove{Ref: r.opsRef(), Old: tip, New: session.Commit(objects[len(objects)-1].id)}
		err = r.moveRef(ctx, move, "wfs: "+op.Kind)
		if errors.Is(err, ErrMoved) {
			continue
		}
		if err != nil {
			return 0, err
		}
		durable.Hit(durable.OplogWritten)
		return op.Number, nil
	}
}

// loggedAs returns the number under which an operation is in the log, newest first, 0 for none. Those that make no ledger
// commit may happen again upon the same one, once they have been undone.
func loggedAs(ops []session.Op, op session.Op) int64 {
	undone := map[int64]bool{}
	for _, o := range ops {
		if op.Ledger != "" && o.Ledger == op.Ledger && o.Kind == op.Kind && o.Undoes == op.Undoes && !undone[o.Number] {
			return o.Number
		}
		undone[o.Undoes] = true
	}
	return 0
}

// opCommit makes the objects of one entry, its commit last.
func (r *Repo) opCommit(ctx context.Context, op session.Op, tip session.Commit, ident string) ([]newObject, error) {
	var objects []newObject
	if tip == "" { // a first commit of its own, so that first parents are operations and nothing else
		empty := r.newObject("tree", nil)
		root := r.newCommit(empty.id, nil, ident, op.At, "wfs: operations of work tree "+r.worktree)
		objects = append(objects, empty, root)
		tip = session.Commit(root.id)
	}
	parents := []session.Commit{tip}
	if op.Turn.Rescue != "" {
		rescue, err := r.Ref(ctx, op.Turn.Rescue)
		if err != nil {
			return nil, err
		}
		if rescue != "" {
			parents = append(parents, rescue)
		}
	}
	data, err := json.MarshalIndent(opDocument{session.FormatVersion, op}, "", "\t")
	if err != nil {
		return nil, err
	}
	doc := r.newObject("blob", append(data, '\n'))
	tree, err := r.newTree([]treeEntry{{modeFile, FileOp, doc.id}})
	if err != nil {
		return nil, err
	}
	message := fmt.Sprintf("wfs: %s %s\n\n%s", op.Kind, op.Session, op.Summary)
	return append(objects, doc, tree, r.newCommit(tree.id, parents, ident, op.At, message)), nil
}

package gitstate

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/gitstate/gitcmd"
	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/session"
)

// FileOp is the name of the document in each commit of an operation log. The log of a work tree is the chain of first
// parents of refs/wfs-ops/<work tree>; it ends in a commit with an empty tree.
const FileOp = "op.json"

// An operation log that has grown to maxOps entries begins anew with the newest keptOps of them.
const (
	maxOps  = 400
	keptOps = 200
)

// opDocument is op.json.
type opDocument struct {
	Version int `json:"version"` // session.FormatVersion
	session.Op
}

func (r *Repo) opsRef() string { return opsPrefix + r.Git.Worktree }

// opLog is an operation log as far as it can be read.
type opLog struct {
	tip     session.Commit
	ops     []session.Op     // newest first
	rescues []session.Commit // second parents of their commits, "" for none
	damage  error            // why what is older cannot be read, nil when all of it was
}

// Ops lists this work tree's operations, newest first, as far as they can be read.
func (r *Repo) Ops(ctx context.Context) ([]session.Op, error) {
	ops, _, err := r.OpLog(ctx, r.Git.Worktree)
	return ops, err
}

// OpLog lists the operations of any work tree, by its id, newest first. damage says why those that are older than the
// last of them cannot be read, if that is so. A log of a newer wfs is an error.
func (r *Repo) OpLog(ctx context.Context, worktree string) (ops []session.Op, damage, err error) {
	l, err := r.readOps(ctx, opsPrefix+worktree)
	return l.ops, l.damage, err
}

// OpLogs lists the work trees that have an operation log, those that are gone included.
func (r *Repo) OpLogs(ctx context.Context) ([]string, error) {
	refs, err := r.refs(ctx, strings.TrimSuffix(opsPrefix, "/"), func(string) bool { return true })
	if err != nil && !errors.Is(err, ErrBrokenRef) {
		return nil, err
	}
	var names []string
	for _, ref := range slices.Sorted(maps.Keys(refs)) {
		names = append(names, strings.TrimPrefix(ref, opsPrefix))
	}
	return names, nil
}

func (r *Repo) readOps(ctx context.Context, ref string) (l opLog, err error) {
	l.tip, err = r.Ref(ctx, ref)
	if errors.Is(err, ErrBrokenRef) {
		l.damage, err = err, nil
	}
	if err != nil || l.tip == "" {
		return l, err
	}
	out, err := r.Git.Run(ctx, gitcmd.Opts{}, "rev-list", "--first-parent", fmt.Sprintf("--max-count=%d", 2*maxOps),
		"--no-commit-header", "--format=%H %T %P", string(l.tip), "--")
	var failed *gitcmd.GitError
	if errors.As(err, &failed) { // no commit, or some are missing
		l.damage, err = fmt.Errorf("%s: %s", ref, strings.TrimSpace(failed.Stderr)), nil
	}
	if err != nil || l.damage != nil {
		return l, err
	}
	var names []string
	var rescues []session.Commit
	whole := false
	for line := range strings.Lines(string(out)) {
		f := strings.Fields(line)
		if whole = f[1] == r.newObject("tree", nil).id; whole {
			break
		}
		names, rescues = append(names, f[0]+":"+FileOp), append(rescues, "")
		if len(f) > 3 {
			rescues[len(rescues)-1] = session.Commit(f[3])
		}
	}
	if len(names) == 0 {
		if !whole {
			l.damage = fmt.Errorf("%s is not a commit", ref)
		}
		return l, nil
	}
	got, err := r.lookup(ctx, names...)
	if err != nil {
		return l, err
	}
	for i, g := range got {
		op, err := readOp(names[i], g)
		if errors.Is(err, session.ErrNewer) {
			return l, err
		}
		if err != nil {
			l.damage = err
			return l, nil
		}
		l.ops, l.rescues = append(l.ops, op), append(l.rescues, rescues[i])
	}
	if !whole && len(names) < 2*maxOps {
		l.damage = fmt.Errorf("%s: its beginning is missing", ref)
	}
	return l, nil
}

// newestOps reads the newest entries of this work tree's log without a git process. It answers false where the
// log has to be looked at as a whole.
func (r *Repo) newestOps(ctx context.Context) (l opLog, ok bool) {
	const enough = 16 // an operation is logged again after a kill, and then it is the last one
	var err error
	if l.tip, err = r.Ref(ctx, r.opsRef()); err != nil || l.tip == "" || !r.Git.ReadsDirectly() {
		return l, false
	}
	for c := l.tip; len(l.ops) < enough; {
		info, err := r.CommitInfo(ctx, c)
		if err == nil && info.Tree == r.orEmpty("") {
			break
		}
		data, err2 := r.File(ctx, c, FileOp)
		op, err3 := readOp(string(c), found{kind: "blob", data: data})
		if cmp.Or(err, err2, err3) != nil || len(info.Parents) == 0 {
			return l, false
		}
		l.ops = append(l.ops, op)
		c = info.Parents[0]
	}
	return l, len(l.ops) > 0 && l.ops[0].Number%keptOps != 0
}

// readOp reads one entry of an operation log.
func readOp(name string, g found) (session.Op, error) {
	var doc opDocument
	if g.kind != "blob" {
		return doc.Op, fmt.Errorf("%s does not exist", name)
	}
	if err := json.Unmarshal(g.data, &doc); err != nil {
		return doc.Op, fmt.Errorf("%s: %w", name, err)
	}
	if doc.Version > session.FormatVersion {
		return doc.Op, fmt.Errorf("%s: %w", name, session.ErrNewer)
	}
	if doc.Version < 1 || doc.Number < 1 {
		return doc.Op, fmt.Errorf("%s is not an operation", name)
	}
	return doc.Op, nil
}

// LogOp appends an operation to this work tree's log, durable, and returns its number; op.Number is not looked at. An
// operation whose ledger commit is in the log already is not logged twice. The rescue that it names stays reachable
// from the log. A log that cannot be read is moved aside: a new one begins, and what was there is kept below its first
// commit.
func (r *Repo) LogOp(ctx context.Context, op session.Op) (int64, error) {
	ident, err := r.Git.Identity(ctx)
	if err != nil {
		return 0, err
	}
	for {
		if err := r.salvageOps(); err != nil {
			return 0, err
		}
		l, ok := r.newestOps(ctx)
		if !ok {
			var err error
			if l, err = r.readOps(ctx, r.opsRef()); err != nil {
				return 0, err
			}
		}
		if n := loggedAs(l.ops, op); n > 0 {
			return n, nil
		}
		objects, tip, err := r.uponOps(ctx, l, ident, op.At)
		if err != nil {
			return 0, err
		}
		op.Number = 1
		if len(l.ops) > 0 {
			op.Number = l.ops[0].Number + 1
		}
		entry, err := r.opCommit(ctx, op, tip, ident)
		if err != nil {
			return 0, err
		}
		if err := r.writeObjects(ctx, append(objects, entry...)...); err != nil {
			return 0, err
		}
		err = r.moveOps(ctx, session.RefMove{Ref: r.opsRef(), Old: l.tip, New: session.Commit(entry[len(entry)-1].id)},
			op.Kind)
		if errors.Is(err, ErrMoved) {
			continue
		}
		if err != nil {
			return 0, err
		}
		r.letGo(true)
		durable.Hit(durable.OplogWritten)
		return op.Number, nil
	}
}

// moveOps moves the log's ref itself, whatever somebody made it point to.
func (r *Repo) moveOps(ctx context.Context, m session.RefMove, kind string) error {
	return r.moveRefBy(ctx, m, "wfs: "+kind, "--no-deref")
}

// uponOps is what the next entry of a log is made upon, and the objects that are to be made for that: none for a log
// that is whole and short enough. One that has grown is made anew from its newest entries; one that cannot be read
// begins anew, above what was there.
func (r *Repo) uponOps(ctx context.Context, l opLog, ident string, at int64) ([]newObject, session.Commit, error) {
	switch {
	case l.tip != "" && len(l.ops) > 0 && len(l.ops) < maxOps:
		return nil, l.tip, nil
	case l.tip == "" && l.damage == nil || len(l.ops) >= maxOps:
		objects, tip := r.rootOfOps(nil, ident, at, "")
		return r.entriesUpon(ctx, objects, tip, l, ident)
	case l.damage == nil: // a first commit and nothing else
		return nil, l.tip, nil
	}
	aside, objects, err := r.asideOps(ctx, l.tip, ident, at)
	if err != nil {
		return nil, "", err
	}
	r.noteAside(fmt.Sprintf("the operation log of this work tree could not be read (%v): starting a new one", l.damage))
	root, tip := r.rootOfOps(aside, ident, at, "\n\nWhat was here could not be read: "+l.damage.Error())
	return append(objects, root...), tip, nil
}

// rootOfOps makes the commit that a log ends in, so that first parents are operations and nothing else.
func (r *Repo) rootOfOps(parents []session.Commit, ident string, at int64, why string) ([]newObject, session.Commit) {
	empty := r.newObject("tree", nil)
	root := r.newCommit(empty.id, parents, ident, at, "wfs: operations of work tree "+r.Git.Worktree+why)
	return []newObject{empty, root}, session.Commit(root.id)
}

// entriesUpon makes the entries of a log anew that are taken along.
func (r *Repo) entriesUpon(ctx context.Context, objects []newObject, tip session.Commit, l opLog,
	ident string) ([]newObject, session.Commit, error) {
	for _, i := range slices.Backward(takenAlong(l.ops)) {
		entry, err := r.opEntry(l.ops[i], tip, l.rescues[i], ident)
		if err != nil {
			return nil, "", err
		}
		objects, tip = append(objects, entry...), session.Commit(entry[len(entry)-1].id)
	}
	return objects, tip, nil
}

// loggedAs returns the number under which an operation is in the log, newest first, 0 for none. Those that make
// no ledger commit may happen again upon the same one, once they have been undone.
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
	var rescue session.Commit
	if op.Turn.Rescue != "" {
		var err error
		if rescue, err = r.Ref(ctx, op.Turn.Rescue); err != nil {
			return nil, err
		}
	}
	return r.opEntry(op, tip, rescue, ident)
}

func (r *Repo) opEntry(op session.Op, tip, rescue session.Commit, ident string) ([]newObject, error) {
	parents := []session.Commit{tip}
	if rescue != "" {
		parents = append(parents, rescue)
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
	return []newObject{doc, tree, r.newCommit(tree.id, parents, ident, op.At, message)}, nil
}

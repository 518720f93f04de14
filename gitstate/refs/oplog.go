package refs

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/gitstate/gitcmd"
	"github.com/wfs-dev/wfs/gitstate/object"
	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/session/oplog"
)

// fileOp is the name of the only file in each commit of an operation log. The log of a work tree is the chain of first
// parents that begins at refs/wfs-ops/<work tree>, and ends with a commit that has an empty tree.
const fileOp = "op.json"

// When an operation log has maxOps entries, wfs replaces it by a new log with the newest keptOps entries.
const (
	maxOps  = 400
	keptOps = 200
)

// opDocument is the content of op.json.
type opDocument struct {
	Version int `json:"version"` // session.FormatVersion
	session.Op
}

// OpLog has those entries of an operation log that can be read.
type OpLog struct {
	tip     session.Commit
	Ops     []session.Op     // newest first
	Rescues []session.Commit // by entry: the second parent of its commit, "" if there is none
	damage  error            // why older entries cannot be read, nil if all were read
}

func (l *OpLog) clone() OpLog {
	return OpLog{tip: l.tip, Ops: slices.Clone(l.Ops), Rescues: slices.Clone(l.Rescues)}
}

// readOp parses one entry of an operation log.
func readOp(name string, g object.Found) (session.Op, error) {
	var doc opDocument
	if g.Kind != "blob" {
		return doc.Op, fmt.Errorf("%s does not exist", name)
	}
	if err := json.Unmarshal(g.Data, &doc); err != nil {
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

// loggedAs returns the number with which an operation is in the log already, 0 if it is not. ops is sorted newest
// first. An operation that has no ledger commit of its own can, after it was undone, occur again for the same ledger
// commit. So undone operations are ignored.
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

// maxParked limits how many old operations a new log takes over from the log that it replaces: operations that left
// uncommitted changes on a branch, if these are not restored yet.
const maxParked = keptOps / 2

// takenAlong returns the indexes of the entries that a new log takes over, newest first: the newest entries, and older
// ones that can still restore uncommitted changes.
func takenAlong(ops []session.Op) []int {
	n := min(len(ops), keptOps)
	var list []int
	for i := range n {
		list = append(list, i)
	}
	for _, op := range oplog.ParkedAnywhere(ops) {
		i := slices.IndexFunc(ops, func(o session.Op) bool { return o.Number == op.Number })
		if i >= n && len(list) < n+maxParked {
			list = append(list, i)
		}
	}
	return list
}

// OpsRef returns the full name of the ref of this work tree's operation log.
func (r *Operations) OpsRef() string { return OpsPrefix + r.Git.Worktree }

// Ops lists the operations of this work tree that can be read, newest first.
func (r *Operations) Ops(ctx context.Context) ([]session.Op, error) {
	ops, _, err := r.OpLog(ctx, r.Git.Worktree)
	return ops, err
}

// OpLog lists the operations of a work tree (given by id), newest first. damage is the reason why older operations
// cannot be read, nil if all can be read. A log that a newer wfs has written is an error.
func (r *Operations) OpLog(ctx context.Context, worktree string) (ops []session.Op, damage, err error) {
	l, err := r.readOps(ctx, OpsPrefix+worktree)
	return l.Ops, l.damage, err
}

// OpLogs lists the ids of the work trees that have an operation log, including removed work trees.
func (r *Operations) OpLogs(ctx context.Context) ([]string, error) {
	refs, err := r.refs.RefsBelow(ctx, strings.TrimSuffix(OpsPrefix, "/"))
	if err != nil && !errors.Is(err, ErrBrokenRef) {
		return nil, err
	}
	var names []string
	for _, ref := range slices.Sorted(maps.Keys(refs)) {
		names = append(names, strings.TrimPrefix(ref, OpsPrefix))
	}
	return names, nil
}

// MovesSince returns the ref moves of the operations that were logged in any work tree since the logs had the tips
// `was` (by ref), the oldest first. Operations in logs that cannot be read are left out.
func (r *Operations) MovesSince(ctx context.Context, was map[string]session.Commit) []session.RefMove {
	now, _ := r.refs.RefsBelow(ctx, strings.TrimSuffix(OpsPrefix, "/"))
	var since []session.Op
	for ref, tip := range now {
		var last session.Op // the newest operation at `was`; Number is 0 if there was no log
		if old := was[ref]; old == tip {
			continue
		} else if old != "" {
			data, err := r.Objects.File(ctx, old, fileOp)
			if err == nil {
				last, err = readOp(string(old), object.Found{Kind: "blob", Data: data})
			}
			if err != nil {
				continue
			}
		}
		l, _ := r.readOps(ctx, ref)
		for _, op := range l.Ops {
			if op.Number > last.Number {
				since = append(since, op)
			}
		}
	}
	slices.SortStableFunc(since, func(x, y session.Op) int {
		return cmp.Or(cmp.Compare(x.At, y.At), cmp.Compare(x.Number, y.Number))
	})
	var moves []session.RefMove
	for _, op := range since {
		moves = append(moves, op.Turn.Refs...)
	}
	return moves
}

// readOps reads the operation log at a ref. What cannot be read is reported as damage.
func (r *Operations) readOps(ctx context.Context, ref string) (l OpLog, err error) {
	if l, whole, _ := r.newestOps(ctx, ref); whole {
		return l, nil
	}
	l.tip, err = r.refs.Ref(ctx, ref)
	if errors.Is(err, ErrBrokenRef) {
		l.damage, err = err, nil
	}
	if err != nil || l.tip == "" {
		return l, err
	}
	if known := r.known.Load(); known != nil && known.tip == l.tip {
		return known.clone(), nil
	}
	names, rescues, whole, err := r.chain(ctx, l.tip)
	if failed := gitcmd.Failed(err); failed != nil { // the tip is not a commit, or some commits are missing
		l.damage = fmt.Errorf("%s: %s", ref, strings.TrimSpace(failed.Stderr))
		return l, nil
	}
	if !whole {
		l.damage = fmt.Errorf("%s: its beginning is missing", ref)
	}
	if err != nil || len(names) == 0 {
		return l, err
	}
	got, err := r.Objects.Lookup(ctx, names...)
	if err != nil {
		return l, err
	}
	if err = l.add(names, rescues, got); err == nil && l.damage == nil {
		known := l.clone()
		r.known.Store(&known)
	}
	return l, err
}

// chain lists the names of the files in a log, newest first, and the rescues that their commits keep. whole is false if
// the end of the log is missing. chain reads at most 2*maxOps entries, more than a log ever has.
func (r *Operations) chain(ctx context.Context, tip session.Commit) (names []string, rescues []session.Commit,
	whole bool, err error) {
	out, err := r.Git.Ask(ctx, "rev-list", "--first-parent", fmt.Sprintf("--max-count=%d", 2*maxOps),
		"--no-commit-header", "--format=%H %T %P", string(tip), "--")
	for line := range strings.Lines(string(out)) {
		f := strings.Fields(line)
		if f[1] == r.Objects.NewObject("tree", nil).ID {
			return names, rescues, true, err
		}
		names, rescues = append(names, f[0]+":"+fileOp), append(rescues, "")
		if len(f) > 3 {
			rescues[len(rescues)-1] = session.Commit(f[3])
		}
	}
	return names, rescues, len(names) == 2*maxOps, err
}

// add parses the entries of a log, up to the first damaged entry. An entry that a newer wfs has written is an error.
func (l *OpLog) add(names []string, rescues []session.Commit, got []object.Found) error {
	for i, g := range got {
		op, err := readOp(names[i], g)
		if errors.Is(err, session.ErrNewer) {
			return err
		}
		if err != nil {
			l.damage = err
			return nil
		}
		l.Ops, l.Rescues = append(l.Ops, op), append(l.Rescues, rescues[i])
	}
	return nil
}

// newestOps reads the newest entries of the log at a ref without a git process. whole is true if these are all entries;
// enough is true if they are enough to append one. If neither is, the whole log must be read with git instead.
func (r *Operations) newestOps(ctx context.Context, ref string) (l OpLog, whole, enough bool) {
	const most = 16 // after a kill, only the last operation can be logged again
	var err error
	if l.tip, err = r.refs.Ref(ctx, ref); err != nil || l.tip == "" || !r.Git.ReadsDirectly() {
		return l, false, false
	}
	for c := l.tip; len(l.Ops) < most; {
		info, err := r.Objects.CommitInfo(ctx, c)
		if err == nil && info.Tree == r.Objects.OrEmpty("") {
			whole = true
			break
		}
		data, err2 := r.Objects.File(ctx, c, fileOp)
		op, err3 := readOp(string(c), object.Found{Kind: "blob", Data: data})
		if cmp.Or(err, err2, err3) != nil || len(info.Parents) == 0 {
			return l, false, false
		}
		l.Ops, l.Rescues = append(l.Ops, op), append(l.Rescues, "")
		if len(info.Parents) > 1 {
			l.Rescues[len(l.Rescues)-1] = info.Parents[1]
		}
		c = info.Parents[0]
	}
	return l, whole, len(l.Ops) > 0 && l.Ops[0].Number%keptOps != 0
}

// LogOp appends an operation to this work tree's log, durably, and returns its number; it ignores op.Number. If the log
// has an entry of this operation already, LogOp only returns the number of that entry. The operation's rescue stays
// reachable from the log. If the log cannot be read, LogOp begins a new log; the first commit of that keeps the old log
// reachable, if possible.
func (r *Operations) LogOp(ctx context.Context, op session.Op) (int64, error) {
	ident, err := r.Git.Answers.Identity(ctx)
	if err != nil {
		return 0, err
	}
	for {
		n, err := r.logOp(ctx, op, ident)
		if !errors.Is(err, ErrMoved) {
			return n, err
		}
	}
}

// logOp does the work of LogOp once. It returns ErrMoved if another process has moved the log at the same time.
func (r *Operations) logOp(ctx context.Context, op session.Op, ident string) (int64, error) {
	if err := r.moveAside(); err != nil {
		return 0, err
	}
	l, _, enough := r.newestOps(ctx, r.OpsRef())
	if !enough {
		var err error
		if l, err = r.readOps(ctx, r.OpsRef()); err != nil {
			return 0, err
		}
	}
	if n := loggedAs(l.Ops, op); n > 0 {
		return n, nil
	}
	objects, tip, err := r.uponOps(ctx, l, ident, op.At)
	if err != nil {
		return 0, err
	}
	op.Number = 1
	if len(l.Ops) > 0 {
		op.Number = l.Ops[0].Number + 1
	}
	entry, err := r.opCommit(ctx, op, tip, ident)
	if err != nil {
		return 0, err
	}
	if err := r.Objects.WriteObjects(ctx, append(objects, entry...)...); err != nil {
		return 0, err
	}
	m := session.RefMove{Ref: r.OpsRef(), Old: l.tip, New: session.Commit(entry[len(entry)-1].ID)}
	if err := r.moveOps(ctx, m, op.Kind); err != nil {
		return 0, err
	}
	r.Objects.LetGo(true)
	durable.Hit(durable.OplogWritten)
	return op.Number, nil
}

// moveOps moves the ref of the log itself, even if that has become a symbolic ref to another ref.
func (r *Operations) moveOps(ctx context.Context, m session.RefMove, kind string) error {
	return r.refs.moveBy(ctx, m, "wfs: "+kind, "--no-deref")
}

// uponOps returns the commit that becomes the parent of the next entry, and the objects that must be written for it. If
// the log is complete and short enough, the parent is its tip, and there are no objects. If the log is too long, it is
// rebuilt from its newest entries. If it cannot be read, a new log begins on top of the old one.
func (r *Operations) uponOps(ctx context.Context, l OpLog, ident string, at int64) ([]object.Object, session.Commit,
	error) {
	switch {
	case l.tip != "" && len(l.Ops) > 0 && len(l.Ops) < maxOps:
		return nil, l.tip, nil
	case l.tip == "" && l.damage == nil || len(l.Ops) >= maxOps:
		objects, tip := r.rootOfOps(nil, ident, at, "")
		return r.entriesUpon(ctx, objects, tip, l, ident)
	case l.damage == nil: // the log has only the commit at its end, and no entries
		return nil, l.tip, nil
	}
	was, err := r.reachable(ctx, l.tip)
	if err != nil {
		return nil, "", err
	}
	r.noteAside(fmt.Sprintf("the operation log of this work tree could not be read (%v): starting a new one", l.damage))
	root, tip := r.rootOfOps(was, ident, at, "\n\nWhat was here could not be read: "+l.damage.Error())
	return root, tip, nil
}

// reachable returns c as a list if everything that c reaches exists, otherwise an empty list.
func (r *Operations) reachable(ctx context.Context, c session.Commit) ([]session.Commit, error) {
	if _, err := r.Objects.CommitInfo(ctx, c); err != nil {
		return nil, nil
	}
	whole, err := r.Objects.Exists(ctx, c)
	if err != nil || !whole {
		return nil, err
	}
	return []session.Commit{c}, nil
}

// rootOfOps returns the commit at the end of a log, with its objects. With this commit, the first parent of each
// operation is a commit of the log.
func (r *Operations) rootOfOps(parents []session.Commit, ident string, at int64, why string) ([]object.Object,
	session.Commit) {
	empty := r.Objects.NewObject("tree", nil)
	root := r.Objects.NewCommit(empty.ID, parents, ident, at, "wfs: operations of work tree "+r.Git.Worktree+why)
	return []object.Object{empty, root}, session.Commit(root.ID)
}

// entriesUpon writes the entries that a new log takes over again, with `tip` as the parent of the oldest.
func (r *Operations) entriesUpon(ctx context.Context, objects []object.Object, tip session.Commit, l OpLog,
	ident string) ([]object.Object, session.Commit, error) {
	for _, i := range slices.Backward(takenAlong(l.Ops)) {
		entry, err := r.opEntry(l.Ops[i], tip, l.Rescues[i], ident)
		if err != nil {
			return nil, "", err
		}
		objects, tip = append(objects, entry...), session.Commit(entry[len(entry)-1].ID)
	}
	return objects, tip, nil
}

// opCommit returns the objects of an operation's entry; the commit is the last of them.
func (r *Operations) opCommit(ctx context.Context, op session.Op, tip session.Commit,
	ident string) ([]object.Object, error) {
	var rescue session.Commit
	if op.Turn.Rescue != "" {
		var err error
		if rescue, err = r.refs.Ref(ctx, op.Turn.Rescue); err != nil {
			return nil, err
		}
	}
	return r.opEntry(op, tip, rescue, ident)
}

// opEntry returns the objects of an entry with the given parent (tip) and rescue.
func (r *Operations) opEntry(op session.Op, tip, rescue session.Commit, ident string) ([]object.Object, error) {
	parents := []session.Commit{tip}
	if rescue != "" {
		parents = append(parents, rescue)
	}
	data, err := json.MarshalIndent(opDocument{session.FormatVersion, op}, "", "\t")
	if err != nil {
		return nil, err
	}
	doc := r.Objects.NewObject("blob", append(data, '\n'))
	tree, err := r.Objects.NewTree([]object.Entry{{Mode: object.ModeFile, Name: fileOp, ID: doc.ID}})
	if err != nil {
		return nil, err
	}
	message := fmt.Sprintf("wfs: %s %s\n\n%s", op.Kind, op.Session, op.Summary)
	return []object.Object{doc, tree, r.Objects.NewCommit(tree.ID, parents, ident, op.At, message)}, nil
}

// SetAside says why this process has replaced an unreadable operation log. It returns "" if it has not.
func (r *Operations) SetAside() string {
	if s := r.notedAside.Load(); s != nil {
		return *s
	}
	return ""
}

func (r *Operations) noteAside(what string) { r.notedAside.Store(&what) }

// moveAside renames the file of the log's ref if that is damaged, or if it is a symbolic ref: a write to it would move
// another branch. Git can neither read nor replace such a file.
func (r *Operations) moveAside() error {
	if !r.Git.ReadsDirectly() {
		return nil
	}
	next, _, err := r.refs.ReadRef(r.OpsRef())
	if err == nil && next == "" || err != nil && !errors.Is(err, ErrBrokenRef) {
		return err
	}
	path, to := r.refs.refPath(r.OpsRef()), filepath.Join(r.Git.PrivateDir(), "ops")
	if err := durable.MkdirAll(r.Git.PrivateDir()); err != nil {
		return err
	}
	if gitcmd.IsThere(to) { // left by a command that was killed before it gave the file its final name
		if _, err := durable.MoveAside(to); err != nil {
			return err
		}
	}
	if err := os.Rename(path, to); err != nil {
		return err
	}
	if to, err = durable.MoveAside(to); err != nil {
		return err
	}
	data, _ := gitcmd.ReadBounded(to, gitcmd.MaxRef)
	r.noteAside(fmt.Sprintf("%s was not an operation log (%q) and was moved to %s", r.OpsRef(),
		bytes.TrimSpace(data[:min(len(data), 60)]), to))
	return errors.Join(durable.SyncDir(filepath.Dir(to)), durable.SyncDir(filepath.Dir(path)))
}

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

// fileOp is the name of the document in each commit of an operation log. The log of a work tree is the chain of first
// parents of refs/wfs-ops/<work tree>; it ends in a commit with an empty tree.
const fileOp = "op.json"

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

// OpLog is an operation log as far as it can be read.
type OpLog struct {
	tip     session.Commit
	Ops     []session.Op     // newest first
	Rescues []session.Commit // second parents of their commits, "" for none
	damage  error            // why what is older cannot be read, nil when all of it was
}

// readOp reads one entry of an operation log.
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

// maxParked is how many of the operations that are too old for a log which begins anew are taken along, because what
// they left behind on a branch has not come back.
const maxParked = keptOps / 2

// takenAlong are the entries of a log that has grown which the new one begins with, newest first, as indexes:
// the newest, and those of before by which uncommitted changes come back.
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

func (r *Operations) OpsRef() string { return OpsPrefix + r.Git.Worktree }

// Ops lists this work tree's operations, newest first, as far as they can be read.
func (r *Operations) Ops(ctx context.Context) ([]session.Op, error) {
	ops, _, err := r.OpLog(ctx, r.Git.Worktree)
	return ops, err
}

// OpLog lists the operations of any work tree, by its id, newest first. damage says why those that are older than the
// last of them cannot be read, if that is so. A log of a newer wfs is an error.
func (r *Operations) OpLog(ctx context.Context, worktree string) (ops []session.Op, damage, err error) {
	l, err := r.readOps(ctx, OpsPrefix+worktree)
	return l.Ops, l.damage, err
}

// OpLogs lists the work trees that have an operation log, those that are gone included.
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

func (r *Operations) readOps(ctx context.Context, ref string) (l OpLog, err error) {
	l.tip, err = r.refs.Ref(ctx, ref)
	if errors.Is(err, ErrBrokenRef) {
		l.damage, err = err, nil
	}
	if err != nil || l.tip == "" {
		return l, err
	}
	names, rescues, whole, err := r.chain(ctx, l.tip)
	if failed := gitcmd.Failed(err); failed != nil { // no commit, or some are missing
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
	return l, l.add(names, rescues, got)
}

// chain lists the names of the documents in a log, newest first, and the rescues of their commits. whole says that it
// ends as a log does, or is longer than one becomes.
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

// add reads the documents of a log up to the first that is damaged. One of a newer version is an error.
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

// newestOps reads the newest entries of this work tree's log without a git process. It answers false where the
// log has to be looked at as a whole.
func (r *Operations) newestOps(ctx context.Context) (l OpLog, ok bool) {
	const enough = 16 // an operation is logged again after a kill, and then it is the last one
	var err error
	if l.tip, err = r.refs.Ref(ctx, r.OpsRef()); err != nil || l.tip == "" || !r.Git.ReadsDirectly() {
		return l, false
	}
	for c := l.tip; len(l.Ops) < enough; {
		info, err := r.Objects.CommitInfo(ctx, c)
		if err == nil && info.Tree == r.Objects.OrEmpty("") {
			break
		}
		data, err2 := r.Objects.File(ctx, c, fileOp)
		op, err3 := readOp(string(c), object.Found{Kind: "blob", Data: data})
		if cmp.Or(err, err2, err3) != nil || len(info.Parents) == 0 {
			return l, false
		}
		l.Ops = append(l.Ops, op)
		c = info.Parents[0]
	}
	return l, len(l.Ops) > 0 && l.Ops[0].Number%keptOps != 0
}

// LogOp appends an operation to this work tree's log, durable, and returns its number; op.Number is not looked at. An
// operation whose ledger commit is in the log already is not logged twice. The rescue that it names stays reachable
// from the log. A log that cannot be read is moved aside: a new one begins, and what was there is kept below its first
// commit.
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

// logOp is LogOp, unless somebody else moves the log meanwhile.
func (r *Operations) logOp(ctx context.Context, op session.Op, ident string) (int64, error) {
	if err := r.moveAside(); err != nil {
		return 0, err
	}
	l, ok := r.newestOps(ctx)
	if !ok {
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

// moveOps moves the log's ref itself, whatever somebody made it point to.
func (r *Operations) moveOps(ctx context.Context, m session.RefMove, kind string) error {
	return r.refs.moveBy(ctx, m, "wfs: "+kind, "--no-deref")
}

// uponOps is what the next entry of a log is made upon, and the objects that are to be made for that: none for a log
// that is whole and short enough. One that has grown is made anew from its newest entries; one that cannot be read
// begins anew, above what was there.
func (r *Operations) uponOps(ctx context.Context, l OpLog, ident string, at int64) ([]object.Object, session.Commit,
	error) {
	switch {
	case l.tip != "" && len(l.Ops) > 0 && len(l.Ops) < maxOps:
		return nil, l.tip, nil
	case l.tip == "" && l.damage == nil || len(l.Ops) >= maxOps:
		objects, tip := r.rootOfOps(nil, ident, at, "")
		return r.entriesUpon(ctx, objects, tip, l, ident)
	case l.damage == nil: // a first commit and nothing else
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

// reachable is a commit that is there with all that it reaches, none for anything else.
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

// rootOfOps makes the commit that a log ends in, so that first parents are operations and nothing else.
func (r *Operations) rootOfOps(parents []session.Commit, ident string, at int64, why string) ([]object.Object,
	session.Commit) {
	empty := r.Objects.NewObject("tree", nil)
	root := r.Objects.NewCommit(empty.ID, parents, ident, at, "wfs: operations of work tree "+r.Git.Worktree+why)
	return []object.Object{empty, root}, session.Commit(root.ID)
}

// entriesUpon makes the entries of a log anew that are taken along.
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

// opCommit makes the objects of one entry, its commit last.
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

// SetAside says what of an operation log this process could not read and has moved aside, "" for nothing.
func (r *Operations) SetAside() string {
	if s := r.notedAside.Load(); s != nil {
		return *s
	}
	return ""
}

func (r *Operations) noteAside(what string) { r.notedAside.Store(&what) }

// moveAside renames a file that stands where the log's ref belongs and holds no commit: damaged, or a symbolic ref, by
// which somebody's branch would be moved. Git can neither read nor replace such a file.
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
	if gitcmd.IsThere(to) { // a command was killed before it had given that its name
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

package gitstate

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/session"
)

// An attempt takes several snapshots, and mostly nothing has happened between two of them: a gate that only looks leaves
// the files as they are. The second one then is the first one. That is said only when a look at every file finds nothing
// else than what was passed over the first time, under the same rules and on top of the same index and commit.

// lastSnapshot is the last snapshot that this process took of the work tree.
type lastSnapshot struct {
	snapshot session.Snapshot
	by       ruled
	added    addition
	index    []byte          // the work tree's own index
	since    uint64          // when the files began to be looked at, by the file system's clock
	ignored  map[string]bool // what rules exclude, and whether that was a directory: some rules are about those alone
}

// ruled are the rules by which files that are not tracked are passed over, beside those in the tree.
type ruled struct{ session, user, info []byte }

func (a ruled) equal(b ruled) bool {
	return bytes.Equal(a.session, b.session) && bytes.Equal(a.user, b.user) && bytes.Equal(a.info, b.info)
}

func (r *Repo) ruledBy(ctx context.Context, exclude string) (by ruled, err error) {
	if exclude != "" {
		if by.session, err = durable.ReadFile(exclude, maxRules); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return by, err
		}
	}
	if by.user, err = r.userExcludes(ctx); err != nil {
		return by, err
	}
	by.info, err = readFile(filepath.Join(r.commonDir, "info", "exclude"))
	if absent(err) {
		err = nil
	}
	return by, err
}

// noteTaken remembers a snapshot, if another one can be told from it. index is its private index.
func (r *Repo) noteTaken(t *lastSnapshot, index string) {
	r.last.Store(nil)
	st, err := os.Stat(index)
	if err != nil || t.added.now == nil || t.since == 0 {
		return
	}
	if t.added.now.written == 0 { // git wrote it just now
		t.added.now.written, t.added.now.read = st.ModTime().Unix(), t.since
	}
	t.ignored = map[string]bool{}
	for _, p := range t.added.ignored {
		info, err := r.lstat(p)
		if err != nil || path.Base(p) == ".gitignore" { // rules that may change without a trace
			return
		}
		t.ignored[p] = info.IsDir()
	}
	r.last.Store(t)
}

// takenAgain is the last snapshot, if it would be the same now, else nil.
func (r *Repo) takenAgain(head session.Head, tree session.Tree, by ruled) *session.Snapshot {
	index, err := readFile(r.indexPath())
	if err != nil && !absent(err) {
		return nil
	}
	t := r.sameAgain(head, tree, by, index)
	if t == nil {
		return nil
	}
	r.last.Store(t)
	s := t.snapshot
	s.Ignored = nil // they have been remembered
	return &s
}

// stageAgain is what it takes to bring a copy of an index up to date with the work tree, if the last snapshot did just that
// and nothing has happened since: then the index that it made becomes that copy. Not ok leaves the copy as it is; after an
// error there may be none.
func (r *Repo) stageAgain(ctx context.Context, to string, index []byte, exclude string, head session.Head) (made addition, ok bool, err error) {
	t := r.last.Load()
	if t == nil {
		return made, false, nil
	}
	by, err := r.ruledBy(ctx, exclude)
	if err != nil {
		return made, false, err
	}
	if t = r.sameAgain(head, t.snapshot.HeadTree, by, index); t == nil {
		return made, false, nil
	}
	data, st, err := readWhole(r.snapshotIndex())
	if err != nil || st == nil || !t.added.now.endsIn(data) {
		return made, false, nil // git looks for itself
	}
	if err := errors.Join(removeLeftovers(to), putCopy(to, data, st)); err != nil {
		return made, false, err
	}
	made = t.added
	made.Ignored, made.since = nil, t.since
	return made, true, nil
}

// sameAgain is the last snapshot, if another one on this commit, with this index, under these rules, would be the same, else
// nil.
func (r *Repo) sameAgain(head session.Head, tree session.Tree, by ruled, index []byte) *lastSnapshot {
	t := r.last.Load()
	if t == nil || t.snapshot.Head != head || t.snapshot.HeadTree != tree || !t.by.equal(by) || !bytes.Equal(index, t.index) {
		return nil
	}
	rules, g := session.SplitGuard(by.session)
	found := r.look(t.added.now, rules, g)
	if found.unsure || len(found.suspects) > 0 || !slices.Equal(found.held, t.added.kept) {
		return nil
	}
	for _, p := range found.changed {
		dir, ok := t.ignored[p]
		info, err := r.lstat(p)
		if err != nil || !(ok && info.IsDir() == dir || info.IsDir() && r.hollow(p)) {
			return nil
		}
	}
	if !r.has(map[string]string{string(t.snapshot.Tree): "tree"}) { // git may have collected it as garbage
		return nil
	}
	same := *t
	return &same
}

// sameContent reports whether two indexes are about the same content.
func sameContent(a, b *index) bool {
	if a == nil || b == nil {
		return false
	}
	return a == b || slices.EqualFunc(a.entries, b.entries, func(a, b indexEntry) bool {
		return a.mode == b.mode && a.stage == b.stage && a.intended == b.intended && bytes.Equal(a.id, b.id) && bytes.Equal(a.name, b.name)
	})
}

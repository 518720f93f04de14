package gitstate

import (
	"bytes"
	"compress/zlib"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/session"
)

// aside is the repository with another object directory before its own: what git makes goes there, what is in the
// repository is found where it is. Nobody else sees anything of it. Its private files are its own as well, so that it may
// be at work while other commands are, and its processes give way to all others.
func (r *Repo) aside(dir string) *Repo {
	side := &Repo{root: r.root, gitDir: r.gitDir, commonDir: r.commonDir, worktree: r.worktree, format: r.format,
		userEnv: r.userEnv, scratch: dir, idle: true}
	store := side.view()
	if _, err := os.Lstat(filepath.Join(r.commonDir, "objects", "info", "alternates")); !absent(err) || r.lookAside(side) != nil {
		store = filepath.Join(r.commonDir, "objects")
	}
	if strings.ContainsAny(store, `":\`) && filepath.Separator == '/' {
		store = `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(store) + `"`
	}
	side.env = append(r.env[:len(r.env):len(r.env)],
		"GIT_OBJECT_DIRECTORY="+side.store(), "GIT_ALTERNATE_OBJECT_DIRECTORIES="+store)
	side.reader.once.Do(func() {}) // everything is read by git
	return side
}

// store is the object directory of what is aside.
func (r *Repo) store() string { return filepath.Join(r.scratch, "objects") }

// view is what it sees of the repository's own object directory.
func (r *Repo) view() string { return filepath.Join(r.scratch, "view") }

// asideDir is where auto-saves are made.
func (r *Repo) asideDir() string { return filepath.Join(r.worktreeDir(), "auto") }

// beginAside makes the side ready for auto-saves upon a ledger commit. What others left is removed.
func (r *Repo) beginAside(ledger session.Commit) error {
	a := &r.auto
	if a.side != nil && a.ledger == ledger {
		_ = r.lookAside(a.side) // seeing less, it makes more
		return nil
	}
	dir := r.asideDir()
	if err := r.putBack(dir); err != nil {
		return err
	}
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	for _, d := range []string{filepath.Join(dir, "objects", "pack"), filepath.Join(dir, "objects", "info"), packedDir(dir), droppedDir(dir)} {
		if err := durable.MkdirAll(d); err != nil {
			return err
		}
	}
	if a.ledger != ledger {
		a.packs = nil
	}
	side := r.aside(dir)
	a.side, a.ledger, a.index, a.copied = side, ledger, nil, false
	return nil
}

func packedDir(dir string) string  { return filepath.Join(dir, "packed") }
func droppedDir(dir string) string { return filepath.Join(dir, "dropped") }

// packAside makes one pack, in the repository's own store, of some objects and of everything on the side that trees
// need. What else is on the side is removed: the next auto-save needs it no more.
func (r *Repo) packAside(ctx context.Context, objects []newObject, trees ...string) (*autoPack, error) {
	side := r.auto.side
	sum, err := r.everythingElse(ctx)
	if err != nil {
		return nil, err
	}
	for _, o := range objects {
		if err := side.addLoose(o); err != nil {
			return nil, err
		}
	}
	need, err := side.needed(ctx, trees)
	if err != nil {
		return nil, err
	}
	ids := need
	for _, o := range objects {
		ids = append(ids, o.id)
	}
	// Whole objects, as in the packs of checkpoints, so that these can be merged like those.
	out, err := side.git(ctx, gitOpts{stdin: []byte(strings.Join(ids, "\n") + "\n")}, "-c", "core.fsync=committed", "-c", "pack.writeReverseIndex=false", "-c", "pack.threads=1",
		"pack-objects", "-q", "--window=0", "--no-reuse-delta", filepath.Join(packedDir(side.scratch), "pack"))
	if err != nil {
		return nil, err
	}
	made, err := r.showPack(filepath.Join(packedDir(side.scratch), "pack-"+strings.TrimSpace(string(out))), r.packName(out))
	if err != nil {
		return nil, err
	}
	made.sum = sum
	if err := side.forget(need); err != nil {
		made.kept.letGo()
		return nil, err
	}
	return made, nil
}

// addLoose puts an object on the side. Git would look for it everywhere first, and thereby renew the time of the pack of an
// earlier auto-save that has the same (see autoPack).
func (r *Repo) addLoose(o newObject) error {
	var b bytes.Buffer
	z, err := zlib.NewWriterLevel(&b, zlib.BestSpeed)
	if err != nil {
		return err
	}
	fmt.Fprintf(z, "%s %d\x00", o.kind, len(o.data))
	z.Write(o.data)
	if err := z.Close(); err != nil {
		return err
	}
	path := filepath.Join(r.store(), o.id[:2], o.id[2:])
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return durable.WriteCache(path, b.Bytes(), 0o400)
}

// showPack brings a pack from the side to the repository's own. Its time is one that nobody else would give it: git sets
// it anew when it finds in it what it was about to write.
func (r *Repo) showPack(path, name string) (*autoPack, error) {
	dir := filepath.Join(r.commonDir, "objects", "pack")
	info, err := os.Stat(dir)
	if err != nil {
		return nil, err
	}
	stamp := time.Unix(0, int64(r.fileTime())).Add(-10 * time.Second).Truncate(time.Second)
	for _, ext := range []string{".pack", ".idx"} {
		if err := errors.Join(os.Chmod(path+ext, info.Mode().Perm()&0o444), os.Chtimes(path+ext, stamp, stamp)); err != nil {
			return nil, err
		}
	}
	kept, err := keepPack(filepath.Join(dir, name))
	if err != nil {
		return nil, err
	}
	for _, ext := range []string{".pack", ".idx"} { // git looks for indexes, so the pack comes first
		if err := os.Rename(path+ext, filepath.Join(dir, name+ext)); err != nil {
			_ = os.Remove(filepath.Join(dir, name+".pack")) // it has no index
			kept.letGo()
			return nil, err
		}
	}
	return &autoPack{name: name, stamp: stamp, kept: kept}, durable.SyncDir(dir)
}

// needed lists what of some trees and of everything below them is on the side.
func (r *Repo) needed(ctx context.Context, trees []string) ([]string, error) {
	packs, err := packsIn(filepath.Join(r.store(), "pack")) // git makes one of a file that is too large for memory
	if err != nil {
		return nil, err
	}
	open, end := r.openPackIndexes(packs)
	defer end()
	here := func(id string) bool {
		if _, err := os.Lstat(filepath.Join(r.store(), id[:2], id[2:])); err == nil {
			return true
		}
		key, err := hex.DecodeString(id)
		return err == nil && slices.ContainsFunc(open, func(p *packIndexFile) bool { return p.has(key) })
	}
	seen := map[string]bool{}
	var list []string
	for len(trees) > 0 {
		id := trees[0]
		trees = trees[1:]
		if id == "" || seen[id] || !here(id) {
			continue // what is in the repository has everything below it there
		}
		seen[id] = true
		list = append(list, id)
		entries, err := r.entriesOf(ctx, id)
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			switch {
			case e.isTree():
				trees = append(trees, e.id)
			case e.mode != modeGitlink && !seen[e.id] && here(e.id):
				seen[e.id] = true
				list = append(list, e.id)
			}
		}
	}
	return list, nil
}

// entriesOf reads a tree of the side, mostly without a git process.
func (r *Repo) entriesOf(ctx context.Context, id string) ([]treeEntry, error) {
	kind, data, err := looseObject(filepath.Join(r.store(), id[:2], id[2:]))
	if err != nil {
		return r.tree(ctx, session.Tree(id))
	}
	if kind != "tree" {
		return nil, fmt.Errorf("%s is a %s, not a tree", id, kind)
	}
	return parseTree(data, r.idLength()/2)
}

// forget removes the side's loose objects, but for those that are still needed.
func (r *Repo) forget(but []string) error {
	keep := map[string]bool{}
	for _, id := range but {
		keep[id] = true
	}
	dirs, err := os.ReadDir(r.store())
	if err != nil {
		return err
	}
	for _, d := range dirs {
		if len(d.Name()) != 2 {
			continue
		}
		files, err := os.ReadDir(filepath.Join(r.store(), d.Name()))
		if err != nil {
			return err
		}
		for _, f := range files {
			if !keep[d.Name()+f.Name()] {
				_ = os.Remove(filepath.Join(r.store(), d.Name(), f.Name())) // or the next time
			}
		}
	}
	return nil
}

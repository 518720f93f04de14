package object

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/wfs-dev/wfs/gitstate/gitcmd"
	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/session"
)

// The contents of .keep files that wfs owns.
const (
	KeepMark  = "kept by wfs until a ref leads to it\n"
	KeepByGit = "kept by git for wfs" // until the pack is complete and wfs has marked it with KeepMark
)

// KeptPack is a pack with a .keep file, which git does not remove before LetGo.
type KeptPack struct {
	path string // without extension
	lock *durable.Lock
}

// KeepPack creates the .keep file of a pack, which may not exist yet, and locks it.
func KeepPack(path string) (*KeptPack, error) {
	// Write it under a temporary name: if wfs is killed before KeepMark is written, an empty .keep file would stay
	// forever.
	f, err := os.CreateTemp(filepath.Dir(path), TempOfMark+"*")
	if err != nil {
		return nil, err
	}
	name := f.Name()
	_ = f.Close()
	lock, err := durable.TryLock(name, []byte(KeepMark))
	if err != nil {
		_ = os.Remove(name)
		return nil, err
	}
	if err := os.Rename(name, path+".keep"); err != nil {
		_ = lock.Release()
		_ = os.Remove(name)
		return nil, err
	}
	return &KeptPack{path, lock}, nil
}

// LetGo removes the .keep file, so that git manages the pack again.
func (k *KeptPack) LetGo() {
	if k != nil {
		_ = k.lock.Release() // before the removal: some systems do not remove open files
		_ = os.Remove(k.path + ".keep")
	}
}

// keeping lists the packs that this process has stored and that no ref reaches yet.
type keeping struct {
	mu    sync.Mutex
	packs []*KeptPack
	ids   []string // of the objects in these packs
}

// Loose objects up to this total size (in bytes) and up to this number are copied into the pack of a turn.
const (
	maxTaken     = 32 << 20
	maxTakenMany = 4096
)

// errVanished means that objects disappeared right after they were stored, because git collected garbage at the same
// time. A retry may succeed.
var errVanished = errors.New("objects vanished while they were being saved: git gc is running at the same time")

// vanished reports whether an operation failed because objects disappeared.
func vanished(err error) bool {
	var git *gitcmd.GitError
	if !errors.As(err, &git) {
		return errors.Is(err, errVanished)
	}
	for _, sign := range []string{"invalid object ", "unable to read ", "missing blob", "missing tree",
		"did not receive expected object", "unpack-objects error", "error building trees"} {
		if strings.Contains(git.Stderr, sign) {
			return true
		}
	}
	// The other sign that objects disappeared: git wrote into a directory for loose objects that another git process
	// had just removed because it was empty.
	return strings.Contains(git.Stderr, "No such file or directory") &&
		(strings.Contains(git.Stderr, "unable to write file") ||
			strings.Contains(git.Stderr, "unable to create temporary file"))
}

// MaxTries limits the attempts of an operation that fails because objects disappear.
const MaxTries = 3

// WithTries calls do. If objects disappeared meanwhile, it calls it again, up to MaxTries times in all.
func WithTries[T any](ctx context.Context, do func() (T, error)) (v T, err error) {
	for try := 1; ; try++ {
		v, err = do()
		if !vanished(err) || try == MaxTries || ctx.Err() != nil {
			break
		}
	}
	if vanished(err) && !errors.Is(err, errVanished) {
		err = fmt.Errorf("%w: %w", errVanished, err)
	}
	return v, err
}

// TidyPacks removes files that killed wfs processes left in the pack directory: temporary files and .keep files that no
// process has locked, and packs without an index.
func (r *Packs) TidyPacks(dir string, files []os.DirEntry) {
	for _, f := range files {
		path := filepath.Join(dir, f.Name())
		begins := func(with string) bool { return strings.HasPrefix(f.Name(), with) }
		switch {
		case begins(TempOfRepack):
			r.removeOld(f, path)
		case strings.HasSuffix(path, ".keep"):
			r.tidyMark(f, path)
		case begins(TempOfPack), begins(TempOfIndex), begins(TempOfMark):
			if held, _, err := durable.Probe(path); err == nil && !held {
				_ = durable.RemoveUnheld(path)
			}
		}
	}
}

// tidyMark removes the .keep file of a killed wfs process. If the pack of that file has no index, it removes the pack,
// too.
func (r *Packs) tidyMark(f os.DirEntry, path string) {
	held, mark, err := durable.Probe(path)
	switch {
	case err != nil || held:
	case string(mark) == KeepByGit+"\n": // git may still be writing the pack
		r.removeOld(f, path)
	case string(mark) == KeepMark:
		pack := strings.TrimSuffix(path, ".keep")
		// Look for the index only now that the lock is known to be free, so that no process is still writing the pack.
		if _, err := os.Lstat(pack + ".idx"); gitcmd.Absent(err) {
			_ = os.Remove(pack + ".pack")
		}
		_ = durable.RemoveUnheld(path) // another process may have locked it meanwhile
	}
}

// removeOld removes a file of another process if it is more than an hour old.
func (r *Packs) removeOld(f os.DirEntry, path string) {
	if info, err := f.Info(); err == nil && r.Git.FileAge(info) > time.Hour {
		_ = os.Remove(path)
	}
}

// showKept publishes a pack, with a .keep file until LetGo.
func (r *Packs) showKept(p *NewPack, objects []Object) error {
	k, err := KeepPack(filepath.Join(p.Dir, p.Name))
	if err != nil {
		return err
	}
	if err := p.Show(); err != nil {
		k.LetGo()
		return err
	}
	r.keep(k, objects)
	return nil
}

func (r *Packs) keep(k *KeptPack, objects []Object) {
	r.keeping.mu.Lock()
	defer r.keeping.mu.Unlock()
	r.keeping.packs = append(r.keeping.packs, k)
	for _, o := range objects {
		r.keeping.ids = append(r.keeping.ids, o.ID)
	}
}

// LetGo removes the .keep files of the stored packs, so that git manages these packs again: either refs reach their
// objects (published), or the objects are no longer needed. If published, it also removes loose objects that the packs
// contain, like `git prune-packed`. Otherwise there would soon be so many that git collects garbage while the user
// waits.
func (r *Packs) LetGo(published bool) {
	r.keeping.mu.Lock()
	defer r.keeping.mu.Unlock()
	for _, k := range r.keeping.packs {
		k.LetGo()
	}
	ids := r.keeping.ids
	r.keeping.packs, r.keeping.ids = nil, nil
	if !published || len(ids) == 0 {
		return
	}
	for _, id := range ids {
		if path := r.loosePath(id); os.Remove(path) == nil {
			_ = os.Remove(filepath.Dir(path)) // if it is empty now
		}
	}
}

func (r *Packs) loosePath(id string) string {
	return filepath.Join(r.Git.CommonDir, "objects", id[:2], id[2:])
}

// along collects loose objects that wfs copies into a pack.
type along struct {
	repo    *Packs
	objects []Object
	size    int64
}

// take adds an object to t if it is loose and within the limits. It returns the object, and whether it was added.
func (t *along) take(id string) (Object, bool) {
	path := t.repo.loosePath(id)
	info, err := os.Lstat(path)
	if err != nil || t.size+info.Size() > maxTaken || len(t.objects) >= maxTakenMany {
		return Object{}, false
	}
	kind, data, err := looseObject(path)
	if err != nil || packTypes[kind] == 0 {
		return Object{}, false
	}
	o := t.repo.NewObject(kind, data)
	if t.size += int64(len(data)); o.ID != id || t.size > maxTaken {
		return Object{}, false
	}
	t.objects = append(t.objects, o)
	return o, true
}

// NewBlobs returns the loose blobs of those entries in `now` that differ from the index `before`.
func (r *Packs) NewBlobs(before, now *Index) []Object {
	t := along{repo: r}
	for _, c := range r.IndexChanges(before, now) {
		if c.NewMode != ModeNone && c.NewMode != ModeGitlink {
			t.take(c.NewID)
		}
	}
	return t.objects
}

// LooseBelow returns the loose objects among some trees and everything below them. It does not descend into packed
// trees: everything below them is packed, too, or was stored by another program.
func (r *Packs) LooseBelow(trees ...session.Tree) []Object {
	t, seen := along{repo: r}, map[string]bool{}
	var look func(id string)
	look = func(id string) {
		if id == "" || seen[id] {
			return
		}
		seen[id] = true
		o, ok := t.take(id)
		if !ok || o.Kind != "tree" {
			return
		}
		entries, err := parseTree(o.Data, r.IDLength()/2)
		if err != nil {
			return
		}
		for _, e := range entries {
			if e.Mode != ModeGitlink {
				look(e.ID)
			}
		}
	}
	for _, tree := range trees {
		look(string(tree))
	}
	return t.objects
}

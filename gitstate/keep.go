package gitstate

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

// Until a ref leads to it, what is new in the repository is garbage to git: `git repack -ad` removes packs of
// it, `git gc --prune=now` the loose objects as well, and a ref that then moves leads to nothing. Git leaves a
// pack alone that has a file .keep beside it (gitformat-pack(5)). So every pack of ours has one from before it
// can be seen until the refs have moved, and holds the blobs, too, that git has made as loose objects for it.
// The file is locked by whoever keeps the pack: one that nobody holds was left by a process that was killed.

const (
	keepMark  = "kept by wfs until a ref leads to it\n"
	keepByGit = "kept by git for wfs" // until the pack is there and keepMark takes its place
)

// keptPack is a pack that git leaves alone until it is let go of.
type keptPack struct {
	path string // without extension
	lock *durable.Lock
}

// keepPack keeps a pack, which need not be there yet.
func keepPack(path string) (*keptPack, error) {
	f, err := os.CreateTemp(filepath.Dir(path), tempOfMark+"*") // one that has no mark yet would stay after a kill
	if err != nil {
		return nil, err
	}
	name := f.Name()
	_ = f.Close()
	lock, err := durable.TryLock(name, []byte(keepMark))
	if err != nil {
		_ = os.Remove(name)
		return nil, err
	}
	if err := os.Rename(name, path+".keep"); err != nil {
		_ = lock.Release()
		_ = os.Remove(name)
		return nil, err
	}
	return &keptPack{path, lock}, nil
}

func (k *keptPack) letGo() {
	if k != nil {
		_ = k.lock.Release() // first: some systems do not remove what is open
		_ = os.Remove(k.path + ".keep")
	}
}

// tidy removes files that killed processes of ours left. The caller holds the work tree's lock. What cannot be removed
// now is removed another time.
func (r *Repo) tidy() {
	packs := filepath.Join(r.Git.CommonDir, "objects", "pack")
	if files, err := os.ReadDir(packs); err == nil {
		r.tidyPacks(packs, files)
	}
	if lock := r.Git.IndexPath() + ".lock"; gitcmd.OursByMark(lock) { // or the user's own git would be kept away until a turn
		_ = os.Remove(lock)
	}
	for _, private := range []string{"*.lock", filepath.Join("*", "*.lock")} { // of indexes, and in git directories
		locks, _ := filepath.Glob(filepath.Join(gitcmd.Globbed(r.Git.PrivateDir()), private))
		for _, path := range locks {
			_ = os.Remove(path)
		}
	}
	notes := filepath.Join(r.Git.StateDir(), "half-made") // see the registry, and phases
	// The latter two are everybody's.
	for dir, age := range map[string]time.Duration{r.Git.PrivateDir(): 0, r.Git.StateDir(): time.Hour, notes: time.Hour} {
		files, err := os.ReadDir(dir)
		if err != nil {
			continue
		}
		for _, f := range files {
			if !strings.HasPrefix(f.Name(), durable.TempPrefix) {
				continue
			}
			if info, err := f.Info(); err == nil && (age == 0 || r.Git.FileAge(info) > age) {
				_ = os.Remove(filepath.Join(dir, f.Name())) // not what is in a directory: wfs gc does that
			}
		}
	}
}

// tidyPacks removes what a killed process of ours left among the packs: temporary files and marks that nobody holds,
// and a pack that never came to have its index.
func (r *Repo) tidyPacks(dir string, files []os.DirEntry) {
	for _, f := range files {
		name, marked := strings.CutSuffix(f.Name(), ".keep")
		temp := strings.HasPrefix(f.Name(), tempOfPack) || strings.HasPrefix(f.Name(), tempOfIndex) ||
			strings.HasPrefix(f.Name(), tempOfMark)
		path := filepath.Join(dir, f.Name())
		if strings.HasPrefix(f.Name(), tempOfRepack) {
			if info, err := f.Info(); err == nil && r.Git.FileAge(info) > time.Hour {
				_ = os.Remove(path)
			}
		}
		if !marked && !temp {
			continue
		}
		held, mark, err := durable.Probe(path)
		if err != nil || held {
			continue
		}
		if marked && string(mark) == keepByGit+"\n" { // git may be at it
			if info, err := f.Info(); err == nil && r.Git.FileAge(info) > time.Hour {
				_ = os.Remove(path)
			}
			continue
		}
		if marked && string(mark) != keepMark {
			continue
		}
		if marked {
			// looked for only now: nobody is making it any more
			if _, err := os.Lstat(filepath.Join(dir, name+".idx")); gitcmd.Absent(err) {
				_ = os.Remove(filepath.Join(dir, name+".pack"))
			}
		}
		_ = durable.RemoveUnheld(path) // somebody may have made it just now
	}
}

// keeping is what this process has stored and refs do not lead to yet.
type keeping struct {
	mu    sync.Mutex
	packs []*keptPack
	ids   []string // of the objects in them
}

// showKept shows a pack that is kept until letGo.
func (r *Repo) showKept(p *newPack, objects []newObject) error {
	k, err := keepPack(filepath.Join(p.dir, p.name))
	if err != nil {
		return err
	}
	if err := p.show(); err != nil {
		k.letGo()
		return err
	}
	r.keep(k, objects)
	return nil
}

func (r *Repo) keep(k *keptPack, objects []newObject) {
	r.keeping.mu.Lock()
	defer r.keeping.mu.Unlock()
	r.keeping.packs = append(r.keeping.packs, k)
	for _, o := range objects {
		r.keeping.ids = append(r.keeping.ids, o.id)
	}
}

// letGo leaves everything that was stored to git, when refs lead to it or nobody wants it any more. published
// says that they do: then loose objects that are in a pack as well are removed in the background, as `git
// prune-packed` does it, so that they do not become so many that git begins to collect garbage while somebody
// waits.
func (r *Repo) letGo(published bool) {
	r.keeping.mu.Lock()
	defer r.keeping.mu.Unlock()
	for _, k := range r.keeping.packs {
		k.letGo()
	}
	ids := r.keeping.ids
	r.keeping.packs, r.keeping.ids = nil, nil
	if !published || len(ids) == 0 {
		return
	}
	for _, id := range ids {
		if path := r.loosePath(id); os.Remove(path) == nil {
			_ = os.Remove(filepath.Dir(path)) // if it was the last one there
		}
	}
}

func (r *Repo) loosePath(id string) string {
	return filepath.Join(r.Git.CommonDir, "objects", id[:2], id[2:])
}

// Loose objects up to this size and number, together, are taken into the pack of a turn.
const (
	maxTaken     = 32 << 20
	maxTakenMany = 4096
)

// along are loose objects that go into a pack of ours.
type along struct {
	repo    *Repo
	objects []newObject
	size    int64
}

// take takes an object along if it is loose, and reports whether it is and could be taken.
func (t *along) take(id string) (newObject, bool) {
	path := t.repo.loosePath(id)
	info, err := os.Lstat(path)
	if err != nil || t.size+info.Size() > maxTaken || len(t.objects) >= maxTakenMany {
		return newObject{}, false
	}
	kind, data, err := looseObject(path)
	if err != nil || packTypes[kind] == 0 {
		return newObject{}, false
	}
	o := t.repo.newObject(kind, data)
	if t.size += int64(len(data)); o.id != id || t.size > maxTaken {
		return newObject{}, false
	}
	t.objects = append(t.objects, o)
	return o, true
}

// newBlobs returns the loose blobs that an index names and the one before it does not, for the same paths.
func (r *Repo) newBlobs(before, now *index) []newObject {
	t := along{repo: r}
	for _, c := range r.indexChanges(before, now) {
		if c.newMode != modeNone && c.newMode != modeGitlink {
			t.take(c.newID)
		}
	}
	return t.objects
}

// looseBelow returns the loose objects among some trees and what is below them. What is in a pack has everything below
// it in packs, or is somebody else's.
func (r *Repo) looseBelow(trees ...session.Tree) []newObject {
	t, seen := along{repo: r}, map[string]bool{}
	var look func(id string)
	look = func(id string) {
		if id == "" || seen[id] {
			return
		}
		seen[id] = true
		o, ok := t.take(id)
		if !ok || o.kind != "tree" {
			return
		}
		entries, err := parseTree(o.data, r.Git.IDLength()/2)
		if err != nil {
			return
		}
		for _, e := range entries {
			if e.mode != modeGitlink {
				look(e.id)
			}
		}
	}
	for _, tree := range trees {
		look(string(tree))
	}
	return t.objects
}

// errVanished says that objects are gone that were just stored: somebody collects garbage. It is worth another try.
var errVanished = errors.New("objects vanished while they were being saved: git gc is running at the same time")

// vanished reports whether that is why something failed.
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
	// A directory of loose objects that was the last one's.
	return strings.Contains(git.Stderr, "No such file or directory") &&
		(strings.Contains(git.Stderr, "unable to write file") ||
			strings.Contains(git.Stderr, "unable to create temporary file"))
}

// maxTries is how often what failed because objects vanished is tried.
const maxTries = 3

// withTries calls what may fail in that way, some times if need be.
func withTries[T any](ctx context.Context, do func() (T, error)) (v T, err error) {
	for try := 1; ; try++ {
		v, err = do()
		if !vanished(err) || try == maxTries || ctx.Err() != nil {
			break
		}
	}
	if vanished(err) && !errors.Is(err, errVanished) {
		err = fmt.Errorf("%w: %w", errVanished, err)
	}
	return v, err
}

package backup

import (
	"context"
	"errors"
	"fmt"
	"hash"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/wfs-dev/wfs/gitstate/gitcmd"
	"github.com/wfs-dev/wfs/gitstate/object"
	"github.com/wfs-dev/wfs/gitstate/refs"
	"github.com/wfs-dev/wfs/internal/durable"
)

// Each auto-save leaves a pack, and holds in it all that is not in the repository otherwise; so the packs of
// those before it could go. But a pack is everybody's: git does not write again what it finds in one. So a pack
// goes only when nothing can have come to need it since it was made: it is not one of the newest, no ref,
// index, HEAD, reflog or commit-graph in the repository says anything else than then, and git has not looked up
// in it what it was about to write (it sets a pack's time when it does). A pack that does not meet this stays
// for good, as any other.

// autoPack is the pack of one auto-save.
type autoPack struct {
	name  string           // without extension
	stamp time.Time        // its time as we have set it
	sum   string           // of everything else, from before there was the pack
	kept  *object.KeptPack // until the ref leads to it
}

// makeAutoPack makes the pack of an auto-save, nil when git has to make it. Its time is one that nobody else
// would give it: git sets it anew when it finds in it what it was about to write.
func (r *AutoSaves) makeAutoPack(ctx context.Context, objects []object.Object) (*autoPack, error) {
	sum, err := r.everythingElse(ctx)
	if err != nil {
		return nil, err
	}
	objects = object.OnceEach(objects)
	stream, entries, err := r.Objects.Pack(objects)
	if err != nil {
		return nil, err
	}
	p := r.Objects.NewPack(objects, stream, entries, r.Objects.Promised())
	if p == nil {
		return nil, nil
	}
	stamp := time.Unix(0, int64(r.Git.FileTime())).Add(-10 * time.Second).Truncate(time.Second)
	kept, err := object.KeepPack(filepath.Join(p.Dir, p.Name))
	for _, path := range []string{p.TempPack, p.TempIndex} {
		err = errors.Join(err, os.Chtimes(path, stamp, stamp))
	}
	if err != nil {
		p.Discard()
	} else {
		err = p.Show()
	}
	if err != nil {
		kept.LetGo()
		return nil, err
	}
	return &autoPack{name: p.Name, stamp: stamp, sum: sum, kept: kept}, nil
}

// keptPacks is how many packs stay, the newest included: who has just read the ref may still read what it named.
const keptPacks = 2

// dropOldPacks removes the packs of auto-saves that others have replaced, as far as that is safe. It is tidiness: what
// goes wrong leaves a pack more.
func (r *AutoSaves) dropOldPacks(ctx context.Context) {
	if len(r.packs) <= keptPacks {
		return
	}
	sum, err := r.everythingElse(ctx)
	if err != nil {
		return
	}
	unlock, err := r.Objects.LockGC()
	if err != nil || unlock == nil {
		return
	}
	defer unlock()
	for len(r.packs) > keptPacks {
		old := r.packs[0]
		r.packs = r.packs[1:]
		if old.sum == sum {
			_ = r.dropPack(old)
		}
	}
}

// dropPack takes a pack away, and brings it back if git turns out to have needed it at the last moment. It leaves the
// store index first, so that nobody new finds anything in it; killed in between, putBack completes it.
func (r *AutoSaves) dropPack(p autoPack) error {
	from := filepath.Join(r.Git.CommonDir, "objects", "pack", p.name)
	to := filepath.Join(r.droppedDir(), p.name)
	if others, err := filepath.Glob(from + ".*"); err != nil || len(others) != 2 {
		return err // it was merged into another one, or somebody attached something to it
	}
	if err := os.Rename(from+".idx", to+".idx"); err != nil {
		return err
	}
	durable.Hit(durable.AutoDropping)
	if err := os.Rename(from+".pack", to+".pack"); err != nil {
		return errors.Join(err, os.Rename(to+".idx", from+".idx"))
	}
	info, err := os.Stat(to + ".pack")
	if err != nil || !info.ModTime().Equal(p.stamp) {
		return errors.Join(err, os.Rename(to+".pack", from+".pack"), os.Rename(to+".idx", from+".idx"))
	}
	return errors.Join(os.Remove(to+".pack"), os.Remove(to+".idx"))
}

// putBack brings an index back whose pack is still in the store: a process was killed between the two.
func (r *AutoSaves) putBack() error {
	store := filepath.Join(r.Git.CommonDir, "objects", "pack")
	left, err := os.ReadDir(r.droppedDir())
	if err != nil && !gitcmd.Absent(err) {
		return err
	}
	for _, f := range left {
		name, isIndex := strings.CutSuffix(f.Name(), ".idx")
		if !isIndex {
			continue
		}
		if _, err := os.Lstat(filepath.Join(store, name+".pack")); err != nil {
			continue
		}
		if err := os.Rename(filepath.Join(r.droppedDir(), f.Name()), filepath.Join(store, f.Name())); err != nil {
			return err
		}
	}
	return nil
}

// everythingElse is a sum of everything in the repository that could lead to an object, auto-saves apart: refs, and of
// each work tree HEAD, reflog and index.
func (r *AutoSaves) everythingElse(ctx context.Context) (string, error) {
	h := r.Objects.NewHash()
	out, err := r.Git.Ask(ctx, "for-each-ref", "--format=%(refname) %(objectname)")
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(string(out)) {
		name, _, _ := strings.Cut(line, " ")
		if !strings.HasPrefix(name, refs.RefsPrefix) || !strings.HasSuffix(name, "/auto") {
			h.Write([]byte(line))
		}
	}
	for _, graph := range []string{"commit-graph", "commit-graphs/commit-graph-chain"} { // which lists what was reachable
		if info, err := os.Stat(filepath.Join(r.Git.CommonDir, "objects", "info", filepath.FromSlash(graph))); err == nil {
			fmt.Fprintf(h, "%s %d %d\x00", graph, info.Size(), info.ModTime().UnixNano())
		}
	}
	linked, err := filepath.Glob(filepath.Join(gitcmd.Globbed(r.Git.CommonDir), "worktrees", "*"))
	if err != nil {
		return "", err
	}
	dirs := append(linked, r.Git.CommonDir)
	slices.Sort(dirs)
	for _, dir := range dirs {
		if err := r.addHead(h, dir); err != nil {
			return "", err
		}
	}
	return fmt.Sprintf("%x", h.Sum(nil)), nil
}

// addHead adds what of a work tree could lead to an object, by its git directory.
func (r *AutoSaves) addHead(h hash.Hash, dir string) error {
	head, err := gitcmd.ReadFile(filepath.Join(dir, "HEAD"))
	if err != nil && !gitcmd.Absent(err) {
		return err
	}
	index, err := r.indexSum(filepath.Join(dir, "index"))
	size := int64(0)
	if info, err := os.Stat(filepath.Join(dir, "logs", "HEAD")); err == nil {
		size = info.Size()
	}
	fmt.Fprintf(h, "%s\x00%s\x00%s %d\x00", dir, head, index, size)
	return err
}

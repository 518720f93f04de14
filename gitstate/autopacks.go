package gitstate

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/wfs-dev/wfs/internal/durable"
)

// Each auto-save leaves a pack, and holds in it all that is not in the repository otherwise; so the packs of those before
// it could go. But a pack is everybody's: git does not write again what it finds in one. So a pack goes only when
// nothing can have come to need it since it was made: it is not one of the newest, no ref, index, HEAD, reflog or
// commit-graph in the repository says anything else than then, and git has not looked up in it what it was about to write (it sets a pack's
// time when it does). A pack that does not meet this stays for good, as any other.

// autoPack is the pack of one auto-save.
type autoPack struct {
	name  string    // without extension
	stamp time.Time // its time as we have set it
	sum   string    // of everything else, from before there was the pack
	kept  *keptPack // until the ref leads to it
}

// keptPacks is how many packs stay, the newest included: who has just read the ref may still read what it named.
const keptPacks = 2

// dropOldPacks removes the packs of auto-saves that others have replaced, as far as that is safe. It is tidiness: what
// goes wrong leaves a pack more.
func (r *Repo) dropOldPacks(ctx context.Context) {
	a := &r.auto
	if len(a.packs) <= keptPacks || a.side == nil {
		return
	}
	sum, err := r.everythingElse(ctx)
	if err != nil {
		return
	}
	unlock, err := r.lockGC()
	if err != nil || unlock == nil {
		return
	}
	defer unlock()
	for len(a.packs) > keptPacks {
		old := a.packs[0]
		a.packs = a.packs[1:]
		if old.sum == sum {
			_ = r.dropPack(old)
		}
	}
}

// dropPack takes a pack away, and brings it back if git turns out to have needed it at the last moment. It leaves the
// store index first, so that nobody new finds anything in it; killed in between, putBack completes it.
func (r *Repo) dropPack(p autoPack) error {
	from := filepath.Join(r.commonDir, "objects", "pack", p.name)
	to := filepath.Join(droppedDir(r.auto.side.scratch), p.name)
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
func (r *Repo) putBack(dir string) error {
	store := filepath.Join(r.commonDir, "objects", "pack")
	left, err := os.ReadDir(droppedDir(dir))
	if err != nil && !absent(err) {
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
		if err := os.Rename(filepath.Join(droppedDir(dir), f.Name()), filepath.Join(store, f.Name())); err != nil {
			return err
		}
	}
	return nil
}

// lookAside shows the side what is in the repository's own store, but for packs of auto-saves that may go: nothing new may
// come to need what is in them. Where there are no symbolic links it sees everything, and more packs stay.
func (r *Repo) lookAside(side *Repo) error {
	store, view := filepath.Join(r.commonDir, "objects"), side.view()
	if err := durable.MkdirAll(filepath.Join(view, "pack")); err != nil {
		return err
	}
	for i := range 256 {
		name := fmt.Sprintf("%02x", i)
		if err := os.Symlink(filepath.Join(store, name), filepath.Join(view, name)); errors.Is(err, fs.ErrExist) {
			break // made the last time, as all others
		} else if err != nil {
			return err
		}
	}
	there, err := os.ReadDir(filepath.Join(store, "pack"))
	if err != nil && !absent(err) {
		return err
	}
	want := map[string]bool{}
	for _, f := range there {
		name, ext, _ := strings.Cut(f.Name(), ".")
		hidden := slices.ContainsFunc(r.auto.packs, func(p autoPack) bool { return p.name == name })
		want[f.Name()] = !hidden && (ext == "pack" || ext == "idx" || ext == "promisor")
	}
	seen, err := os.ReadDir(filepath.Join(view, "pack"))
	if err != nil {
		return err
	}
	for _, f := range seen {
		if !want[f.Name()] {
			err = errors.Join(err, os.Remove(filepath.Join(view, "pack", f.Name())))
		}
		delete(want, f.Name())
	}
	for name, wanted := range want {
		if wanted {
			err = errors.Join(err, os.Symlink(filepath.Join(store, "pack", name), filepath.Join(view, "pack", name)))
		}
	}
	return err
}

// everythingElse is a sum of everything in the repository that could lead to an object, auto-saves apart: refs, and of
// each work tree HEAD, reflog and index.
func (r *Repo) everythingElse(ctx context.Context) (string, error) {
	h := r.newHash()
	out, err := r.git(ctx, gitOpts{}, "for-each-ref", "--format=%(refname) %(objectname)")
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(string(out)) {
		name, _, _ := strings.Cut(line, " ")
		if !strings.HasPrefix(name, refsPrefix) || !strings.HasSuffix(name, "/auto") {
			h.Write([]byte(line))
		}
	}
	for _, graph := range []string{"commit-graph", "commit-graphs/commit-graph-chain"} { // which lists what was reachable
		if info, err := os.Stat(filepath.Join(r.commonDir, "objects", "info", filepath.FromSlash(graph))); err == nil {
			fmt.Fprintf(h, "%s %d %d\x00", graph, info.Size(), info.ModTime().UnixNano())
		}
	}
	linked, err := filepath.Glob(filepath.Join(globQuote(r.commonDir), "worktrees", "*"))
	if err != nil {
		return "", err
	}
	dirs := append(linked, r.commonDir)
	slices.Sort(dirs)
	for _, dir := range dirs {
		head, err := readFile(filepath.Join(dir, "HEAD"))
		if err != nil && !absent(err) {
			return "", err
		}
		index, err := r.indexSum(filepath.Join(dir, "index"))
		if err != nil {
			return "", err
		}
		size := int64(0)
		if info, err := os.Stat(filepath.Join(dir, "logs", "HEAD")); err == nil {
			size = info.Size()
		}
		fmt.Fprintf(h, "%s\x00%s\x00%s %d\x00", dir, head, index, size)
	}
	return fmt.Sprintf("%x", h.Sum(nil)), nil
}

func globQuote(path string) string {
	if filepath.Separator != '/' {
		return path
	}
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}

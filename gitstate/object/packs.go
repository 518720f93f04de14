package object

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/wfs-dev/wfs/gitstate/gitcmd"
	"github.com/wfs-dev/wfs/internal/durable"
)

// Packs are what stores objects: each turn makes a pack of its own.
type Packs struct {
	Format
	Git     *gitcmd.Git
	keeping keeping
}

// WriteObjects stores objects durably, and refuses any that points at something missing.
func (r *Packs) WriteObjects(ctx context.Context, objects ...Object) error {
	if objects = OnceEach(objects); len(objects) == 0 {
		return nil
	}
	stream, entries, err := r.Pack(objects)
	if err != nil {
		return err
	}
	loose := r.Promised() // what they point at may be missing: see complete
	if r.writePack(objects, stream, entries, loose) {
		return nil
	}
	strict := []string{"--strict"}
	if loose {
		strict = nil
	}
	o := gitcmd.Opts{Write: true, Stdin: stream}
	out, err := r.Git.Run(ctx, o, append([]string{"index-pack", "--stdin", "--keep=" + KeepByGit}, strict...)...)
	if err != nil {
		return err
	}
	dir := filepath.Join(r.Git.CommonDir, "objects", "pack")
	name, _ := strings.CutPrefix(strings.TrimSpace(string(out)), "keep\t")
	if k, err := KeepPack(filepath.Join(dir, "pack-"+name)); err == nil {
		r.keep(k, objects)
	}
	return durable.SyncDir(dir) // git syncs the files alone
}

// writePack writes a pack without a git process. It reports false when it did not: git then says better what
// keeps us from it, and what is missing.
func (r *Packs) writePack(objects []Object, stream []byte, entries []PackEntry, loose bool) bool {
	p := r.NewPack(objects, stream, entries, loose)
	return p != nil && r.showKept(p, objects) == nil
}

// NewPack makes a pack without a git process, nil when git has to make it. Unless they are loose, what the
// objects point at has to be there.
func (r *Packs) NewPack(objects []Object, stream []byte, entries []PackEntry, loose bool) *NewPack {
	links, err := r.linksOf(objects)
	if err != nil || !r.Git.ReadsDirectly() || len(stream) > maxDirectPack || !loose && !r.has(links) {
		return nil
	}
	p, err := r.storePack(stream, entries)
	if err != nil {
		return nil
	}
	return p
}

// storePack writes a pack and its index durably.
func (r *Packs) storePack(pack []byte, entries []PackEntry) (p *NewPack, err error) {
	dir := filepath.Join(r.Git.CommonDir, "objects", "pack")
	info, err := os.Stat(dir)
	if err != nil {
		return nil, err
	}
	perm := info.Mode().Perm() & 0o444 // whoever may look into the directory may read what is in it
	p = &NewPack{Dir: dir, Name: r.packName(pack[len(pack)-r.IDLength()/2:])}
	index := r.packIndex(pack, entries)
	var both sync.WaitGroup
	var err1, err2 error
	both.Go(func() { p.TempPack, p.locks[0], err1 = writeTemp(dir, TempOfPack, pack, perm) })
	p.TempIndex, p.locks[1], err2 = writeTemp(dir, TempOfIndex, index, perm)
	both.Wait()
	if err := errors.Join(err1, err2); err != nil {
		p.Discard()
		return nil, err
	}
	return p, nil
}

// Packs returns the paths of the repository's packs, without their extension.
func (r *Packs) PackFiles() ([]string, error) {
	return packsIn(filepath.Join(r.Git.CommonDir, "objects", "pack"))
}

// Promised reports whether the repository is a partial clone: it has got packs from a remote that has promised to keep
// what they name and do not hold. Such objects may be missing, and to ask git about one is to fetch it.
func (r *Packs) Promised() bool {
	files, err := filepath.Glob(filepath.Join(r.Git.CommonDir, "objects", "pack", "*.promisor"))
	return err == nil && len(files) > 0
}

func packsIn(dir string) ([]string, error) {
	files, err := os.ReadDir(dir)
	if err != nil && !gitcmd.Absent(err) {
		return nil, err
	}
	var packs []string
	for _, f := range files {
		if name, ok := strings.CutSuffix(f.Name(), ".pack"); ok {
			packs = append(packs, filepath.Join(dir, name))
		}
	}
	return packs, nil
}

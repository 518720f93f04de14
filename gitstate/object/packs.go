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

// Packs stores objects in packs. Each turn adds one pack.
type Packs struct {
	Format
	Git     *gitcmd.Git
	keeping keeping
}

// WriteObjects stores objects durably. It returns an error if one of them points to a missing object.
func (r *Packs) WriteObjects(ctx context.Context, objects ...Object) error {
	if objects = OnceEach(objects); len(objects) == 0 {
		return nil
	}
	stream, entries, err := r.Pack(objects)
	if err != nil {
		return err
	}
	loose := r.Promised() // in a partial clone, objects that the new ones point to may be missing
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
	return durable.SyncDir(dir) // git syncs only the files
}

// writePack writes a pack without a git process. It returns false if it could not; then the caller runs git, which
// reports better errors and finds missing objects.
func (r *Packs) writePack(objects []Object, stream []byte, entries []PackEntry, loose bool) bool {
	p := r.NewPack(objects, stream, entries, loose)
	return p != nil && r.showKept(p, objects) == nil
}

// NewPack writes a pack without a git process. It returns nil if git has to do it. Unless `loose` is true, all objects
// to which the given objects point must exist.
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

// storePack writes a pack and its index durably, with temporary names.
func (r *Packs) storePack(pack []byte, entries []PackEntry) (p *NewPack, err error) {
	dir := filepath.Join(r.Git.CommonDir, "objects", "pack")
	info, err := os.Stat(dir)
	if err != nil {
		return nil, err
	}
	perm := info.Mode().Perm() & 0o444 // a user who can read the directory can read its files
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

// PackFiles returns the paths of the repository's packs, without extension.
func (r *Packs) PackFiles() ([]string, error) {
	return packsIn(filepath.Join(r.Git.CommonDir, "objects", "pack"))
}

// Promised reports whether the repository is a partial clone: objects to which its packs point may be missing, because
// a remote has promised to provide them. A query to git about such an object already fetches it.
func (r *Packs) Promised() bool {
	files, err := filepath.Glob(filepath.Join(r.Git.CommonDir, "objects", "pack", "*.promisor"))
	return err == nil && len(files) > 0
}

// packsIn returns the paths of the packs in a directory, without extension.
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

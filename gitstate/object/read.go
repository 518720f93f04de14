package object

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"

	"github.com/go-git/go-billy/v5/osfs"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/idxfile"
	"github.com/go-git/go-git/v5/plumbing/format/objfile"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"

	"github.com/wfs-dev/wfs/gitstate/gitcmd"
)

// ErrNoObject is the error for an object that the repository does not have.
var ErrNoObject = errors.New("no such object")

// reader reads objects without git, and keeps the packs open. The zero value is ready.
type reader struct {
	mu     sync.Mutex // go-git's packs are not safe for concurrent use
	packs  []*openPack
	listed bool // packs has all packs of the repository
}

// Read returns an object's kind ("commit", "tree", "blob", "tag") and content. The error wraps ErrNoObject if there is
// no such object.
func (r *Store) Read(ctx context.Context, id string) (kind string, data []byte, err error) {
	if len(id) != r.IDLength() || !gitcmd.IsHex(id) {
		return "", nil, fmt.Errorf("%q is not an object id", id)
	}
	if r.Git.ReadsDirectly() {
		// A gc or repack may have replaced the open packs. After a failure, list the packs again and retry once.
		for range 2 {
			if kind, data, err = r.reader.object(r.Git.CommonDir, id); err == nil && r.NewObject(kind, data).ID == id {
				return kind, data, nil
			}
		}
	}
	got, err := r.Lookup(ctx, id)
	if err != nil {
		return "", nil, err
	}
	if kind, data = got[0].Kind, got[0].Data; got[0].id == "" {
		return "", nil, fmt.Errorf("%s: %w", id, ErrNoObject)
	}
	// Neither git nor go-git checks that the content of a loose object matches its id.
	if err == nil && r.NewObject(kind, data).ID != id {
		return "", nil, fmt.Errorf("object %s is damaged", id)
	}
	return kind, data, err
}

// object reads an object with go-git. After an error, the next call opens the packs again.
func (rd *reader) object(commonDir, id string) (kind string, data []byte, err error) {
	rd.mu.Lock()
	defer rd.mu.Unlock()
	defer func() {
		if err != nil {
			rd.forget()
		}
	}()
	objects := filepath.Join(commonDir, "objects")
	if kind, data, err = looseObject(filepath.Join(objects, id[:2], id[2:])); !gitcmd.Absent(err) {
		return kind, data, err
	}
	if !rd.listed {
		if err := rd.list(filepath.Join(objects, "pack")); err != nil {
			return "", nil, err
		}
	}
	hash := plumbing.NewHash(id)
	for _, p := range rd.packs {
		if p.index.has(hash[:]) {
			return p.object(hash)
		}
	}
	return "", nil, fmt.Errorf("%s: %w", id, ErrNoObject)
}

func (rd *reader) list(dir string) error {
	packs, err := packsIn(dir)
	if err != nil {
		return err
	}
	for _, path := range packs {
		index := openPackIndex(path+".idx", len(plumbing.ZeroHash))
		if index == nil {
			return fmt.Errorf("%s.idx cannot be read", path)
		}
		rd.packs = append(rd.packs, &openPack{path: path, index: index})
	}
	rd.listed = true
	return nil
}

func (rd *reader) forget() {
	for _, p := range rd.packs {
		p.index.Close()
		if p.pack != nil {
			p.pack.Close()
		}
	}
	rd.packs, rd.listed = nil, false
}

// looseKind returns the kind of a loose object, or "" if the file does not exist or does not begin like an object:
// after a power cut it may be empty.
func looseKind(path string) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	o, err := objfile.NewReader(f)
	if err != nil {
		return ""
	}
	defer o.Close()
	kind, _, err := o.Header()
	if err != nil {
		return ""
	}
	return kind.String()
}

// looseObject reads the file of a loose object.
func looseObject(path string) (kind string, data []byte, err error) {
	f, err := os.Open(path)
	if err != nil {
		return "", nil, err
	}
	defer f.Close()
	o, err := objfile.NewReader(f)
	if err != nil {
		return "", nil, err
	}
	defer o.Close()
	t, _, err := o.Header()
	if err != nil {
		return "", nil, err
	}
	data, err = io.ReadAll(o)
	return t.String(), data, err
}

// openPack is a pack in which objects are looked up. The pack file itself is opened when the first object is read from
// it.
type openPack struct {
	path  string // without extension
	index *packIndexFile
	pack  *packfile.Packfile
}

func (p *openPack) object(hash plumbing.Hash) (kind string, data []byte, err error) {
	if p.pack == nil {
		if err := p.open(); err != nil {
			return "", nil, err
		}
	}
	o, err := p.pack.Get(hash)
	if err != nil {
		return "", nil, err
	}
	content, err := o.Reader()
	if err != nil {
		return "", nil, err
	}
	data, err = io.ReadAll(content)
	return o.Type().String(), data, Join(err, content.Close())
}

func (p *openPack) open() error {
	f, err := osfs.New(filepath.Dir(p.path)).Open(filepath.Base(p.path) + ".pack")
	if err != nil {
		return err
	}
	p.pack = packfile.NewPackfile(packOffsets{index: p.index}, nil, f, 0)
	return nil
}

// packOffsets gives go-git the mapped index of a pack: go-git's own index would read the whole file before it finds the
// first object. To read an object, go-git calls only the two methods below.
type packOffsets struct {
	idxfile.Index // nil: its methods are never called
	index         *packIndexFile
}

func (p packOffsets) FindOffset(id plumbing.Hash) (int64, error) {
	if at, ok := p.index.offset(id[:]); ok {
		return at, nil
	}
	return 0, plumbing.ErrObjectNotFound
}

// FindHash returns the zero id. go-git asks for the id of a delta's base in order to find it in a cache, which then has
// none.
func (p packOffsets) FindHash(int64) (plumbing.Hash, error) { return plumbing.ZeroHash, nil }

// Join returns errors.Join of two errors, but if only one is not nil, that error itself.
func Join(a, b error) error {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	return errors.Join(a, b)
}

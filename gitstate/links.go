package gitstate

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/zlib"
	"context"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"sync"
)

// Git takes any commit for granted whose id it is given, with or without the files that it names. So before a ref may
// move, everything that new objects point at is looked for, as `git index-pack --strict` does it.

// linksOf returns what objects point at and do not hold themselves: ids and the kinds that they must have. Commits of
// submodules are in other repositories.
func (r *Repo) linksOf(objects []newObject) (map[string]string, error) {
	links := map[string]string{}
	for _, o := range objects {
		switch o.kind {
		case "tree":
			entries, err := parseTree(o.data, r.idLength()/2)
			if err != nil {
				return nil, fmt.Errorf("tree %s: %w", o.id, err)
			}
			for _, e := range entries {
				switch e.mode {
				case modeGitlink:
				case modeTree:
					links[e.id] = "tree"
				default:
					links[e.id] = "blob"
				}
			}
		case "commit":
			info, err := parseCommit(o.data)
			if err != nil {
				return nil, fmt.Errorf("commit %s: %w", o.id, err)
			}
			links[string(info.Tree)] = "tree"
			for _, p := range info.Parents {
				links[string(p)] = "commit"
			}
		}
	}
	for _, o := range objects {
		if links[o.id] == o.kind {
			delete(links, o.id)
		}
	}
	return links, nil
}

// has reports whether all of these objects, of a kind or of any (""), are in the repository's own store. It is sure of a
// yes; a no may also mean that they are where it does not look: git is to be asked then.
func (r *Repo) has(links map[string]string) bool {
	packs, err := r.packs()
	if err != nil {
		return false
	}
	open, end := r.openPackIndexes(packs)
	defer end()
	// Most of what a tree holds is in the largest pack, and what changed lately in files of its own.
	slices.SortFunc(open, func(a, b *packIndexFile) int { return cmp.Compare(b.count(), a.count()) })
	loose := looseReader{dir: filepath.Join(r.commonDir, "objects")}
	for id, kind := range links {
		key, err := hex.DecodeString(id)
		if err != nil || len(key) != r.idLength()/2 {
			return false
		}
		found := len(open) > 0 && open[0].has(key)
		if !found {
			k := loose.kind(id)
			found = k != "" && (k == kind || kind == "")
		}
		for i := 1; i < len(open) && !found; i++ {
			found = open[i].has(key)
		}
		if !found {
			return false
		}
	}
	return true
}

// complete looks for what objects point at. Git itself may have failed to store that and not said so, see verify.
//
// In a partial clone, what was in the index before may be missing; old is that index, nil when only git can read it.
func (r *Repo) complete(ctx context.Context, objects []newObject, old *index) error {
	links, err := r.linksOf(objects)
	if err != nil || r.has(links) {
		return err
	}
	if r.promised() {
		if links = newLinks(links, old); r.has(links) {
			return nil
		}
	}
	ids := slices.Sorted(maps.Keys(links))
	out, err := r.git(ctx, gitOpts{stdin: []byte(strings.Join(ids, "\n") + "\n")}, "cat-file", "--batch-check")
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(out)) {
		if id, missing := strings.CutSuffix(strings.TrimSpace(line), " missing"); missing {
			return fmt.Errorf("git did not store %s %s, and did not say why: %w", links[id], id, errVanished)
		}
	}
	return nil
}

// newLinks returns those links that an index did not have. Without one it is not known which are new, and none is
// looked for: that would be to fetch all that is missing.
func newLinks(links map[string]string, old *index) map[string]string {
	if old == nil {
		return nil
	}
	had := map[string]bool{}
	for _, e := range old.entries {
		had[hex.EncodeToString(e.id)] = true
	}
	links = maps.Clone(links)
	maps.DeleteFunc(links, func(id, kind string) bool { return had[id] || kind == "tree" }) // trees that git knew before
	return links
}

// packIndexFile is the index of one pack, version 2 of gitformat-pack(5).
type packIndexFile struct {
	f      *os.File
	idSize int
	fanout [256]uint32   // number of ids whose first byte is not larger
	table  func() []byte // all of its ids, in order; nil when they are too many, or cannot be read
}

// maxTable is the size of a table of ids, in bytes, that is read at once: the trees of one turn point at hundreds of
// objects, and each would cost two or three reads.
const maxTable = 2 << 20

func (p *packIndexFile) count() uint32 { return p.fanout[255] }

const packIndexHead = 4 + 4 + 256*4 // magic, version, fanout

// openPackIndexes opens the indexes of packs, given without extension, as far as they can be read, and returns what
// closes them.
func (r *Repo) openPackIndexes(packs []string) (open []*packIndexFile, end func()) {
	for _, path := range packs {
		if p := openPackIndex(path+".idx", r.idLength()/2); p != nil {
			open = append(open, p)
		}
	}
	return open, func() {
		for _, p := range open {
			p.f.Close()
		}
	}
}

// openPackIndex returns nil for what cannot be read.
func openPackIndex(path string, idSize int) *packIndexFile {
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	p := &packIndexFile{f: f, idSize: idSize}
	var head [packIndexHead]byte
	if _, err := io.ReadFull(f, head[:]); err == nil && string(head[:8]) == packIndexMagic+"\x00\x00\x00\x02" {
		ok := true
		for i := range p.fanout {
			p.fanout[i] = binary.BigEndian.Uint32(head[8+4*i:])
			ok = ok && (i == 0 || p.fanout[i-1] <= p.fanout[i])
		}
		if ok {
			p.table = sync.OnceValue(p.readTable)
			return p
		}
	}
	f.Close()
	return nil
}

func (p *packIndexFile) readTable() []byte {
	size := int64(p.count()) * int64(p.idSize)
	if size > maxTable {
		return nil
	}
	table := make([]byte, size)
	if _, err := p.f.ReadAt(table, packIndexHead); err != nil {
		return nil
	}
	return table
}

// has looks an id up. The ids are sorted: a range of them is halved until it fits into one read.
func (p *packIndexFile) has(id []byte) bool {
	const oneRead = 4096
	low, high := int64(0), int64(p.fanout[id[0]])
	if id[0] > 0 {
		low = int64(p.fanout[id[0]-1])
	}
	size := int64(p.idSize)
	if table := p.table(); table != nil {
		i := sort.Search(int(high-low), func(i int) bool {
			at := (low + int64(i)) * size
			return bytes.Compare(table[at:at+size], id) >= 0
		})
		at := (low + int64(i)) * size
		return low+int64(i) < high && bytes.Equal(table[at:at+size], id)
	}
	var buf [oneRead]byte
	for (high-low)*size > oneRead {
		middle := low + (high-low)/2
		if _, err := p.f.ReadAt(buf[:size], packIndexHead+middle*size); err != nil {
			return false
		}
		if bytes.Compare(buf[:size], id) <= 0 {
			low = middle
		} else {
			high = middle
		}
	}
	ids := buf[:(high-low)*size]
	if _, err := p.f.ReadAt(ids, packIndexHead+low*size); err != nil {
		return false
	}
	for ; len(ids) > 0; ids = ids[size:] {
		if bytes.Equal(ids[:size], id) {
			return true
		}
	}
	return false
}

// looseReader reads the beginning of objects that are files of their own.
type looseReader struct {
	dir string
	in  bufio.Reader
	z   io.ReadCloser
}

// kind returns an object's kind, "" when there is no such file or it does not begin as an object does: a power cut may
// have left it empty.
func (l *looseReader) kind(id string) string {
	f, err := os.Open(filepath.Join(l.dir, id[:2], id[2:]))
	if err != nil {
		return ""
	}
	defer f.Close()
	l.in.Reset(f)
	if l.z == nil {
		l.z, err = zlib.NewReader(&l.in)
	} else {
		err = l.z.(zlib.Resetter).Reset(&l.in, nil)
	}
	if err != nil {
		return ""
	}
	var head [32]byte // "commit " and a number of at most 20 digits fit
	n, _ := io.ReadFull(l.z, head[:])
	kind, rest, ok := strings.Cut(string(head[:n]), " ")
	if size, _, whole := strings.Cut(rest, "\x00"); !ok || !whole || size == "" || strings.Trim(size, "0123456789") != "" {
		return ""
	}
	return kind
}

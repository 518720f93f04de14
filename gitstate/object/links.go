package object

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"maps"
	"os"
	"slices"
	"sort"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/wfs-dev/wfs/gitstate/gitcmd"
)

// If a repository has a commit, git assumes that everything below the commit exists. So before a ref moves, wfs checks
// that all objects to which new objects point (their links) exist, as `git index-pack --strict` does.

// newLinks returns the links to blobs and commits that the index `old` did not have. If `old` is nil, it returns none:
// it cannot tell which links are new, and a check of all links would fetch every missing object.
func newLinks(links map[string]string, old *Index) map[string]string {
	if old == nil {
		return nil
	}
	had := map[string]bool{}
	for _, e := range old.Entries {
		had[hex.EncodeToString(e.ID)] = true
	}
	links = maps.Clone(links)
	// A tree that is not among the new objects was known to git before.
	maps.DeleteFunc(links, func(id, kind string) bool { return had[id] || kind == "tree" })
	return links
}

// packIndexFile is the index of one pack, version 2 of gitformat-pack(5), mapped into memory.
type packIndexFile struct {
	data   []byte
	idSize int
}

const packIndexHead = 4 + 4 + 256*4 // magic, version, fanout

// openPackIndex opens the index of a pack. It returns nil if it cannot read the file.
func openPackIndex(path string, idSize int) *packIndexFile {
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || info.Size() < packIndexHead {
		return nil
	}
	data, err := unix.Mmap(int(f.Fd()), 0, int(info.Size()), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return nil
	}
	p := &packIndexFile{data, idSize}
	ok := string(data[:8]) == packIndexMagic+"\x00\x00\x00\x02" && len(data) >= packIndexHead+p.count()*(idSize+4+4)
	for i := 1; i < 256 && ok; i++ {
		ok = p.fanout(i-1) <= p.fanout(i)
	}
	if !ok {
		p.Close()
		return nil
	}
	return p
}

func (p *packIndexFile) Close() { _ = unix.Munmap(p.data) }

// fanout returns how many ids of the index have a first byte of at most `first`.
func (p *packIndexFile) fanout(first int) int {
	return int(binary.BigEndian.Uint32(p.data[8+4*first:]))
}

func (p *packIndexFile) count() int { return p.fanout(255) }

// find returns the position of an id in the sorted list of ids, -1 if the index does not have it.
func (p *packIndexFile) find(id []byte) int {
	low, high := 0, p.fanout(int(id[0]))
	if id[0] > 0 {
		low = p.fanout(int(id[0]) - 1)
	}
	at := func(i int) []byte {
		start := packIndexHead + i*p.idSize
		return p.data[start : start+p.idSize]
	}
	i := low + sort.Search(high-low, func(i int) bool { return bytes.Compare(at(low+i), id) >= 0 })
	if i < high && bytes.Equal(at(i), id) {
		return i
	}
	return -1
}

func (p *packIndexFile) has(id []byte) bool { return p.find(id) >= 0 }

// offset returns where an object begins in the pack. It returns false if the index has no valid offset for the id.
func (p *packIndexFile) offset(id []byte) (int64, bool) {
	i := p.find(id)
	if i < 0 {
		return 0, false
	}
	offsets := p.data[packIndexHead+p.count()*(p.idSize+4):] // after the ids and a checksum for each
	at := binary.BigEndian.Uint32(offsets[4*i:])
	if at>>31 == 0 {
		return int64(at), true
	}
	far := 4*p.count() + 8*int(at&^(1<<31)) // offsets of more than 31 bits are in another table
	if far+8 > len(offsets) {
		return 0, false
	}
	return int64(binary.BigEndian.Uint64(offsets[far:])), true
}

// linksOf returns the objects to which the given objects point, as a map from their ids to their kinds. It omits the
// given objects themselves, and submodules, whose commits are in other repositories.
func (r Format) linksOf(objects []Object) (map[string]string, error) {
	links := map[string]string{}
	for _, o := range objects {
		switch o.Kind {
		case "tree":
			entries, err := parseTree(o.Data, r.IDLength()/2)
			if err != nil {
				return nil, fmt.Errorf("tree %s: %w", o.ID, err)
			}
			for _, e := range entries {
				switch e.Mode {
				case ModeGitlink:
				case ModeTree:
					links[e.ID] = "tree"
				default:
					links[e.ID] = "blob"
				}
			}
		case "commit":
			info, err := parseCommit(o.Data)
			if err != nil {
				return nil, fmt.Errorf("commit %s: %w", o.ID, err)
			}
			links[string(info.Tree)] = "tree"
			for _, p := range info.Parents {
				links[string(p)] = "commit"
			}
		}
	}
	for _, o := range objects {
		if links[o.ID] == o.Kind {
			delete(links, o.ID)
		}
	}
	return links, nil
}

// has reports whether all of these objects exist in the repository's own store, with the given kind ("" for any kind;
// the kind of packed objects is not checked). The answer true is certain. After false, the caller asks git, which also
// looks in other places.
func (r *Packs) has(links map[string]string) bool {
	packs, err := r.PackFiles()
	if err != nil {
		return false
	}
	open, end := r.openPackIndexes(packs)
	defer end()
	// Search in this order: most objects are in the largest pack, and recently changed ones in loose files.
	slices.SortFunc(open, func(a, b *packIndexFile) int { return cmp.Compare(b.count(), a.count()) })
	for id, kind := range links {
		key, err := hex.DecodeString(id)
		if err != nil || len(key) != r.IDLength()/2 {
			return false
		}
		found := len(open) > 0 && open[0].has(key)
		if !found {
			k := looseKind(r.loosePath(id))
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

// Complete returns an error if an object is missing to which the given objects point: git may have failed to store it
// without an error.
//
// In a partial clone, objects that the earlier index lists may be missing, so Complete does not check these. `old` is
// that index, nil if only git can read it.
func (r *Packs) Complete(ctx context.Context, objects []Object, old *Index) error {
	links, err := r.linksOf(objects)
	if err != nil || r.has(links) {
		return err
	}
	if r.Promised() {
		if links = newLinks(links, old); r.has(links) {
			return nil
		}
	}
	ids := slices.Sorted(maps.Keys(links))
	out, err := r.Git.Run(ctx, gitcmd.Opts{Stdin: []byte(strings.Join(ids, "\n") + "\n")}, "cat-file", "--batch-check")
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

// openPackIndexes opens the indexes of packs, and skips those that it cannot read. packs are paths without extension.
// The caller calls end to close the indexes.
func (r *Packs) openPackIndexes(packs []string) (open []*packIndexFile, end func()) {
	for _, path := range packs {
		if p := openPackIndex(path+".idx", r.IDLength()/2); p != nil {
			open = append(open, p)
		}
	}
	return open, func() {
		for _, p := range open {
			p.Close()
		}
	}
}

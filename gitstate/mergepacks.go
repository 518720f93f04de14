package gitstate

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/wfs-dev/wfs/internal/durable"
)

// Every turn leaves a pack, and every git command looks into every pack. Git merges them in `git gc --auto`, from
// gc.autoPackLimit (50) on, while somebody waits for it; so they are merged here before it comes to that.
const (
	mergeFrom  = 16       // small packs that are there before any are merged
	maxSmall   = 16 << 20 // bytes up to which a pack is small
	maxObjects = 1 << 20  // in a merged pack
)

// mergePacks makes one pack of many small ones, and removes those once it is durable. Git's own processes may be at
// work: an object that is no longer where they saw it they look for anew, as they do when `git gc` has run. What cannot
// be merged stays as it is.
func (r *Repo) mergePacks() error {
	dir := filepath.Join(r.commonDir, "objects", "pack")
	if due, err := r.mergeDue(dir); err != nil || !due {
		return err
	}
	unlock, err := r.lockGC()
	if err != nil || unlock == nil {
		return err
	}
	defer unlock()
	small, err := r.smallPacks(dir)
	if err != nil || len(small) < mergeFrom {
		return err
	}
	small = outgrown(small)
	var whole []string
	var parts []packedPart
	for _, p := range small {
		if part, ok := r.readPack(p.path); ok {
			whole, parts = append(whole, p.path), append(parts, part)
		}
	}
	if len(whole) < 2 {
		return nil
	}
	stream, entries := r.mergeParts(parts)
	made, err := r.storePack(stream, entries)
	if err != nil {
		return err
	}
	kept, err := keepPack(filepath.Join(made.dir, made.name))
	if err != nil {
		made.discard()
		return err
	}
	defer kept.letGo()
	if err := made.show(); err != nil {
		return err
	}
	durable.Hit(durable.PacksMerged)
	var failed error
	// Git takes no notice of an index without a pack, and does without what it keeps beside one to find offsets faster.
	for _, ext := range []string{".rev", ".pack", ".idx"} {
		for _, path := range whole {
			failed = errors.Join(failed, ignoreAbsent(os.Remove(path+ext)))
		}
		durable.Hit(durable.PacksRemoved)
	}
	return failed
}

func ignoreAbsent(err error) error {
	if absent(err) {
		return nil
	}
	return err
}

// mergeDue reports whether there are many packs, or traces of a merge that was killed.
func (r *Repo) mergeDue(dir string) (bool, error) {
	files, err := os.ReadDir(dir)
	if err != nil {
		return false, ignoreAbsent(err)
	}
	r.tidyPacks(dir, files)
	packs, indexes := 0, 0
	for _, f := range files {
		switch filepath.Ext(f.Name()) {
		case ".pack":
			packs++
		case ".idx":
			indexes++
		}
	}
	if _, ours := r.readGC(); packs < mergeFrom && indexes <= packs && !ours {
		return false, nil
	}
	// This forbids to remove any, and git gc obeys it as well.
	config, err := readFile(filepath.Join(r.commonDir, "config"))
	return err == nil && !strings.Contains(strings.ToLower(string(config)), "preciousobjects"), err
}

// gcPatience is for how long git believes a gc.pid.
const gcPatience = 12 * time.Hour

func (r *Repo) gcPath() string { return filepath.Join(r.commonDir, "gc.pid") }

// lockGC keeps `git gc` away, as another `git gc` would, and other wfs. It returns nil when one of them is at work.
func (r *Repo) lockGC() (unlock func(), err error) {
	if err := durable.MkdirAll(r.StateDir()); err != nil {
		return nil, err
	}
	lock, err := durable.TryLock(filepath.Join(r.StateDir(), "packs.lock"), nil)
	if errors.Is(err, durable.ErrLocked) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	for _, theirs := range []string{r.gcPath() + ".lock", filepath.Join(r.commonDir, "objects", "maintenance.lock")} {
		if _, err := os.Stat(theirs); !absent(err) {
			lock.Release()
			return nil, err
		}
	}
	if held, _ := r.readGC(); held {
		lock.Release()
		return nil, nil
	}
	host, _ := os.Hostname()
	ours := filepath.Join(r.StateDir(), "gc.pid") // so that a kill leaves no half of it beside git's own files
	err = durable.WriteCache(ours, fmt.Appendf(nil, "%d %s wfs\n", os.Getpid(), cmp.Or(host, "unknown")), 0o644)
	if err == nil {
		err = os.Rename(ours, r.gcPath())
	}
	if err != nil {
		lock.Release()
		return nil, err
	}
	return func() {
		_ = os.Remove(r.gcPath())
		lock.Release()
	}, nil
}

// readGC reports whether a git gc may be at work, or the file is ours: git reads two words, a process and its host, and
// we write a third. Under packs.lock, ours is what a killed wfs left.
func (r *Repo) readGC() (held, ours bool) {
	data, err := os.ReadFile(r.gcPath())
	if err != nil {
		return false, false
	}
	words := strings.Fields(string(data))
	if len(words) == 0 || len(words) == 3 && words[2] == "wfs" {
		return false, true
	}
	st, err := os.Stat(r.gcPath())
	return err == nil && r.fileAge(st) < gcPatience, false
}

type smallPack struct {
	path string // without extension
	size int64
}

// smallPacks returns the packs that may be merged, the smallest first. A pack with any companion but its index is there
// for a purpose (.keep, .promisor, .bitmap, .mtimes), but for a .rev, which git makes from the index; and one that a
// multi-pack index lists belongs to that. Indexes that have lost their pack to a merge which was killed are removed on the way.
func (r *Repo) smallPacks(dir string) ([]smallPack, error) {
	files, err := os.ReadDir(dir)
	if err != nil {
		return nil, ignoreAbsent(err)
	}
	listed, err := listedPacks(dir)
	if err != nil {
		return nil, err
	}
	companions := map[string]string{}
	for _, f := range files {
		if name, ext, ok := strings.Cut(f.Name(), "."); ok && strings.HasPrefix(name, "pack-") && !listed[name] {
			companions[name] += "." + ext
		}
	}
	var small []smallPack
	for name, exts := range companions {
		path := filepath.Join(dir, name)
		switch exts {
		case ".idx":
			r.removeOrphan(path + ".idx")
		case ".idx.pack", ".idx.pack.rev": // in the order of their names
			if info, err := os.Stat(path + ".pack"); err == nil && info.Size() <= maxSmall {
				small = append(small, smallPack{path, info.Size()})
			}
		}
	}
	slices.SortFunc(small, func(a, b smallPack) int {
		return cmp.Or(cmp.Compare(a.size, b.size), strings.Compare(a.path, b.path))
	})
	return small, nil
}

// outgrown cuts off the packs that are at least twice as large as all smaller ones together: each object is copied a
// number of times that grows with the logarithm of their number.
func outgrown(packs []smallPack) []smallPack {
	var before []int64
	var sum int64
	for _, p := range packs {
		before = append(before, sum)
		sum += p.size
	}
	end := len(packs)
	for end > 1 && packs[end-1].size >= 2*before[end-1] {
		end--
	}
	return packs[:end]
}

// removeOrphan removes a pack's index when all that it lists is elsewhere.
func (r *Repo) removeOrphan(path string) {
	data, err := os.ReadFile(path)
	if err != nil {
		return
	}
	index, ok := r.parsePackIndex(data)
	if !ok {
		return
	}
	ids := map[string]string{}
	for _, e := range index {
		ids[hex.EncodeToString(e.id)] = ""
	}
	if r.has(ids) {
		_ = os.Remove(path)
	}
}

// packedPart is a pack whose objects are whole: data holds their entries one after the other, and their offsets count
// from the beginning of the pack.
type packedPart struct {
	data    []byte
	entries []packEntry // in the order of their offsets
}

const packHead = 4 + 4 + 4 // magic, version, number of objects

// readPack reads a pack, and reports whether it is as its checksums say and consists of whole objects.
func (r *Repo) readPack(path string) (packedPart, bool) {
	index, err := os.ReadFile(path + ".idx")
	if err != nil {
		return packedPart{}, false
	}
	data, err := os.ReadFile(path + ".pack")
	if err != nil {
		return packedPart{}, false
	}
	entries, ok := r.parsePackIndex(index)
	size := r.idLength() / 2
	if !ok || len(entries) > maxObjects || len(data) < packHead+size || string(data[:8]) != "PACK\x00\x00\x00\x02" ||
		int(binary.BigEndian.Uint32(data[8:])) != len(entries) {
		return packedPart{}, false
	}
	end := len(data) - size
	h := r.newHash()
	h.Write(data[:end])
	if sum := h.Sum(nil); !bytes.Equal(sum, data[end:]) || !bytes.Equal(sum, index[len(index)-2*size:len(index)-size]) {
		return packedPart{}, false
	}
	slices.SortFunc(entries, func(a, b packEntry) int { return cmp.Compare(a.offset, b.offset) })
	for i, e := range entries {
		next := end
		if i+1 < len(entries) {
			next = int(entries[i+1].offset)
		}
		start := int(e.offset)
		if start < packHead || next > end || start >= next || crc32.ChecksumIEEE(data[start:next]) != e.crc {
			return packedPart{}, false
		}
		if kind := data[start] >> 4 & 7; kind == 0 || kind > packTypes["blob"] { // a delta: another entry must be near it
			return packedPart{}, false
		}
	}
	return packedPart{data[:end], entries}, true
}

// mergeParts makes one pack of the objects of several, each of them once.
func (r *Repo) mergeParts(parts []packedPart) ([]byte, []packEntry) {
	var b bytes.Buffer
	b.WriteString("PACK\x00\x00\x00\x02\x00\x00\x00\x00")
	var entries []packEntry
	seen := map[string]bool{}
	for _, p := range parts {
		for i, e := range p.entries {
			if seen[string(e.id)] {
				continue
			}
			seen[string(e.id)] = true
			next := len(p.data)
			if i+1 < len(p.entries) {
				next = int(p.entries[i+1].offset)
			}
			entries = append(entries, packEntry{e.id, uint32(b.Len()), e.crc})
			b.Write(p.data[e.offset:next])
		}
	}
	binary.BigEndian.PutUint32(b.Bytes()[8:], uint32(len(entries)))
	h := r.newHash()
	h.Write(b.Bytes())
	return h.Sum(b.Bytes()), entries
}

// parsePackIndex decodes a pack's index, version 2 of gitformat-pack(5), and reports whether it is as its checksum says
// and its pack smaller than 2 GB.
func (r *Repo) parsePackIndex(data []byte) ([]packEntry, bool) {
	size := r.idLength() / 2
	if len(data) < packIndexHead+2*size || string(data[:8]) != packIndexMagic+"\x00\x00\x00\x02" {
		return nil, false
	}
	h := r.newHash()
	h.Write(data[:len(data)-size])
	n := int(binary.BigEndian.Uint32(data[packIndexHead-4:]))
	if !bytes.Equal(h.Sum(nil), data[len(data)-size:]) || len(data) != packIndexHead+n*(size+4+4)+2*size {
		return nil, false
	}
	ids := data[packIndexHead:]
	crcs := ids[n*size:]
	offsets := crcs[n*4:]
	entries := make([]packEntry, n)
	for i := range entries {
		entries[i] = packEntry{ids[i*size : (i+1)*size], binary.BigEndian.Uint32(offsets[i*4:]), binary.BigEndian.Uint32(crcs[i*4:])}
		if entries[i].offset >= 1<<31 {
			return nil, false
		}
	}
	return entries, true
}

// listedPacks returns the names, without extension, of the packs that a multi-pack index lists. It fails on what is
// not version 1 of gitformat-pack(5), and on a chain of them.
func listedPacks(dir string) (map[string]bool, error) {
	if _, err := os.Stat(filepath.Join(dir, "multi-pack-index.d")); !absent(err) {
		return nil, errors.New("there is a chain of multi-pack indexes")
	}
	f, err := os.Open(filepath.Join(dir, "multi-pack-index"))
	if err != nil {
		return nil, ignoreAbsent(err)
	}
	defer f.Close()
	var head [12]byte // magic, version, hash, number of chunks, of bases (1 byte each), of packs (4)
	if _, err := io.ReadFull(f, head[:]); err != nil {
		return nil, err
	}
	if string(head[:5]) != "MIDX\x01" {
		return nil, errors.New("unknown kind of multi-pack index")
	}
	chunks := make([]byte, (int(head[6])+1)*12) // id, 8 bytes of offset; the last one ends them
	if _, err := io.ReadFull(f, chunks); err != nil {
		return nil, err
	}
	for i := 0; i+24 <= len(chunks); i += 12 {
		if string(chunks[i:i+4]) != "PNAM" {
			continue
		}
		start, end := binary.BigEndian.Uint64(chunks[i+4:]), binary.BigEndian.Uint64(chunks[i+16:])
		if end < start || end-start > 1<<20 {
			break
		}
		names := make([]byte, end-start)
		if _, err := f.ReadAt(names, int64(start)); err != nil {
			return nil, err
		}
		listed := map[string]bool{}
		for name := range strings.SplitSeq(string(names), "\x00") {
			listed[strings.TrimSuffix(name, ".idx")] = true
		}
		return listed, nil
	}
	return nil, errors.New("a multi-pack index names no packs")
}

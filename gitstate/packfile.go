package gitstate

import (
	"bytes"
	"compress/zlib"
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"hash/adler32"
	"hash/crc32"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/wfs-dev/wfs/gitstate/gitcmd"
	"github.com/wfs-dev/wfs/internal/durable"
)

// Object types of a pack entry, from gitformat-pack(5).
var packTypes = map[string]byte{"commit": 1, "tree": 2, "blob": 3}

// packEntry is where an object stands in a pack.
type packEntry struct {
	id     []byte
	offset uint32
	crc    uint32 // of the entry as it is stored
}

// maxDirectPack is the size of packs, in bytes, that are made without `git index-pack`. A checkpoint's are a few KB.
const maxDirectPack = 256 << 20

// maxStored is the size of objects, in bytes, that are not compressed: it takes longer than everything else about them,
// and saves less than the block that a file ends with.
const maxStored = 2048

// writeStored writes data as a zlib stream (RFC 1950) of one stored block.
func writeStored(b *bytes.Buffer, data []byte) {
	head := [7]byte{0: 0x78, 1: 0x01, 2: 0x01}
	binary.LittleEndian.PutUint16(head[3:], uint16(len(data)))
	binary.LittleEndian.PutUint16(head[5:], ^uint16(len(data)))
	b.Write(head[:])
	b.Write(data)
	b.Write(binary.BigEndian.AppendUint32(nil, adler32.Checksum(data)))
}

// pack encodes objects as one pack stream, whole objects without deltas.
func (r *Repo) pack(objects []newObject) ([]byte, []packEntry, error) {
	var b bytes.Buffer
	b.WriteString("PACK")
	b.Write(binary.BigEndian.AppendUint32(nil, 2))
	b.Write(binary.BigEndian.AppendUint32(nil, uint32(len(objects))))
	var z *zlib.Writer
	entries := make([]packEntry, 0, len(objects))
	for _, o := range objects {
		id, err := hex.DecodeString(o.id)
		if err != nil {
			return nil, nil, err
		}
		start, size := b.Len(), len(o.data)
		first := packTypes[o.kind]<<4 | byte(size&15)
		for size >>= 4; size > 0; size >>= 7 {
			b.WriteByte(first | 0x80)
			first = byte(size & 0x7f)
		}
		b.WriteByte(first)
		if len(o.data) <= maxStored {
			writeStored(&b, o.data)
		} else {
			if z == nil {
				if z, err = zlib.NewWriterLevel(&b, zlib.BestSpeed); err != nil {
					return nil, nil, err
				}
			} else {
				z.Reset(&b)
			}
			if _, err := z.Write(o.data); err != nil {
				return nil, nil, err
			}
			if err := z.Close(); err != nil {
				return nil, nil, err
			}
		}
		entries = append(entries, packEntry{id, uint32(start), crc32.ChecksumIEEE(b.Bytes()[start:])})
	}
	h := r.newHash()
	h.Write(b.Bytes())
	b.Write(h.Sum(nil))
	return b.Bytes(), entries, nil
}

// packIndex is the index, version 2 of gitformat-pack(5), of a pack that is smaller than 2 GB.
func (r *Repo) packIndex(pack []byte, entries []packEntry) []byte {
	entries = slices.Clone(entries)
	slices.SortFunc(entries, func(a, b packEntry) int { return bytes.Compare(a.id, b.id) })
	var fanout [256]uint32
	for _, e := range entries {
		for i := int(e.id[0]); i < len(fanout); i++ {
			fanout[i]++
		}
	}
	out := append([]byte(packIndexMagic), 0, 0, 0, 2)
	for _, n := range fanout {
		out = binary.BigEndian.AppendUint32(out, n)
	}
	for _, e := range entries {
		out = append(out, e.id...)
	}
	for _, e := range entries {
		out = binary.BigEndian.AppendUint32(out, e.crc)
	}
	for _, e := range entries {
		out = binary.BigEndian.AppendUint32(out, e.offset)
	}
	out = append(out, pack[len(pack)-r.Git.IDLength()/2:]...)
	h := r.newHash()
	h.Write(out)
	return h.Sum(out)
}

const packIndexMagic = "\xfftOc"

// newPack is a pack on the disk that git does not see yet: both files are durable, under temporary names.
type newPack struct {
	dir, name           string
	tempPack, tempIndex string
	locks               [2]*durable.Lock // of these files: whoever finds one that nobody holds may remove it
}

// Files that are not complete begin like this. What begins with tmp_ is git's, and `git prune --expire=now`
// removes all of it, whoever is at it.
const (
	tempOfPack  = "wfs_tmp_pack-"
	tempOfIndex = "wfs_tmp_idx-"
	tempOfMark  = "wfs_tmp_keep-"

	tempOfRepack = ".tmp-" // made by git repack, which never removes those of another process
)

// packName is a name that no pack has had, for one with the given checksum. Git takes any. It must be new: a
// `git repack` that has seen a pack of that name without a mark removes it, whatever lies there by then.
func (r *Repo) packName(checksum []byte) string {
	h := r.newHash()
	h.Write(checksum)
	h.Write([]byte(rand.Text()))
	return "pack-" + hex.EncodeToString(h.Sum(nil))
}

// storePack writes a pack and its index durably.
func (r *Repo) storePack(pack []byte, entries []packEntry) (p *newPack, err error) {
	dir := filepath.Join(r.Git.CommonDir, "objects", "pack")
	info, err := os.Stat(dir)
	if err != nil {
		return nil, err
	}
	perm := info.Mode().Perm() & 0o444 // whoever may look into the directory may read what is in it
	p = &newPack{dir: dir, name: r.packName(pack[len(pack)-r.Git.IDLength()/2:])}
	index := r.packIndex(pack, entries)
	var both sync.WaitGroup
	var err1, err2 error
	both.Go(func() { p.tempPack, p.locks[0], err1 = writeTemp(dir, tempOfPack, pack, perm) })
	p.tempIndex, p.locks[1], err2 = writeTemp(dir, tempOfIndex, index, perm)
	both.Wait()
	if err := errors.Join(err1, err2); err != nil {
		p.discard()
		return nil, err
	}
	return p, nil
}

// writeTemp returns the name of a new file that is on the disk, "" when there is none, and the lock that is held on it.
func writeTemp(dir, prefix string, data []byte, perm os.FileMode) (string, *durable.Lock, error) {
	f, err := os.CreateTemp(dir, prefix+"*")
	if err != nil {
		return "", nil, err
	}
	name := f.Name()
	if err := f.Close(); err != nil {
		return name, nil, err
	}
	lock, err := durable.TryLock(name, data)
	if err != nil {
		return name, nil, err
	}
	err = lock.File().Chmod(perm)
	if err == nil {
		err = lock.File().Sync()
	}
	return name, lock, err
}

// show gives the pack its name, durably. Git looks for indexes, so the pack comes first.
func (p *newPack) show() error {
	defer p.unlock()
	for _, move := range [][2]string{{p.tempPack, ".pack"}, {p.tempIndex, ".idx"}} {
		if err := os.Rename(move[0], filepath.Join(p.dir, p.name+move[1])); err != nil {
			p.discard()
			_ = os.Remove(filepath.Join(p.dir, p.name+".pack")) // it has no index
			return err
		}
	}
	return durable.SyncDir(p.dir)
}

func (p *newPack) unlock() {
	for i, l := range p.locks {
		if l != nil {
			_ = l.Release()
		}
		p.locks[i] = nil
	}
}

// discard removes what has not been shown.
func (p *newPack) discard() {
	p.unlock()
	for _, name := range []string{p.tempPack, p.tempIndex} {
		if name != "" {
			_ = os.Remove(name) // or git does
		}
	}
}

// packs returns the paths of the repository's packs, without their extension.
func (r *Repo) packs() ([]string, error) {
	return packsIn(filepath.Join(r.Git.CommonDir, "objects", "pack"))
}

// promised reports whether the repository is a partial clone: it has got packs from a remote that has promised to keep
// what they name and do not hold. Such objects may be missing, and to ask git about one is to fetch it.
func (r *Repo) promised() bool {
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

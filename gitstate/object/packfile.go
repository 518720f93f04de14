package object

import (
	"bytes"
	"compress/zlib"
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"hash/adler32"
	"hash/crc32"
	"os"
	"path/filepath"
	"slices"

	"github.com/wfs-dev/wfs/internal/durable"
)

// Object types of a pack entry, from gitformat-pack(5).
var packTypes = map[string]byte{"commit": 1, "tree": 2, "blob": 3}

// PackEntry is where an object stands in a pack.
type PackEntry struct {
	ID     []byte
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

const packIndexMagic = "\xfftOc"

// NewPack is a pack on the disk that git does not see yet: both files are durable, under temporary names.
type NewPack struct {
	Dir, Name           string
	TempPack, TempIndex string
	locks               [2]*durable.Lock // of these files: whoever finds one that nobody holds may remove it
}

// Files that are not complete begin like this. What begins with tmp_ is git's, and `git prune --expire=now`
// removes all of it, whoever is at it.
const (
	TempOfPack  = "wfs_tmp_pack-"
	TempOfIndex = "wfs_tmp_idx-"
	TempOfMark  = "wfs_tmp_keep-"

	TempOfRepack = ".tmp-" // made by git repack, which never removes those of another process
)

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

// Show gives the pack its name, durably. Git looks for indexes, so the pack comes first.
func (p *NewPack) Show() error {
	defer p.unlock()
	for _, move := range [][2]string{{p.TempPack, ".pack"}, {p.TempIndex, ".idx"}} {
		if err := os.Rename(move[0], filepath.Join(p.Dir, p.Name+move[1])); err != nil {
			p.Discard()
			_ = os.Remove(filepath.Join(p.Dir, p.Name+".pack")) // it has no index
			return err
		}
	}
	return durable.SyncDir(p.Dir)
}

func (p *NewPack) unlock() {
	for i, l := range p.locks {
		if l != nil {
			_ = l.Release()
		}
		p.locks[i] = nil
	}
}

// Discard removes what has not been shown.
func (p *NewPack) Discard() {
	p.unlock()
	for _, name := range []string{p.TempPack, p.TempIndex} {
		if name != "" {
			_ = os.Remove(name) // or git does
		}
	}
}

// Pack encodes objects as one pack stream, whole objects without deltas.
func (r Format) Pack(objects []Object) ([]byte, []PackEntry, error) {
	var b bytes.Buffer
	b.WriteString("PACK")
	b.Write(binary.BigEndian.AppendUint32(nil, 2))
	b.Write(binary.BigEndian.AppendUint32(nil, uint32(len(objects))))
	var z *zlib.Writer
	entries := make([]PackEntry, 0, len(objects))
	for _, o := range objects {
		id, err := hex.DecodeString(o.ID)
		if err != nil {
			return nil, nil, err
		}
		start, size := b.Len(), len(o.Data)
		first := packTypes[o.Kind]<<4 | byte(size&15)
		for size >>= 4; size > 0; size >>= 7 {
			b.WriteByte(first | 0x80)
			first = byte(size & 0x7f)
		}
		b.WriteByte(first)
		if len(o.Data) <= maxStored {
			writeStored(&b, o.Data)
		} else {
			if z == nil {
				if z, err = zlib.NewWriterLevel(&b, zlib.BestSpeed); err != nil {
					return nil, nil, err
				}
			} else {
				z.Reset(&b)
			}
			if _, err := z.Write(o.Data); err != nil {
				return nil, nil, err
			}
			if err := z.Close(); err != nil {
				return nil, nil, err
			}
		}
		entries = append(entries, PackEntry{id, uint32(start), crc32.ChecksumIEEE(b.Bytes()[start:])})
	}
	h := r.NewHash()
	h.Write(b.Bytes())
	b.Write(h.Sum(nil))
	return b.Bytes(), entries, nil
}

// packIndex is the index, version 2 of gitformat-pack(5), of a pack that is smaller than 2 GB.
func (r Format) packIndex(pack []byte, entries []PackEntry) []byte {
	entries = slices.Clone(entries)
	slices.SortFunc(entries, func(a, b PackEntry) int { return bytes.Compare(a.ID, b.ID) })
	var fanout [256]uint32
	for _, e := range entries {
		for i := int(e.ID[0]); i < len(fanout); i++ {
			fanout[i]++
		}
	}
	out := append([]byte(packIndexMagic), 0, 0, 0, 2)
	for _, n := range fanout {
		out = binary.BigEndian.AppendUint32(out, n)
	}
	for _, e := range entries {
		out = append(out, e.ID...)
	}
	for _, e := range entries {
		out = binary.BigEndian.AppendUint32(out, e.crc)
	}
	for _, e := range entries {
		out = binary.BigEndian.AppendUint32(out, e.offset)
	}
	out = append(out, pack[len(pack)-r.IDLength()/2:]...)
	h := r.NewHash()
	h.Write(out)
	return h.Sum(out)
}

// packName is a name that no pack has had, for one with the given checksum. Git takes any. It must be new: a
// `git repack` that has seen a pack of that name without a mark removes it, whatever lies there by then.
func (r Format) packName(checksum []byte) string {
	h := r.NewHash()
	h.Write(checksum)
	h.Write([]byte(rand.Text()))
	return "pack-" + hex.EncodeToString(h.Sum(nil))
}

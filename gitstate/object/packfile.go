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

// packTypes are the numbers of object types in a pack, from gitformat-pack(5).
var packTypes = map[string]byte{"commit": 1, "tree": 2, "blob": 3}

// PackEntry is the position of an object in a pack.
type PackEntry struct {
	ID     []byte
	offset uint32
	crc    uint32 // checksum of the stored entry
}

// maxDirectPack is the size, in bytes, up to which wfs writes a pack without `git index-pack`. The pack of a checkpoint
// normally has a few KB.
const maxDirectPack = 256 << 20

// maxStored is the size, in bytes, up to which wfs does not compress objects: compression would take longer than all
// other work on the object, and save less than a disk block.
const maxStored = 2048

// writeStored writes data as a zlib stream (RFC 1950) that consists of one uncompressed block.
func writeStored(b *bytes.Buffer, data []byte) {
	head := [7]byte{0: 0x78, 1: 0x01, 2: 0x01}
	binary.LittleEndian.PutUint16(head[3:], uint16(len(data)))
	binary.LittleEndian.PutUint16(head[5:], ^uint16(len(data)))
	b.Write(head[:])
	b.Write(data)
	b.Write(binary.BigEndian.AppendUint32(nil, adler32.Checksum(data)))
}

const packIndexMagic = "\xfftOc"

// NewPack is a pack on disk that git does not see yet: the pack and its index are durable, but have temporary names.
type NewPack struct {
	Dir, Name           string
	TempPack, TempIndex string
	locks               [2]*durable.Lock // of these two files: other processes may remove them if they are not locked
}

// Prefixes of incomplete files. A name with git's own prefix, tmp_, would not be safe: `git prune --expire=now` removes
// such files even while they are being written.
const (
	TempOfPack  = "wfs_tmp_pack-"
	TempOfIndex = "wfs_tmp_idx-"
	TempOfMark  = "wfs_tmp_keep-"

	TempOfRepack = ".tmp-" // prefix of git repack, which never removes the files of other processes
)

// writeTemp writes a new temporary file durably. It returns the file's name ("" if no file was created) and a lock on
// it.
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

// Show gives the pack and its index their final names, durably. It renames the pack first, because git looks for
// indexes.
func (p *NewPack) Show() error {
	defer p.unlock()
	for _, move := range [][2]string{{p.TempPack, ".pack"}, {p.TempIndex, ".idx"}} {
		if err := os.Rename(move[0], filepath.Join(p.Dir, p.Name+move[1])); err != nil {
			p.Discard()
			_ = os.Remove(filepath.Join(p.Dir, p.Name+".pack")) // the pack, which has no index yet
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

// Discard removes the temporary files.
func (p *NewPack) Discard() {
	p.unlock()
	for _, name := range []string{p.TempPack, p.TempIndex} {
		if name != "" {
			_ = os.Remove(name) // if this fails, git prunes it
		}
	}
}

// Pack encodes objects as one pack stream, without deltas.
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

// packIndex encodes the index (version 2 of gitformat-pack(5)) of a pack of less than 2 GB.
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

// packName returns a new name for a pack with the given checksum; git accepts any name. The name must never have been
// used: if a running `git repack` has seen a pack of that name without a .keep file, it removes the file of that name,
// even if it is another pack by then.
func (r Format) packName(checksum []byte) string {
	h := r.NewHash()
	h.Write(checksum)
	h.Write([]byte(rand.Text()))
	return "pack-" + hex.EncodeToString(h.Sum(nil))
}

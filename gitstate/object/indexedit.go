package object

import (
	"encoding/binary"
	"slices"
)

// IndexEdit replaces N entries of an index, beginning at the position From, by Entry, or by nothing if Entry is nil.
type IndexEdit struct {
	From, N int
	Entry   *IndexEntry
	Data    []byte // encoded Entry
}

// Position returns where a path is in an index: file is its entry, or with N = 0 the position at which it would be
// inserted. below is the range of the entries below the path.
func (x *Index) Position(p string) (file, below IndexEdit) {
	at := func(name string) (int, bool) {
		return slices.BinarySearchFunc(x.Entries, name, func(e IndexEntry, name string) int { return compare(e.Name, name) })
	}
	var there bool
	if file.From, there = at(p); there {
		file.N = 1
	}
	below.From, _ = at(p + "/")
	end, _ := at(p + "0") // '0' is the byte after '/'
	below.N = end - below.From
	return file, below
}

// Offset returns the position of entry i in the file, in bytes. For i = len(Entries), it returns where the last entry
// ends.
func (x *Index) Offset(i int) int {
	if i == len(x.Entries) {
		return x.End
	}
	return x.Entries[i].at
}

// Blocked reports whether an index has a file at the path of one of p's parent directories.
func (x *Index) Blocked(p string) bool {
	for i := range len(p) {
		if p[i] != '/' {
			continue
		}
		if file, _ := Find(x.Entries, 0, p[:i]); file != nil {
			return true
		}
	}
	return false
}

// AppendEntry appends an index entry to b, encoded as in gitformat-index(5).
func AppendEntry(b []byte, f FileLook, mode uint32, id []byte, name string) []byte {
	start := len(b)
	for _, n := range []uint32{f.Changed, f.ChangedNano, f.Modified, f.ModifiedNano, f.device, f.Inode, mode, f.User,
		f.Group, f.Size} {
		b = binary.BigEndian.AppendUint32(b, n)
	}
	b = append(b, id...)
	b = binary.BigEndian.AppendUint16(b, uint16(min(len(name), 0xfff)))
	b = append(b, name...)
	return append(b, make([]byte, 8-(len(b)-start)%8)...)
}

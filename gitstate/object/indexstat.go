package object

import (
	"bytes"
	"encoding/binary"
	"slices"
)

// Comparable reports whether stat data suffice to compare the files with an index. They do not if the index has
// submodules, conflicts, entries without content (`git add -N`), or files whose changes git ignores.
func (x *Index) Comparable() bool {
	return x.Written > 0 && !slices.ContainsFunc(x.Entries, func(e IndexEntry) bool {
		return e.Stage != 0 || e.Intended || e.Unseen || e.Mode&IndexType == IndexGitlink
	})
}

// FileLook has the stat data of a file that git stores in an index, each truncated to 32 bits.
type FileLook struct {
	Changed, ChangedNano, Modified, ModifiedNano, device, Inode, Mode, User, Group, Size uint32
}

// The types of files in Mode, as in stat(2) and in the index.
const (
	KindRegular = 0o100000
	KindLink    = 0o120000
)

// Unchanged reports whether a file is certainly the same as its entry. It is stricter than git, which some settings
// make ignore differences. When git rewrites the index, it stores size 0 for a file that might have changed without new
// stat data. So an entry with size 0 counts as unchanged only if it is an empty file; empty is the id of that.
func (x *Index) Unchanged(e *IndexEntry, f FileLook, empty []byte) bool {
	switch f.Mode & IndexType {
	case KindRegular:
		if e.Mode&IndexType != KindRegular || (e.Mode^f.Mode)&0o100 != 0 {
			return false
		}
	case KindLink:
		if e.Mode&IndexType != KindLink {
			return false
		}
	default:
		return false
	}
	return e.IsOf(f) && !x.Young(f) && (f.Size > 0 || bytes.Equal(e.ID, empty))
}

// Young reports whether a file may have changed although its stat data have not: it was modified in the second in which
// wfs or git began to read the files for this index, or later (git's documentation calls this "racy git").
func (x *Index) Young(f FileLook) bool {
	newest := f.Modified
	if f.ChangedNano == 0 { // times are whole seconds here, and a program can set the modification time back
		newest = max(newest, f.Changed)
	}
	return int64(newest) >= x.Written
}

// SmudgeYoung sets the size to 0 in the encoded entries `from` to `to` of an index whose files may have changed although
// their stat data have not (see Young). Git then reads these files again, even if the index gets a newer time. data
// begins with the entry `from`.
func (x *Index) SmudgeYoung(data []byte, from, to int) {
	for i := from; i < to; i++ {
		e := &x.Entries[i]
		f := FileLook{Changed: e.stat(0), ChangedNano: e.stat(1), Modified: e.stat(2)}
		if x.Young(f) {
			clear(data[x.Offset(i)-x.Offset(from)+4*statSize:][:4])
		}
	}
}

// statSize is the position of a file's size among the stat data of an entry, in units of four bytes.
const statSize = 9

// stat returns the number at position i of an entry's stat data.
func (e *IndexEntry) stat(i int) uint32 { return binary.BigEndian.Uint32(e.Stat[4*i:]) }

// IsOf reports whether the stat data of a file are the same as when git wrote its entry. Like git, it ignores the
// device number, which may change with each boot.
func (e *IndexEntry) IsOf(f FileLook) bool {
	return e.stat(0) == f.Changed && e.stat(1) == f.ChangedNano && e.stat(2) == f.Modified &&
		e.stat(3) == f.ModifiedNano && e.stat(5) == f.Inode && e.stat(7) == f.User && e.stat(8) == f.Group &&
		e.stat(statSize) == f.Size
}

// Find looks up a name in a directory. It returns the entry of the file with that name, nil if there is none, or the
// entries below the directory with that name. entries are the directory's entries; each begins with the directory's
// path, which has skip bytes.
func Find(entries []IndexEntry, skip int, name string) (file *IndexEntry, below []IndexEntry) {
	at := func(e IndexEntry, to string) int { return compare(e.Name[skip:], to) }
	i, ok := slices.BinarySearchFunc(entries, name, at)
	if ok {
		return &entries[i], nil
	}
	first, _ := slices.BinarySearchFunc(entries[i:], name+"/", at)
	first += i
	if first == len(entries) || !bytes.HasPrefix(entries[first].Name[skip:], []byte(name+"/")) {
		return nil, nil
	}
	end, _ := slices.BinarySearchFunc(entries[first:], name+"0", at) // '0' is the byte after '/'
	return nil, entries[first : first+end]
}

// compare compares a path with a name as git sorts them, byte by byte.
func compare(a []byte, b string) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return int(a[i]) - int(b[i])
		}
	}
	return len(a) - len(b)
}

// Tracks reports whether an index has an entry at or below a path.
func (x *Index) Tracks(p string) bool {
	file, below := Find(x.Entries, 0, p)
	return file != nil || len(below) > 0
}

// Marked lists the paths of an index whose changes git is set to ignore.
func (x *Index) Marked() (list []string) {
	for _, e := range x.Entries {
		if e.Unseen {
			list = append(list, string(e.Name))
		}
	}
	return list
}

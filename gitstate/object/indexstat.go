package object

import (
	"bytes"
	"encoding/binary"
	"slices"
)

// Comparable reports whether the stat data in an index say all that there is to know about a file: no entries of
// submodules, conflicts, intentions, or files that git was told not to look at.
func (x *Index) Comparable() bool {
	return x.Written > 0 && !slices.ContainsFunc(x.Entries, func(e IndexEntry) bool {
		return e.Stage != 0 || e.Intended || e.Unseen || e.Mode&IndexType == IndexGitlink
	})
}

// FileLook is what git remembers of a file: numbers of 32 bits, whatever is cut off.
type FileLook struct {
	Changed, ChangedNano, Modified, ModifiedNano, device, Inode, Mode, User, Group, Size uint32
}

// The kinds of files, as systems with a stat number them and as the index does.
const (
	KindRegular = 0o100000
	KindLink    = 0o120000
)

// Unchanged reports whether a file is for certain as an entry says. That is stricter than git, whose settings
// let it pass over some differences. Git sets the size of a file that it could not tell from a changed one to 0
// when it writes the index anew: only what is empty for certain may have that.
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

// Young reports whether a file that is as git read it may have changed since without a trace in its times: it
// was modified in the second in which the files began to be looked at, or later (racy-git in git's
// documentation).
func (x *Index) Young(f FileLook) bool {
	newest := f.Modified
	if f.ChangedNano == 0 { // times are whole seconds here, and that of modification can be set back
		newest = max(newest, f.Changed)
	}
	return int64(newest) >= x.Written
}

// IsOf reports whether a file is still as it was when git read it, as far as stat data tell. The device is left
// out, as git does: it is numbered anew when a system starts.
func (e *IndexEntry) IsOf(f FileLook) bool {
	n := func(i int) uint32 { return binary.BigEndian.Uint32(e.Stat[4*i:]) }
	return n(0) == f.Changed && n(1) == f.ChangedNano && n(2) == f.Modified && n(3) == f.ModifiedNano &&
		n(5) == f.Inode && n(7) == f.User && n(8) == f.Group && n(9) == f.Size
}

// Find returns the entry called name in a directory, nil for none, and those below a directory of that name.
// Every entry begins with the directory's path, which is skip bytes long.
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
	end, _ := slices.BinarySearchFunc(entries[first:], name+"0", at) // the byte after the slash
	return nil, entries[first : first+end]
}

func compare(a []byte, b string) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return int(a[i]) - int(b[i])
		}
	}
	return len(a) - len(b)
}

// Tracks reports whether an index has an entry at a path or below it.
func (x *Index) Tracks(p string) bool {
	file, below := Find(x.Entries, 0, p)
	return file != nil || len(below) > 0
}

// Marked lists the paths of an index that git does not look at.
func (x *Index) Marked() (list []string) {
	for _, e := range x.Entries {
		if e.Unseen {
			list = append(list, string(e.Name))
		}
	}
	return list
}

package object

import (
	"bytes"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/session"
)

// IndexChanges lists the differences between the files of two indexes. Entries with conflicts, and entries without
// content (`git add -N`), count as missing files.
func (r Format) IndexChanges(before, now *Index) (changes []TreeChange) {
	files := func(x *Index) []IndexEntry {
		absent := func(e IndexEntry) bool { return e.Stage != 0 || e.Intended }
		if slices.ContainsFunc(x.Entries, absent) {
			return slices.DeleteFunc(slices.Clone(x.Entries), absent)
		}
		return x.Entries
	}
	was, is := files(before), files(now)
	for len(was) > 0 || len(is) > 0 {
		order := 0
		switch {
		case len(was) == 0:
			order = 1
		case len(is) == 0:
			order = -1
		default:
			order = bytes.Compare(was[0].Name, is[0].Name)
		}
		if order == 0 && was[0].Mode == is[0].Mode && bytes.Equal(was[0].ID, is[0].ID) {
			was, is = was[1:], is[1:]
			continue
		}
		c := TreeChange{OldMode: ModeNone, NewMode: ModeNone, OldID: r.Zero(), NewID: r.Zero()}
		if order <= 0 {
			c.Path, c.Status, c.OldMode, c.OldID = string(was[0].Name), "D", fmt.Sprintf("%06o",
				was[0].Mode), hex.EncodeToString(was[0].ID)
			was = was[1:]
		}
		if order >= 0 {
			c.Path, c.NewMode, c.NewID = string(is[0].Name), fmt.Sprintf("%06o", is[0].Mode), hex.EncodeToString(is[0].ID)
			switch {
			case order > 0:
				c.Status = "A"
			case c.OldMode[:3] != c.NewMode[:3]:
				c.Status = "T"
			default:
				c.Status = "M"
			}
			is = is[1:]
		}
		changes = append(changes, c)
	}
	return changes
}

// OrEmpty turns "" into the id of the empty tree, which git knows without storing it.
func (r Format) OrEmpty(t session.Tree) session.Tree {
	if t != "" {
		return t
	}
	h := r.NewHash()
	h.Write([]byte("tree 0\x00"))
	return session.Tree(fmt.Sprintf("%x", h.Sum(nil)))
}

// Parsed parses the content of an index file. It returns nil if only git can read it.
func (r Format) Parsed(data []byte) *Index {
	if x, ok := ParseIndex(data, r.IDLength()/2); ok {
		return x
	}
	return nil
}

// EncodeIndex completes Data of an index, which ends with the entries: it appends the cached trees and the checksum.
func (r Format) EncodeIndex(x *Index) {
	notes := x.Cached.Append(nil)
	data := append(x.Data[:x.End], "TREE"...)
	data = append(binary.BigEndian.AppendUint32(data, uint32(len(notes))), notes...)
	sum := make([]byte, r.IDLength()/2)
	if len(bytes.Trim(x.Sum, "\x00")) > 0 { // if the old checksum is zero, index.skipHash is set
		h := r.NewHash()
		h.Write(data)
		sum = h.Sum(nil)
	}
	x.Data = append(data, sum...)
	x.Sum = x.Data[len(x.Data)-len(sum):]
}

// Doubt writes a private index in which the sizes and times of some files are wrong, so that git reads these files
// again.
func (r Format) Doubt(path string, x *Index, files []string) error {
	if len(files) == 0 {
		return nil
	}
	for _, p := range files {
		if e, _ := Find(x.Entries, 0, p); e != nil {
			for _, field := range [][]byte{e.Stat[8:12], e.Stat[36:40]} { // time of modification, size
				binary.BigEndian.PutUint32(field, ^binary.BigEndian.Uint32(field))
			}
		}
	}
	if len(bytes.Trim(x.Sum, "\x00")) > 0 { // if the old checksum is zero, index.skipHash is set
		h := r.NewHash()
		h.Write(x.Data[:len(x.Data)-len(x.Sum)])
		copy(x.Sum, h.Sum(nil))
	}
	return durable.WriteCache(path, x.Data, 0o600)
}

// NewHash returns the hash function for object ids.
func (r Format) NewHash() hash.Hash {
	if r == "sha256" {
		return sha256.New()
	}
	return sha1.New()
}

// Zero returns the object id for "does not exist".
func (r Format) Zero() string { return strings.Repeat("0", r.IDLength()) }

// NewObject returns an object of a kind ("blob", "tree" or "commit") with its id.
func (r Format) NewObject(kind string, data []byte) Object {
	h := r.NewHash()
	fmt.Fprintf(h, "%s %d\x00", kind, len(data))
	h.Write(data)
	return Object{kind, hex.EncodeToString(h.Sum(nil)), data}
}

// NewTree encodes entries as a tree object, in git's order: a directory is sorted as if its name ended in a slash.
func (r Format) NewTree(entries []Entry) (Object, error) {
	key := func(e Entry) string {
		if e.isTree() {
			return e.Name + "/"
		}
		return e.Name
	}
	entries = slices.Clone(entries)
	slices.SortFunc(entries, func(a, b Entry) int { return strings.Compare(key(a), key(b)) })
	var b bytes.Buffer
	for _, e := range entries {
		id, err := hex.DecodeString(e.ID)
		if err != nil {
			return Object{}, err
		}
		b.WriteString(strings.TrimPrefix(e.Mode, "0") + " " + e.Name + "\x00")
		b.Write(id)
	}
	return r.NewObject("tree", b.Bytes()), nil
}

// NewCommit encodes a commit. Author and committer are both ident, at the time `at` (Unix seconds, UTC).
func (r Format) NewCommit(tree string, parents []session.Commit, ident string, at int64, message string) Object {
	var b bytes.Buffer
	fmt.Fprintf(&b, "tree %s\n", tree)
	for _, p := range parents {
		fmt.Fprintf(&b, "parent %s\n", p)
	}
	fmt.Fprintf(&b, "author %s %d +0000\ncommitter %s %d +0000\n\n", ident, at, ident, at)
	message = strings.ReplaceAll(strings.ToValidUTF8(message, "\uFFFD"), "\x00", "")
	b.WriteString(strings.TrimRight(message, "\n") + "\n")
	return r.NewObject("commit", b.Bytes())
}

// Format is the name of the hash function for a repository's object ids, "sha1" or "sha256". Its methods encode objects
// and indexes.
type Format string

// IDLength returns the number of hexadecimal digits of object ids.
func (f Format) IDLength() int { return 2 * f.NewHash().Size() }

// RawID returns an object id in its binary form, as in packs and indexes.
func RawID(id string) []byte {
	raw, _ := hex.DecodeString(id)
	return raw
}

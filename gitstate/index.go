package gitstate

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/hex"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// indexInfo is what wfs asks an index about without changing it.
type indexInfo struct {
	tree     string   // id of the tree that it stands for, "" when git has to compute it
	unmerged []string // paths with conflicts
	gitlinks []string // paths of submodules and nested repositories
}

// indexPath is the work tree's own index.
func (r *Repo) indexPath() string { return filepath.Join(r.gitDir, "index") }

// readIndex looks into an index file. An absent one is empty.
func (r *Repo) readIndex(ctx context.Context, path string) (indexInfo, error) {
	_, info, err := r.readParsed(ctx, path)
	return info, err
}

func (r *Repo) listIndex(ctx context.Context, path string) (indexInfo, error) {
	out, err := r.git(ctx, gitOpts{env: withIndex(path)}, "ls-files", "-s", "-z")
	if err != nil {
		return indexInfo{}, err
	}
	var info indexInfo
	for _, line := range splitZ(out) {
		meta, name, _ := strings.Cut(line, "\t")
		if f := strings.Fields(meta); len(f) == 3 {
			info.note(f[0] == modeGitlink, f[2] != "0", name)
		}
	}
	return info, nil
}

func (i *indexInfo) note(gitlink, unmerged bool, name string) {
	if unmerged && (len(i.unmerged) == 0 || i.unmerged[len(i.unmerged)-1] != name) {
		i.unmerged = append(i.unmerged, name)
	}
	if gitlink && !unmerged {
		i.gitlinks = append(i.gitlinks, name)
	}
}

// index is an index file as it was parsed. It shares the file's bytes.
type index struct {
	entries []indexEntry
	cached  *cachedTree        // nil when git noted nothing
	odd     bool               // it has an extension that is about more than its own entries
	written int64              // when its file was, in Unix seconds; 0 when that is not known
	sum     []byte             // that its file ends with: of all that is in it
	read    uint64             // no file in it was looked at before, in nanoseconds by the file system's clock; 0: not known
	scans   map[string]scanned // what was found ahead, by directory; nil for nothing
	scanned uint64             // when that began, as read
}

type indexEntry struct {
	mode     uint32
	stat     []byte // what the file looked like when git read it
	id       []byte
	name     []byte
	stage    int
	intended bool // `git add -N`: no content yet
	unseen   bool // git was told not to look at the file: assume-unchanged, or skip-worktree
}

// cachedTree is what git remembers about one directory of an index: its tree, unless something in it changed since.
type cachedTree struct {
	name    string
	entries int // in it and below, -1 when the tree is not known
	id      string
	dirs    []*cachedTree
}

// The types of index entries, from gitformat-index(5).
const (
	indexType    = 0o170000 // mask
	indexGitlink = 0o160000
	indexDir     = 0o040000
)

func (x *index) info() indexInfo {
	var info indexInfo
	if x.cached != nil && x.cached.entries >= 0 {
		info.tree = x.cached.id
	}
	for _, e := range x.entries {
		if e.stage != 0 || e.mode&indexType == indexGitlink {
			info.note(e.mode&indexType == indexGitlink, e.stage != 0, string(e.name))
		}
	}
	return info
}

// parseIndex reads an index of version 2 to 4 (gitformat-index(5)). It answers false for anything that it does not know
// for certain, such as an extension in small letters, which changes what the entries mean.
func parseIndex(data []byte, idSize int) (*index, bool) {
	if len(data) < 12+idSize || string(data[:4]) != "DIRC" {
		return nil, false
	}
	version, count := binary.BigEndian.Uint32(data[4:]), binary.BigEndian.Uint32(data[8:])
	if version < 2 || version > 4 {
		return nil, false
	}
	rest := data[12 : len(data)-idSize]
	x := &index{sum: data[len(data)-idSize:], entries: make([]indexEntry, 0, min(int(count), len(data)/(40+idSize+2)))}
	var name []byte
	for range count {
		e, fixed, ok := parseIndexEntry(rest, idSize)
		if !ok || e.mode&indexType == indexDir { // a directory of a sparse index
			return nil, false
		}
		whole := rest
		rest = rest[fixed:]
		if version == 4 { // the name shares all but its last `strip` bytes with the one before
			strip, n := offset(rest)
			if n == 0 || strip > len(name) {
				return nil, false
			}
			name, rest = append([]byte(nil), name[:len(name)-strip]...), rest[n:]
		}
		end := bytes.IndexByte(rest, 0)
		if end < 0 {
			return nil, false
		}
		if version == 4 {
			name = append(name, rest[:end]...)
			rest = rest[end+1:]
		} else { // padded with 1 to 8 zero bytes to a multiple of eight
			name = rest[:end]
			size := (fixed + end + 8) &^ 7
			if len(whole) < size {
				return nil, false
			}
			rest = whole[size:]
		}
		e.name = name
		x.entries = append(x.entries, e)
	}
	for len(rest) >= 8 {
		size := int(binary.BigEndian.Uint32(rest[4:]))
		if size < 0 || len(rest)-8 < size || rest[0] < 'A' || rest[0] > 'Z' {
			return nil, false
		}
		switch string(rest[:4]) {
		case "TREE":
			tree, _, ok := parseCachedTree(rest[8:8+size], idSize, 0)
			if !ok {
				return nil, false
			}
			x.cached = tree
		case "REUC", "EOIE", "IEOT": // conflicts that were resolved, and where entries begin
		default:
			x.odd = true
		}
		rest = rest[8+size:]
	}
	return x, len(rest) == 0
}

// parsed is an index file's content, nil when only git can read it.
func (r *Repo) parsed(data []byte) *index {
	if x, ok := parseIndex(data, r.idLength()/2); ok {
		return x
	}
	return nil
}

// parsedOf is parsed for an index of which it is known when it was written.
func (r *Repo) parsedOf(data []byte, written time.Time) *index {
	x := r.parsed(data)
	if x != nil && !written.IsZero() {
		x.written, x.read = written.Unix(), r.readSince(x)
	}
	return x
}

// endsIn reports whether an index is that of a file with this content, by the sum at its end.
func (x *index) endsIn(content []byte) bool {
	return len(bytes.Trim(x.sum, "\x00")) > 0 && bytes.HasSuffix(content, x.sum) // else with index.skipHash
}

// parsedAs returns what returns an index.
func parsedAs(x *index) func() *index { return func() *index { return x } }

// parseIndexEntry reads what stands before an entry's name: stat data, object id, flags.
func parseIndexEntry(b []byte, idSize int) (e indexEntry, size int, ok bool) {
	size = 40 + idSize + 2
	if len(b) < size {
		return e, 0, false
	}
	flags := binary.BigEndian.Uint16(b[size-2:])
	e = indexEntry{stat: b[:40], mode: binary.BigEndian.Uint32(b[24:]), id: b[40 : 40+idSize], stage: int(flags >> 12 & 3), unseen: flags&0x8000 != 0}
	if flags&0x4000 != 0 { // a second word of flags
		size += 2
		if len(b) < size {
			return e, 0, false
		}
		more := binary.BigEndian.Uint16(b[size-2:])
		e.intended, e.unseen = more&0x2000 != 0, e.unseen || more&0x4000 != 0
	}
	return e, size, true
}

// maxDepth bounds the directories below each other that are believed in.
const maxDepth = 2000

func parseCachedTree(b []byte, idSize, depth int) (t *cachedTree, rest []byte, ok bool) {
	name, b, ok := bytes.Cut(b, []byte{0})
	line, b, ok2 := bytes.Cut(b, []byte("\n"))
	entries, dirs, ok3 := strings.Cut(string(line), " ")
	n, err := strconv.Atoi(entries)
	below, err2 := strconv.Atoi(dirs)
	if !ok || !ok2 || !ok3 || err != nil || err2 != nil || depth > maxDepth {
		return nil, nil, false
	}
	t = &cachedTree{name: string(name), entries: n}
	if n >= 0 {
		if len(b) < idSize {
			return nil, nil, false
		}
		t.id, b = hex.EncodeToString(b[:idSize]), b[idSize:]
	}
	for range below {
		var dir *cachedTree
		if dir, b, ok = parseCachedTree(b, idSize, depth+1); !ok {
			return nil, nil, false
		}
		t.dirs = append(t.dirs, dir)
	}
	return t, b, true
}

// offset reads the variable-width integer of pack offsets; its length is 0 when it is not whole.
func offset(b []byte) (value, length int) {
	for i, c := range b {
		if i > 4 {
			return 0, 0
		}
		value |= int(c & 0x7f)
		if c&0x80 == 0 {
			return value, i + 1
		}
		value = (value + 1) << 7
	}
	return 0, 0
}

package gitstate

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/wfs-dev/wfs/gitstate/gitcmd"
	"github.com/wfs-dev/wfs/internal/durable"
)

// indexInfo is what wfs asks an index about without changing it.
type indexInfo struct {
	tree     string   // id of the tree that it stands for, "" when git has to compute it
	unmerged []string // paths with conflicts
	gitlinks []string // paths of submodules and nested repositories
}

// readIndex reads an index file. An absent one is empty; one that only git can read (split, sparse) is read as
// git writes it in full.
func (r *Repo) readIndex(ctx context.Context, path string) (*index, error) {
	data, info, err := readWhole(path)
	if err != nil || info == nil {
		return &index{}, err
	}
	x := r.parsed(data)
	if x == nil {
		if x, err = r.flattened(ctx, path, data); err != nil {
			return nil, err
		}
	}
	x.at, x.written = info.ModTime(), info.ModTime().Unix()
	return x, nil
}

func (r *Repo) flattened(ctx context.Context, path string, data []byte) (*index, error) {
	if err := durable.MkdirAll(r.Git.PrivateDir()); err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(r.Git.PrivateDir(), durable.TempPrefix)
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	flat := filepath.Join(dir, "index")
	if err := durable.WriteCache(flat, data, 0o600); err != nil {
		return nil, err
	}
	o := gitcmd.Opts{Write: true, Env: gitcmd.WithIndex(flat)}
	if _, err := r.Git.Run(ctx, o, "-c", "core.splitIndex=false", "-c", "index.sparse=false", "update-index",
		"--force-write-index"); err != nil {
		return nil, err
	}
	if data, err = os.ReadFile(flat); err != nil {
		return nil, err
	}
	if x := r.parsed(data); x != nil {
		return x, nil
	}
	return nil, fmt.Errorf("%s is an index of a kind that wfs does not know", path)
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
	cached  *cachedTree // nil when git noted nothing
	at      time.Time   // when its file was written, or when wfs began to read the files in it
	written int64       // the same in Unix seconds; 0 for none
	data    []byte      // of its file
	sum     []byte      // that it ends with: of all that is in it
	version uint32
	end     int    // of the entries, in data
	special bool   // it has more than a file made here can have
	copyTo  string // see store
}

type indexEntry struct {
	mode     uint32
	stat     []byte // what the file looked like when git read it
	id       []byte
	name     []byte
	at       int // where it begins in the file
	stage    int
	intended bool // `git add -N`: no content yet
	unseen   bool // git was told not to look at the file: assume-unchanged, or skip-worktree
}

// cachedTree is what git remembers about one directory of an index: its tree, unless something in it changed since.
type cachedTree struct {
	name    string
	entries int // in it and below, -1 when the tree is not known
	id      []byte
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
		info.tree = hex.EncodeToString(x.cached.id)
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
	x := &index{data: data, sum: data[len(data)-idSize:], version: version,
		entries: make([]indexEntry, 0, min(int(count), len(data)/(40+idSize+2)))}
	var name []byte
	for range count {
		e, fixed, ok := parseIndexEntry(rest, idSize)
		if !ok || e.mode&indexType == indexDir { // a directory of a sparse index
			return nil, false
		}
		whole := rest
		e.at = len(data) - idSize - len(rest)
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
	x.end = len(data) - idSize - len(rest)
	for len(rest) >= 8 {
		size := int(binary.BigEndian.Uint32(rest[4:]))
		if size < 0 || len(rest)-8 < size || rest[0] < 'A' || rest[0] > 'Z' {
			return nil, false
		}
		if string(rest[:4]) == "TREE" {
			tree, _, ok := parseCachedTree(rest[8:8+size], idSize, 0)
			if !ok {
				return nil, false
			}
			x.cached = tree
		} else if !slices.Contains(dispensable, string(rest[:4])) {
			x.special = true
		}
		rest = rest[8+size:]
	}
	return x, len(rest) == 0
}

// dispensable are extensions that help git to read the file in parts, or to take a resolved conflict back.
var dispensable = []string{"EOIE", "IEOT", "REUC"}

// parsed is an index file's content, nil when only git can read it.
func (r *Repo) parsed(data []byte) *index {
	if x, ok := parseIndex(data, r.Git.IDLength()/2); ok {
		return x
	}
	return nil
}

// parseIndexEntry reads what stands before an entry's name: stat data, object id, flags.
func parseIndexEntry(b []byte, idSize int) (e indexEntry, size int, ok bool) {
	size = 40 + idSize + 2
	if len(b) < size {
		return e, 0, false
	}
	flags := binary.BigEndian.Uint16(b[size-2:])
	e = indexEntry{stat: b[:40], mode: binary.BigEndian.Uint32(b[24:]), id: b[40 : 40+idSize],
		stage: int(flags >> 12 & 3), unseen: flags&0x8000 != 0}
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
		t.id, b = b[:idSize], b[idSize:]
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

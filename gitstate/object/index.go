package object

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/wfs-dev/wfs/gitstate/gitcmd"
	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/session"
)

// IndexInfo summarizes an index.
type IndexInfo struct {
	Tree     string   // id of its tree, "" if git has to compute it
	Unmerged []string // paths with conflicts
	Gitlinks []string // paths of submodules and nested repositories
}

// ReadIndex reads an index file. If the file is missing, the index is empty. If only git can read its format (split or
// sparse), git first rewrites a copy in full.
func (r *Store) ReadIndex(ctx context.Context, path string) (*Index, error) {
	data, info, err := readWhole(path)
	if err != nil || info == nil {
		return &Index{}, err
	}
	x := r.Parsed(data)
	if x == nil {
		if x, err = r.flattened(ctx, r.Git, path, data); err != nil {
			return nil, err
		}
	}
	x.At, x.Written = info.ModTime(), info.ModTime().Unix()
	return x, nil
}

// flattened lets git rewrite a copy of an index in a format that this package can read.
func (r Format) flattened(ctx context.Context, git *gitcmd.Git, path string, data []byte) (*Index, error) {
	if err := durable.MkdirAll(git.PrivateDir()); err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(git.PrivateDir(), durable.TempPrefix)
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	flat := filepath.Join(dir, "index")
	if err := durable.WriteCache(flat, data, 0o600); err != nil {
		return nil, err
	}
	o := gitcmd.Opts{Write: true, Env: gitcmd.WithIndex(flat)}
	if _, err := git.Run(ctx, o, "-c", "index.sparse=false", "update-index",
		"--force-write-index"); err != nil {
		return nil, err
	}
	if data, err = os.ReadFile(flat); err != nil {
		return nil, err
	}
	if x := r.Parsed(data); x != nil {
		return x, nil
	}
	return nil, fmt.Errorf("%s is an index of a kind that wfs does not know", path)
}

func (i *IndexInfo) note(gitlink, unmerged bool, name string) {
	if unmerged && (len(i.Unmerged) == 0 || i.Unmerged[len(i.Unmerged)-1] != name) {
		i.Unmerged = append(i.Unmerged, name)
	}
	if gitlink && !unmerged {
		i.Gitlinks = append(i.Gitlinks, name)
	}
}

// Index is a parsed index file. It shares the file's bytes.
type Index struct {
	Entries []IndexEntry
	Cached  *cachedTree // the trees of its directories, nil if git has cached none
	At      time.Time   // when the file was written, or when wfs began to read the files that it lists
	Written int64       // At in Unix seconds; 0 if there is no file
	Data    []byte      // content of the file
	Sum     []byte      // checksum at the end of Data
	Version uint32
	End     int    // end of the entries in Data
	Special bool   // it has extensions that this package cannot write
	CopyTo  string // the path to which Store writes the index, "" if that is done or not needed
}

type IndexEntry struct {
	Mode     uint32
	Stat     []byte // size, times and other stat data of the file when git read it
	ID       []byte
	Name     []byte
	at       int // offset in Data
	Stage    int
	Intended bool // `git add -N`: no content yet
	Unseen   bool // git ignores changes of the file: assume-unchanged, or skip-worktree
}

// cachedTree is git's cache of the tree of one directory in an index. It is valid until an entry in or below the
// directory changes.
type cachedTree struct {
	name    string
	entries int // number of entries in it and below; -1 if the tree is not cached
	id      []byte
	dirs    []*cachedTree
}

// The types of index entries, from gitformat-index(5).
const (
	IndexType    = 0o170000 // mask
	IndexGitlink = 0o160000
	indexDir     = 0o040000
)

// Info summarizes the index.
func (x *Index) Info() IndexInfo {
	var info IndexInfo
	if x.Cached != nil && x.Cached.entries >= 0 {
		info.Tree = hex.EncodeToString(x.Cached.id)
	}
	for _, e := range x.Entries {
		if e.Stage != 0 || e.Mode&IndexType == IndexGitlink {
			info.note(e.Mode&IndexType == IndexGitlink, e.Stage != 0, string(e.Name))
		}
	}
	return info
}

// ParseIndex parses an index of version 2 to 4 (gitformat-index(5)). It returns false for everything that it does not
// fully understand, such as an extension in lower case, which changes the meaning of the entries.
func ParseIndex(data []byte, idSize int) (*Index, bool) {
	if len(data) < 12+idSize || string(data[:4]) != "DIRC" {
		return nil, false
	}
	version, count := binary.BigEndian.Uint32(data[4:]), binary.BigEndian.Uint32(data[8:])
	if version < 2 || version > 4 {
		return nil, false
	}
	rest := data[12 : len(data)-idSize]
	x := &Index{Data: data, Sum: data[len(data)-idSize:], Version: version,
		Entries: make([]IndexEntry, 0, min(int(count), len(data)/(40+idSize+2)))}
	var name []byte
	for range count {
		e, fixed, ok := ParseIndexEntry(rest, idSize)
		if !ok || e.Mode&IndexType == indexDir { // a directory of a sparse index
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
		e.Name = name
		x.Entries = append(x.Entries, e)
	}
	x.End = len(data) - idSize - len(rest)
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
			x.Cached = tree
		} else if !slices.Contains(dispensable, string(rest[:4])) {
			x.Special = true
		}
		rest = rest[8+size:]
	}
	return x, len(rest) == 0
}

// dispensable are extensions that wfs may drop: they only help git to read the file in parts, or to undo the resolution
// of a conflict.
var dispensable = []string{"EOIE", "IEOT", "REUC"}

// ParseIndexEntry parses the part of an entry before its name: stat data, object id, flags. size is the length of that
// part in bytes.
func ParseIndexEntry(b []byte, idSize int) (e IndexEntry, size int, ok bool) {
	size = 40 + idSize + 2
	if len(b) < size {
		return e, 0, false
	}
	flags := binary.BigEndian.Uint16(b[size-2:])
	e = IndexEntry{Stat: b[:40], Mode: binary.BigEndian.Uint32(b[24:]), ID: b[40 : 40+idSize],
		Stage: int(flags >> 12 & 3), Unseen: flags&0x8000 != 0}
	if flags&0x4000 != 0 { // a second word of flags
		size += 2
		if len(b) < size {
			return e, 0, false
		}
		more := binary.BigEndian.Uint16(b[size-2:])
		e.Intended, e.Unseen = more&0x2000 != 0, e.Unseen || more&0x4000 != 0
	}
	return e, size, true
}

// maxDepth limits the depth of nested directories in an index.
const maxDepth = 2000

// parseCachedTree parses the cached tree at the start of b, with the trees below it, and returns the rest of b.
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

// offset decodes the variable-width integer of pack offsets. length is its size in bytes, or 0 if it is incomplete.
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

// Store writes an index to its path CopyTo, so that git can read the private copy. It does nothing if the copy was
// written already, or if CopyTo is "".
func (x *Index) Store() error {
	to := x.CopyTo
	if x.CopyTo = ""; to == "" {
		return nil
	}
	if err := durable.WriteCache(to, x.Data, 0o600); err != nil {
		return err
	}
	// git compares this time with the times of files, to find those that may have changed since
	return os.Chtimes(to, x.At, x.At)
}

// readWhole returns the content and the FileInfo of a file, or nil for both if the file does not exist.
func readWhole(path string) ([]byte, fs.FileInfo, error) {
	in, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	defer in.Close()
	st, err := in.Stat()
	if err != nil {
		return nil, nil, err
	}
	var data bytes.Buffer
	data.Grow(int(st.Size()) + bytes.MinRead)
	_, err = data.ReadFrom(in)
	return data.Bytes(), st, err
}

// WriteTree writes the tree of a private index, and returns its id. Git checks that all objects in it exist.
func (r *Store) WriteTree(ctx context.Context, index string) (session.Tree, error) {
	out, err := r.Git.Run(ctx, gitcmd.Opts{Write: true, Env: gitcmd.WithIndex(index)}, "write-tree")
	return session.Tree(bytes.TrimSpace(out)), err
}

// RemoveLeftovers removes a private index and its lock. The caller holds the lock of the work tree, so no running
// process uses these files: a killed process left them.
func RemoveLeftovers(index string) error {
	for _, old := range []string{index, index + ".lock"} {
		err := os.Remove(old)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			_, err = durable.MoveAside(old) // a directory, not made by wfs
		} else {
			err = nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}
